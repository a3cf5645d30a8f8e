"""The embedded reference adapter for embeddings: hashed features instead of a model.

Everything that is not particular to embeddings is in `foundation`.
"""

from __future__ import annotations

import copy
import math
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_corpus.reference.embedding.feature_space import FeatureSpace, Vector, unit
from pytest_corpus.reference.embedding.statistics import Statistics
from pytest_corpus.reference.errors import AdapterError, invalid
from pytest_corpus.reference.foundation import Chunk, Provider, ReferenceAdapter, digest
from pytest_corpus.reference.request import Call
from pytest_corpus.reference.telemetry import MetricsSink
from pytest_corpus.spec.operations import BY_OP

Embedding = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Options:
    """What all texts of a request share."""

    model: str
    truncate: bool
    normalize: bool


@dataclass(frozen=True, slots=True)
class Job:
    """A checked text, cut to the limit where that was asked for, and what is to be done with it."""

    text: str
    truncated: bool
    options: Options


class ReferenceEmbedding(FeatureSpace, ReferenceAdapter):
    """All seven operations of SPECIFICATION 10: embeddings single, in batches and streamed, tokens, statistics."""

    component = "embedding"
    models: Mapping[str, int] = {"reference-large": 24, "reference-small": 16}
    """The dimensions of each model."""
    max_text_length = 512
    max_batch_size = 8
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
    counted_requests = frozenset({"embed", "embed_batch", "stream_embed"})
    fault_kinds: Mapping[str, str] = {**ReferenceAdapter.fault_kinds, "content_filtered": "ContentFiltered"}
    resource_scopes: Mapping[str, str] = {
        **ReferenceAdapter.resource_scopes,
        "TextTooLong": "token_limit",
        "ContentFiltered": "model",
    }

    def __init__(self, *, metrics: MetricsSink | None = None, provider: Provider | None = None) -> None:
        super().__init__(metrics=metrics, provider=provider)
        self.statistics = Statistics()

    # Operations

    async def capabilities(self, call: Call) -> dict[str, Any]:
        """The common facts, and the models and limits of SPECIFICATION 10.5."""
        return {
            **await super().capabilities(call),
            "supported_models": list(self.models),
            "max_batch_size": self.max_batch_size,
            "max_text_length": self.max_text_length,
            "max_dimensions": max(self.models.values()),
        }

    async def embed(self, call: Call) -> dict[str, Any]:
        """`{embedding, model, text, tokens_used, truncated}`."""
        job = self.read_job(call)
        embedding = self.recall(call, job) or await self.ask(call, job)
        self.account([job])
        return self.result(job, embedding)

    async def embed_batch(self, call: Call) -> dict[str, Any]:
        """`{embeddings, model, total_texts, total_tokens, failed_texts}`, both lists in the order of the texts."""
        options = self.read_options(call)
        texts = self.read_texts(call)
        jobs, failures = self.batch_jobs(texts, options)
        done: dict[int, Embedding] = {}
        for index, outcome in zip(jobs, await self.outcomes(call, list(jobs.values())), strict=True):
            if isinstance(outcome, AdapterError):
                failures[index] = outcome
            else:
                done[index] = outcome
        self.account([jobs[index] for index in done])
        return self.batch_result(options, texts, jobs, done, failures)

    async def stream_embed(self, call: Call) -> AsyncGenerator[Chunk, None]:
        """A chunk `{embeddings, is_final, model}`, then a final one without embeddings and with the `usage`."""
        job = self.read_job(call)
        await self.reach(call)
        for index, chunk in enumerate(self.chunks(job)):
            await self.reach(call, chunk=index)
            if chunk["is_final"]:
                self.account([job])
            yield chunk

    async def count_tokens(self, call: Call) -> dict[str, int]:
        """`{tokens}`: how many `text` has, in an object because edition 1.0.0 wants one (R10)."""
        if call.args.text("model") is not None:
            self.read_model(call)
        text = call.args.required_text("text")
        await self.reach(call)
        return {"tokens": self.tokens(text)}

    async def get_stats(self, call: Call) -> dict[str, float]:  # noqa: ARG002 - has the shape of all operations
        return self.statistics.report()

    # Reading arguments (SPECIFICATION 10.6)

    def read_job(self, call: Call) -> Job:
        """Read and check the arguments of `embed` and `stream_embed`."""
        options = self.read_options(call)
        return self.job(call.args.required_text("text"), "args.text", options)

    def read_options(self, call: Call) -> Options:
        model = self.read_model(call)
        truncate = call.args.flag("truncate", default=True)
        normalize = call.args.flag("normalize", default=False)
        if normalize:
            self.require("supports_normalization")
        return Options(model, truncate, normalize)

    def read_model(self, call: Call) -> str:
        model = call.args.required_text("model")
        if model not in self.models:
            raise self.unknown_model(model)
        call.labels["model"] = model  # a listed name: never what a client made up
        return model

    def unknown_model(self, model: str) -> AdapterError:
        rule = "is not available"
        return invalid("args.model", "MODEL_NOT_AVAILABLE", rule, error="ModelNotAvailable", model=model)

    def read_texts(self, call: Call) -> list[str]:
        """The texts of a batch; one that is not a string refuses the batch as a whole (ERRORS 6.2)."""
        texts: list[str] = replace(call.args, error="InputFormatError").items("texts", "a string", required=True)
        self.check_batch_size(len(texts))
        return texts

    def check_batch_size(self, size: int) -> None:
        if size > self.max_batch_size:
            raise invalid(
                "args.texts",
                "TOO_MANY",
                "hold more texts than a batch may",
                max_batch_size=self.max_batch_size,
                suggested_batch_reduction=math.ceil(100 - 100 * self.max_batch_size / size),
            )

    def job(self, text: str, path: str, options: Options) -> Job:
        """A text as it will be embedded: whole, or cut to the limit."""
        cut = self.cut(text)
        truncated = len(cut) < len(text)
        if truncated and not (options.truncate and self.features["supports_truncation"]):
            raise self.too_long(len(text), path)
        return Job(cut, truncated, options)

    def cut(self, text: str) -> str:
        return text[: self.max_text_length]

    def too_long(self, length: int, path: str) -> AdapterError:
        return invalid(
            path,
            "TEXT_TOO_LONG",
            "is longer than a text may be",
            error="TextTooLong",
            max_text_length=self.max_text_length,
            provided_length=length,
        )

    # Batches (SPECIFICATION 12.5, BEHAVIORAL_CONFORMANCE 6.6)

    def batch_jobs(self, texts: Sequence[str], options: Options) -> tuple[dict[int, Job], dict[int, AdapterError]]:
        """The texts that can be embedded and the refused ones, by index."""
        jobs: dict[int, Job] = {}
        failures: dict[int, AdapterError] = {}
        for index, text in enumerate(texts):
            try:
                jobs[index] = self.job(text, f"args.texts[{index}]", options)
            except AdapterError as error:
                failures[index] = error
        return jobs, failures

    async def outcomes(self, call: Call, jobs: Sequence[Job]) -> list[Embedding | AdapterError]:
        """What becomes of each job: the provider is asked for what the cache does not have."""
        known = [self.recall(call, job) for job in jobs]
        missing = [job for job, embedding in zip(jobs, known, strict=True) if embedding is None]
        asked = iter(await self.ask_together(call, missing) if missing else [])
        return [embedding or next(asked) for embedding in known]

    async def ask_together(self, call: Call, jobs: Sequence[Job]) -> Sequence[Embedding | AdapterError]:
        """One call of the provider for all jobs, or one for each where that fails."""
        try:
            await self.reach(call, items=len(jobs))
        except AdapterError as fault:
            return await self.ask_one_by_one(call, jobs, fault)
        return [self.embedded(call, job) for job in jobs]

    async def ask_one_by_one(
        self, call: Call, jobs: Sequence[Job], fault: AdapterError
    ) -> Sequence[Embedding | AdapterError]:
        """Each job by itself; where none succeeds it was no matter of the texts, and the batch fails with `fault`."""
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

    # Answers: where a real adapter reads what its provider said

    async def ask(self, call: Call, job: Job) -> Embedding:
        await self.reach(call)
        return self.embedded(call, job)

    def embedded(self, call: Call, job: Job) -> Embedding:
        """The provider's embedding, which the cache keeps."""
        embedding = self.embedding(job)
        if key := self.cache_key(call, job):
            self.cache[key] = copy.deepcopy(embedding)
        return embedding

    def embedding(self, job: Job) -> Embedding:
        """`embedding.types.vector`, valid under both editions (SCHEMA 4.3.2)."""
        vector = self.vector(job)
        return {"vector": vector, "text": job.text, "model": job.options.model, "dimensions": len(vector)}

    def vector(self, job: Job) -> Vector:
        """What the provider computes, normalized where that was asked for and is not done already."""
        vector = self.source_vector(job)
        at_source = self.features["normalizes_at_source"]
        return self.normalized(vector) if job.options.normalize and not at_source else vector

    def source_vector(self, job: Job) -> Vector:
        model = job.options.model
        vector = self.sum_of_features(job.text, model, self.models[model])
        return unit(vector) if self.features["normalizes_at_source"] else vector

    def normalized(self, vector: Vector) -> Vector:
        return unit(vector)

    def result(self, job: Job, embedding: Embedding) -> dict[str, Any]:
        """`embedding.types.result`, valid under both editions (SCHEMA 4.3.2)."""
        return {
            "embedding": embedding,
            "model": job.options.model,
            "text": job.text,
            "tokens_used": self.tokens(job.text),
            "truncated": job.truncated,
        }

    def batch_result(
        self,
        options: Options,
        texts: Sequence[str],
        jobs: Mapping[int, Job],
        done: Mapping[int, Embedding],
        failures: Mapping[int, AdapterError],
    ) -> dict[str, Any]:
        """`embedding.partial_success.result`, valid under both editions (SCHEMA 4.3.2)."""
        return {
            "embeddings": [done[index] for index in sorted(done)],
            "model": options.model,
            "total_texts": len(texts),
            "total_tokens": sum(self.tokens(jobs[index].text) for index in done),
            "failed_texts": [self.failed_text(index, texts[index], failures[index]) for index in sorted(failures)],
        }

    def failed_text(self, index: int, text: str, error: AdapterError) -> dict[str, Any]:
        return {"index": index, "text": text, "error": error.kind.name, "message": str(error)}

    def chunks(self, job: Job) -> Iterator[Chunk]:
        """`embedding.types.chunk` objects."""
        model = job.options.model
        yield {"embeddings": [self.embedding(job)], "is_final": False, "model": model}
        yield {"embeddings": [], "is_final": True, "usage": self.usage(job), "model": model}

    def usage(self, job: Job) -> dict[str, int]:
        tokens = self.tokens(job.text)
        return {"prompt_tokens": tokens, "total_tokens": tokens}

    # The cache and the statistics

    def recall(self, call: Call, job: Job) -> Embedding | None:
        """What the cache has for a job."""
        key = self.cache_key(call, job)
        if key is None:
            return None
        self.statistics.add_lookup(hit=key in self.cache)
        return copy.deepcopy(self.cache.get(key))

    def cache_key(self, call: Call, job: Job) -> str | None:
        """A hash over tenant, text and all that the vector depends on (BEHAVIORAL_CONFORMANCE 6.6)."""
        if not self.features["supports_caching"]:
            return None
        options = job.options
        return digest([call.tenant_hash, options.model, options.normalize, options.truncate, job.text])

    def account(self, jobs: Sequence[Job]) -> None:
        """Count the texts that were embedded."""
        for job in jobs:
            tokens = self.tokens(job.text)
            self.statistics.add_text(tokens)
            self.count("tokens_total", tokens, {"model": job.options.model})

    def observe(self, call: Call, outcome: str) -> None:
        if call.op in self.counted_requests:
            self.statistics.add_request(call.ms, ok=outcome == "OK")
        super().observe(call, outcome)
