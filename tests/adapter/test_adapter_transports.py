"""Transports: what the client may rely on, whichever way a request goes."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Any, NamedTuple

import pytest

from pytest_corpus.adapter import calls
from pytest_corpus.adapter.calls import call
from pytest_corpus.adapter.event_loop.loop import TimeLimit
from pytest_corpus.adapter.exchange import CallFault, Exchange
from pytest_corpus.adapter.snapshot import is_longer_than, to_bytes
from pytest_corpus.adapter.transports import in_process
from pytest_corpus.adapter.transports.in_process import InProcess
from pytest_corpus.adapter.transports.protocol import CallFailed, Frames, Transport

REQUEST = {"op": "llm.stream", "ctx": {}, "args": {"text": "hi"}}


class Handler:
    """A handler whose answers are given: what both entry points return."""

    def __init__(self, handle: Callable[[Any], Any], handle_stream: Callable[[Any], Any] | None = None) -> None:
        self.handle = handle
        if handle_stream:
            self.handle_stream = handle_stream


class Remote:
    """A transport that gets its bytes from elsewhere: the least that the Protocol asks for."""

    streams, late_iterations = True, 0

    def __init__(self, *answers: bytes, fault: CallFault | None = None) -> None:
        self.answers, self.fault = answers, fault
        self.log: list[str] = []

    async def send(self, envelope: Any) -> bytes:
        if self.fault:
            raise CallFailed(self.fault)
        return self.answers[0]

    async def stream(self, envelope: Any) -> AsyncGenerator[bytes, None]:
        try:
            for answer in self.answers:
                yield answer
            if self.fault:
                raise CallFailed(self.fault)
        finally:
            self.log.append("closed")

    async def aclose(self) -> None:
        self.log.append("let go")


def carried(transport: Transport, *, streaming: bool = True) -> Exchange:
    exchange = Exchange(REQUEST, streaming)
    asyncio.run(call(transport, exchange))
    return exchange


async def read(frames: Frames) -> list[bytes]:
    try:
        return [frame async for frame in frames]
    finally:
        await frames.aclose()


async def _frames(*bodies: Any) -> AsyncIterator[Any]:
    for body in bodies:
        yield body


async def _awaited(value: Any) -> Any:
    return value


def raising(error: BaseException) -> Callable[[Any], Any]:
    def entry_point(envelope: Any) -> Any:
        raise error

    return entry_point


def raising_later(error: BaseException) -> Callable[[Any], Any]:
    """An entry point that raises when what it returned is awaited."""

    class Later:
        def __await__(self) -> Any:
            raise error

    return lambda envelope: Later()


@pytest.mark.parametrize("wrap", [lambda value: value, _awaited], ids=["plain", "awaitable"])
def test_an_answer_is_the_bytes_that_would_travel(wrap: Callable[[Any], Any]) -> None:
    """The result of `handle`, awaited or not, becomes compact UTF-8 JSON."""
    transport = InProcess(Handler(lambda envelope: wrap({"text": "ä", "numbers": (1, 2.5)})))
    assert asyncio.run(transport.send(REQUEST)) == '{"text":"ä","numbers":[1,2.5]}'.encode()


@pytest.mark.parametrize("wrap", [lambda value: value, _awaited], ids=["plain", "awaitable"])
def test_each_frame_is_the_bytes_that_would_travel(wrap: Callable[[Any], Any]) -> None:
    """The result of `handle_stream`, awaited or not, is iterated, and a frame may be any JSON value."""
    transport = InProcess(Handler(_awaited, lambda envelope: wrap(_frames({"a": 1}, None, [], float("nan")))))
    assert asyncio.run(read(transport.stream(REQUEST))) == [b'{"a":1}', b"null", b"[]", b"NaN"]


@pytest.mark.parametrize("envelope", [{"a": [{}]}, ["a"], None, 7, "text"], ids=repr)
def test_an_envelope_may_be_anything_and_is_not_changed(envelope: Any) -> None:
    """The handler gets an equal copy, whatever a test sends, and what it does to that stays with it."""
    seen = []

    def taking(given: Any) -> Any:
        seen.append((given == envelope, given is not envelope or not isinstance(envelope, dict | list)))
        if isinstance(given, dict | list):
            given.clear()
        return _frames()

    before = repr(envelope)
    transport = InProcess(Handler(lambda given: bool(taking(given)), taking))
    asyncio.run(transport.send(envelope))
    asyncio.run(read(transport.stream(envelope)))
    assert seen == [(True, True), (True, True)]
    assert repr(envelope) == before


def test_the_streaming_entry_point_is_called_with_the_first_frame() -> None:
    """A stream that is not read does not reach the handler, and can be closed."""

    async def unread() -> None:
        await InProcess(Handler(_awaited, raising(ValueError()))).stream(REQUEST).aclose()

    asyncio.run(unread())


def test_whether_there_is_a_streaming_entry_point() -> None:
    """It is known without a call."""
    assert not InProcess(Handler(_awaited)).streams
    assert InProcess(Handler(_awaited, _awaited)).streams


ERRORS = (ValueError, StopAsyncIteration, GeneratorExit, asyncio.CancelledError, SystemExit)


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize(("entry_point", "name"), [
    *((raising(error()), error.__name__) for error in (*ERRORS, StopIteration)),
    *((raising_later(error()), error.__name__) for error in ERRORS),
])  # fmt: skip
def test_what_escapes_a_handler_is_a_fault(entry_point: Callable[[Any], Any], name: str, streaming: bool) -> None:
    """If an entry point raises, called or awaited, the call has failed, and the type is named."""
    exchange = carried(InProcess(Handler(entry_point, entry_point)), streaming=streaming)
    assert exchange.fault == CallFault("raised", name)


@pytest.mark.parametrize("streaming", [False, True])
def test_an_answer_after_the_limit_is_too_late(streaming: bool) -> None:
    """It is not part of the exchange, and the call has not ended in time: earlier frames are not a whole answer."""
    exchange = Exchange(REQUEST, streaming)

    async def frames() -> AsyncIterator[Any]:
        yield {"number": 1}
        exchange.until = time.monotonic()
        yield {"number": 2}

    async def answer() -> Any:
        exchange.until = time.monotonic()
        return {}

    transport = InProcess(Handler(lambda envelope: answer(), lambda envelope: frames()))
    with pytest.raises(TimeLimit):
        asyncio.run(call(transport, exchange))
    assert [frame.body for frame in exchange.frames] == [{"number": 1}] * streaming


@pytest.mark.parametrize("waits", ["handle", "frame", "close"])
def test_a_call_that_is_cancelled_ends(waits: str) -> None:
    """Our own order to stop is not a finding about the adapter: it goes through, and the stream is closed."""
    closed = []

    class Source:
        def __aiter__(self) -> Source:
            return self

        async def __anext__(self) -> Any:
            return await asyncio.sleep(1000) if waits == "frame" else {}

        async def aclose(self) -> None:
            closed.append(1)
            if waits == "close":
                await asyncio.sleep(1000)

    exchange = Exchange(REQUEST, streaming=waits != "handle")

    async def cancelled() -> None:
        transport = InProcess(Handler(lambda envelope: asyncio.sleep(1000), lambda envelope: Source()))
        await asyncio.wait_for(call(transport, exchange), 0.05)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(calls, "MAX_FRAMES", 1)
        with pytest.raises(asyncio.TimeoutError):
            asyncio.run(cancelled())
    assert len(closed) == (waits != "handle")
    assert exchange.fault is None or exchange.fault.kind == "endless"


def test_what_runs_beside_an_answer_is_waited_for() -> None:
    """A task that the handler started goes on for a few turns before the call counts as over."""
    reported, tasks = [], []

    async def report() -> None:
        await asyncio.sleep(0)
        reported.append(1)

    def handle(envelope: Any) -> Any:
        tasks.append(asyncio.ensure_future(report()))
        return {}

    carried(InProcess(Handler(handle)), streaming=False)
    assert reported == [1]


def test_letting_go_of_the_transport_does_not_close_the_handler() -> None:
    """Objects that a factory made are closed with it, and not by its transport."""
    handler = Handler(_awaited)
    handler.aclose = handler.close = raising(ValueError())  # type: ignore[attr-defined]
    asyncio.run(InProcess(handler).aclose())


@pytest.mark.parametrize("streaming", [False, True])
def test_bytes_from_elsewhere_are_read_alike(streaming: bool) -> None:
    """A transport needs no more than the Protocol to be read and closed."""
    transport = Remote(b'{ "ok": true }')
    exchange = carried(transport, streaming=streaming)
    assert [(frame.body, frame.size) for frame in exchange.frames] == [({"ok": True}, 14)]
    assert exchange.fault is None
    assert transport.log == (["closed"] if streaming else [])


@pytest.mark.parametrize("data", [b'{"a": 1, "a": 1}', b'{"a": "\xff"}', b"\xef\xbb\xbf{}", b"{", b""], ids=range(5))
@pytest.mark.parametrize("streaming", [False, True])
def test_bytes_that_are_no_json_are_a_fault(data: bytes, streaming: bool) -> None:
    """The call is not JSON, frames before it are kept, none is read after it, and the stream is closed."""
    transport = Remote(b"{}", data, b"{}") if streaming else Remote(data)
    exchange = carried(transport, streaming=streaming)
    assert exchange.fault is not None
    assert (exchange.fault.kind, len(exchange.frames)) == ("not_json", int(streaming))
    assert transport.log == (["closed"] if streaming else [])


@pytest.mark.parametrize("streaming", [False, True])
def test_a_call_that_fails_says_why(streaming: bool) -> None:
    """The fault that a transport tells is the fault of the exchange, and the frames before it are kept."""
    fault = CallFault("raised", "ConnectionResetError")
    exchange = carried(Remote(b"{}", fault=fault), streaming=streaming)
    assert (exchange.fault, len(exchange.frames)) == (fault, int(streaming))


def test_a_stream_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """After its limit of frames or bytes the client stops reading and closes the stream."""
    monkeypatch.setattr(calls, "MAX_FRAMES", 2)
    transport = Remote(b"{}", b"{}", b"{}")
    assert (carried(transport).fault or CallFault("raised", "")).kind == "endless"
    monkeypatch.setattr(calls, "MAX_STREAM_BYTES", 3)
    assert len(carried(transport).frames) == 2
    assert transport.log == ["closed"] * 2


def test_an_answer_that_is_too_large_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """In process as over a transport, a single answer beyond the limit of bytes is cut off."""
    monkeypatch.setattr(calls, "MAX_STREAM_BYTES", 1)
    exchange = carried(Remote(b"{}"), streaming=False)
    assert (exchange.fault or CallFault("raised", "")).kind == "cut_off"
    assert exchange.frames == []


def laughs() -> list[Any]:
    """A list of few objects whose text has more than 2 to the power of 60 bytes."""
    value: list[Any] = []
    for _ in range(60):
        value = [value, value]
    return value


class Derived(str):
    """A text of a class of the adapter's, which says another length."""

    def __len__(self) -> int:
        return 1


