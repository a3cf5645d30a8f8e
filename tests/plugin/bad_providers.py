"""Providers as they are: the reference adapters in front of a provider that fails, goes away and comes back.

`CORPUS_TEST_PROVIDER` says how: ``random=SEED`` for 1 % of the calls, ``gone=AT,FOR`` for a time in seconds after the
first call (without ``FOR`` it stays away).
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from typing import Any

from pytest_corpus import reference
from pytest_corpus.adapter.hooks.planned import ProviderFault

RETRYABLE = (("unavailable", 503), ("network", 502), ("rate_limited", 429))


class BadProvider:
    """Stands before the provider of the suite; what it rejects never reaches that one."""

    def __init__(self, provider: Any, weather: Callable[[], bool]) -> None:
        self._provider, self._fails = provider, weather
        self._number = 0

    async def reached(self, op: str, **facts: Any) -> None:
        if facts.get("chunk") is None and self._fails():
            self._number += 1
            kind, status = RETRYABLE[self._number % len(RETRYABLE)]
            hint = 20 if kind == "rate_limited" else None
            raise ProviderFault(kind, status, hint, "away")
        await self._provider.reached(op, **facts)


STARTED: list[float] = []
CHANCE: list[random.Random] = []


def _weather() -> Callable[[], bool]:
    how, _, given = os.environ["CORPUS_TEST_PROVIDER"].partition("=")
    if how == "random":
        if not CHANCE:
            CHANCE.append(random.Random(int(given)))
        return lambda: CHANCE[0].random() < 0.01
    at, *lasting = (float(part) for part in given.split(","))

    def gone() -> bool:
        if not STARTED:
            STARTED.append(time.monotonic())
        past = time.monotonic() - STARTED[0] - at
        return past >= 0 and (not lasting or past < lasting[0])

    return gone


def adapter(component: str, metrics: Any = None, provider: Any = None) -> Any:
    """The reference adapter of a component in front of a bad provider."""
    return getattr(reference, component)(metrics, BadProvider(provider, _weather()))


def llm(metrics: Any, provider: Any) -> Any:
    return adapter("llm", metrics, provider)


def vector(metrics: Any, provider: Any) -> Any:
    return adapter("vector", metrics, provider)


def embedding(metrics: Any, provider: Any) -> Any:
    return adapter("embedding", metrics, provider)


def graph(metrics: Any, provider: Any) -> Any:
    return adapter("graph", metrics, provider)
