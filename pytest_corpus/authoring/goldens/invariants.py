"""Rules for golden files beyond their schemas (SCHEMA 7.3): sums, sizes, names and orders.

A rule that computes a value has two uses: the check compares the value, the generator sets it. Content that users
choose (metadata, properties, rows, parameters) is ignored.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from pytest_corpus.spec.errors import TAXONOMY, code_of
from pytest_corpus.spec.operations import protocol_of
from pytest_corpus.spec.words import OBJECTS
from pytest_corpus.text.problems import path_text

Node = dict[str, Any]

MAX_STRING_BYTES: Final = 1024 * 1024
"""The size limit of one string. SCHEMA 7.3 asks for a limit without a number; 4.2.3 limits frames to 1 MiB."""


@dataclass(frozen=True, slots=True)
class Derivation:
    """A rule that computes values of an object from its other values.

    Attributes:
        name: the name of the rule.
        text: the meaning of the computed value.
        source: the sentence that the rule is based on.
        derive: gets an object and its component and yields each computed key with its value. Keys that the object does
            not have are ignored.
    """

    name: str
    text: str
    source: str
    derive: Callable[[Node, str], Iterator[tuple[str, object]]]


@dataclass(frozen=True, slots=True)
class GoldenCondition:
    """A rule for an object; `broken` gets the object and its component and yields each wrong key with its fault."""

    name: str
    text: str
    source: str
    broken: Callable[[Node, str], Iterator[tuple[str, str]]]


def iterate_objects(value: Any, path: tuple[object, ...] = ()) -> Iterator[tuple[tuple[object, ...], Node]]:
    """Yield every object of a document with its path, innermost first, but no content that users choose."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key not in OBJECTS:
                yield from iterate_objects(item, (*path, key))
        yield path, value
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from iterate_objects(item, (*path, index))


