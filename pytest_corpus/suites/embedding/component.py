"""The embedding component as its suite speaks to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.audit import payload_problem
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.fixtures import SUBJECT
from pytest_corpus.kit.outcomes import Blocked, NotApplicable, NotAssessed, Undecided, Violation
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.shared import Shared
from pytest_corpus.spec.errors import UNKNOWN_MODEL
from pytest_corpus.suites.embedding.answers import adds_up, embeddings_of, statistics_problems, streamed_embeddings
from pytest_corpus.suites.embedding.texts import FILLER, MOST_LENGTH, Texts
from pytest_corpus.suites.embedding.vectorless import without_vector
from pytest_corpus.suites.embedding.vectors import FAR, Vector, distance, is_number, vector_of

OPERATIONS = ("embed", "embed_batch", "stream_embed")
"""The operations that embed."""

MOST_MODELS = 5
"""Listed models that are tried; a catalogue may be long, and each call costs."""


EVERY_MODEL = {
    "embed": "EMB-MODEL-1",
    "embed_batch": "EMB-BATCH-10",
    "stream_embed": "EMB-STREAM-5",
    "count_tokens": "EMB-TOKENS-5",
}
"""The requirement that says that an operation works for every listed model."""


@dataclass(slots=True)
class EmbeddingShared(Shared):
    """The model of plain requests, and the answers and vectors that are asked for once."""

    model: str | None = None
    tried: dict[tuple[str, str], Reply | StreamReply] = field(default_factory=dict)
    vectors: dict[tuple[Any, ...], list[float]] = field(default_factory=dict)


class Embedding(Texts):
    """Requests of the embedding component. Texts are kept within the stated limits."""

    component = "embedding"
    principal = "embed"
    principal_stream = "stream_embed"
    checked = "EMB-ARGS-1"
    content = ("embeddings",)
    core: Mapping[str, str] = {
        **Subject.core,
        "embed": "EMB-EMBED-1",
        "get_stats": "EMB-STATS-1",
    }
    payloads: Mapping[str, str] = {
        "capabilities": "COM-CAP-1",
        "health": "COM-HEALTH-1",
        "embed": "EMB-EMBED-1",
        "embed_batch": "EMB-BATCH-1",
        "stream_embed": "EMB-STREAM-1",
        "count_tokens": "EMB-TOKENS-1",
        "get_stats": "EMB-STATS-1",
    }

    shared_type = EmbeddingShared
    shared: EmbeddingShared

    # -- what the adapter says of itself ---------------------------------------------------------------

    @property
    def model(self) -> str:
        """The model that plain requests name: the first listed one; of an open set (R13) one that health knows."""
        if self.shared.model is None:
            self.shared.model = self._find_model()
        return self.shared.model

    def _find_model(self) -> str:
        if self.capabilities.models:
            return self.capabilities.models[0]
        default = self.capabilities.document.get("default_model")
        if isinstance(default, str) and default:
            return default
        health = self.call("health", {}).result
        known = health.get("models") if isinstance(health, Mapping) else None
        names = [name for name in known if isinstance(name, str)] if isinstance(known, (Mapping, list)) else []
        return names[0] if names else "default"

    # -- requests --------------------------------------------------------------------------------------

    def minimal(self, name: str) -> dict[str, Any]:
        if name not in (*OPERATIONS, "count_tokens"):
            return {}
        text = self.fit("hi")
        return {**({"texts": [text]} if name == "embed_batch" else {"text": text}), "model": self.model}

    def with_text(self, name: str, text: str, **changed: Any) -> dict[str, Any]:
        """The arguments of an operation for this text."""
        key = {"texts": [text]} if name == "embed_batch" else {"text": text}
        return {**self.minimal(name), **key, **changed}

    def distinct(self, name: str) -> dict[str, Any]:
        return self.with_text(name, self.unique()) if "model" in self.minimal(name) else self.minimal(name)

    def long(self, name: str) -> dict[str, Any]:
        if "model" not in self.minimal(name) or self.small:
            return self.distinct(name)
        return self.with_text(name, f"{self.unique()} {self.fit(FILLER)}"[: self.limit])

    def wrong_types(self, name: str) -> dict[str, Any]:
        if name in ("embed", "stream_embed", "count_tokens"):
            return {**self.minimal(name), "text": 7}
        return {**self.minimal(name), "texts": "hi"} if name == "embed_batch" else {}

    def requests_with_number(self, number: float) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
        found: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
            (name, {**self.minimal(name), "text": number}, {}) for name in ("embed", "stream_embed", "count_tokens")
        ]
        return [*found, *((name, self.minimal(name), {"deadline_ms": number}) for name in self.deadlined())]

    def requests_with_integer(self, number: int) -> list[tuple[str, dict[str, Any]]]:
        raise NotApplicable(f"no operation takes a whole number such as {number}")

    def distinguishable(self) -> list[dict[str, Any]]:
        self.require("embed")
        many = max(2, min(8, self.capabilities.limit("concurrency") or 8))
        texts = [self.unique() for _ in range(many)]
        requests = [self.envelope("embed", self.with_text("embed", text)) for text in texts]
        if many >= 4 and self.works("embed_batch"):
            half = self.envelope("embed_batch", {**self.minimal("embed_batch"), "texts": texts[: self.room(2)]})
            requests[-1] = half
        if len(self.capabilities.models) > 1:
            requests[0]["args"]["model"] = self.capabilities.models[-1]
        return requests

    def fingerprint(self, reply: Reply) -> Any:
        result = expect.success(reply, "the answer that the request gets alone")
        found = [vector_of(each) for each in embeddings_of(result)]
        return tuple(tuple(vector or ()) for vector in found)

    def requests_with_canaries(
        self, *, refused: bool
    ) -> list[tuple[str, dict[str, Any], dict[str, Any], dict[str, str]]]:
        text = self.canary()
        requests: list[tuple[str, dict[str, Any], dict[str, Any]]]
        if not refused:
            requests = [(name, self.with_text(name, text), {}) for name in (*OPERATIONS, "count_tokens")]
            if self.capabilities.flag("supports_normalization") is True:
                requests += [(name, self.with_text(name, text, normalize=True), {}) for name in OPERATIONS]
            if self.room(3) == 3:
                requests.append(("embed_batch", {**self.minimal("embed_batch"), "texts": ["a", text, text]}, {}))
            return [(name, args, ctx, {"content": text}) for name, args, ctx in requests]
        expired = {"deadline_ms": self.in_ms(-60_000)}
        wrong: list[dict[str, Any]] = [{"text": [text]}, {"text": {text: 1}}, {"text": text, "model": [text]}]
        wrong += [{"text": text, "truncate": text}, {"text": text, "normalize": {"a": text}}]
        wrong += [{"text": text, "model": self.unknown_model()}] if self.capabilities.models else []
        if self.limit is not None and self.limit <= MOST_LENGTH:
            wrong.append({"text": f"{text} {FILLER * (self.limit // len(FILLER) + 1)}", "truncate": False})
        requests = [(name, self.batched(name, args), {}) for name in OPERATIONS for args in wrong]
        requests += [(name, self.with_text(name, text), expired) for name in (*OPERATIONS, "count_tokens")]
        requests += [("count_tokens", {**self.minimal("count_tokens"), "text": [text]}, {})]
        requests += [("embed_batch", {**self.minimal("embed_batch"), "texts": text}, {})]
        most = self.capabilities.limit("max_batch_size") or MOST_LENGTH
        if most < 1_000:
            requests.append(("embed_batch", {**self.minimal("embed_batch"), "texts": [text] * (most + 1)}, {}))
        return [(name, args, ctx, {"content": text}) for name, args, ctx in requests]

    def batched(self, name: str, args: dict[str, Any]) -> dict[str, Any]:
        """The arguments of an operation that embeds, given those of `embed`."""
        if name == "embed_batch":
            args = {("texts" if key == "text" else key): [args[key]] if key == "text" else args[key] for key in args}
        return {**self.minimal(name), **args}

    def components(self, text: str) -> dict[str, str]:
        """The digits of a vector's components, as secrets: a vector is content too."""
        vector = vector_of(self.embedding(self.call("embed", self.with_text("embed", text)))) or []
        digits = [repr(value).partition(".")[2] for value in vector]
        long = [tail for tail in digits if tail.isdigit() and len(tail) >= 12][:3]
        return {f"content of the vector {number}": tail[-12:] for number, tail in enumerate(long)}

    # -- calls -----------------------------------------------------------------------------------------

    def embed(self, text: str, **changed: Any) -> Reply:
        """Embed a text with some arguments changed."""
        return self.call("embed", self.with_text("embed", text, **changed))

    def batch(self, texts: list[str], **changed: Any) -> Reply:
        """Embed a batch of texts with some arguments changed."""
        return self.call("embed_batch", {**self.minimal("embed_batch"), "texts": texts, **changed})

    def streamed(self, text: str, **changed: Any) -> StreamReply:
        """Stream the embedding of a text with some arguments changed."""
        return self.stream("stream_embed", self.with_text("stream_embed", text, **changed))

    def ask(self, name: str, text: str, **changed: Any) -> Reply | StreamReply:
        """Embed one text by any operation that embeds."""
        return self.invoke(name, self.with_text(name, text, **changed))

    def embedding(self, reply: Reply | StreamReply) -> Mapping[str, Any]:
        """The first embedding of an answer; empty where there is none."""
        found = streamed_embeddings(reply) if isinstance(reply, StreamReply) else embeddings_of(reply.result)
        return found[0] if found else {}

    def vector(self, name: str, text: str, **changed: Any) -> list[float]:
        """The vector that an operation gives to a text.

        Raises:
            Undecided: it gives none, which may be the finding of another requirement.
        """
        reply = self.ask(name, text, **changed)
        found = vector_of(self.embedding(reply))
        if found is None:
            raise without_vector(self, name, text, reply, changed)
        return found

    def own_vectors(self, texts: Sequence[str], **changed: Any) -> dict[str, list[float]]:
        """The vector that each text gets in a batch of its own, of an instance that was not asked before."""
        keys = {text: (text, *sorted(changed.items())) for text in texts}
        missing = [text for text, key in keys.items() if key not in self.shared.vectors]
        other = self.fresh() if missing else self
        for text in missing:
            self.shared.vectors[keys[text]] = other.vector("embed_batch", text, **changed)
        return {text: self.shared.vectors[key] for text, key in keys.items()}

    # -- what can be relied on -------------------------------------------------------------------------

    def _try(self, name: str) -> Undecided | None:
        obstacle = super()._try(name)
        if isinstance(obstacle, Blocked) and not self.capabilities.models and "model" in self.minimal(name):
            reply = self.invoke(name)
            if reply.is_a(*UNKNOWN_MODEL[:3]):
                return NotAssessed("capabilities list no models, and none is known that could be asked for")
        return obstacle

    def backed(self, *, streaming: bool) -> list[str]:
        """The operations that reach the provider, but for batches, which may report a failure item by item (R14)."""
        return [name for name in super().backed(streaming=streaming) if name != "embed_batch"]

    def able(self, name: str = "embed") -> list[str]:
        """The listed models, as many as are tried, but for those whose entry denies what the operation needs.

        Where none are listed, the one that plain requests name.

        Raises:
            Blocked: `embed`, or the operation, refuses one of them.
        """
        self.require("embed")
        flag = self.operation(name).capability or ""
        models = [model for model in self.capabilities.models if flag not in self.capabilities.denials(model)]
        if self.capabilities.models and not models:
            raise NotApplicable(f"every listed model denies {flag}")
        for operation in dict.fromkeys(("embed", name)):
            for model in models[:MOST_MODELS] if self.works(operation) else ():
                if (operation, model) not in self.shared.tried:
                    self.shared.tried[operation, model] = self.invoke(
                        operation, {**self.minimal(operation), "model": model}
                    )
                if (tried := self.shared.tried[operation, model]).is_error:
                    said = f"{operation} of a listed model is answered with {tried}"
                    raise Blocked(EVERY_MODEL[operation], said, evidence=tried.exchange)
        return models[:MOST_MODELS] if self.capabilities.models else [self.model]

    def refusing(self, argument: str) -> tuple[str, ...]:
        """The classes that refuse a value of the wrong type: NOT_SUPPORTED too of an option that is not offered."""
        flag = {"normalize": "supports_normalization", "truncate": "supports_truncation"}.get(argument)
        unclaimed = flag is not None and self.capabilities.flag(flag) is not True
        return ("BadRequest", "NotSupported") if unclaimed else ("BadRequest",)

    def normalizes(self) -> None:
        """Go on only where normalization is offered.

        Raises:
            NotApplicable: capabilities deny it, or it is answered with NOT_SUPPORTED unclaimed.
        """
        self.require("embed")
        flag = self.capabilities.flag("supports_normalization")
        if flag is False or (flag is None and self.embed(self.fit("hi"), normalize=True).is_a("NotSupported")):
            raise NotApplicable("normalization is not offered")

    @cached_property
    def noise(self) -> float:
        """How far two embeddings of one text are apart that no cache makes equal, as far as can be seen."""
        text = self.unique()
        fresh = self.fresh()
        if fresh.client is not self.client:
            return distance(self.vector("embed", text), fresh.vector("embed", text))
        args = self.with_text("embed", text)
        contexts: tuple[dict[str, Any], ...] = ({}, {"tenant": f"tenant-{self.canary()}"})
        one, other = (vector_of(self.embedding(self.call("embed", args, ctx))) or [] for ctx in contexts)
        apart = distance(one, other)
        return apart if apart < FAR else 0.0

    def same(self, one: Vector, other: Vector, slack: float = 1e-3) -> bool:
        """Whether two vectors are renderings of the same one."""
        return distance(one, other) <= slack + 10 * self.noise

    def unknown_model(self) -> str:
        """A name that is surely not listed.

        Raises:
            NotApplicable: capabilities list no models.
        """
        self.models()
        return f"no-such-model-{self.canary()}"

    def unknown_models(self) -> tuple[str, ...]:
        """Names that are surely not listed: a strange one, and one that begins like a listed one.

        Raises:
            NotApplicable: capabilities list no models.
        """
        return self.unknown_model(), f"{self.models()[0]}-{self.canary()}"

    def tidy(self) -> None:
        """Remove what was made: an embedding leaves nothing behind."""

    # -- what holds for every answer -------------------------------------------------------------------

    def audit_payload(self, name: str, result: Any) -> Iterator[tuple[str, Violation]]:
        if name == "count_tokens":
            for violation in self.token_problems(result):
                yield "EMB-TOKENS-1", violation
        elif name in ("capabilities", "health", "get_stats"):
            if not isinstance(result, Mapping):
                yield self.payloads[name], Violation("an object", type(result).__name__, "result")
            elif name == "get_stats":
                yield from statistics_problems(result)
        elif name in ("embed", "embed_batch"):
            schema = self.operation(name).payload or ""
            if problem := payload_problem(schema, result, self.settings.edition):
                yield self.payloads[name], problem
            yield from self._sizes(embeddings_of(result))

    def audit_chunk(self, _name: str, chunk: Mapping[str, Any]) -> Iterator[tuple[str, Violation]]:
        found = chunk.get("embeddings")
        yield from self._sizes([each for each in found if isinstance(each, Mapping)] if isinstance(found, list) else [])
        if not adds_up(chunk.get("usage")):
            yield "EMB-STREAM-4", Violation("prompt_tokens + completion_tokens", "another total", "usage")

    def _sizes(self, embeddings: list[Mapping[str, Any]]) -> Iterator[tuple[str, Violation]]:
        most = self.capabilities.limit("max_dimensions")
        for embedding in embeddings:
            vector, stated = embedding.get("vector"), embedding.get("dimensions")
            if not isinstance(vector, list):
                continue
            if is_number(stated) and stated != len(vector):
                yield "EMB-EMBED-2", Violation(f"{len(vector)}, the length of the vector", f"{stated}", "dimensions")
            if most is not None and len(vector) > most:
                yield "EMB-DIM-2", Violation(f"at most {most} dimensions", f"{len(vector)}", "vector")


@pytest.fixture
def embedding(request: pytest.FixtureRequest) -> Embedding:
    """The embedding component under test."""
    found = request.node.stash[SUBJECT]
    assert isinstance(found, Embedding)
    return found


COMPONENT = Embedding
