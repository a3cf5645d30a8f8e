"""An embedding adapter as a careful author builds it on the published SDK, over a service that speaks JSON.

It overrides the `_do_*` hooks and passes arguments to the constructor, as the SDK asks its authors to; no other
behaviour of the SDK is changed.
"""

import time
from collections.abc import AsyncIterator
from typing import Any

from corpus_sdk.embedding import embedding_base as sdk

from .authoring import CheckedDeadline, Outcome, Provider, Taxonomy
from .service import Service, made

SERVER, VERSION = "quill-embeddings", "1.4.0"
TAXONOMY = Taxonomy(sdk)


class Truncation:
    """The policy that cuts long texts; unlike the SDK's own it says by how much a text is too long."""

    def apply(self, text: str, max_len: int | None, allow: bool) -> tuple[str, bool]:
        """The text, cut where that is allowed, and whether it was. Raises TextTooLong if it is not allowed."""
        if not max_len or len(text) <= max_len:
            return text, False
        if not allow:
            details = {"max_text_length": max_len, "provided_length": len(text)}
            raise sdk.TextTooLong("the text is longer than the model takes", details=details)
        return text[:max_len], True


class QuillEmbeddingAdapter(sdk.BaseEmbeddingAdapter):
    """The hooks of the SDK's base adapter over a service.

    Thin mode, because breakers, limiters and caches belong to the router above; deadlines are enforced here, and
    cutting and unit length are left to the SDK. A requested model is a caller's text and no metrics label.
    """

    def __init__(self, metrics: sdk.MetricsSink | None = None, provider: Provider | None = None) -> None:
        super().__init__(
            metrics=metrics,
            mode="thin",
            deadline_policy=CheckedDeadline(sdk.EnforcingDeadline(), TAXONOMY),
            truncation=Truncation(),
            tag_model_in_metrics=False,
        )
        self._service = Service("embedding", TAXONOMY, provider)

    async def _do_capabilities(self) -> sdk.EmbeddingCapabilities:
        stated = await self._service.ask("capabilities", {}, None)
        return sdk.EmbeddingCapabilities(
            server=SERVER,
            version=VERSION,
            supported_models=tuple(stated["supported_models"]),
            max_batch_size=stated["max_batch_size"],
            max_text_length=stated["max_text_length"],
            max_dimensions=stated["max_dimensions"],
            supports_normalization=True,
            supports_token_counting=True,
            supports_streaming=True,
            supports_multi_tenant=True,
        )

    async def _do_health(self, *, ctx: sdk.OperationContext | None = None) -> dict[str, Any]:
        report = await self._service.ask("health", {}, ctx)
        if not report["ok"]:
            raise sdk.Unavailable("the service is down")
        return {**report, "server": SERVER, "version": VERSION}

    async def _do_embed(self, spec: sdk.EmbedSpec, *, ctx: sdk.OperationContext | None = None) -> sdk.EmbedResult:
        result = await self._service.ask("embed", {"text": spec.text, "model": spec.model}, ctx)
        vector = sdk.EmbeddingVector(**result["embedding"])
        return sdk.EmbedResult(vector, result["model"], result["text"], result["tokens_used"])

    async def _do_stream_embed(
        self, spec: sdk.EmbedSpec, *, ctx: sdk.OperationContext | None = None
    ) -> AsyncIterator[sdk.EmbedChunk]:
        with Outcome(self._metrics, "embedding", "stream_embed") as outcome:
            request = {"text": spec.text, "model": spec.model}
            async for chunk in self._service.stream("stream_embed", request, ctx):
                if chunk["is_final"]:
                    outcome.finish()
                vectors = [sdk.EmbeddingVector(**each) for each in chunk["embeddings"]]
                yield sdk.EmbedChunk(vectors, chunk["is_final"], chunk.get("usage"), chunk.get("model"))

    async def _do_embed_batch(
        self, spec: sdk.BatchEmbedSpec, *, ctx: sdk.OperationContext | None = None
    ) -> sdk.BatchEmbedResult:
        """Each success has its index, as has each failure."""
        result = await self._service.ask("embed_batch", {"texts": spec.texts, "model": spec.model}, ctx)
        failed = result["failed_texts"]
        lost = {each["index"] for each in failed}
        places = (index for index in range(len(spec.texts)) if index not in lost)
        vectors = [
            sdk.EmbeddingVector(**{**each, "index": index})
            for index, each in zip(places, result["embeddings"], strict=True)
        ]
        return sdk.BatchEmbedResult(vectors, spec.model, len(spec.texts), result["total_tokens"], failed)

    async def _do_count_tokens(self, text: str, model: str, *, ctx: sdk.OperationContext | None = None) -> int:
        counted = await self._service.ask("count_tokens", {"text": text, "model": model}, ctx)
        return int(counted["tokens"])

    async def _do_get_stats(self, ctx: sdk.OperationContext | None = None) -> sdk.EmbeddingStats:
        """The SDK puts no gate around this operation, so it is observed here."""
        began, code = time.monotonic(), "OK"
        try:
            return made(sdk.EmbeddingStats, await self._service.ask("get_stats", {}, ctx))
        except sdk.EmbeddingAdapterError as error:
            ctx, code = None, error.code or "UNAVAILABLE"  # it is the context that was refused
            raise
        finally:
            self._record("get_stats", began, code == "OK", code=code, ctx=ctx)
