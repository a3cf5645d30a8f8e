"""Mistakes that embedding/test_embed_basic.py finds (EMB-STREAM)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pytest_corpus.reference.embedding.adapter import ReferenceEmbedding
from pytest_corpus.reference.embedding.arguments import Job
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.foundation import Chunk
from pytest_corpus.reference.request import Call

from .. import catches
from .shared import Chunking


@catches("EMB-STREAM-1")
class LastChunkSaysTruncated(Chunking):
    """It says in the last chunk whether the text was cut, where a chunk has no place for it."""

    def shaped(self, job: Job, chunk: Chunk) -> Chunk:
        return {**chunk, "truncated": job.truncated} if chunk["is_final"] else chunk


@catches("EMB-STREAM-1")
class LastChunkWithoutEmbeddings(Chunking):
    """It leaves `embeddings` out where there are none."""

    def shaped(self, job: Job, chunk: Chunk) -> Chunk:
        return chunk if chunk["embeddings"] else {key: value for key, value in chunk.items() if key != "embeddings"}


@catches("EMB-STREAM-1")
class ChunkIsAResult(Chunking):
    """It streams the result of `embed`, with one embedding that is not a list."""

    def shaped(self, job: Job, chunk: Chunk) -> Chunk:
        return {**chunk, "embeddings": chunk["embeddings"][0]} if chunk["embeddings"] else chunk


@catches("EMB-STREAM-2")
class NothingStreamed(Chunking):
    """It loses the embedding of a stream."""

    def shaped(self, job: Job, chunk: Chunk) -> Chunk:
        return {**chunk, "embeddings": []}


@catches("EMB-STREAM-3")
class StreamInLowerCase(ReferenceEmbedding):
    """It writes a text in capitals before it streams its embedding."""

    def chunks(self, job: Job) -> Iterator[Chunk]:
        for chunk in super().chunks(replace(job, text=job.text.upper())):
            yield {**chunk, "embeddings": [{**each, "text": job.text} for each in chunk["embeddings"]]}


@catches("EMB-STREAM-3")
class StreamOfTheFirstWord(ReferenceEmbedding):
    """It streams the embedding of the first word of a text."""

    def chunks(self, job: Job) -> Iterator[Chunk]:
        word = next(iter(job.text.split()), "")
        for chunk in super().chunks(replace(job, text=word)):
            yield {**chunk, "embeddings": [{**each, "text": job.text} for each in chunk["embeddings"]]}


@catches("EMB-STREAM-4")
class TotalOfOneMore(Chunking):
    """It counts the end of the text in the total alone."""

    def usage(self, job: Job) -> dict[str, int]:
        usage = super().usage(job)
        return {**usage, "total_tokens": usage["total_tokens"] + 1}


@catches("EMB-STREAM-5")
class SecondModelHasNoStream(ReferenceEmbedding):
    """It lists a model that embeds and does not stream."""

    def read_model(self, call: Call) -> str:
        model = super().read_model(call)
        if call.streaming and model == [*self.models][1]:
            raise AdapterError("NotSupported", "The model does not stream")
        return model


@catches("EMB-STREAM-6")
class ChunksNameADatedModel(Chunking):
    """It names the dated version of the model in its chunks."""

    def shaped(self, job: Job, chunk: Chunk) -> Chunk:
        return {**chunk, "model": f"{chunk['model']}-2024-05-13"}


@catches("EMB-STREAM-7")
class StreamedVectorsAreRounded(Chunking):
    """It rounds the vectors that it streams to one digit."""

    def shaped(self, job: Job, chunk: Chunk) -> Chunk:
        embeddings = [
            {**each, "vector": [round(component + 0.02, 1) for component in each["vector"]]}
            for each in chunk["embeddings"]
        ]
        return {**chunk, "embeddings": embeddings}
