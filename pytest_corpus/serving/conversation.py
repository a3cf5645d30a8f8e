"""Messages with an id, over stdio and WebSocket: concurrent calls, answers in any order."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Any

from pytest_corpus.adapter.snapshot import to_bytes
from pytest_corpus.adapter.transports.protocol import is_stream
from pytest_corpus.serving.service import NOT_JSON, Service, error_envelope

Send = Callable[[bytes], Awaitable[None]]


class Conversation:
    """The calls of one client; `hooks` is the address for messages that name none."""

    def __init__(self, service: Service, send: Send, hooks: str) -> None:
        self._service, self._send, self._hooks = service, send, hooks
        self._calls: dict[Any, asyncio.Task[None]] = {}
        self._every: set[asyncio.Task[None]] = set()

    async def take(self, data: bytes) -> None:
        """Begin or end a call, as a message says."""
        message, is_json = self._service.read(data)
        if not is_json or not isinstance(message, Mapping):
            refusal = NOT_JSON if not is_json else error_envelope("BadRequest", "the message is not an object")
            await self._answer(None, to_bytes(refusal))
        elif "cancel" in message:
            task = self._calls.get(_key(message["cancel"]))
            if task is not None:
                task.cancel()
        else:
            number = message.get("id")
            task = asyncio.ensure_future(self._carry_out(number, message))
            self._every.add(task)
            self._calls[_key(number)] = task
            task.add_done_callback(lambda done: self._forget(_key(number), done))

    def _forget(self, key: str, done: asyncio.Task[None]) -> None:
        self._every.discard(done)
        if self._calls.get(key) is done:
            del self._calls[key]

    async def _carry_out(self, number: Any, message: Mapping[str, Any]) -> None:
        envelope, hooks = message.get("envelope"), message.get("hooks")
        hooks = hooks if isinstance(hooks, str) else self._hooks
        streaming = message.get("stream")
        if streaming if isinstance(streaming, bool) else is_stream(envelope):
            async with aclosing(self._service.stream(envelope, hooks)) as frames:
                async for frame in frames:
                    await self._answer(number, frame)
        else:
            await self._answer(number, await self._service.unary(envelope, hooks))

    async def _answer(self, number: Any, frame: bytes) -> None:
        await self._send(b'{"id":%b,"frame":%b}' % (to_bytes(number), frame))

    async def close(self) -> None:
        """End every call in progress."""
        for task in self._every:
            task.cancel()
        await asyncio.gather(*self._every, return_exceptions=True)


def _key(number: Any) -> str:
    return to_bytes(number).decode()
