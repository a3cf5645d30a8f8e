"""Batches: arranging their texts, and comparing their vectors with those of single texts (SPECIFICATION 12.5; R14)."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_corpus.adapter.exchange import non_finite
from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import cached
from pytest_corpus.kit.outcomes import Blocked, NotApplicable, NotAssessed, Violation, Violations
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.vocabulary import INJECTIONS, distribute_words, fill_in
from pytest_corpus.spec.errors import BY_CODE, FILTERED, TAXONOMY
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.embedding.support.answers import (
    FAR,
    Vector,
    all_embeddings_of,
    distance,
    embeddings_of,
    failures_of,
    is_number,
    is_same_text,
    normal_text,
    streamed_embeddings,
    texts_of,
    vector_of,
)
from pytest_corpus.suites.embedding.support.component import Embedding
from pytest_corpus.suites.embedding.support.texts import FILLER, SCRIPTS

STRUCTURE = ("EMB-BATCH-3", "EMB-BATCH-4")
"""If one of these requirements is violated, it is unknown which text an embedding belongs to."""

FINAL = tuple(error.name for error in TAXONOMY.values() if error.parent is None and error.retry == "no")
"""The canonical classes that must not be retried."""

WORDS = ("river", "stone", "light", "bread", "music", "paper", "horse", "night")
"""Words of the same length."""

MOST_TEXTS = 2_048
"""A larger batch is not sent in a test of the limit."""


def class_of(failure: Mapping[str, Any]) -> str | None:
    """Return the error class that a failed item names in `error`, by name or by code; None if it names no class."""
    error = failure.get("error")
    if not isinstance(error, str):
        return None
    named = TAXONOMY.get(error) or BY_CODE.get(error)
    return named.name if named else None


def family_of(failure: Mapping[str, Any]) -> str | None:
    """Return the canonical class of a failed item, or None."""
    name = class_of(failure)
    return TAXONOMY[name].family if name else None


def batch_problems(embedding: Embedding, result: Any, texts: Sequence[str]) -> Violations:
    """Yield the violations in the result of a batch: lost, misplaced or wrongly reported texts."""
    embeddings, failures = embeddings_of(result), failures_of(result)
    failed = [failure.get("index") for failure in failures]
    for number, failure in enumerate(failures):
        if class_of(failure) is None:
            yield (
                "EMB-BATCH-11",
                Violation(
                    "a class of the taxonomy, or its code",
                    "no class and no code of the taxonomy",
                    f"failures.{number}.error",
                ),
            )
        if failure.get("message") == "":
            yield "EMB-BATCH-21", Violation("a message", "an empty one", f"failures.{number}.message")
    if any(not is_number(index) for index in failed):
        yield (
            "EMB-BATCH-11",
            Violation("the position of the failed text", "a failure without a position", "failures.index"),
        )
        return
    positions = {index for index in failed if isinstance(index, (int, float)) and index in range(len(texts))}
    if len(positions) < len(set(failed)):
        strange = next(index for index in failed if index not in positions)
        yield "EMB-BATCH-4", Violation(f"a position in a batch of {len(texts)}", found=strange, path="failures.index")
        return
    if len(positions) < len(failed):
        yield "EMB-BATCH-3", Violation("each failed text once", "the same position twice", "failures.index")
        return
    if any(_names_another_text(failure, texts) for failure in failures):
        yield (
            "EMB-BATCH-4",
            Violation("the position of the failed text", "the position of another text", "failures.index"),
        )
        return
    for number, failure in enumerate(failures):
        text, sent = failure.get("text"), texts[int(failure["index"])]
        if (
            isinstance(text, str)
            and not is_same_text(text, sent)
            and not (normal_text(text) and normal_text(text) in normal_text(sent))
        ):
            got = "another text" if text else "an empty text"
            yield "EMB-BATCH-20", Violation("the text that was sent", got, f"failures.{number}.text")
    rest = [position for position in range(len(texts)) if position not in positions]
    if len(embeddings) != len(rest):
        wanted = f"{len(rest)} embeddings and {len(failed)} failures for {len(texts)} texts"
        yield "EMB-BATCH-3", Violation(wanted, f"{len(embeddings)}", "result.embeddings")
        return
    for number, (position, found) in enumerate(zip(rest, embeddings, strict=True)):
        yield from _position_problems(embedding, number, position, found, texts)


def _names_another_text(failure: Mapping[str, Any], texts: Sequence[str]) -> bool:
    """True if a failure has the index of one text and repeats another text."""
    text, sent = failure.get("text"), texts[int(failure["index"])]
    return not is_same_text(text, sent) and any(is_same_text(text, other) for other in texts)


def _position_problems(
    embedding: Embedding, number: int, position: int, found: Mapping[str, Any], texts: Sequence[str]
) -> Violations:
    text, index, path = found.get("text"), found.get("index"), f"result.embeddings.{number}"
    mine = text is None or is_sent_text(embedding, text, texts[position])
    if not mine:
        moved = any(is_same_text(text, other) for other in texts)
        yield (
            ("EMB-BATCH-2", Violation("the texts in their order", "another text of the batch", f"{path}.text"))
            if moved
            else ("EMB-EMBED-3", Violation("the text that was sent", "another text", f"{path}.text"))
        )
    if index is not None and index != position:
        moved = not mine and index in range(len(texts)) and is_same_text(text, texts[int(index)])
        if not moved:
            yield "EMB-BATCH-4", Violation(f"{position}, the position of the text", found=index, path=f"{path}.index")


def is_sent_text(embedding: Embedding, text: Any, sent: str) -> bool:
    """True if a text is the sent text, or a part of it if the sent text exceeds the limit."""
    if is_same_text(text, sent):
        return True
    return (
        isinstance(text, str)
        and not embedding.can_take_text(sent)
        and bool(text)
        and normal_text(text) in normal_text(sent)
    )


def embeddings_by_position(
    embedding: Embedding, requirement: str, reply: Reply, texts: Sequence[str]
) -> dict[int, Mapping[str, Any]]:
    """Return the embeddings of a batch by the positions of their texts.

    Raises:
        Violation: the batch violates `requirement`.
        Blocked: the positions are unknown.
    """
    result = expect.success(reply, "a batch")
    found = list(batch_problems(embedding, result, texts))
    for broken, violation in found:
        if broken == requirement:
            raise violation
    for broken, violation in found:
        if broken in STRUCTURE:
            raise Blocked(broken, str(violation), violation=violation)
    failed = {failure.get("index") for failure in failures_of(result)}
    if not all(is_number(index) for index in failed):
        raise Blocked("EMB-BATCH-11", "a failure does not state the position of its text")
    rest = [position for position in range(len(texts)) if position not in failed]
    return dict(zip(rest, embeddings_of(result), strict=True))


def expect_own_vectors(
    embedding: Embedding,
    found: Mapping[int, Mapping[str, Any]],
    texts: Sequence[str],
    own: Mapping[str, Vector],
    reply: Reply | StreamReply,
) -> None:
    """Check that each vector is nearest to the vector of its own text embedded alone, and not unusually far from it.

    Args:
        reply: the answer that contains the embeddings.
    """
    wanted = "the vector that the text gets when embedded alone"
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
        expect.check(apart[position] <= nearest + slack, wanted, "the vector of another text", path, on=[reply])
    # In a batch all vectors may differ a little from those of single texts; only an outlier is another vector.
    usual = statistics.median(apart.values()) if apart else 0.0
    for position, off in apart.items():
        path = f"result.embeddings, the text at {position}"
        expect.check(off <= FAR + 10 * usual, wanted, "another vector", path, on=[reply])


def require_batch_size(embedding: Embedding, wanted: int, least: int = 2) -> int:
    """Return the number of texts in a batch, up to `wanted`. Raises NotApplicable if `least` texts are not allowed."""
    embedding.require("embed_batch")
    many = embedding.cap_batch_size(wanted)
    expect.applicable(many >= least, f"a batch may have at most {many} texts")
    return many


def arrange_texts(embedding: Embedding, how: str, many: int) -> list[str]:
    """Return up to `many` texts, arranged as `how` says: plain, of equal lengths, equal or mixed."""
    words = [embedding.cut_to_limit(f"{WORDS[number % 8]}{'' if number < 8 else number}") for number in range(many)]
    if how == "equal_texts":
        return [words[number // 2] if number % 3 else words[0] for number in range(many)]
    if how == "mixed":
        odd = distribute_words(min(many, len(WORDS)), without=("nul", "long", *refused_kinds(embedding)))
        ends = [f" {odd[number % len(odd)]}{' and so on' * (number * 5 % 7)}" for number in range(many)]
        grown = [embedding.cut_to_limit(f"{word}{end}") for word, end in zip(words, ends, strict=True)]
        return [*grown[1::2], *grown[::2]]
    if how == "equal_lengths":
        return [word for word in words if len(word) == len(words[0])]
    return [embedding.cut_to_limit(f"{word} number {'x' * number}") for number, word in enumerate(words)]


def refused_kinds(embedding: Embedding) -> tuple[str, ...]:
    """Return the kinds of words that a content filter refuses because they look like an attack (ERRORS 6.2)."""
    attacks = " ".join(fill_in(INJECTIONS, "w").values())
    return (*INJECTIONS,) if embedding.embed_once(embedding.cut_to_limit(attacks)).is_a(*FILTERED) else ()


def expect_in_order(embedding: Embedding, texts: Sequence[str], reply: Reply, **changed: Any) -> None:
    """Check that the vectors of a batch have the order of its texts."""
    found = embeddings_by_position(embedding, "EMB-BATCH-2", reply, texts)
    expect_own_vectors(embedding, found, texts, embedding.embed_one_by_one(texts, **changed), reply)


def largest_batch(embedding: Embedding) -> int:
    """Return the stated maximum of texts in a batch. Raises NotApplicable if it is missing or too large to test."""
    most = embedding.capabilities.limit("max_batch_size")
    if most is None or most > MOST_TEXTS:
        raise NotApplicable(
            "capabilities state no max_batch_size"
            if most is None
            else f"a batch of {most} texts is too large for a test"
        )
    expect.applicable(embedding.cap_batch_size(most) == most, "max_batch_ops is smaller than max_batch_size")
    return most


def batch_with_bad_texts(embedding: Embedding, where: str) -> tuple[list[str], set[int], Reply]:
    """Send a batch in which some texts are too long; return all texts, the positions of the long ones, and the answer.

    The batch is sent once in a run. Raises NotApplicable if no limit is stated.
    """
    length = embedding.length_above_limit(1 + len(FILLER))
    texts = arrange_texts(
        embedding, "plain", require_batch_size(embedding, 5, least=3 if where in ("middle", "two", "equal") else 1)
    )
    last = len(texts) - 1
    bad = {"first": {0}, "middle": {last // 2}, "last": {last}, "two": {0, last}, "equal": {0, 1}}.get(
        where, {*range(last + 1)}
    )
    long = cached(embedding, ("a text that is too long", length), lambda: embedding.text_of(length))
    for position in bad:
        texts[position] = long if where == "equal" else f"{long[:-1]}{WORDS[position][0]}"
    return texts, bad, embedding.batch_once(texts, truncate=False)


def expect_texts_back(embedding: Embedding, operation: str, *, exact: bool) -> None:
    """Check that the texts in an answer are the sent texts."""
    require_batch_size(embedding, 1, least=1) if operation == "embed_batch" else embedding.require(operation)
    came_back = False
    for number, model in enumerate(embedding.models_able_to(operation)):
        many = not number and operation == "embed"
        for sent in map(embedding.cut_to_limit, (*SCRIPTS.values(), FILLER) if many else (SCRIPTS["latin"], FILLER)):
            reply = embedding.ask_once(operation, sent, model=model)
            if reply.is_error or not embedding.can_take_text(sent):
                continue
            for told in texts_of(reply) if len(all_embeddings_of(reply)) < 2 else ():
                came_back = True
                kept = told == sent if exact else is_sent_text(embedding, told, sent)
                if exact and not is_sent_text(embedding, told, sent):
                    raise Blocked("EMB-EMBED-3", "another text comes back")
                where = f"the text that was sent{', letter by letter' if exact else ''}"
                expect.check(kept, where, f"a text of {len(normal_text(told))} characters", "text")
    expect.applicable(came_back, "no text comes back")


def require_scripts(embedding: Embedding, *texts: str) -> None:
    """Check that `embed` accepts these texts. A refusal violates EMB-EMBED-4."""
    for text in texts:
        if not text.isascii():
            reply = embedding.embed_once(embedding.cut_to_limit(text))
            embedding.require_fit(reply)
            with expect.resting_on("EMB-EMBED-4"):
                expect.success(reply, "an embedding of a text of another script")


def stream_vectors(embedding: Embedding, stream: StreamReply) -> list[list[float]]:
    """Return the vectors of a finished stream."""
    embedding.require_fit(stream)
    found = (vector_of(each) for each in streamed_embeddings(expect.finished(stream)))
    return [vector for vector in found if vector is not None]


def streamed_vector(embedding: Embedding, text: str, **changed: Any) -> list[float]:
    """Return the only vector of a stream. Raises NotApplicable if the stream embeds the text in several parts."""
    embedding.require("stream_embed")
    stream = embedding.stream_once(text, **changed)
    found = stream_vectors(embedding, stream)
    if not found:
        if any(streamed_embeddings(expect.finished(stream))):
            raise NotAssessed(Obstacle.NO_STREAMED_VECTOR)
        raise Blocked("EMB-STREAM-2", "a stream gives no embedding")
    expect.applicable(len(found) <= 1, "a stream gives several embeddings")
    return found[0]


def refusal_classes(embedding: Embedding, argument: str) -> tuple[str, ...]:
    """Return the error classes for a value of the wrong type: also NotSupported, if the option is not claimed."""
    flag = {"normalize": "supports_normalization", "truncate": "supports_truncation"}.get(argument)
    unclaimed = flag is not None and embedding.capabilities.flag(flag) is not True
    return ("BadRequest", "NotSupported") if unclaimed else ("BadRequest",)
