"""What a batch answered, text by text (SPECIFICATION 12.5; R14)."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_corpus.adapter.exchange import non_finite
from pytest_corpus.kit import expect
from pytest_corpus.kit.outcomes import Blocked, NotApplicable, Violation
from pytest_corpus.kit.reply import Reply
from pytest_corpus.spec.errors import BY_CODE, TAXONOMY
from pytest_corpus.suites.embedding.subject.answers import embeddings_of, failures_of
from pytest_corpus.suites.embedding.subject.component import Embedding
from pytest_corpus.suites.embedding.subject.vectors import FAR, Vector, distance, is_number, plain, same_text, vector_of
from pytest_corpus.text.redaction import word

Finding = tuple[str, Violation]

STRUCTURE = ("EMB-BATCH-3", "EMB-BATCH-4")
"""Without these it cannot be told which text an embedding belongs to."""

FINAL = tuple(error.name for error in TAXONOMY.values() if error.parent is None and error.retry == "no")
"""The canonical classes that are not worth a retry."""


def class_of(failure: Mapping[str, Any]) -> str | None:
    """The class that a failed item names in `error`, by its name or its code; None where it names none."""
    error = failure.get("error")
    if not isinstance(error, str):
        return None
    named = TAXONOMY.get(error) or BY_CODE.get(error)
    return named.name if named else None


def family_of(failure: Mapping[str, Any]) -> str | None:
    """The canonical class of a failed item."""
    name = class_of(failure)
    return TAXONOMY[name].family if name else None


def problems(embedding: Embedding, result: Any, texts: Sequence[str]) -> Iterator[Finding]:
    """What is wrong with the places of the texts in the result of a batch."""
    embeddings, failures = embeddings_of(result), failures_of(result)
    failed = [failure.get("index") for failure in failures]
    for number, failure in enumerate(failures):
        if class_of(failure) is None:
            yield "EMB-BATCH-11", Violation("a class of the taxonomy, or its code", "none", f"failures.{number}.error")
    if any(not is_number(index) for index in failed):
        yield "EMB-BATCH-11", Violation("the position of the failed text", "none", "failures.index")
        return
    positions = {index for index in failed if isinstance(index, (int, float)) and index in range(len(texts))}
    if len(positions) < len(set(failed)):
        strange = next(index for index in failed if index not in positions)
        yield "EMB-BATCH-4", Violation(f"a position in a batch of {len(texts)}", word(strange), "failures.index")
        return
    if len(positions) < len(failed):
        yield "EMB-BATCH-3", Violation("each failed text once", "one twice", "failures.index")
        return
    if any(_of_another(failure, texts) for failure in failures):
        yield "EMB-BATCH-4", Violation("the position of the failed text", "that of another text", "failures.index")
        return
    rest = [position for position in range(len(texts)) if position not in positions]
    if len(embeddings) != len(rest):
        wanted = f"{len(rest)} embeddings beside {len(failed)} failures of {len(texts)} texts"
        yield "EMB-BATCH-3", Violation(wanted, f"{len(embeddings)}", "result.embeddings")
        return
    for number, (position, found) in enumerate(zip(rest, embeddings, strict=True)):
        yield from _place(embedding, number, position, found, texts)


def _of_another(failure: Mapping[str, Any], texts: Sequence[str]) -> bool:
    """Whether a failure has the index of one text of the batch and another one for its text."""
    text, sent = failure.get("text"), texts[int(failure["index"])]
    return not same_text(text, sent) and any(same_text(text, other) for other in texts)


def _place(
    embedding: Embedding, number: int, position: int, found: Mapping[str, Any], texts: Sequence[str]
) -> Iterator[Finding]:
    text, index, path = found.get("text"), found.get("index"), f"result.embeddings.{number}"
    mine = text is None or belongs(embedding, text, texts[position])
    if not mine:
        moved = any(same_text(text, other) for other in texts)
        yield (
            ("EMB-BATCH-2", Violation("the texts in their order", "another text of the batch", f"{path}.text"))
            if moved
            else ("EMB-EMBED-3", Violation("the text that was sent", "another text", f"{path}.text"))
        )
    if index is not None and index != position:
        moved = not mine and index in range(len(texts)) and same_text(text, texts[int(index)])
        if not moved:
            yield "EMB-BATCH-4", Violation(f"{position}, the position of the text", word(index), f"{path}.index")


def belongs(embedding: Embedding, text: Any, sent: str) -> bool:
    """Whether the text of an embedding is the one that was sent, or a part of it where it had to be cut."""
    if same_text(text, sent):
        return True
    return isinstance(text, str) and not embedding.holds(sent) and bool(text) and plain(text) in plain(sent)


def placed(embedding: Embedding, requirement: str, reply: Reply, texts: Sequence[str]) -> dict[int, Mapping[str, Any]]:
    """The embeddings of a batch by the positions of their texts.

    Raises:
        Violation: the batch breaks this requirement.
        Blocked: the places of the texts cannot be told.
    """
    result = expect.success(reply, "a batch")
    found = list(problems(embedding, result, texts))
    for broken, violation in found:
        if broken == requirement:
            raise violation
    for broken, violation in found:
        if broken in STRUCTURE:
            raise Blocked(broken, str(violation), violation=violation)
    failed = {failure.get("index") for failure in failures_of(result)}
    if not all(is_number(index) for index in failed):
        raise Blocked("EMB-BATCH-11", "a failed text does not say its position")
    rest = [position for position in range(len(texts)) if position not in failed]
    return dict(zip(rest, embeddings_of(result), strict=True))


def each_its_own(
    embedding: Embedding,
    found: Mapping[int, Mapping[str, Any]],
    texts: Sequence[str],
    own: Mapping[str, Vector],
) -> None:
    """Each text has its own vector: none that another text's is nearer to, and none that is out of all relation."""
    apart: dict[int, float] = {}
    slack = 1e-6 + 10 * embedding.noise
    for position, each in found.items():
        vector = vector_of(each)
        if vector is None:
            finite = not any(True for _ in non_finite(each.get("vector")))
            raise Blocked("EMB-BATCH-1" if finite else "COM-NUM-2", "an embedding has no vector of finite numbers")
        apart[position] = distance(vector, own[texts[position]])
        nearest = min(distance(vector, other) for other in own.values())
        path = f"result.embeddings, the text at {position}"
        expect.that(apart[position] <= nearest + slack, "the vector of this text", "that of another text", path)
    usual = statistics.median(apart.values()) if apart else 0.0
    for position, off in apart.items():
        expect.that(
            off <= FAR + 10 * usual,
            "the vector of this text",
            "another vector",
            f"result.embeddings, the text at {position}",
        )


def several(embedding: Embedding, wanted: int, least: int = 2) -> int:
    """As many texts as a batch may have, up to `wanted`.

    Raises:
        NotApplicable: it may have fewer than `least`.
    """
    embedding.require("embed_batch")
    many = embedding.room(wanted)
    if many < least:
        raise NotApplicable(f"a batch may have {many} texts only")
    return many
