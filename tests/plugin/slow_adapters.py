"""Adapters that answer slowly, and differ in what they make of calls at the same time.

The names of those of each component are `llm`, `vector`, `embedding` and `graph`. `CORPUS_SLOW_MS` is the time that an
answer takes.
"""

import asyncio
import os
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

from late_adapters import Exporter

from pytest_corpus.reference.embedding.adapter import ReferenceEmbedding
from pytest_corpus.reference.graph.adapter import ReferenceGraph
from pytest_corpus.reference.llm.adapter import ReferenceLLM
from pytest_corpus.reference.vector.adapter import ReferenceVector

SLOW_MS = float(os.environ.get("CORPUS_SLOW_MS", "20"))


class Slow:
    """A reference adapter that answers each call after a while; the time is a part of what it says that it took.

    `peak` is the most calls that waited at the same time, of any instance.
    """

    made: Callable[..., Any] = ReferenceLLM
    waiting = peak = 0

    def __init__(self, metrics: Any = None, provider: Any = None) -> None:
        self.inner = self.made(metrics=metrics, provider=provider)

    async def wait(self) -> None:
        """Take the time of an answer."""
        Slow.waiting += 1
        Slow.peak = max(Slow.peak, Slow.waiting)
        try:
            await asyncio.sleep(SLOW_MS / 1000)
        finally:
            Slow.waiting -= 1

    async def handle(self, envelope: Mapping[str, Any]) -> dict[str, Any]:
        """Answer a unary request."""
        await self.wait()
        return timed(await self.inner.handle(envelope))

    async def handle_stream(self, envelope: Mapping[str, Any]) -> AsyncIterator[dict[str, Any]]:
        """Answer a streaming request."""
        await self.wait()
        async for frame in self.inner.handle_stream(envelope):
            yield timed(frame)


def timed(frame: dict[str, Any]) -> dict[str, Any]:
    """A frame with the time that it took."""
    return {**frame, "ms": frame["ms"] + SLOW_MS}


def slow(component: Callable[..., Any]) -> type[Slow]:
    """A slow adapter of a component."""

    class Made(Slow):
        made = component

    return Made


llm, vector, embedding, graph = map(slow, (ReferenceLLM, ReferenceVector, ReferenceEmbedding, ReferenceGraph))


class Blocking(Slow):
    """Holds the event loop up."""

    async def wait(self) -> None:
        time.sleep(SLOW_MS / 2000)  # what it does wrong


class Pooled(Slow):
    """Answers unary calls in threads of a pool of its own, which know no call."""

    pool = ThreadPoolExecutor(4)

    async def handle(self, envelope: Mapping[str, Any]) -> dict[str, Any]:
        await self.wait()
        loop = asyncio.get_running_loop()

        def answered() -> dict[str, Any]:
            return asyncio.run_coroutine_threadsafe(self.inner.handle(envelope), loop).result()

        return timed(await loop.run_in_executor(self.pool, answered))


class Worker(Exporter):
    """Passes reports on from a thread that knows no call."""

    late_s = 0.0

    def _run(self) -> None:
        while True:
            _, _, kind, given = self._queue.get()
            getattr(self._metrics, kind)(**given)


class Queued(Slow):
    """Reports from the worker of a queue."""

    def __init__(self, metrics: Any = None, provider: Any = None) -> None:
        super().__init__(Worker(metrics), provider)


class Forgetful(Slow):
    """Keeps the request of the call that came last, and answers that one."""

    made = ReferenceEmbedding
    latest: Mapping[str, Any]

    async def handle(self, envelope: Mapping[str, Any]) -> dict[str, Any]:
        self.latest = envelope
        await self.wait()
        return timed(await self.inner.handle(self.latest))


class Refusing(Slow):
    """Refuses calls that are too many for it."""

    def admits(self) -> bool:
        """True if there is room for another call."""
        raise NotImplementedError

    def left(self) -> None:
        """Note that a call has ended."""

    refusal: ClassVar[Mapping[str, Any]] = {
        "ok": False, "code": "RESOURCE_EXHAUSTED", "error": "ResourceExhausted", "message": "too many calls", "ms": 0,
        "retry_after_ms": 50, "details": {"resource_scope": "concurrency"},
    }  # fmt: skip

    async def handle(self, envelope: Mapping[str, Any]) -> dict[str, Any]:
        if not self.admits():
            return {**self.refusal}
        try:
            return await super().handle(envelope)
        finally:
            self.left()

    async def handle_stream(self, envelope: Mapping[str, Any]) -> AsyncIterator[dict[str, Any]]:
        if not self.admits():
            yield {**self.refusal}
            return
        try:
            async for frame in super().handle_stream(envelope):
                yield frame
        finally:
            self.left()


class FourAtATime(Refusing):
    """Refuses the fifth call at the same time."""

    under_way = 0

    def admits(self) -> bool:
        if self.under_way >= 4:
            return False
        self.under_way += 1
        return True

    def left(self) -> None:
        self.under_way -= 1


class FourEmbeddings(FourAtATime):
    """Does so, and keeps the vectors of texts."""

    made = ReferenceEmbedding


class TwentyASecond(Refusing):
    """Refuses more than 20 calls in a second, of those that come in after it has been warmed up."""

    def __init__(self, metrics: Any = None, provider: Any = None) -> None:
        super().__init__(metrics, provider)
        self.begun: deque[float] = deque()

    def admits(self) -> bool:
        now = time.monotonic()
        while self.begun and self.begun[0] < now - 1:
            self.begun.popleft()
        if len(self.begun) >= 20:
            return False
        self.begun.append(now)
        return True


class Waiting(Slow):
    """Takes four calls at a time, and lets others wait."""

    def __init__(self, metrics: Any = None, provider: Any = None) -> None:
        super().__init__(metrics, provider)
        self.room = asyncio.Semaphore(4)

    async def wait(self) -> None:
        async with self.room:
            await super().wait()
