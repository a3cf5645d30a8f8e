"""Rules for golden files beyond their schemas (SCHEMA 7.3): sums, sizes, names and orders.

A rule for a value has two uses: the check compares the value, the generator sets it. Free content of users (metadata,
properties, rows, parameters) is ignored.
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
"""The most that one string may measure. SCHEMA 7.3 wants a limit and prints none; a frame has no more (4.2.3)."""


@dataclass(frozen=True, slots=True)
class Derivation:
    """A value that is computed from other values in the same object.

    For an object of a component, `derive` yields key and value. Keys that the object does not have are ignored.
    """

    name: str
    text: str
    source: str
    derive: Callable[[Node, str], Iterator[tuple[str, object]]]


@dataclass(frozen=True, slots=True)
class GoldenCondition:
    """A rule for an object of a component; `broken` yields the wrong keys with their faults."""

    name: str
    text: str
    source: str
    broken: Callable[[Node, str], Iterator[tuple[str, str]]]


def objects(value: Any, path: tuple[object, ...] = ()) -> Iterator[tuple[tuple[object, ...], Node]]:
    """Yield every object of a document with its path, innermost first, except free content."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key not in OBJECTS:
                yield from objects(item, (*path, key))
        yield path, value
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from objects(item, (*path, index))


def broken_rules(document: Any, component: str, kind: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield the rules that a document violates: name, path and fault. `kind` may be one of `OBJECTS`."""
    for path, text in _strings(document):
        if len(text.encode(errors="replace")) > MAX_STRING_BYTES:
            yield "string-size", path_text(path), f"is a string of more than {MAX_STRING_BYTES} bytes"
    for path, node in objects(document) if kind not in OBJECTS else ():
        for derivation in DERIVATIONS:
            for key, value in derivation.derive(node, component):
                if key in node and node[key] != value:
                    yield derivation.name, path_text((*path, key)), f"must be {value!r}: {derivation.text}"
        for condition in CONDITIONS:
            for key, message in condition.broken(node, component):
                yield condition.name, path_text((*path, key)), message


def settle(document: Any, component: str) -> Any:
    """Set every computed value in a document, in place, and return the document."""
    for _, node in objects(document):
        for derivation in DERIVATIONS:
            node.update((key, value) for key, value in derivation.derive(node, component) if key in node)
    return document


def _strings(value: Any, path: tuple[object, ...] = ()) -> Iterator[tuple[tuple[object, ...], str]]:
    if isinstance(value, str):
        yield path, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from _strings(item, (*path, key))


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _list(node: Node, *keys: str) -> list[Any] | None:
    return next((node[key] for key in keys if isinstance(node.get(key), list)), None)


def _token_totals(node: Node, _: str) -> Iterator[tuple[str, object]]:
    completion = node.get("completion_tokens") or 0
    if _is_count(node.get("prompt_tokens")) and _is_count(completion):
        yield "total_tokens", node["prompt_tokens"] + completion


def _token_counts(node: Node, _: str) -> Iterator[tuple[str, object]]:
    counts = _list(node, "token_counts")
    if counts is not None and all(map(_is_count, counts)):
        yield "total_tokens", sum(counts)


def _dimensions(node: Node, _: str) -> Iterator[tuple[str, object]]:
    if isinstance(node.get("vector"), list):
        yield "dimensions", len(node["vector"])


def _failed_count(node: Node, _: str) -> Iterator[tuple[str, object]]:
    failed = _list(node, "failures", "failed_texts")
    if failed is not None:
        yield "failed_count", len(failed)


def _total_texts(node: Node, _: str) -> Iterator[tuple[str, object]]:
    embedded = _list(node, "embeddings", "results")
    if embedded is not None and "total_texts" in node:
        failed = _list(node, "failed_texts", "failures")
        count = node.get("failed_count", 0) if failed is None else len(failed)
        if _is_count(count):
            yield "total_texts", len(embedded) + count


def _error_code(node: Node, _: str) -> Iterator[tuple[str, object]]:
    error = node.get("error")
    if isinstance(error, str) and error in TAXONOMY:
        yield "code", code_of(error)


def _protocol(node: Node, component: str) -> Iterator[tuple[str, object]]:
    if "server" in node and "version" in node:
        yield "protocol", protocol_of(component)


DERIVATIONS: Final = (
    Derivation("token-totals", "prompt_tokens and completion_tokens together", "SCHEMA 7.3; R29", _token_totals),
    Derivation("token-totals", "the sum of token_counts", "SCHEMA 7.3", _token_counts),
    Derivation("dimensions", "as many as the vector has", "SCHEMA 4.3.2, 7.3", _dimensions),
    Derivation("failed-count", "as many as there are failures", "SPECIFICATION 12.5; R14", _failed_count),
    Derivation("total-texts", "the embeddings and the failures together", "SPECIFICATION 12.5; R14", _total_texts),
    Derivation("protocol", "the identifier of the protocol", "SPECIFICATION 4.2.2; R22", _protocol),
    Derivation("error-code", "the class in capitals", "SPECIFICATION 4.2.1; R7", _error_code),
)
"""The values that follow from others in the same object."""


def _error_class(node: Node, component: str) -> Iterator[tuple[str, str]]:
    """Check an error envelope. Items of a batch may have the code in `error` (R14)."""
    if node.get("ok") is False and {"error", "code", "message", "ms"} <= node.keys():
        known = TAXONOMY.get(node["error"]) if isinstance(node["error"], str) else None
        if known is None or component not in known.components:
            yield "error", f"must be an error class of {component}"


def _same_length(node: Node, _: str) -> Iterator[tuple[str, str]]:
    """Check that the vectors of one answer have the same length; R30 allows absent and empty vectors."""
    for key in ("matches", "embeddings", "results"):
        vectors = [_vector(item) for item in _list(node, key) or ()]
        if isinstance(node.get("query_vector"), list):
            vectors.append(node["query_vector"])
        if len({len(vector) for vector in vectors if vector}) > 1:
            yield key, "must be vectors of one length"


def _vector(item: Any) -> list[Any] | None:
    while isinstance(item, dict):
        item = item.get("vector")
    return item if isinstance(item, list) else None


def _best_first(node: Node, _: str) -> Iterator[tuple[str, str]]:
    matches = _list(node, "matches")
    if matches is None:
        return
    scores = [match.get("score") for match in matches if isinstance(match, dict)]
    numbers = [score for score in scores if isinstance(score, int | float)]
    if numbers != sorted(numbers, reverse=True):
        yield "matches", "must be ordered by score, best first"
    if _is_count(node.get("total_matches")) and node["total_matches"] < len(matches):
        yield "total_matches", "must be no less than the number of matches"


def _failure_index(node: Node, _: str) -> Iterator[tuple[str, str]]:
    for key in ("failures", "failed_texts"):
        failures = [item for item in _list(node, key) or () if isinstance(item, dict)]
        indexes = [item["index"] for item in failures if _is_count(item.get("index"))]
        if len(set(indexes)) < len(indexes):
            yield key, "must have an index each: one appears twice"
        total = node.get("total_texts")
        if _is_count(total) and any(not 0 <= index < total for index in indexes):
            yield key, "must have the index of one of total_texts"


CONDITIONS: Final = (
    GoldenCondition("error-class", "an error names a class of its component", "ERRORS 1, 3; R7", _error_class),
    GoldenCondition("same-length", "vectors of one answer have one length", "SCHEMA 7.3", _same_length),
    GoldenCondition("best-first", "matches are ordered and counted", "SPECIFICATION 9.4; R30", _best_first),
    GoldenCondition("failure-index", "each failure has an index of its own", "SPECIFICATION 12.5", _failure_index),
)
"""The other rules."""
