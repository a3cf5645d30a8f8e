"""The LLM adapter under test, called as the suite calls it: `llm.complete` over the wire."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from pytest_corpus.adapter.client import AdapterClient
from pytest_corpus.adapter.exceptions import DeclarationError, Unresponsive
from pytest_corpus.bundles.providers.protocol import Answer, CompletionRequest, Provider, ProviderError


class CorpusProvider(Provider):
    """Sends envelopes to an adapter that is opened when it is first called."""

    def __init__(self, label: str, model: str | None, opened: Callable[[], AdapterClient]) -> None:
        self.label = f"corpus:{label}" + (f":{model}" if model else "")
        self._model, self._opened = model, opened

    def complete(self, request: CompletionRequest) -> Answer:
        try:
            client = self._opened()
            limit = request.remaining_s()
            exchange = client.send(self._envelope(request, limit), "llm", limit_s=limit)
        except (Unresponsive, DeclarationError) as error:
            raise ProviderError("Unavailable", str(error)) from None
        if exchange.fault is not None:
            name = "DeadlineExceeded" if exchange.fault.kind == "timeout" else "Unavailable"
            raise ProviderError(name, f"{exchange.fault.kind}: {exchange.fault.text}")
        body = exchange.frames[0].body if exchange.frames else None
        result = _result(body)
        cached = client.provider.calls() > 0 and not exchange.reached_provider
        client.exchanges.clear()
        return replace(_answer(result), cached=cached, latency_ms=exchange.elapsed_s * 1000)

    def _envelope(self, request: CompletionRequest, limit: float) -> dict[str, Any]:
        args: dict[str, Any] = {"messages": [{"role": "user", "content": request.prompt}]}
        given = {
            "model": request.model or self._model,
            "system_message": request.system,
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
        }
        args |= {key: value for key, value in given.items() if value is not None}
        args |= request.options_with_stop_sequences
        return {"op": "llm.complete", "ctx": {"deadline_ms": int((time.time() + limit) * 1000)}, "args": args}


def _result(body: Any) -> Mapping[str, Any]:
    """The result of a success envelope; anything else is a `ProviderError`."""
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
    if body.get("ok") is not True or not isinstance(result, dict) or not isinstance(result.get("text"), str):
        raise ProviderError("Unavailable", "the answer is not a completion")
    return result


def _answer(result: Mapping[str, Any]) -> Answer:
    usage = result.get("usage")
    counts = usage if isinstance(usage, dict) else {}

    def tokens(name: str) -> int | None:
        found = counts.get(name)
        return int(found) if isinstance(found, int | float) and not isinstance(found, bool) else None

    prompt, completion, total = map(tokens, ("prompt_tokens", "completion_tokens", "total_tokens"))
    return Answer(str(result["text"]), str(result.get("finish_reason", "unknown")), prompt, completion, total)
