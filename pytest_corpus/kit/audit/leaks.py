"""Secrets of a request that reappear in its answer, in metrics or in logs (R21)."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.kit.audit.telemetry import Reports
from pytest_corpus.kit.outcomes import Violation, Violations

GRAM = 8
"""A substring of this length of a secret is a leak (R21)."""

SENTENCE = 24
"""A substring of this length of a model's text is a leak. A shorter one may occur in a log by chance (R124)."""

DEBUG = "COM-LEAK-7"
"""The requirement that debug records contain no content of any kind."""

LEAKS = {
    "content": {"error": "COM-LEAK-1", "metrics": "COM-LEAK-2", "log": "COM-LEAK-3"},
    "tenant": {"error": "COM-LEAK-4", "metrics": "COM-LEAK-4", "log": "COM-LEAK-4"},
    "idempotency key": {"error": "COM-LEAK-5", "metrics": "COM-LEAK-5", "log": "COM-LEAK-10"},
    "provider text": {"answer": "COM-LEAK-6", "metrics": "COM-LEAK-6", "log": "COM-LEAK-6"},
    "model": {"metrics": "COM-OBS-13"},
    "unknown operation": {"metrics": "COM-OBS-26"},
    "request id": {"metrics": "COM-OBS-14", "message": "COM-LEAK-9"},
    "item id": {"message": "COM-LEAK-9"},
    "attribute": {"error": "COM-LEAK-8", "metrics": "COM-LEAK-8", "log": "COM-LEAK-8"},
}
"""Maps the kind of a secret, and the channel that shows the secret, to the violated requirement."""

PUBLIC = ("message", "detail", "details", "error", "code")
"""The members of an error, or of a failed item, that are searched."""

CHANNELS = {
    "error": "an error",
    "message": "the message of an error",
    "answer": "an answer",
    "metrics": "metrics",
    "log": "a log record",
    "debug": "a debug record",
}


def leak_findings(exchange: Exchange, reports: Reports, *, hears_logs: bool) -> Violations:
    """Yield a violation for each output of a call that reveals a secret; logs count only with `hears_logs`."""
    logs, debug_logs = (exchange.observed.logs, exchange.observed.debug_logs) if hears_logs else ((), ())
    answered = list(_completion_texts(exchange)) if logs or debug_logs or reports else []
    if not answered and not exchange.secrets:
        return
    texts = _Channels(exchange, reports, log=logs, debug=debug_logs)
    for channel, requirement in (("metrics", "COM-LEAK-2"), ("log", "COM-LEAK-3"), ("debug", DEBUG)):
        for text in answered:
            if (at := _find_leak(text, texts[channel], SENTENCE)) is not None:
                place = _channel_name(exchange, channel, at)
                yield requirement, Violation("no part of the completion", f"a part of the completion in {place}")
    for what, secret in exchange.secrets.items():
        kind = next((kind for kind in LEAKS if what.startswith(kind)), "content")
        for channel, requirement in (*LEAKS[kind].items(), *([("debug", DEBUG)] if "log" in LEAKS[kind] else [])):
            if (at := _find_leak(secret, texts[channel])) is not None:
                place = _channel_name(exchange, channel, at)
                yield requirement, Violation(f"no part of the {what}", f"a part of the {what} in {place}")


def _find_leak(secret: str, texts: Sequence[str], gram: int = GRAM) -> int | None:
    """Return the index of the first text that reveals a secret; None if no text does."""
    return next((at for at, text in enumerate(texts) if leaks_secret(text, secret, gram)), None)


def _channel_name(exchange: Exchange, channel: str, at: int) -> str:
    """Return the name of a channel, with the logger of the revealing record if the logger is known."""
    sources = {"log": exchange.observed.log_sources, "debug": exchange.observed.debug_sources}.get(channel, ())
    return sources[at] if at < len(sources) else CHANNELS[channel]


def leaks_secret(text: str, secret: str, gram: int = GRAM) -> bool:
    """True if a text contains a secret, or enough of the secret to count as a leak (R21)."""
    if len(secret) <= gram:
        return secret in text
    return any(secret[start : start + gram] in text for start in range(len(secret) - gram + 1))


def _completion_texts(exchange: Exchange) -> Iterator[str]:
    """Yield the model's texts in an answer. A short text is left out, because a log may contain it by chance."""
    for frame in exchange.frames if exchange.op in ("llm.complete", "llm.stream") else ():
        body = frame.body if isinstance(frame.body, dict) else {}
        holder = body.get("chunk" if exchange.streaming else "result")
        text = holder.get("text") if isinstance(holder, dict) else None
        if isinstance(text, str) and len(text) >= SENTENCE:
            yield text


class _Channels(dict[str, Sequence[str]]):
    """The texts of each output of a call (answer, metrics, logs), encoded when they are first searched."""

    def __init__(self, exchange: Exchange, reports: Reports, **logs: Sequence[str]) -> None:
        super().__init__(logs)
        self._exchange, self._reports = exchange, reports

    def __missing__(self, channel: str) -> Sequence[str]:
        bodies = [frame.body for frame in self._exchange.frames]
        errors = [frame.body for frame in self._exchange.frames if frame.is_error]
        if channel == "metrics":
            found = _encode_each([report.labels() for report in self._reports])
        elif channel == "answer":
            found = [*_encode_each(bodies), *self._exchange.observed.headers]
        elif channel == "message":
            found = [str(body.get("message")) for body in errors]
        else:
            failed = [
                each for body in bodies if isinstance(body, Mapping) for each in _failed_items(body.get("result"))
            ]
            found = _encode_each({key: body.get(key) for key in PUBLIC} for body in (*errors, *failed))
            found += self._exchange.observed.headers if errors else ()
        self[channel] = found
        return found


def _failed_items(result: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the failed items of a result. If the result is a failed transaction, yield the result itself too."""
    if isinstance(result, Mapping):
        if result.get("success") is False:
            yield result
        for key in ("failures", "failed_texts", "results"):
            items = result.get(key)
            for item in items if isinstance(items, list) else ():
                if isinstance(item, Mapping) and (key != "results" or item.get("ok") is False):
                    yield item


def _encode_each(values: Iterable[Any]) -> list[str]:
    return [json.dumps(value, ensure_ascii=False, default=str) for value in values]