def find_broken_rules(document: Any, component: str, kind: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield each rule that a document violates: the rule's name, the path and the fault.

    If `kind` is one of `OBJECTS`, the document is content that users choose, and only the size of strings is checked.
    """
    for path, text in _iterate_strings(document):
        if len(text.encode(errors="replace")) > MAX_STRING_BYTES:
            yield "string-size", path_text(path), f"is a string of more than {MAX_STRING_BYTES} bytes"
    for path, node in iterate_objects(document) if kind not in OBJECTS else ():
        for derivation in DERIVATIONS:
            for key, value in derivation.derive(node, component):
                if key in node and node[key] != value:
                    yield derivation.name, path_text((*path, key)), f"must be {value!r}: {derivation.text}"
        for condition in CONDITIONS:
            for key, message in condition.broken(node, component):
                yield condition.name, path_text((*path, key)), message


def set_computed_values(document: Any, component: str) -> Any:
    """Set every computed value in a document, in place, and return the document."""
    for _, node in iterate_objects(document):
        for derivation in DERIVATIONS:
            node.update((key, value) for key, value in derivation.derive(node, component) if key in node)
    return document


def _iterate_strings(value: Any, path: tuple[object, ...] = ()) -> Iterator[tuple[tuple[object, ...], str]]:
    if isinstance(value, str):
        yield path, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from _iterate_strings(item, (*path, key))


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _first_list(node: Node, *keys: str) -> list[Any] | None:
    return next((node[key] for key in keys if isinstance(node.get(key), list)), None)


def _derive_token_total(node: Node, _: str) -> Iterator[tuple[str, object]]:
    completion = node.get("completion_tokens") or 0
    if _is_count(node.get("prompt_tokens")) and _is_count(completion):
        yield "total_tokens", node["prompt_tokens"] + completion


def _derive_sum_of_counts(node: Node, _: str) -> Iterator[tuple[str, object]]:
    counts = _first_list(node, "token_counts")
    if counts is not None and all(map(_is_count, counts)):
        yield "total_tokens", sum(counts)


def _derive_dimensions(node: Node, _: str) -> Iterator[tuple[str, object]]:
    if isinstance(node.get("vector"), list):
        yield "dimensions", len(node["vector"])


def _derive_failed_count(node: Node, _: str) -> Iterator[tuple[str, object]]:
    failed = _first_list(node, "failures", "failed_texts")
    if failed is not None:
        yield "failed_count", len(failed)


def _derive_total_texts(node: Node, _: str) -> Iterator[tuple[str, object]]:
    embedded = _first_list(node, "embeddings", "results")
    if embedded is not None and "total_texts" in node:
        failed = _first_list(node, "failed_texts", "failures")
        count = node.get("failed_count", 0) if failed is None else len(failed)
        if _is_count(count):
            yield "total_texts", len(embedded) + count


def _derive_error_code(node: Node, _: str) -> Iterator[tuple[str, object]]:
    error = node.get("error")
    if isinstance(error, str) and error in TAXONOMY:
        yield "code", code_of(error)


def _derive_protocol(node: Node, component: str) -> Iterator[tuple[str, object]]:
    if "server" in node and "version" in node:
        yield "protocol", protocol_of(component)


DERIVATIONS: Final = (
    Derivation("token-totals", "prompt_tokens and completion_tokens together", "SCHEMA 7.3; R29", _derive_token_total),
    Derivation("token-totals", "the sum of token_counts", "SCHEMA 7.3", _derive_sum_of_counts),
    Derivation("dimensions", "as many as the vector has", "SCHEMA 4.3.2, 7.3", _derive_dimensions),
    Derivation("failed-count", "as many as there are failures", "SPECIFICATION 12.5; R14", _derive_failed_count),
    Derivation(
        "total-texts", "the embeddings and the failures together", "SPECIFICATION 12.5; R14", _derive_total_texts
    ),
    Derivation("protocol", "the identifier of the protocol", "SPECIFICATION 4.2.2; R22", _derive_protocol),
    Derivation("error-code", "the class in capitals", "SPECIFICATION 4.2.1; R7", _derive_error_code),
)
"""The rules that compute values from other values in the same object."""


def _check_error_class(node: Node, component: str) -> Iterator[tuple[str, str]]:
    """Check the class in an error envelope. Items of a batch are not checked: their `error` may be a code (R14)."""
    if node.get("ok") is False and {"error", "code", "message", "ms"} <= node.keys():
        known = TAXONOMY.get(node["error"]) if isinstance(node["error"], str) else None
        if known is None or component not in known.components:
            yield "error", f"must be an error class of {component}"


def _check_vector_lengths(node: Node, _: str) -> Iterator[tuple[str, str]]:
    """Check that the vectors of one answer have the same length; absent and empty vectors are allowed (R30)."""
    for key in ("matches", "embeddings", "results"):
        vectors = [_vector_of(item) for item in _first_list(node, key) or ()]
        if isinstance(node.get("query_vector"), list):
            vectors.append(node["query_vector"])
        if len({len(vector) for vector in vectors if vector}) > 1:
            yield key, "must be vectors of one length"


def _vector_of(item: Any) -> list[Any] | None:
    while isinstance(item, dict):
        item = item.get("vector")
    return item if isinstance(item, list) else None


def _check_match_order(node: Node, _: str) -> Iterator[tuple[str, str]]:
    matches = _first_list(node, "matches")
    if matches is None:
        return
    scores = [match.get("score") for match in matches if isinstance(match, dict)]
    numbers = [score for score in scores if isinstance(score, int | float)]
    if numbers != sorted(numbers, reverse=True):
        yield "matches", "must be ordered by score, best first"
    if _is_count(node.get("total_matches")) and node["total_matches"] < len(matches):
        yield "total_matches", "must be no less than the number of matches"


def _check_failure_indexes(node: Node, _: str) -> Iterator[tuple[str, str]]:
    for key in ("failures", "failed_texts"):
        failures = [item for item in _first_list(node, key) or () if isinstance(item, dict)]
        indexes = [item["index"] for item in failures if _is_count(item.get("index"))]
        if len(set(indexes)) < len(indexes):
            yield key, "must have an index each: one appears twice"
        total = node.get("total_texts")
        if _is_count(total) and any(not 0 <= index < total for index in indexes):
            yield key, "must have the index of one of total_texts"


CONDITIONS: Final = (
    GoldenCondition("error-class", "an error names a class of its component", "ERRORS 1, 3; R7", _check_error_class),
    GoldenCondition("same-length", "vectors of one answer have one length", "SCHEMA 7.3", _check_vector_lengths),
    GoldenCondition("best-first", "matches are ordered and counted", "SPECIFICATION 9.4; R30", _check_match_order),
    GoldenCondition(
        "failure-index", "each failure has an index of its own", "SPECIFICATION 12.5", _check_failure_indexes
    ),
)
"""The rules that compare values without computing them."""
