"""Concurrent calls over one message channel, such as stdio or WebSocket (R88).

A request is ``{"id": n, "envelope": ...}``, each answer ``{"id": n, "frame": ...}``, and ``{"cancel": n}`` ends a call.
"""

import asyncio
import json
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

from pytest_corpus.adapter.exchange import CallFault
from pytest_corpus.adapter.hooks.server import HookServer
from pytest_corpus.adapter.transports.protocol import CallFailed, is_stream, request_bytes
from pytest_corpus.adapter.transports.raw import RawAnswer, RawRequest

_ID_FIRST = re.compile(rb'\s*\{\s*"id"\s*:\s*(-?\d{1,18}|null)\s*,\s*"frame"\s*:')
_FRAME_FIRST = re.compile(rb'\s*\{\s*"frame"\s*:')
_ID_LAST = re.compile(rb',\s*"id"\s*:\s*(-?\d{1,18}|null)\s*\}\s*\Z')

_GOING_ON = re.compile(rb'"is_final"\s*:\s*false')
_PERHAPS_TERMINAL = re.compile(rb'"is_final"\s*:\s*true|"ok"\s*:\s*false|\\u00')
"""Matches every frame that may end a stream. Frames that do not match need not be parsed here."""

SILENCE_S = 0.5
"""The seconds to wait for an answer to an invalid request, and for more messages after an unrelated message."""

GOODBYES = (1000, 1001)
"""The close codes of a WebSocket that are not an error."""

Send = Callable[[bytes], Awaitable[None]]


class ClosedWhileIdle(CallFailed):
    """The error for a channel that closed after earlier use, before the active calls got any message."""


class InvalidMessage(Exception):
    """The error for a message that is not an object with only `id` and `frame`."""


def unpack(message: bytes) -> tuple[int | None, bytes]:
    """Return the id and the unparsed frame of an answer. Raises `InvalidMessage` if the message is not valid."""
    if found := _ID_FIRST.match(message):
        whole = message.rstrip()
        if not whole.endswith(b"}"):
            raise InvalidMessage
        return _parse_id(found[1]), whole[found.end() : -1].strip()
    begin, end = _FRAME_FIRST.match(message), _ID_LAST.search(message)
    if begin is None or end is None:
        raise InvalidMessage
    return _parse_id(end[1]), message[begin.end() : end.start()].strip()


def _parse_id(text: bytes) -> int | None:
    return None if text == b"null" else int(text)


class CallMultiplexer:
    """The active calls on one channel.

    Attributes:
        noise: the number of messages that were not objects.
        closed_while_idle: True if the channel was used before and was closed before the active calls got a message.
    """

    def __init__(self, send: Send, hooks: HookServer) -> None:
        self._send, self._hooks = send, hooks
        self._waiting: dict[int, asyncio.Queue[bytes | CallFailed]] = {}
        self._number = 0
        self._ended: CallFault | None = None
        self.noise = 0
        self._was_heard = self._is_quiet = self.closed_while_idle = False
        self._listeners: list[Listener] = []

    def pass_message(self, message: bytes) -> None:
        """Pass a message to the call that it answers."""
        self._notify_listeners(message, binary=False)
        try:
            number, frame = unpack(message)
        except InvalidMessage:
            self.noise += not message.lstrip().startswith(b"{")
            self.fail(CallFault("not_json", "a message that is not an object of `id` and `frame` alone"))
            return
        if number is None and len(self._waiting) == 1:
            (queue,) = self._waiting.values()
            queue.put_nowait(frame)
        elif number in self._waiting:
            self._waiting[number].put_nowait(frame)

    def refuse_binary(self, message: bytes) -> None:
        """Record a binary message."""
        self._notify_listeners(message, binary=True)
        self.fail(CallFault("not_json", "a binary message, where text is expected"))

    def _notify_listeners(self, message: bytes, *, binary: bool) -> None:
        self._was_heard, self._is_quiet = True, False
        for listener in self._listeners:
            listener.note_message(message, binary=binary)

    def fail(self, fault: CallFault) -> None:
        """Let every active call fail."""
        for queue in self._waiting.values():
            queue.put_nowait(self._failure(fault))

    def _failure(self, fault: CallFault) -> CallFailed:
        return ClosedWhileIdle(fault) if self.closed_while_idle else CallFailed(fault)

    def end(self, fault: CallFault, *, is_goodbye: bool = False) -> None:
        """Record that the channel is closed, so calls get no more answers."""
        self._ended = fault
        self.closed_while_idle = is_goodbye and self._is_quiet
        self.fail(fault)
        for listener in self._listeners:
            listener.news.set()

    async def unary(self, envelope: Any) -> bytes:
        """Return the only frame that answers a request."""
        number, queue = await self._begin_call(envelope, streaming=False)
        try:
            answer = await queue.get()
        except asyncio.CancelledError:
            await self._cancel_call(number)
            raise
        finally:
            self._waiting.pop(number, None)
        if isinstance(answer, CallFailed):
            raise answer
        return answer

    async def stream(self, envelope: Any) -> AsyncGenerator[bytes, None]:
        """Yield the frames that answer a request, including the terminal frame."""
        number, queue = await self._begin_call(envelope, streaming=True)
        ended = False
        try:
            while not ended or not queue.empty():
                answer = await queue.get() if queue.empty() else queue.get_nowait()
                ended = ended or isinstance(answer, CallFailed) or is_terminal(answer)
                if isinstance(answer, CallFailed):
                    raise answer
                yield answer
        finally:
            self._waiting.pop(number, None)
            if not ended:
                await self._cancel_call(number)

    async def send_raw(self, request: RawRequest, answer: RawAnswer) -> None:
        """Send a request or a whole message. Record all messages until shortly after the answer."""
        listener = Listener(request, answer)
        self._listeners.append(listener)
        number = None
        try:
            if request.body is None:
                answer.number = number = self._number + 1
                await self._begin_call(request.envelope, streaming=request.streaming)
            else:
                await self._send(request.body)
            while self._ended is None and answer.fault is None and await listener.wait_for_next():
                if listener.must_leave():
                    answer.note_leaving()
                    listener.listen_for(request.listen_s)
                    if number is not None and not request.disconnect:
                        await self._cancel_call(number)
                    if request.disconnect:
                        break
            answer.fault = answer.fault or (None if listener.is_satisfied else self._ended)
        except CallFailed as failed:
            answer.fault = failed.fault
        except (OSError, RuntimeError):
            answer.fault = self._ended or CallFault("raised", "the connection is closed")
        finally:
            answer.noise = self.noise
            self._listeners.remove(listener)
            if number is not None:
                self._waiting.pop(number, None)

    async def _begin_call(self, envelope: Any, *, streaming: bool) -> tuple[int, asyncio.Queue[bytes | CallFailed]]:
        if self._ended is not None:
            raise CallFailed(self._ended)
        if not self._waiting:
            self._is_quiet = self._was_heard
        self._number += 1
        number = self._number
        queue: asyncio.Queue[bytes | CallFailed] = asyncio.Queue()
        self._waiting[number] = queue
        extra = b"" if streaming == is_stream(envelope) else b',"stream":true' if streaming else b',"stream":false'
        extra += b',"hooks":' + json.dumps(self._hooks.assign_address()[1]).encode()
        try:
            await self._send(b'{"id":%d%b,"envelope":%b}' % (number, extra, request_bytes(envelope)))
        except (OSError, RuntimeError):
            self._waiting.pop(number, None)
            raise self._failure(self._ended or CallFault("raised", "the connection is closed")) from None
        except BaseException:
            self._waiting.pop(number, None)
            raise
        return number, queue

    async def _cancel_call(self, number: int) -> None:
        if self._ended is None:
            try:
                await asyncio.shield(self._send(b'{"cancel":%d}' % number))
            except (OSError, RuntimeError):
                return


