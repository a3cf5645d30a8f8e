"""A Python adapter as a service for any transport: it takes envelopes and returns frames as bytes, concurrently."""

import asyncio
import logging
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Any, TextIO

from pytest_corpus.adapter.exceptions import DeclarationError
from pytest_corpus.adapter.exchange import op_of
from pytest_corpus.adapter.hooks.logs import text_of
from pytest_corpus.adapter.opening import factory as factories
from pytest_corpus.adapter.snapshot import to_bytes
from pytest_corpus.adapter.transports.protocol import CallFailed, Transport, is_stream
from pytest_corpus.serving.access import Access
from pytest_corpus.serving.hooks import HookClient, RequestMetrics, RequestProvider, report_to_hooks
from pytest_corpus.spec.components import COMPONENTS
from pytest_corpus.spec.errors import TAXONOMY
from pytest_corpus.text.strict_json import read_exactly


def error_envelope(name: str, message: str) -> dict[str, Any]:
    """Return an error envelope of a class, which the server sends instead of the adapter's answer."""
    error = TAXONOMY[name]
    return {
        "ok": False, "code": error.code, "error": error.name, "message": message, "retry_after_ms": None,
        "details": None, "ms": 0.0,
    }  # fmt: skip


NOT_JSON = error_envelope("BadRequest", "the request is not JSON")
FOREIGN_HOOKS = error_envelope(
    "BadRequest", "reports go to loopback hosts only; serve with --allow-hooks=HOST to allow another one"
)


class Service:
    """Passes envelopes to the adapter that a factory creates.

    Attributes:
        access: the access rules.
        posting: the client that posts to hooks.
    """

    def __init__(
        self, factory: Callable[..., Any], declared: str, *, log: TextIO | None = None, access: Access | None = None
    ) -> None:
        self._factory, self._declared, self._log = factory, declared, log
        self.access = access or Access()
        self._opened = factories.OpenedAdapter()
        self.posting = HookClient()

    async def open(self) -> None:
        """Call the factory. Raises DeclarationError if the factory raises, or returns no adapter."""
        asked = factories.accepted_hooks(self._factory, self._declared)
        metrics = RequestMetrics()
        hooks: dict[str, Any] = {"metrics": metrics, "provider": RequestProvider()}
        keywords = {name: hook for name, hook in hooks.items() if name in asked}
        if "component" not in asked:
            await self._open_one(keywords, metrics)
            return
        refused: list[DeclarationError] = []
        for component in COMPONENTS:
            try:
                await self._open_one({**keywords, "component": component}, metrics)
            except DeclarationError as error:
                refused.append(error)
        if not self._opened.transports:
            raise refused[0]

    async def _open_one(self, keywords: Mapping[str, Any], metrics: RequestMetrics) -> None:
        await factories.open_factory(self._factory, keywords, metrics, self._declared, self._opened)

    async def close(self) -> list[str]:
        """Close the adapter and return the exceptions that were raised."""
        try:
            return await self._opened.close()
        finally:
            self.posting.close()

    @staticmethod
    def parse_request(data: bytes) -> tuple[Any, bool]:
        """Parse a request; return its value, and True if it is valid JSON."""
        value, flaw = read_exactly(data)
        return value, flaw is None

    def _transport_for(self, envelope: Any) -> Transport | None:
        component = op_of(envelope).partition(".")[0]
        if component in COMPONENTS:
            return self._opened.transport(component) if self._opened.has_handler(component) else None
        return self._opened.shared or next(iter(self._opened.transports.values()), None)

    async def unary(self, envelope: Any, hooks: str) -> bytes:
        """Return the answer of the unary entry point; an exception of the adapter becomes an error envelope."""
        self._log_message(">", to_bytes(envelope))
        if not self.access.allows_hooks(hooks):
            return to_bytes(FOREIGN_HOOKS)
        async with report_to_hooks(hooks, self.posting) as reports:
            answer = await self._call_unary(envelope)
            if reports is not None:
                await reports.flush()
        self._log_message("<", answer)
        return answer

    async def _call_unary(self, envelope: Any) -> bytes:
        way = self._transport_for(envelope)
        if way is None:
            return to_bytes(error_envelope("NotSupported", "the component is not served here"))
        try:
            return await way.send(envelope)
        except CallFailed as failed:
            return to_bytes(error_envelope("Unavailable", _report_failure(failed)))

    async def stream(self, envelope: Any, hooks: str) -> AsyncGenerator[bytes, None]:
        """Yield the frames of the streaming entry point."""
        self._log_message(">", to_bytes(envelope))
        if not self.access.allows_hooks(hooks):
            yield to_bytes(FOREIGN_HOOKS)
            return
        async with report_to_hooks(hooks, self.posting) as reports, aclosing(self._stream(envelope)) as frames:
            async for frame in frames:
                if reports is not None:
                    await reports.flush()
                self._log_message("<", frame)
                yield frame

    async def _stream(self, envelope: Any) -> AsyncGenerator[bytes, None]:
        way = self._transport_for(envelope)
        if way is None or not way.streams:
            yield to_bytes(error_envelope("NotSupported", "the component has no streams here"))
            return
        frames = way.stream(envelope)
        try:
            async for frame in frames:
                yield frame
        except CallFailed as failed:
            yield to_bytes(error_envelope("Unavailable", _report_failure(failed)))
        finally:
            await frames.aclose()

    def _log_message(self, arrow: str, data: bytes) -> None:
        if self._log is not None:
            self._log.write(f"{arrow} {data.decode('utf-8', 'replace')}\n")
            self._log.flush()


