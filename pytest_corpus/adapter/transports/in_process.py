"""A wire handler in this process, called directly: each answer is written as the bytes that would travel.

Whatever an object of the adapter's raises, returns or lies about ends here, as a fault or as bytes.
"""

from __future__ import annotations

import asyncio
import copy
import inspect
from collections.abc import AsyncIterator
from typing import Any

from pytest_corpus.adapter.event_loop.cancellation import is_cancelled, is_collected
from pytest_corpus.adapter.exchange import CallFault
from pytest_corpus.adapter.snapshot import NotJSON, to_bytes
from pytest_corpus.adapter.tracebacks import escaped_exception
from pytest_corpus.adapter.transports.protocol import CallFailed
from pytest_corpus.redaction.values import type_name

TURNS = 4
"""How often the loop turns after a call, so that what a task of the adapter reports is seen with it."""


class InProcess:
    """Calls `handle` and `handle_stream` of a wire handler, an object with those methods or without."""

    def __init__(self, handler: Any) -> None:
        self._handler = handler
        self._streams = _has_stream(handler)

    @property
    def streams(self) -> bool:
        """Whether the handler has `handle_stream` at all."""
        return self._streams

    async def send(self, envelope: Any) -> bytes:
        """What `handle` returns, or what awaiting that gives.

        Raises:
            CallFailed: it raises, or returns what is not JSON.
        """
        envelope, task = copied(envelope), asyncio.current_task()
        try:
            answer = self._handler.handle(envelope)
            if inspect.isawaitable(answer):
                answer = await answer
        except BaseException as error:  # noqa: BLE001 - whatever escapes an adapter is a finding, never our end
            fault = _raised(error, task)
        else:
            return _written(answer)
        raise CallFailed(fault)

    def stream(self, envelope: Any) -> HandlerFrames:
        """What `handle_stream` returns, or what awaiting that gives, to be iterated."""
        return HandlerFrames(self._handler, copied(envelope))

    async def settle(self) -> None:
        """Let what the adapter started beside its answer go on for a moment."""
        await asyncio.sleep(0)
        for _ in range(TURNS - 1) if len(asyncio.all_tasks()) > 1 else ():
            await asyncio.sleep(0)

    async def aclose(self) -> None:
        """Nothing is held: the handler is closed with what its factory made."""


class HandlerFrames:
    """The frames that a handler yields, each written as bytes."""

    def __init__(self, handler: Any, envelope: Any) -> None:
        self._handler, self._envelope = handler, envelope
        self._source: Any = None
        self._iterator: AsyncIterator[Any] | None = None

    def __aiter__(self) -> HandlerFrames:
        return self

    async def __anext__(self) -> bytes:
        """The next frame.

        Raises:
            StopAsyncIteration: there are no more.
            CallFailed: the handler raises, or gives nothing to iterate or what is not JSON.
        """
        frame, fault, task = None, None, asyncio.current_task()
        # In one coroutine: a StopIteration that leaves a second one would become a RuntimeError.
        try:
            if self._iterator is None:
                self._source = self._handler.handle_stream(self._envelope)
                if inspect.isawaitable(self._source):
                    self._source = await self._source
                if hasattr(self._source, "__aiter__"):
                    self._iterator = aiter(self._source)
                else:
                    fault = CallFault("no_stream", f"handle_stream returns a {type_name(self._source)}")
            if self._iterator is not None:
                frame = await anext(self._iterator)
        except StopAsyncIteration as error:
            if self._iterator is not None:
                raise
            fault = _raised(error, task)
        except BaseException as error:  # noqa: BLE001 - whatever escapes an adapter is a finding, never our end
            fault = _raised(error, task)
        if fault is not None:
            raise CallFailed(fault)
        return _written(frame)

    async def aclose(self) -> None:
        """Close what the handler returned where it offers that; RULINGS R22 lets it do without, and raise anything."""
        task = asyncio.current_task()
        try:
            close = getattr(self._source, "aclose", None)
            if callable(close):
                await close()
        except BaseException as error:
            # Where nobody can tell, it is the adapter's: who gives up a call does not wait for how it ends.
            if is_collected(task) or is_cancelled(error):
                raise


def _has_stream(handler: Any) -> bool:
    """Whether a handler offers `handle_stream`; one that raises is there, and says so when it is called."""
    try:
        return callable(getattr(handler, "handle_stream", None))
    except BaseException:  # noqa: BLE001 - a property of the adapter's may raise anything
        return True


def _written(answer: Any) -> bytes:
    try:
        return to_bytes(answer)
    except NotJSON as error:
        fault = CallFault("not_json", str(error))
    raise CallFailed(fault)


def _raised(error: BaseException, task: object) -> CallFault:
    """The fault that an exception is; raised again is one that tells this call to stop."""
    if is_collected(task) or is_cancelled(error):
        raise error
    return CallFault("raised", type_name(error), escaped_exception(error))


def copied(value: Any) -> Any:
    """A deep copy, made quickly of what JSON knows."""
    kind = type(value)
    if kind is dict:
        return {key: copied(item) for key, item in value.items()}
    if kind is list:
        return [copied(item) for item in value]
    return value if kind in _ATOMS else copy.deepcopy(value)


_ATOMS = (str, int, float, bool, type(None))
