"""An embedding adapter as a careful author builds it on the published SDK, over the backend of `embedding_backend`.

It overrides the `_do_*` hooks and passes arguments to the constructor, as the SDK asks its authors to; no other
behaviour of the SDK is changed.
"""

import time
from collections.abc import AsyncIterator
from typing import Any

from corpus_sdk.embedding.embedding_base import (
    BaseEmbeddingAdapter,
    BatchEmbedResult,
    BatchEmbedSpec,
    EmbedChunk,
    EmbeddingAdapterError,
    EmbeddingCapabilities,
    EmbeddingStats,
    EmbedResult,
    EmbedSpec,
    EnforcingDeadline,
    MetricsSink,
    OperationContext,
)

from .authoring import CheckedDeadline, Gateway, Outcome, Provider
from .embedding_backend import MODELS, TAXONOMY, Statistics, Truncation, embedding, tokens

SERVER, VERSION = "quill-embeddings", "1.4.0"
MAX_BATCH_SIZE, MAX_TEXT_LENGTH = 16, 1000
CHARACTERS_PER_CHUNK = 100


class QuillEmbeddingAdapter(BaseEmbeddingAdapter):
    """The hooks of the SDK's base adapter over the models of `embedding_backend`.

    Thin mode, because breakers, limiters and caches belong to the router above; deadlines are enforced here, and
    unit length is left to the SDK. A requested model is a caller's text and no metrics label.
    """

    def __init__(self, metrics: MetricsSink | None = None, provider: Provider | None = None) -> None:
        super().__init__(
            metrics=metrics,
            mode="thin",
            deadline_policy=CheckedDeadline(EnforcingDeadline(), TAXONOMY),
            truncation=Truncation(),
            tag_model_in_metrics=False,
        )
        self._statistics = Statistics()
        self._gateway = Gateway(provider, TAXONOMY)

    async def _do_capabilities(self) -> EmbeddingCapabilities:
        return EmbeddingCapabilities(
            server=SERVER,
            version=VERSION,
            supported_models=tuple(MODELS),
            max_batch_size=MAX_BATCH_SIZE,
            max_text_length=MAX_TEXT_LENGTH,
            max_dimensions=max(MODELS.values()),
            supports_normalization=True,
            supports_token_counting=True,
            supports_streaming=True,
            supports_multi_tenant=True,
        )

    async def _do_embed(self, spec: EmbedSpec, *, ctx: OperationContext | None = None) -> EmbedResult:
        with self._statistics.request():
            TAXONOMY.check_context(ctx)
            await self._gateway.reach("embedding.embed", ctx)
            used = self._statistics.embedded(spec.text)
            return EmbedResult(embedding(spec.text, spec.model), spec.model, spec.text, used)

    async def _do_stream_embed(
        self, spec: EmbedSpec, *, ctx: OperationContext | None = None
    ) -> AsyncIterator[EmbedChunk]:
        """Tell how far the reading has come, then give the embedding."""
        with self._statistics.request(), Outcome(self._metrics, "embedding", "stream_embed") as outcome:
            TAXONOMY.check_context(ctx)
            await self._in_time(ctx)
            ends = range(CHARACTERS_PER_CHUNK, len(spec.text), CHARACTERS_PER_CHUNK)
            for number, end in enumerate(ends):
                await self._in_time(ctx, chunk=number)
                yield EmbedChunk([], False, used(tokens(spec.text[:end])), spec.model)
            await self._in_time(ctx, chunk=len(ends))
            total = used(self._statistics.embedded(spec.text))
            outcome.finish()
            yield EmbedChunk([embedding(spec.text, spec.model)], True, total, spec.model)

    async def _do_embed_batch(self, spec: BatchEmbedSpec, *, ctx: OperationContext | None = None) -> BatchEmbedResult:
        """Embed every text that there is something to read in; each success has its index, as has each failure."""
        with self._statistics.request():
            TAXONOMY.check_context(ctx)
            await self._gateway.reach("embedding.embed_batch", ctx, items=len(spec.texts))
            result = BatchEmbedResult([], spec.model, len(spec.texts), 0, [])
            for index, text in enumerate(spec.texts):
                if text.strip():
                    result.embeddings.append(embedding(text, spec.model, index))
                    result.total_tokens += self._statistics.embedded(text)
                else:
                    result.failed_texts.append(blank(index, text))
            return result

    async def _do_count_tokens(self, text: str, model: str, *, ctx: OperationContext | None = None) -> int:
        TAXONOMY.check_context(ctx)
        return tokens(text)

    async def _do_health(self, *, ctx: OperationContext | None = None) -> dict[str, Any]:
        TAXONOMY.check_context(ctx)
        await self._gateway.reach("embedding.health", ctx)
        models = dict.fromkeys(MODELS, "ok")
        return {"ok": True, "status": "ok", "server": SERVER, "version": VERSION, "models": models}

    async def _do_get_stats(self, ctx: OperationContext | None = None) -> EmbeddingStats:
        """The SDK puts no gate around this operation, so it is observed here."""
        began, code = time.monotonic(), "OK"
        try:
            TAXONOMY.check_context(ctx)
            return self._statistics.report()
        except EmbeddingAdapterError as error:
            ctx, code = None, error.code or "UNAVAILABLE"  # it is the context that was refused
            raise
        finally:
            self._record("get_stats", began, code == "OK", code=code, ctx=ctx)

    async def _in_time(self, ctx: OperationContext | None, **facts: int) -> None:
        """Reach the provider within the caller's budget: the SDK itself gives a stream no timeout."""
        self._fail_if_expired(ctx)
        await self._deadline.wrap(self._gateway.reach("embedding.stream_embed", ctx, **facts), ctx)


def used(count: int) -> dict[str, int]:
    """The usage of a stream so far."""
    return {"prompt_tokens": count, "total_tokens": count}


def blank(index: int, text: str) -> dict[str, Any]:
    """The failure of a text of a batch in which there is nothing to embed."""
    message = "text must be a non-empty string"
    return {"index": index, "text": text, "error": "BadRequest", "code": "BAD_REQUEST", "message": message}