def _report_failure(failed: CallFailed) -> str:
    sys.stderr.write(f"the adapter failed: {failed}\n")
    return "the adapter failed"


def error_class_of(answer: bytes) -> str:
    """Return the class of an error envelope; empty for any other answer."""
    if b'"error"' not in answer:
        return ""
    value, _ = read_exactly(answer)
    name = value.get("error") if isinstance(value, Mapping) and value.get("ok") is False else None
    return name if isinstance(name, str) and name in TAXONOMY else ""


class StderrHandler(logging.Handler):
    """Writes log records to standard error with extra fields and exceptions, in the form that the suite reads.

    It replaces `logging.lastResort`, so it only gets records that no handler of the adapter takes.
    """

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record to standard error."""
        text, _ = text_of(record)
        sys.stderr.write(f"{record.levelname} {record.name}: {text}\n")
        sys.stderr.flush()


def write_unhandled_records() -> None:
    """From now on, write log records that have no handler to standard error."""
    logging.lastResort = StderrHandler()


Send = Callable[[bytes], Awaitable[None]]


class Conversation:
    """The calls on one message channel; `hooks` is the hooks' address for messages that do not name one."""

    def __init__(self, service: Service, send: Send, hooks: str) -> None:
        self._service, self._send, self._hooks = service, send, hooks
        self._calls: dict[Any, asyncio.Task[None]] = {}
        self._every: set[asyncio.Task[None]] = set()

    async def handle_message(self, data: bytes) -> None:
        """Start or cancel a call as the message demands, or answer that it is not valid."""
        message, is_json = self._service.parse_request(data)
        if not is_json or not isinstance(message, Mapping):
            refusal = NOT_JSON if not is_json else error_envelope("BadRequest", "the message is not an object")
            await self._send_frame(None, to_bytes(refusal))
        elif "cancel" in message:
            task = self._calls.get(_key_of(message["cancel"]))
            if task is not None:
                task.cancel()
        else:
            number = message.get("id")
            task = asyncio.ensure_future(self._carry_out_call(number, message))
            self._every.add(task)
            self._calls[_key_of(number)] = task
            task.add_done_callback(lambda done: self._forget_call(_key_of(number), done))

    def _forget_call(self, key: str, done: asyncio.Task[None]) -> None:
        self._every.discard(done)
        if self._calls.get(key) is done:
            del self._calls[key]

    async def _carry_out_call(self, number: Any, message: Mapping[str, Any]) -> None:
        envelope, hooks = message.get("envelope"), message.get("hooks")
        hooks = hooks if isinstance(hooks, str) else self._hooks
        streaming = message.get("stream")
        if streaming if isinstance(streaming, bool) else is_stream(envelope):
            async with aclosing(self._service.stream(envelope, hooks)) as frames:
                async for frame in frames:
                    await self._send_frame(number, frame)
        else:
            await self._send_frame(number, await self._service.unary(envelope, hooks))

    async def _send_frame(self, number: Any, frame: bytes) -> None:
        await self._send(b'{"id":%b,"frame":%b}' % (to_bytes(number), frame))

    async def close(self) -> None:
        """Cancel all active calls."""
        for task in self._every:
            task.cancel()
        await asyncio.gather(*self._every, return_exceptions=True)


def _key_of(number: Any) -> str:
    return to_bytes(number).decode()
