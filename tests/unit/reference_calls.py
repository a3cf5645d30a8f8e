"""Calls of the embedded reference adapters over their wire, with a provider that records them."""

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

from pytest_corpus.reference.foundation import ReferenceAdapter

T = TypeVar("T")
CANARY = "canary-7f3a9c51e2"


class ProviderError(Exception):
    """An error of a provider's SDK; its text may not come out."""

    def __init__(self, kind: str, http_status: int | None) -> None:
        super().__init__(CANARY)
        self.kind, self.http_status = kind, http_status


class Backend:
    """A provider that raises the fault planned for an arrival, given by its number."""

    def __init__(self, faults: Mapping[int, BaseException] | None = None) -> None:
        self.faults = faults or {}
        self.calls: list[tuple[str, dict[str, Any]]] = []

    async def reached(self, op: str, **facts: Any) -> None:
        self.calls.append((op, facts))
        if fault := self.faults.get(len(self.calls) - 1):
            raise fault


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asyncio.wait_for(work, 10))


def request(op: str, args: Mapping[str, Any] | None = None, **ctx: Any) -> dict[str, Any]:
    return {"op": op, "ctx": ctx, "args": dict(args or {})}


def call(adapter: ReferenceAdapter, op: str, args: Mapping[str, Any] | None = None, **ctx: Any) -> dict[str, Any]:
    return run(adapter.handle(request(f"{adapter.component}.{op}", args, **ctx)))


def stream(adapter: ReferenceAdapter, op: str, args: Mapping[str, Any], **ctx: Any) -> list[dict[str, Any]]:
    """All frames of a stream."""

    async def frames() -> list[dict[str, Any]]:
        return [frame async for frame in adapter.handle_stream(request(f"{adapter.component}.{op}", args, **ctx))]

    return run(frames())
