"""Mistakes that embedding/test_cache_and_batch_fallback.py finds (COM-CACHE, COM-IDEM, EMB-CACHE, EMB-IDEM)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytest_corpus.reference.embedding.adapter import ReferenceEmbedding
from pytest_corpus.reference.embedding.answers import Embedding
from pytest_corpus.reference.embedding.arguments import Job
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.foundation import Provider, digest
from pytest_corpus.reference.request import Call
from pytest_corpus.reference.telemetry import MetricsSink

from .. import catches
from .shared import Result


class Keyed(ReferenceEmbedding):
    """A legal adapter that keeps vectors alone in its cache, and writes the rest of an answer anew."""

    def recall(self, call: Call, job: Job) -> Embedding | None:
        found = super().recall(call, job)
        return found and {**found, "text": job.text, "model": job.options.model}


@catches("EMB-CACHE-1", control=Keyed)
class KeyOfTheBeginning(Keyed):
    """It keys its cache by the first characters of a text."""

    def cache_key(self, call: Call, job: Job) -> str | None:
        return super().cache_key(call, replace(job, text=job.text[:80]))


@catches("EMB-CACHE-1", control=Keyed)
class KeyInLowerCase(Keyed):
    """It keys its cache by the text without regard to case and spaces."""

    def cache_key(self, call: Call, job: Job) -> str | None:
        return super().cache_key(call, replace(job, text=" ".join(job.text.lower().split())))


@catches("EMB-CACHE-1", control=Keyed)
class KeyOfBothEnds(Keyed):
    """It keys its cache by the length of a text, its beginning and its end."""

    def cache_key(self, call: Call, job: Job) -> str | None:
        return super().cache_key(call, replace(job, text=f"{len(job.text)}{job.text[:24]}{job.text[-24:]}"))


@catches("EMB-CACHE-2", control=Keyed)
class KeyWithoutModel(Keyed):
    """It leaves the model out of the key of its cache."""

    def cache_key(self, call: Call, job: Job) -> str | None:
        return super().cache_key(call, replace(job, options=replace(job.options, model="")))


@catches("EMB-CACHE-2", control=Keyed)
class BatchKeyWithoutModel(Keyed):
    """It leaves the model out of the key of its cache where it embeds a batch."""

    def cache_key(self, call: Call, job: Job) -> str | None:
        if call.args.values.get("texts") is None:
            return super().cache_key(call, job)
        return super().cache_key(call, replace(job, options=replace(job.options, model="")))


@catches("EMB-CACHE-3")
class KeyWithoutNormalize(ReferenceEmbedding):
    """It leaves `normalize` out of the key of its cache."""

    def cache_key(self, call: Call, job: Job) -> str | None:
        return super().cache_key(call, replace(job, options=replace(job.options, normalize=False)))


@catches("EMB-CACHE-4")
class FlagIsCached(ReferenceEmbedding):
    """It keeps the `truncated` flag of the first request with the vector."""

    def __init__(self, *, metrics: MetricsSink | None = None, provider: Provider | None = None) -> None:
        super().__init__(metrics=metrics, provider=provider)
        self.flags: dict[str, bool] = {}

    def result(self, job: Job, embedding: Embedding) -> Result:
        options = replace(job.options, truncate=True)
        flag = self.flags.setdefault(digest([options.model, options.normalize, job.text]), job.truncated)
        return {**super().result(job, embedding), "truncated": flag}


@catches("EMB-CACHE-4")
class FoundBeforeChecked(ReferenceEmbedding):
    """It looks a text up in its cache before it looks at its length, and so embeds what it may not cut."""

    def __init__(self, *, metrics: MetricsSink | None = None, provider: Provider | None = None) -> None:
        super().__init__(metrics=metrics, provider=provider)
        self.results: dict[str, Result] = {}

    async def embed(self, call: Call) -> Result:
        asked = {key: value for key, value in call.args.values.items() if key != "truncate"}
        key = digest([call.tenant_hash, asked])
        if key in self.results and isinstance(call.args.values.get("truncate", True), bool):
            return self.results[key]
        self.results[key] = await super().embed(call)
        return self.results[key]


@catches("EMB-IDEM-1")
class ReplayRefused(ReferenceEmbedding):
    """It refuses an idempotency key that it has seen."""

    async def perform(self, call: Call) -> Any:
        if self.replay_key(call) in self.replays:
            raise AdapterError("BadRequest", "The request was made before")
        return await super().perform(call)


@catches("EMB-IDEM-1")
class ReplayIsAnEmptyBatch(ReferenceEmbedding):
    """It says of a batch that it has seen that there is nothing left to do."""

    async def perform(self, call: Call) -> Any:
        known = self.replay_key(call) in self.replays
        result = await super().perform(call)
        return {**result, "embeddings": [], "total_texts": 0} if known and call.op == "embed_batch" else result


@catches("EMB-IDEM-1")
class ReplayForgetsFailures(ReferenceEmbedding):
    """It replays the embeddings of a batch and not its failures."""

    async def perform(self, call: Call) -> Any:
        known = self.replay_key(call) in self.replays
        result = await super().perform(call)
        return {**result, "failed_texts": []} if known and call.op == "embed_batch" else result


@catches("COM-IDEM-1")
class ReplayedByModel(ReferenceEmbedding):
    """It replays by tenant, key and model, whatever the text."""

    def replay_key(self, call: Call) -> str | None:
        key = super().replay_key(call)
        return key and digest([call.tenant_hash, call.op, call.args.values.get("model"), call.idempotency_key])


@catches("COM-IDEM-1")
class ReplayedByTexts(ReferenceEmbedding):
    """It replays by tenant, key and texts, whether normalized or not and of whatever model."""

    def replay_key(self, call: Call) -> str | None:
        key, args = super().replay_key(call), call.args.values
        return key and digest([call.tenant_hash, call.op, args.get("text"), args.get("texts"), call.idempotency_key])


@catches("COM-IDEM-1")
class ReplayedByTheNumberOfTexts(ReferenceEmbedding):
    """It replays a batch by tenant, key and the number of its texts."""

    def replay_key(self, call: Call) -> str | None:
        key = super().replay_key(call)
        if key is None or call.op != "embed_batch":
            return key
        return digest([call.tenant_hash, len(call.args.values.get("texts") or ()), call.idempotency_key])


@catches("COM-IDEM-2")
class ReplayedForAnyTenant(ReferenceEmbedding):
    """It replays by key and arguments, whoever asks."""

    def replay_key(self, call: Call) -> str | None:
        key = super().replay_key(call)
        return key and digest([call.op, call.args.values, call.idempotency_key])


@catches("COM-IDEM-2")
class BatchReplayedForAnyTenant(ReferenceEmbedding):
    """It replays a batch by key and arguments, whoever asks."""

    def replay_key(self, call: Call) -> str | None:
        key = super().replay_key(call)
        return key and (digest([call.args.values, call.idempotency_key]) if call.op == "embed_batch" else key)


@catches("COM-CACHE-1")
class CachedForAnyTenant(ReferenceEmbedding):
    """It leaves the tenant out of the key of its cache."""

    def cache_key(self, call: Call, job: Job) -> str | None:
        return super().cache_key(replace(call, tenant_hash=None), job)


@catches("COM-CACHE-1")
class BatchCachedForAnyTenant(ReferenceEmbedding):
    """It leaves the tenant out of the key of its cache where it embeds a batch."""

    def cache_key(self, call: Call, job: Job) -> str | None:
        batch = call.args.values.get("texts") is not None
        return super().cache_key(replace(call, tenant_hash=None) if batch else call, job)


class Numbered(ReferenceEmbedding):
    """A legal variant that numbers its answers, as a provider does."""

    number = 0

    async def embed(self, call: Call) -> Any:
        result = await super().embed(call)
        self.number += 1
        return {**result, "provider_specific": {"answer": self.number}}


@catches("EMB-IDEM-1")
class ReplayCostsNothing(ReferenceEmbedding):
    """It counts no tokens for the replay of a single text."""

    async def perform(self, call: Call) -> Any:
        known = self.replay_key(call) in self.replays
        result = await super().perform(call)
        return {**result, "tokens_used": 0} if known and call.op == "embed" else result


@catches("COM-IDEM-4", control=Numbered)
class FirstAnswersAreLookedForTooSoon(Numbered):
    """It looks for a first answer before the first call has come to one."""

    async def perform(self, call: Call) -> Any:
        key = self.replay_key(call)
        if key is None or key in self.replays:
            return await super().perform(call)
        self.replays[key] = await getattr(self, call.op)(call)
        return self.replays[key]


@catches("COM-IDEM-5")
class FailuresAreReplayed(ReferenceEmbedding):
    """It keeps a failure under its key, and answers with it again."""

    async def perform(self, call: Call) -> Any:
        key = self.replay_key(call)
        if key is not None and isinstance(failure := self.replays.get(key), AdapterError):
            raise failure
        try:
            return await super().perform(call)
        except AdapterError as failure:
            if key is not None:
                self.replays[key] = failure
            raise
