"""What mutants of several chapters are made with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pytest_corpus.reference.embedding.adapter import ReferenceEmbedding
from pytest_corpus.reference.embedding.answers import Embedding
from pytest_corpus.reference.embedding.arguments import Job
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.foundation import Chunk
from pytest_corpus.reference.request import Call

Envelope = dict[str, Any]
Result = dict[str, Any]
Outcome = Embedding | AdapterError


class Chunking(ReferenceEmbedding):
    """The reference with one place for what a chunk looks like."""

    def chunks(self, job: Job) -> Iterator[Chunk]:
        for chunk in super().chunks(job):
            yield self.shaped(job, chunk)

    def shaped(self, job: Job, chunk: Chunk) -> Chunk:
        """The chunk that is sent."""
        return chunk


def changed(call: Call, **values: Any) -> None:
    """Give a call other arguments than its request has."""
    call.args = replace(call.args, values={**call.args.values, **values})