class Pair(NamedTuple):
    first: Any
    second: Any


def derived() -> Any:
    """A large answer of classes that derive from Python's own."""
    return OrderedDict(a=Pair(1, Derived("x" * (65 << 20))))


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("make", [lambda: {"text": "x" * (65 << 20)}, lambda: {"x" * (65 << 20): 1}, laughs, derived])
def test_an_object_that_is_too_large_is_not_written(
    monkeypatch: pytest.MonkeyPatch, make: Callable[[], Any], streaming: bool
) -> None:
    """In process the size of an answer is known before its text, which would cost its memory again, is made."""

    async def frames(_: Any) -> AsyncIterator[Any]:
        yield make()

    monkeypatch.setattr(in_process, "to_bytes", pytest.fail)
    exchange = carried(InProcess(Handler(lambda _: make(), frames)), streaming=streaming)
    assert exchange.fault == CallFault("cut_off", "an answer of more than 64 MiB")


@pytest.mark.parametrize(
    "value",
    [
        {"text": "x" * 80},
        [["a" * 30, 1.5, None] * 2],
        {"a": {"b": ["c" * 10]}, "d": True},
        ("é" * 60, {1: 2}),
        [[[]]],
        OrderedDict(a=Derived("d" * 50), b=Pair([1] * 20, 2)),
    ],
)
def test_the_least_length_is_never_above_the_length(value: Any) -> None:
    """No answer that is within the limit is refused."""
    assert not is_longer_than(len(to_bytes(value)), value)
    assert is_longer_than(len(to_bytes(value)) // 3, value)
