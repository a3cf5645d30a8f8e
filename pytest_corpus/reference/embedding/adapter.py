"""The embedded reference adapter for embeddings: hashed features instead of a model.

`foundation` has everything that is not specific to embeddings.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_corpus.reference.embedding.answers import Answers, Embedding
from pytest_corpus.reference.embedding.arguments import EmbeddingArguments, Job
from pytest_corpus.reference.embedding.statistics import Accounting, Statistics
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.foundation import Chunk, Provider, ReferenceAdapter, digest
from pytest_corpus.reference.request import Call, copy_json
from pytest_corpus.reference.telemetry import MetricsSink
from pytest_corpus.spec.operations import BY_OP


class ReferenceEmbedding(EmbeddingArguments, Answers, Accounting, ReferenceAdapter):
    """All seven operations of SPECIFICATION 10: single, batch and streaming embeddings, tokens, statistics."""

    component = "embedding"
    features: Mapping[str, bool] = {
        "supports_normalization": True,
        "normalizes_at_source": False,
        "supports_truncation": True,
        "supports_token_counting": True,
        "supports_batch_embedding": True,
        "supports_streaming": True,
        "supports_caching": True,
        "supports_deadline": True,
        "supports_multi_tenant": True,
        "idempotent_writes": True,
    }
    replayable = frozenset({"embed", "embed_batch"})
    fault_kinds: Mapping[str, str] = {**ReferenceAdapter.fault_kinds, "content_filtered": "ContentFiltered"}
    resource_scopes: Mapping[str, str] = {
        **ReferenceAdapter.resource_scopes,
        "TextTooLong": "token_limit",
        "ContentFiltered": "model",
    }

    def __init__(self, *, metrics: MetricsSink | None = None, provider: Provider | None = None) -> None:
        super().__init__(metrics=metrics, provider=provider)
        self.statistics = Statistics()

    async def capabilities(self, call: Call) -> dict[str, Any]:
        """Return the common facts, plus the models and limits of SPECIFICATION 10.5."""
        return {
            **await super().capabilities(call),
            "supported_models": list(self.models),
            "max_batch_size": self.max_batch_size,
            "max_text_length": self.max_text_length,
            "max_dimensions": max(self.models.values()),
        }

    async def embed(self, call: Call) -> dict[str, Any]:
        """Return `{embedding, model, text, tokens_used, truncated}`."""
        job = self.read_job(call)
        embedding = self.recall(call, job) or await self.ask(call, job)
        self.count_texts([job])
        return self.result(job, embedding)

    async def embed_batch(self, call: Call) -> dict[str, Any]:
        """Return `{embeddings, model, total_texts, total_tokens, failed_texts}`, in the order of the texts."""
        options = self.read_options(call)
        texts = self.read_texts(call)
        jobs, failures = self.batch_jobs(texts, options)
        done: dict[int, Embedding] = {}
        for index, outcome in zip(jobs, await self.outcomes(call, list(jobs.values())), strict=True):
            if isinstance(outcome, AdapterError):
                failures[index] = outcome
            else:
                done[index] = outcome
        self.count_texts([jobs[index] for index in done])
        return self.batch_result(options, texts, jobs, done, failures)

    async def stream_embed(self, call: Call) -> AsyncGenerator[Chunk, None]:
        """Yield a chunk `{embeddings, is_final, model}`, then a final chunk with `usage` and without embeddings."""
        job = self.read_job(call)
        await self.reach(call)
        for index, chunk in enumerate(self.chunks(job)):
            await self.reach(call, chunk=index)
            if chunk["is_final"]:
                self.count_texts([job])
            yield chunk

    async def count_tokens(self, call: Call) -> dict[str, int]:
        """Return `{tokens}`: the number of tokens in `text`, in an object, because edition 1.0.0 requires one (R10)."""
        if call.args.text("model") is not None:
            self.read_model(call)
        text = call.args.required_text("text")
        await self.reach(call)
        return {"tokens": self.token_count(text)}

    async def get_stats(self, call: Call) -> dict[str, float]:  # noqa: ARG002 - has the shape of all operations
        return self.statistics.report()

    async def outcomes(self, call: Call, jobs: Sequence[Job]) -> list[Embedding | AdapterError]:
        """Return the outcome of each job. The provider is only asked for texts that are not cached."""
        known = [self.recall(call, job) for job in jobs]
        missing = [job for job, embedding in zip(jobs, known, strict=True) if embedding is None]
        asked = iter(await self.ask_together(call, missing) if missing else [])
        return [embedding or next(asked) for embedding in known]

    async def ask_together(self, call: Call, jobs: Sequence[Job]) -> Sequence[Embedding | AdapterError]:
        """Ask the provider once for all jobs; if that fails, ask once for each job."""
        try:
            await self.reach(call, items=len(jobs))
        except AdapterError as fault:
            return await self.ask_one_by_one(call, jobs, fault)
        return [self.embed_job(call, job) for job in jobs]

    async def ask_one_by_one(
        self, call: Call, jobs: Sequence[Job], fault: AdapterError
    ) -> Sequence[Embedding | AdapterError]:
        """Process each job separately. If all fail, the texts are not the cause, and the batch fails with `fault`."""
        single = replace(call, operation=BY_OP["embedding.embed"])
        outcomes = [await self.attempt(single, job) for job in jobs]
        if all(isinstance(outcome, AdapterError) for outcome in outcomes):
            raise fault
        return outcomes

    async def attempt(self, call: Call, job: Job) -> Embedding | AdapterError:
        try:
            return await self.ask(call, job)
        except AdapterError as error:
            return error

    async def ask(self, call: Call, job: Job) -> Embedding:
        await self.reach(call)
        return self.embed_job(call, job)

    def embed_job(self, call: Call, job: Job) -> Embedding:
        """Return the provider's embedding of a job, and cache it."""
        embedding = self.embedding(job)
        if key := self.cache_key(call, job):
            self.cache[key] = copy_json(embedding)
        return embedding

    def recall(self, call: Call, job: Job) -> Embedding | None:
        """Return the cached embedding of a job, or None."""
        key = self.cache_key(call, job)
        if key is None:
            return None
        self.statistics.add_lookup(hit=key in self.cache)
        found: Embedding | None = copy_json(self.cache.get(key))
        return found

    def cache_key(self, call: Call, job: Job) -> str | None:
        """Return a hash over tenant, text and everything that the vector depends on (BEHAVIORAL_CONFORMANCE 6.6)."""
        if not self.features["supports_caching"]:
            return None
        options = job.options
        return digest([call.tenant_hash, options.model, options.normalize, options.truncate, job.text])
