"""The operations of `embedding` (SPECIFICATION 10): arguments are checked here, the provider does the work."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from .arguments import Arguments
from .errors import Failures, WireError
from .provider import Provider
from .wire import Call, WireHandler


class EmbeddingProvider(Provider, ABC):
    """The models with their dimensions, and the limits.

    Attributes:
        max_text_length: in characters.
        normalizes: vectors have length 1 without a request for it.
    """

    component = "embedding"
    models: Mapping[str, int] = {}
    max_text_length = 0
    max_batch_size = 0
    normalizes = False

    @abstractmethod
    async def embed(self, op: str, model: str, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return a vector for each text, in their order."""

    @abstractmethod
    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text."""

    def fitting(self, text: str) -> str:
        """Return the beginning of a text that is not too long to be embedded."""
        return text[: self.max_text_length]


class EmbeddingAdapter(WireHandler[EmbeddingProvider]):
    """The wire handler of `embedding`. To offer `stream_embed`, add a method, move it to `streams`, and claim it."""

    component = "embedding"
    unary = ("capabilities", "embed", "embed_batch", "count_tokens", "get_stats", "health")
    denied = ("stream_embed",)
    claims: Mapping[str, Any] = {
        "supports_batch_embedding": True,
        "supports_normalization": True,
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

    failures = Failures(subtypes={"content_filtered": "ContentFiltered"})
    requests = texts = tokens = 0

    def limits(self) -> dict[str, Any]:
        """The models, and the sizes of a text and a batch."""
        return {
            "supported_models": list(self.provider.models),
            "max_dimensions": max(self.provider.models.values()),
            "max_text_length": self.provider.max_text_length,
            "max_batch_size": self.provider.max_batch_size,
            "normalizes_at_source": self.provider.normalizes,
        }

    async def embed(self, call: Call) -> dict[str, Any]:
        """Embed a text."""
        args, model = call.args, self.model(call.args)
        given = args.text("text")
        text = self.cut(given, "args.text", truncate=args.flag("truncate", default=True))
        (embedding,) = await self.embeddings("embed", args, model, [text])
        return {
            "embedding": embedding,
            "model": model,
            "text": text,
            "tokens_used": self.provider.count_tokens(text),
            "truncated": text != given,
        }

    async def embed_batch(self, call: Call) -> dict[str, Any]:
        """Embed texts; one that cannot be embedded refuses the whole batch (R14), so that none is ever lost."""
        args, model = call.args, self.model(call.args)
        given: list[str] = args.list_of("a string", "texts", required=True)
        args.check_batch("texts", len(given), self.provider.max_batch_size)
        truncate = args.flag("truncate", default=True)
        texts = [self.cut(text, f"args.texts[{index}]", truncate=truncate) for index, text in enumerate(given)]
        return {
            "embeddings": await self.embeddings("embed_batch", args, model, texts),
            "model": model,
            "total_texts": len(texts),
            "total_tokens": sum(map(self.provider.count_tokens, texts)),
            "failed_texts": [],
        }

    async def count_tokens(self, call: Call) -> dict[str, int]:
        """Count the tokens of a text."""
        if call.args.optional_text("model") is not None:
            self.model(call.args)
        return {"tokens": self.provider.count_tokens(call.args.text("text"))}

    async def get_stats(self, call: Call) -> dict[str, int]:
        """Count the requests, texts and tokens so far."""
        return {"total_requests": self.requests, "total_texts": self.texts, "total_tokens": self.tokens}

    def model(self, args: Arguments) -> str:
        """Return the model of the request."""
        model = args.text("model")
        if model not in self.provider.models:
            raise args.invalid("model", "is not available", error="ModelNotAvailable", model=model)
        return model

    def cut(self, text: str, path: str, *, truncate: bool) -> str:
        """Return the part of a text that will be embedded; refuse a long text that must not be cut."""
        fitting = self.provider.fitting(text)
        if fitting != text and not truncate:
            limits = {"max_text_length": self.provider.max_text_length, "provided_length": len(text)}
            raise WireError("TextTooLong", f"{path} is longer than a text may be", **limits)
        return fitting

    async def embeddings(self, op: str, args: Arguments, model: str, texts: Sequence[str]) -> list[dict[str, Any]]:
        """Embed texts, and count them."""
        normalize = args.flag("normalize", default=False) and not self.provider.normalizes
        vectors = await self.provider.embed(op, model, texts) if texts else []
        self.requests += 1
        self.texts += len(texts)
        self.tokens += sum(map(self.provider.count_tokens, texts))
        return [
            {"vector": components(vector, normalize), "text": text, "model": model, "dimensions": len(vector)}
            for vector, text in zip(vectors, texts, strict=True)
        ]


def components(vector: Sequence[float], normalize: bool) -> list[float]:
    """The numbers of a vector as JSON has them (those of NumPy are not JSON), of length 1 if asked for."""
    numbers = [float(number) for number in vector]
    length = (math.hypot(*numbers) or 1.0) if normalize else 1.0
    return [number / length for number in numbers]