class Listener:
    """Records the messages on a channel for one raw call, and determines how long to listen.

    Attributes:
        news: set if a message arrived or the channel was closed.
    """

    def __init__(self, request: RawRequest, answer: RawAnswer) -> None:
        self._request, self._answer = request, answer
        self._until: float | None = None
        self.news = asyncio.Event()
        if request.body is not None:
            self.listen_for(SILENCE_S)

    @property
    def is_satisfied(self) -> bool:
        """True if the call was answered or abandoned; if the channel closes after that, the call is not affected."""
        return self._request.body is None and self._until is not None

    def listen_for(self, seconds: float) -> None:
        """Listen for this number of seconds, starting now."""
        self._until = time.monotonic() + seconds

    def note_message(self, message: bytes, *, binary: bool) -> None:
        """Record a message. After the call's last message, and after unrelated messages, listen a little longer."""
        self._answer.add_piece(message, binary=binary)
        self.news.set()
        try:
            number, frame = (None, b"") if binary else unpack(message)
        except InvalidMessage:
            number = None
        if self._answer.left_s is not None:
            return
        if number is None:
            self.listen_for(self._request.listen_s if self._request.body is not None else SILENCE_S)
        elif number == self._answer.number:
            is_last = not self._request.streaming or is_terminal(frame)
            self._until = time.monotonic() + self._request.listen_s if is_last else None

    def must_leave(self) -> bool:
        """True if the client must leave now: it got as many messages as `leave_after` of the request states."""
        most = self._request.leave_after
        return most is not None and self._answer.left_s is None and len(self._answer.pieces) >= most

    async def wait_for_next(self) -> bool:
        """Wait for the next message; return True if there may be another."""
        left = None if self._until is None else self._until - time.monotonic()
        if left is not None and left <= 0:
            return False
        try:
            await asyncio.wait_for(self.news.wait(), left)
        except TimeoutError:
            return False
        self.news.clear()
        return True


def is_terminal(frame: bytes) -> bool:
    """True if no frame can follow this frame: a final chunk, an error, or a message that is not a stream's frame."""
    if _GOING_ON.search(frame) and not _PERHAPS_TERMINAL.search(frame):
        return False
    try:
        body = json.loads(frame)
    except (ValueError, RecursionError):
        return True
    if not isinstance(body, dict) or body.get("ok") is not True:
        return True
    chunk = body.get("chunk")
    return not isinstance(chunk, dict) or chunk.get("is_final") is True
