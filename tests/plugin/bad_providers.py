"""Providers as they are: the reference adapters in front of a provider that fails, goes away and comes back.

`CORPUS_TEST_PROVIDER` says how: ``random=SEED`` for 1 % of its calls, ``front=SEED`` for 1 % of all requests, which a
gateway before the adapter answers; ``gone=AT,FOR`` for a time in seconds after the first call (without ``FOR`` it
stays away); ``restart=AT,FOR`` for one that forgets nothing and answers slowly that it is away; ``spent=CALLS`` for a
quota of this number of calls a day.
"""

import asyncio
import os
import random
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

from pytest_corpus import reference
from pytest_corpus.adapter.fault_plan import ProviderFault

RETRYABLE = (
    ("unavailable", 503, "Unavailable", "UNAVAILABLE"),
    ("network", 502, "TransientNetwork", "TRANSIENT_NETWORK"),
    ("rate_limited", 429, "ResourceExhausted", "RESOURCE_EXHAUSTED"),
)
HOW, _, GIVEN = os.environ.get("CORPUS_TEST_PROVIDER", "random=1").partition("=")
CHANCE = random.Random(GIVEN)
STARTED: list[float] = []
HINTS_MS = {"rate_limited": 20, "spent": 86_400_000}


def fails() -> bool:
    if HOW in ("random", "front"):
        return CHANCE.random() < 0.01
    at, *lasting = (float(part) for part in GIVEN.split(","))
    if HOW == "spent":
        STARTED.append(time.monotonic())
        return len(STARTED) > at
    if not STARTED:
        STARTED.append(time.monotonic())
    past = time.monotonic() - STARTED[0] - at
    return past >= 0 and (not lasting or past < lasting[0])


class BadProvider:
    """Stands before the provider of the suite; what it rejects never reaches that one."""

    def __init__(self, provider: Any, fails: Callable[[], bool]) -> None:
        self._provider, self._fails = provider, fails

    async def reached(self, op: str, **facts: Any) -> None:
        if facts.get("chunk") is None and self._fails():
            kind, status, _, _ = RETRYABLE[-1] if HOW == "spent" else CHANCE.choice(RETRYABLE)
            if HOW == "restart":
                await asyncio.sleep(1)
            raise ProviderFault(kind, status, HINTS_MS.get(HOW, HINTS_MS.get(kind)), "away")
        await self._provider.reached(op, **facts)


class Gateway:
    """Stands before an adapter and answers some requests itself."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def handle(self, envelope: Any) -> Any:
        return rejection() if fails() else await self._inner.handle(envelope)

    async def handle_stream(self, envelope: Any) -> AsyncIterator[Any]:
        if fails():
            yield rejection()
            return
        async for frame in self._inner.handle_stream(envelope):
            yield frame


def rejection() -> dict[str, Any]:
    _, _, name, code = CHANCE.choice(RETRYABLE)
    details = {"suggested_backoff_ms": 30}
    return {"ok": False, "code": code, "error": name, "message": "Come back later", "ms": 0.1, "details": details}


def adapter(component: str, metrics: Any, provider: Any) -> Any:
    """The reference adapter of a component in front of a bad provider."""
    make = getattr(reference, component)
    if HOW == "front":
        return Gateway(make(metrics, provider))
    return make(metrics, BadProvider(provider, fails))


llm, vector, embedding, graph = (partial(adapter, name) for name in ("llm", "vector", "embedding", "graph"))
