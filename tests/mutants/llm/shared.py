"""What mutants of several chapters are made with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_corpus.reference.foundation import Chunk
from pytest_corpus.reference.llm.adapter import ReferenceLLM, Reply
from pytest_corpus.reference.llm.arguments import Prompt
from pytest_corpus.reference.request import Call

Result = dict[str, Any]


class OpenModels(ReferenceLLM):
    """The reference with one place for what becomes of an unknown model."""

    def read_model(self, call: Call) -> str:
        if call.args.values.get("model") in (None, *self.models) or not self.concerns(call):
            return super().read_model(call)
        call.args.text("model")
        return self.unlisted()

    def concerns(self, call: Call) -> bool:
        """Whether the mistake is made in this call."""
        return call.op == "complete"

    def unlisted(self) -> str:
        """The model for one that is not listed."""
        return self.models[0]


class Chunking(ReferenceLLM):
    """The reference with one place for what a chunk looks like."""

    def chunks(self, prompt: Prompt, reply: Reply) -> Iterator[Chunk]:
        for chunk in super().chunks(prompt, reply):
            yield self.shaped(prompt, chunk)

    def shaped(self, prompt: Prompt, chunk: Chunk) -> Chunk:
        """The chunk that is sent."""
        return chunk
