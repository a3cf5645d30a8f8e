"""The answers of embedding operations. A real adapter would read its provider's results here."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_corpus.reference.embedding.arguments import EmbedOptions, Job
from pytest_corpus.reference.embedding.feature_space import FeatureSpace, Vector, unit_vector
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.foundation import Chunk

Embedding = dict[str, Any]


class Answers(FeatureSpace):
    """Embeds jobs, which are checked texts, and builds results, batch results and chunks."""

    models: Mapping[str, int]
    features: Mapping[str, bool]

    def embedding(self, job: Job) -> Embedding:
        """Return the embedding of a job as an `embedding.types.vector`, valid under both editions (SCHEMA 4.3.2)."""
        vector = self.vector(job)
        return {"vector": vector, "text": job.text, "model": job.options.model, "dimensions": len(vector)}

    def vector(self, job: Job) -> Vector:
        """Return the vector of a job, normalized if the request asks for it and the provider does not do it."""
        vector = self.source_vector(job)
        at_source = self.features["normalizes_at_source"]
        return self.normalize_vector(vector) if job.options.normalize and not at_source else vector

    def source_vector(self, job: Job) -> Vector:
        model = job.options.model
        vector = self.sum_of_features(job.text, model, self.models[model])
        return unit_vector(vector) if self.features["normalizes_at_source"] else vector

    def normalize_vector(self, vector: Vector) -> Vector:
        return unit_vector(vector)

    def result(self, job: Job, embedding: Embedding) -> dict[str, Any]:
        """Return an `embedding.types.result`, valid under both editions (SCHEMA 4.3.2)."""
        return {
            "embedding": embedding,
            "model": job.options.model,
            "text": job.text,
            "tokens_used": self.token_count(job.text),
            "truncated": job.truncated,
        }

    def batch_result(
        self,
        options: EmbedOptions,
        texts: Sequence[str],
        jobs: Mapping[int, Job],
        done: Mapping[int, Embedding],
        failures: Mapping[int, AdapterError],
    ) -> dict[str, Any]:
        """Return an `embedding.partial_success.result`, valid under both editions (SCHEMA 4.3.2)."""
        return {
            "embeddings": [done[index] for index in sorted(done)],
            "model": options.model,
            "total_texts": len(texts),
            "total_tokens": sum(self.token_count(jobs[index].text) for index in done),
            "failed_texts": [self.failed_text(index, texts[index], failures[index]) for index in sorted(failures)],
        }

    def failed_text(self, index: int, text: str, error: AdapterError) -> dict[str, Any]:
        return {"index": index, "text": text, "error": error.kind.name, "message": str(error)}

    def chunks(self, job: Job) -> Iterator[Chunk]:
        """Yield `embedding.types.chunk` objects."""
        model = job.options.model
        yield {"embeddings": [self.embedding(job)], "is_final": False, "model": model}
        yield {"embeddings": [], "is_final": True, "usage": self.usage(job), "model": model}

    def usage(self, job: Job) -> dict[str, int]:
        tokens = self.token_count(job.text)
        return {"prompt_tokens": tokens, "total_tokens": tokens}
