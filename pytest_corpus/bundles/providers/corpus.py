"""Providers that use adapters under test: completions by an LLM adapter, cosine similarity by an embedding adapter."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from pytest_corpus.adapter.client import AdapterClient
from pytest_corpus.adapter.exceptions import DeclarationError, Unresponsive
from pytest_corpus.bundles.providers.protocol import Answer, BundleProvider, CompletionRequest, ProviderError


class CorpusProvider(BundleProvider):
    """Sends envelopes to an LLM adapter. The first call opens the adapter."""

    def __init__(self, label: str, model: str | None, opened: Callable[[], AdapterClient]) -> None:
        self.label = f"corpus:{label}" + (f":{model}" if model else "")
        self._model, self._opened = model, opened

    def complete(self, request: CompletionRequest) -> Answer:
        result, cached, elapsed_s = call_adapter(
            self._opened, "llm.complete", self._completion_args(request), request.remaining_s()
        )
        if not isinstance(result.get("text"), str):
            raise ProviderError("Unavailable", "the answer is not a completion")
        return replace(_to_answer(result), cached=cached, latency_ms=elapsed_s * 1000)

    def _completion_args(self, request: CompletionRequest) -> dict[str, Any]:
        args: dict[str, Any] = {"messages": [{"role": "user", "content": request.prompt}]}
        given = {
            "model": request.model or self._model,
            "system_message": request.system,
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
        }
        args |= {key: value for key, value in given.items() if value is not None}
        return args | request.options_with_stop_sequences


def call_adapter(
    opened: Callable[[], AdapterClient] | None, op: str, args: Mapping[str, Any], limit_s: float
) -> tuple[Mapping[str, Any], bool, float]:
    """Make a unary call; return its result, True if the answer came from a cache, and the seconds of the call.

    Raises:
        ProviderError: the adapter does not answer with a success.
    """
    if opened is None:
        raise ProviderError("Unavailable", "no adapter is declared", is_own=True)
    try:
        client = opened()
        envelope = {"op": op, "ctx": {"deadline_ms": int((time.time() + limit_s) * 1000)}, "args": args}
        exchange = client.send(envelope, op.partition(".")[0], limit_s=limit_s)
    except (Unresponsive, DeclarationError) as error:
        raise ProviderError("Unavailable", str(error)) from None
    if exchange.fault is not None:
        name = "DeadlineExceeded" if exchange.fault.kind == "timeout" else "Unavailable"
        raise ProviderError(name, f"{exchange.fault.kind}: {exchange.fault.text}")
    result = _result_in(exchange.frames[0].body if exchange.frames else None)
    cached = client.provider.calls() > 0 and not exchange.observed.reached_provider
    client.part.exchanges.clear()
    return result, cached, exchange.elapsed_s


def _result_in(body: Any) -> Mapping[str, Any]:
    """Return the result in a success envelope. Raises ProviderError for any other answer."""
    if not isinstance(body, dict):
        raise ProviderError("Unavailable", "the answer is not an envelope")
    if body.get("ok") is False:
        details = body.get("details")
        named, wait = str(body.get("error", "Unavailable")), body.get("retry_after_ms")
        if wait is None and isinstance(details, dict):
            wait = details.get("retry_after_ms")
        numeric = isinstance(wait, int | float) and not isinstance(wait, bool)
        raise ProviderError(named, str(body.get("message", "")), float(wait) if numeric else None)  # type: ignore[arg-type]
    result = body.get("result")
    if body.get("ok") is not True or not isinstance(result, dict):
        raise ProviderError("Unavailable", "the answer is not a success")
    return result


def _to_answer(result: Mapping[str, Any]) -> Answer:
    usage = result.get("usage")
    counts = usage if isinstance(usage, dict) else {}

    def tokens(name: str) -> int | None:
        found = counts.get(name)
        return int(found) if isinstance(found, int | float) and not isinstance(found, bool) else None

    prompt, completion, total = map(tokens, ("prompt_tokens", "completion_tokens", "total_tokens"))
    return Answer(str(result["text"]), str(result.get("finish_reason", "unknown")), prompt, completion, total)


class SimilarityProvider(BundleProvider):
    """Embeds both texts, with one call each, and returns their cosine similarity."""

    calls = 2

    def __init__(self, model: str, opened: Callable[[], AdapterClient] | None) -> None:
        self.label = f"embedding:{model}"
        self._opened = opened

    def complete(self, request: CompletionRequest) -> Answer:
        from scipy.spatial.distance import cosine

        found = [self._embed(text, request) for text in (request.prompt, request.system)]
        one, other = (_vector_in(each) for each in found)
        if len(one) != len(other) or not any(one) or not any(other):
            raise ProviderError("BadRequest", "the vectors have no angle", is_own=True)
        tokens = [each["tokens_used"] for each in found if isinstance(each.get("tokens_used"), int)]
        known = sum(tokens) if len(tokens) == len(found) else None
        return Answer(f"{1 - float(cosine(one, other)):.6f}", prompt_tokens=known, completion_tokens=known and 0)

    def _embed(self, text: str | None, request: CompletionRequest) -> Mapping[str, Any]:
        args = {"text": text, "model": request.model}
        return call_adapter(self._opened, "embedding.embed", args, request.remaining_s())[0]


def _vector_in(result: Mapping[str, Any]) -> list[float]:
    embedding = result.get("embedding")
    vector = embedding.get("vector") if isinstance(embedding, dict) else None
    if not isinstance(vector, list) or not all(type(each) in (int, float) for each in vector):
        raise ProviderError("Unavailable", "the answer is not an embedding", is_own=True)
    return vector
