"""The embedding component as tests use it."""

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import remembered_by_all
from pytest_corpus.kit.audit.auditor import ComponentAuditor
from pytest_corpus.kit.component import Parts
from pytest_corpus.kit.faults import ProviderFaults
from pytest_corpus.kit.fixtures import fixture_of
from pytest_corpus.kit.judgement import reading_separately
from pytest_corpus.kit.outcomes import Blocked, NotApplicable, NotAssessed, Undecided, Violation, Violations
from pytest_corpus.kit.prerequisites import Prerequisites
from pytest_corpus.redaction import describe_word
from pytest_corpus.spec.errors import MODEL_ERRORS
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.spec.operations import Operation
from pytest_corpus.suites.embedding.support.answers import (
    FAR,
    Vector,
    distance,
    embeddings_of,
    is_number,
    statistics_problems,
    vector_of,
)
from pytest_corpus.suites.embedding.support.requests import EmbeddingCalls, EmbeddingRequests
from pytest_corpus.suites.embedding.support.texts import CHARACTERS_IN_A_TOKEN, MOST_LENGTH, EmbeddingShared, Texts
from pytest_corpus.suites.shared.claims.tokens import has_true_total
from pytest_corpus.suites.shared.contexts import new_tenant_context

MOST_MODELS = 5
"""The suite tries at most this many listed models; a catalogue may be long, and each call costs money."""

EVERY_MODEL = {
    "embed": "EMB-MODEL-1",
    "embed_batch": "EMB-BATCH-10",
    "stream_embed": "EMB-STREAM-5",
    "count_tokens": "EMB-TOKENS-5",
}
"""The requirement that an operation works for every listed model."""


class EmbeddingPrerequisites(Prerequisites):
    """Finds out if tests can rely on an operation, which needs a model that the adapter knows."""

    _calls: Texts

    def obstacle(self, name: str) -> Undecided | None:
        obstacle = super().obstacle(name)
        unlisted = not self._calls.capabilities.models and "model" in self._calls.requests.minimal(name)
        if isinstance(obstacle, Blocked) and unlisted and self._calls.invoke(name).is_a(*MODEL_ERRORS):
            return NotAssessed(Obstacle.UNKNOWN_MODELS)
        return obstacle


class EmbeddingFaults(ProviderFaults):
    """Plans faults at the provider, but not for batches: a batch may report a failure for each item (R14)."""

    def backed_operations(self, *, streaming: bool) -> list[str]:
        """Return the operations that call the provider, except `embed_batch`."""
        return [name for name in super().backed_operations(streaming=streaming) if name != "embed_batch"]


class EmbeddingAuditor(ComponentAuditor):
    """Checks the payloads of the embedding component."""

    _calls: EmbeddingCalls
    content = ("embeddings",)

    def result_findings(self, operation: Operation, result: Any) -> Violations:
        name = operation.name
        if name == "count_tokens":
            for violation in self._calls.token_problems(result):
                yield "EMB-TOKENS-1", violation
        elif name in ("capabilities", "health", "get_stats"):
            if not isinstance(result, Mapping):
                yield operation.shaped, Violation("an object", describe_word(result), "result")
            elif name == "get_stats":
                yield from statistics_problems(result)

    def call_findings(self, exchange: Exchange, answers: Sequence[Any]) -> Violations:
        """Yield the violations that concern dimensions, even if other keys of the result violate the schema."""
        if exchange.op in ("embedding.embed", "embedding.embed_batch"):
            for result in answers:
                yield from self._dimension_problems(embeddings_of(result))

    def chunk_findings(self, chunk: Mapping[str, Any]) -> Violations:
        yield from self._dimension_problems(embeddings_of({"embedding": None, **chunk}))
        if not has_true_total(chunk.get("usage")):
            yield "EMB-STREAM-4", Violation("prompt_tokens + completion_tokens", "another total", "usage")

    def _dimension_problems(self, embeddings: list[Mapping[str, Any]]) -> Violations:
        most = self._calls.capabilities.limit("max_dimensions")
        for embedding in embeddings:
            vector, stated = embedding.get("vector"), embedding.get("dimensions")
            if not isinstance(vector, list):
                continue
            if is_number(stated) and stated != len(vector):
                yield "EMB-EMBED-2", Violation(f"{len(vector)}, the length of the vector", f"{stated}", "dimensions")
            if most is not None and len(vector) > most:
                yield "EMB-DIM-2", Violation(f"at most {most} dimensions", f"{len(vector)}", "vector")


