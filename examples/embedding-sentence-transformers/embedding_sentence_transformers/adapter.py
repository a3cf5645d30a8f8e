"""The operations of `embedding` (SPECIFICATION 10): arguments are checked here, `provider.py` does the work."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .arguments import Arguments
from .errors import WireError
from .provider import Provider
from .wire import Call, Metrics, WireHandler


@dataclass(frozen=True)
class Options:
    """What all texts of a request share."""

    model: str
    truncate: bool


class Adapter(WireHandler):
    """A wire handler: `handle` and `handle_stream` are inherited, each operation is a method."""

    component = "embedding"
    unary = ("capabilities", "embed", "embed_batch", "count_tokens", "get_stats", "health")
    denied = ("stream_embed",)
    kinds: Mapping[str, str] = {"content_filtered": "ContentFiltered"}

    def __init__(self, provider: Provider, metrics: Metrics | None = None) -> None:
        super().__init__(metrics)
        self.provider = provider
        self.requests = self.texts = self.tokens = 0

    async def aclose(self) -> None:
        await self.provider.aclose()

    async def capabilities(self, call: Call) -> dict[str, Any]:
        """What is offered."""
        return {
            "server": "embedding-sentence-transformers",
            "version": "0.1.0",
            "protocol": "embedding/v1.0",
            "supported_models": list(self.provider.models),
            "max_dimensions": max(self.provider.models.values()),
            "max_text_length": self.provider.max_text_length,
            "max_batch_size": self.provider.max_batch_size,
            "supports_batch_embedding": True,
            "supports_normalization": True,
            "normalizes_at_source": True,
            "supports_truncation": True,
            "supports_token_counting": True,
            "concurrency": 64,
            "rate_limit_qps": 100,
            "supports_deadline": True,
            "supports_streaming": False,
            "supports_multi_tenant": False,
            "supports_caching": False,
            "idempotent_writes": False,
        }

    async def health(self, call: Call) -> dict[str, Any]:
        """A provider that is down is a report, not an error."""
        report = {"server": "embedding-sentence-transformers", "version": "0.1.0"}
        if await self.provider.is_up():
            return {"ok": True, "status": "ok", **report}
        return {"ok": False, "status": "down", "reason": "the provider does not answer", **report}

    async def embed(self, call: Call) -> dict[str, Any]:
        options = self.options(call.args)
        text, truncated = self.cut(call.args.text("text"), "args.text", options)
        (vector,) = await self.provider.embed("embedding.embed", [text])
        self.count([text])
        return {
            "embedding": self.embedding(vector, text, options),
            "model": options.model,
            "text": text,
            "tokens_used": self.provider.count_tokens(text),
            "truncated": truncated,
        }

    async def embed_batch(self, call: Call) -> dict[str, Any]:
        """A text that cannot be embedded refuses the whole batch (R14), so that none of it is ever lost."""
        options = self.options(call.args)
        texts: list[str] = call.args.list_of("a string", "texts", required=True)
        self.check_batch(call.args, len(texts))
        cut = [self.cut(text, f"args.texts[{index}]", options)[0] for index, text in enumerate(texts)]
        vectors = await self.provider.embed("embedding.embed_batch", cut)
        self.count(cut)
        return {
            "embeddings": [self.embedding(vector, text, options) for vector, text in zip(vectors, cut, strict=True)],
            "model": options.model,
            "total_texts": len(texts),
            "total_tokens": sum(map(self.provider.count_tokens, cut)),
            "failed_texts": [],
        }

    async def count_tokens(self, call: Call) -> dict[str, int]:
        if call.args.optional_text("model") is not None:
            self.model(call.args)
        return {"tokens": self.provider.count_tokens(call.args.text("text"))}

    async def get_stats(self, call: Call) -> dict[str, int]:
        return {"total_requests": self.requests, "total_texts": self.texts, "total_tokens": self.tokens}

    def options(self, args: Arguments) -> Options:
        args.flag("normalize", default=False)  # the model's vectors have length 1 either way
        return Options(self.model(args), args.flag("truncate", default=True))

    def model(self, args: Arguments) -> str:
        model = args.text("model")
        if model not in self.provider.models:
            raise args.invalid("model", "is not available", error="ModelNotAvailable", model=model)
        return model

    def check_batch(self, args: Arguments, size: int) -> None:
        most = self.provider.max_batch_size
        if size > most:
            reduction = math.ceil(100 - 100 * most / size)
            raise args.invalid(
                "texts", f"must be at most {most}", max_batch_size=most, suggested_batch_reduction=reduction
            )

    def cut(self, text: str, path: str, options: Options) -> tuple[str, bool]:
        """The text that will be embedded, and whether it had to be cut."""
        fitting = self.provider.fitting(text)
        if fitting != text and not options.truncate:
            limits = {"max_text_length": self.provider.max_text_length, "provided_length": len(text)}
            raise WireError("TextTooLong", f"{path} is longer than a text may be", **limits)
        return fitting, fitting != text

    def embedding(self, vector: list[float], text: str, options: Options) -> dict[str, Any]:
        return {"vector": vector, "text": text, "model": options.model, "dimensions": len(vector)}

    def count(self, texts: Sequence[str]) -> None:
        self.requests += 1
        self.texts += len(texts)
        self.tokens += sum(map(self.provider.count_tokens, texts))
