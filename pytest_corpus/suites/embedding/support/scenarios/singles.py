"""The answers of operations that embed one text."""

from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.outcomes import Blocked
from pytest_corpus.kit.reply import StreamReply
from pytest_corpus.suites.embedding.support.answers import embedded_by, streamed_embeddings, texts_of
from pytest_corpus.suites.embedding.support.component import Embedding
from pytest_corpus.suites.embedding.support.scenarios.batches import belongs, several
from pytest_corpus.suites.embedding.support.texts import FILLER, SCRIPTS
from pytest_corpus.suites.embedding.support.vectors import plain, vector_of


def given_back(embedding: Embedding, operation: str, *, exact: bool) -> None:
    """The texts of an answer are those that were sent."""
    several(embedding, 1, least=1) if operation == "embed_batch" else embedding.require(operation)
    came_back = False
    for number, model in enumerate(embedding.able_to(operation)):
        many = not number and operation == "embed"
        for sent in map(embedding.fit, (*SCRIPTS.values(), FILLER) if many else (SCRIPTS["latin"], FILLER)):
            reply = embedding.known(operation, sent, model=model)
            if reply.is_error or not embedding.holds(sent):
                continue
            for told in texts_of(reply) if len(embedded_by(reply)) < 2 else ():
                came_back = True
                kept = told == sent if exact else belongs(embedding, told, sent)
                if exact and not belongs(embedding, told, sent):
                    raise Blocked("EMB-EMBED-3", "another text comes back")
                where = f"the text that was sent{', letter by letter' if exact else ''}"
                expect.that(kept, where, f"a text of {len(plain(told))} characters", "text")
    expect.applicable(came_back, "no text comes back")


def any_script(embedding: Embedding, *texts: str) -> None:
    """Go on only if `embed` takes these texts, whatever their script; if not, that is a finding of its own."""
    for text in texts:
        if not text.isascii():
            reply = embedding.known_embed(embedding.fit(text))
            embedding.fits(reply)
            with expect.resting_on("EMB-EMBED-4"):
                expect.success(reply, "an embedding of a text of another script")


def only(embedding: Embedding, stream: StreamReply) -> list[list[float]]:
    """The vectors of a finished stream."""
    embedding.fits(stream)
    found = (vector_of(each) for each in streamed_embeddings(expect.finished(stream)))
    return [vector for vector in found if vector is not None]


def streamed_vector(embedding: Embedding, text: str, **changed: Any) -> list[float]:
    """The one vector of a stream. Raises NotApplicable if it gives several: the text in parts."""
    embedding.require("stream_embed")
    found = only(embedding, embedding.known_stream(text, **changed))
    if not found:
        raise Blocked("EMB-STREAM-2", "a stream gives no embedding")
    expect.applicable(len(found) <= 1, "a stream gives several embeddings")
    return found[0]


def refusing(embedding: Embedding, argument: str) -> tuple[str, ...]:
    """The classes that refuse a value of the wrong type: NOT_SUPPORTED too if the option is not claimed."""
    flag = {"normalize": "supports_normalization", "truncate": "supports_truncation"}.get(argument)
    unclaimed = flag is not None and embedding.capabilities.flag(flag) is not True
    return ("BadRequest", "NotSupported") if unclaimed else ("BadRequest",)
