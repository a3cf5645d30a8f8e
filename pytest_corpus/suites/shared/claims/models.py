"""The models of an adapter: those that capabilities list, and any other (SPECIFICATION 4.2.6; R13, R132)."""

import itertools
from collections.abc import Mapping
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.component import holds
from pytest_corpus.kit.fixtures import core
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.spec.errors import UNKNOWN_MODEL
from pytest_corpus.suites.shared.claims.tokens import ListedModels

MOST_LISTED = 20
"""More listed models are not asked."""


class Models:
    """The models of the principal operation."""

    @core("LLM-MODEL-1", "EMB-MODEL-1")
    def test_every_listed_model_works(self, subject: ListedModels) -> None:
        """Each model that capabilities list answers a plain request, and another one too."""
        name = subject.principal
        subject.require(name)
        for number, model in enumerate(subject.models()[:MOST_LISTED]):
            expect.works(subject.known_model(name, model), "an answer of every listed model")
            if not number:
                expect.works(
                    subject.call(name, {**subject.requests.distinct(name), "model": model}), "another answer of it"
                )

    @core("LLM-MODEL-2", "EMB-MODEL-2")
    def test_an_unknown_model_is_refused(self, subject: ListedModels) -> None:
        """A model that is not listed is refused permanently, after a listed one has answered the same request too."""
        subject.require(subject.principal)
        for model in subject.unknown_models():
            expect.refusal(of_unknown(subject, subject.principal, model), *UNKNOWN_MODEL)

    @pytest.mark.requirement("LLM-MODEL-4", "EMB-MODEL-5")
    def test_the_refusal_of_an_unknown_model_names_it(self, subject: ListedModels) -> None:
        """`details.model` is the model that was asked for."""
        subject.require(subject.principal)
        model = subject.unknown_model()
        reply = of_unknown(subject, subject.principal, model)
        with expect.resting_on(subject.unknown):
            expect.refusal(reply, *UNKNOWN_MODEL)
        named = reply.details.get("model")
        expect.that(named == model, "the model that was asked for", "another or none", "details.model")

    @core("LLM-MODEL-3", "EMB-MODEL-4")
    def test_an_unknown_model_does_not_stream(self, subject: ListedModels) -> None:
        """A model that is not listed is refused permanently."""
        subject.require(subject.principal_stream, subject.principal)
        for model in subject.unknown_models():
            expect.refusal(of_unknown(subject, subject.principal_stream, model), *UNKNOWN_MODEL)

    @pytest.mark.requirement("LLM-STREAM-5", "EMB-STREAM-5")
    def test_every_listed_model_streams(self, subject: ListedModels) -> None:
        """Each model that capabilities list streams a plain request."""
        for stream in streams(subject):
            expect.finished(stream, "a stream by every listed model")

    @pytest.mark.requirement("LLM-STREAM-7", "EMB-STREAM-6")
    def test_a_chunk_names_the_model_asked_for(self, subject: ListedModels) -> None:
        """If a chunk, or an embedding in it, names a model, it is the one that was asked for."""
        for stream in streams(subject):
            chunks = expect.finished(stream, "a stream by every listed model").chunks
            inner = [chunk["embeddings"] for chunk in chunks if isinstance(chunk.get("embeddings"), list)]
            naming = [each for each in (*chunks, *itertools.chain(*inner)) if isinstance(each, Mapping)]
            named = [each["model"] for each in naming if each.get("model") is not None]
            expect.applicable(named, "no model is named")
            others = [each for each in named if each != stream.exchange.request["args"]["model"]]
            expect.that(not others, "the model asked for", f"{len(others)} other names", "chunk.model")


class ModelLabels:
    """The models in metrics."""

    @pytest.mark.requirement("COM-OBS-13")
    def test_an_unknown_model_is_no_label(self, subject: ListedModels) -> None:
        """A model that a client made up does not become a label of any operation that names one."""
        model = subject.unknown_model()
        hidden = {"model": model.rpartition("-")[2]}
        names = [name for name in subject.working() if "model" in subject.requests.minimal(name)]
        replies = [of_unknown(subject, name, model, secrets=hidden) for name in names]
        expect.applicable(replies, "no operation that names a model is offered, or works")
        for reply in replies:
            holds("COM-OBS-13", reply, subject)


def of_unknown(subject: ListedModels, name: str, model: str, **options: Any) -> Reply | StreamReply:
    """The answer to a plain request of an operation to a model that is not listed."""
    return subject.invoke(name, {**subject.requests.minimal(name), "model": model}, **options)


def streams(subject: ListedModels) -> list[StreamReply]:
    """The streams for a plain request of each listed model that streams, asked for once a run."""
    name = subject.principal_stream
    subject.require(name)
    subject.models()
    found = [subject.known_model(name, model) for model in subject.able_to(name)]
    return [stream for stream in found if isinstance(stream, StreamReply)]