class Embedding(EmbeddingCalls):
    """The embedding component: its models, its limits and the precision of its vectors."""

    parts = Parts(EmbeddingRequests, EmbeddingShared, EmbeddingFaults, EmbeddingPrerequisites, auditor=EmbeddingAuditor)

    # -- what can be relied on -------------------------------------------------------------------------

    @reading_separately()
    def models_able_to(self, name: str = "embed") -> list[str]:
        """Return the first listed models, without models that deny a feature which the operation needs.

        If no models are listed, return the model of plain requests.

        Raises:
            Blocked: `embed` or the operation refuses one of the models.
        """
        self.require(name, "embed")
        flag = self.operation(name).capability or ""
        models = [model for model in self.capabilities.models if flag not in self.capabilities.denied_flags(model)]
        expect.applicable(models or not self.capabilities.models, f"every listed model denies {flag}")
        for operation in dict.fromkeys(("embed", name)):
            for model in models[:MOST_MODELS]:
                if (tried := self.ask_once(operation, self.cut_to_limit("hi"), model=model)).is_error:
                    said = f"{operation} of a listed model is answered with {tried}"
                    raise Blocked(EVERY_MODEL[operation], said, judged_on=(tried.exchange,))
        return models[:MOST_MODELS] if self.capabilities.models else [self.model]

    @property
    @reading_separately()
    @remembered_by_all
    def counts_characters(self) -> bool:
        """True if `max_text_length` counts characters: a text of this length is accepted, a longer text is refused.

        An adapter that miscounts by one is allowed: it embeds one character more and refuses two more.
        """
        limit = self.stated_limit()
        just, more = (self.embed(self.text_of(length), truncate=False) for length in (limit, limit + 1))
        if more.is_a("BadRequest", "NotSupported") and not just.is_error:
            return True
        result = self.embed(self.text_of(limit + 1), truncate=True).result
        if isinstance(result, Mapping) and result.get("truncated") is True:
            return True
        is_whole = more.is_success and not self.text_of(limit + 1).endswith(" ")  # a blank at the end may not count
        return is_whole and self.embed(self.text_of(limit + 2), truncate=False).is_a("TextTooLong")

    def length_above_limit(self, more: int = 1) -> int:
        """Return the length of an ASCII text that exceeds `max_text_length` by `more`, in any unit of the limit
        (R120).

        Raises:
            NotApplicable: no limit is stated, or the limit is too large to exceed.
        """
        limit = self.stated_limit()
        if self.counts_characters:
            return limit + more
        if CHARACTERS_IN_A_TOKEN * limit > MOST_LENGTH:
            raise NotApplicable(f"a text of {CHARACTERS_IN_A_TOKEN * limit} characters is too long for a test")
        return CHARACTERS_IN_A_TOKEN * limit + more

    @reading_separately()
    def require_normalization(self) -> None:
        """Check that normalization is offered: not denied, and not answered with NOT_SUPPORTED."""
        self.require("embed")
        flag = self.capabilities.flag("supports_normalization")
        if flag is False or (
            flag is None and self.ask_once("embed", self.cut_to_limit("hi"), normalize=True).is_a("NotSupported")
        ):
            raise NotApplicable("normalization is not offered")

    @property
    def noise(self) -> float:
        """The distance between two embeddings of the same text, both computed and not read from a cache."""
        with self.client.provider.paused():
            return self.shared.find_once("noise", self._find_noise)

    def _find_noise(self) -> float:
        text = self.unique()
        fresh = self.fresh()
        if fresh.client is not self.client:
            return distance(self.vector("embed", text), fresh.vector("embed", text))
        args = self.requests.with_text("embed", text)
        contexts: tuple[dict[str, Any], ...] = ({}, new_tenant_context())
        one, other = (vector_of(self.embedding(self.call("embed", args, ctx))) or [] for ctx in contexts)
        apart = distance(one, other)
        return apart if apart < FAR else 0.0

    def are_same(self, one: Vector, other: Vector, slack: float = 1e-3) -> bool:
        """True if two vectors are the same except for rounding and noise."""
        return distance(one, other) <= slack + 10 * self.noise


embedding = fixture_of(Embedding)

COMPONENT = Embedding
