"""A wire handler in this process, called directly. Answers are encoded as the bytes of a real transport.

Every object of the adapter is converted here to bytes or to a fault, whatever it returns or raises.
"""

from __future__ import annotations

import asyncio
import copy
import inspect
from collections.abc import AsyncIterator
from typing import Any

from pytest_corpus.adapter.event_loop.loop import is_cancelled, is_collected
from pytest_corpus.adapter.exchange import CallFault
from pytest_corpus.adapter.snapshot import NotJSON, is_longer_than, to_bytes
from pytest_corpus.adapter.tracebacks import escaped_exception
from pytest_corpus.adapter.transports.protocol import MAX_STREAM_BYTES, TOO_LARGE, CallFailed
from pytest_corpus.redaction import type_name


class InProcess:
    """Calls `handle` and `handle_stream` of a wire handler, which may lack these methods."""

    late_iterations = 4

    def __init__(self, handler: Any) -> None:
        self._handler = handler
        self.streams = _has_stream(handler)

    async def send(self, envelope: Any) -> bytes:
        """Call `handle`, await its result if it is awaitable, and return the result as bytes."""
        envelope, task = copy_value(envelope), asyncio.current_task()
        try:
            answer = self._handler.handle(envelope)
            if inspect.isawaitable(answer):
                answer = await answer
        except BaseException as error:  # noqa: BLE001 - whatever escapes an adapter is a finding, never our end
            fault = _fault_of(error, task)
        else:
            return _encode(answer)
        raise CallFailed(fault)

    def stream(self, envelope: Any) -> HandlerFrames:
        """Call `handle_stream`, await its result if it is awaitable, and return the result for iteration."""
        return HandlerFrames(self._handler, copy_value(envelope))

    async def aclose(self) -> None:
        """Do nothing: the handler is closed with the other results of its factory."""


class HandlerFrames:
    """The frames that a handler yields, each as bytes."""

    def __init__(self, handler: Any, envelope: Any) -> None:
        self._handler, self._envelope = handler, envelope
        self._source: Any = None
        self._iterator: AsyncIterator[Any] | None = None

    def __aiter__(self) -> HandlerFrames:
        return self

    async def __anext__(self) -> bytes:
        """The next frame as bytes."""
        frame, fault, task = None, None, asyncio.current_task()
        # All in one coroutine: Python turns a StopIteration that leaves another one into a RuntimeError.
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
            fault = _fault_of(error, task)
        except BaseException as error:  # noqa: BLE001 - whatever escapes an adapter is a finding, never our end
            fault = _fault_of(error, task)
        if fault is not None:
            raise CallFailed(fault)
        return _encode(frame)

    async def aclose(self) -> None:
        """Close the stream if the handler offers that. R22 makes `aclose` optional and allows any exception."""
        task = asyncio.current_task()
        try:
            close = getattr(self._source, "aclose", None)
            if callable(close):
                await close()
        except BaseException as error:
            # If unsure, blame the adapter: nothing waits for an abandoned call.
            if is_collected(task) or is_cancelled(error):
                raise


def _has_stream(handler: Any) -> bool:
    """True if a handler has `handle_stream`. A property that raises also counts, because the call raises again."""
    try:
        return callable(getattr(handler, "handle_stream", None))
    except BaseException:  # noqa: BLE001 - a property of the adapter's may raise anything
        return True


def _encode(answer: Any) -> bytes:
    if is_longer_than(MAX_STREAM_BYTES, answer):
        raise CallFailed(CallFault("cut_off", TOO_LARGE))
    try:
        return to_bytes(answer)
    except NotJSON as error:
        fault = CallFault("not_json", str(error))
    raise CallFailed(fault)


def _fault_of(error: BaseException, task: object) -> CallFault:
    """Return the fault of an exception. If the exception stops this call, raise it again."""
    if is_collected(task) or is_cancelled(error):
        raise error
    return CallFault("raised", type_name(error), escaped_exception(error))


def copy_value(value: Any) -> Any:
    """Return a deep copy, with a fast path for JSON types."""
    kind = type(value)
    if kind is dict:
        return {key: copy_value(item) for key, item in value.items()}
    if kind is list:
        return [copy_value(item) for item in value]
    return value if kind in _ATOMS else copy.deepcopy(value)


_ATOMS = (str, int, float, bool, type(None))
