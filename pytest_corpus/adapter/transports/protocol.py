"""What a transport is asked for: a request goes out, and what travels back comes as bytes, unread."""

from collections.abc import AsyncIterator, Awaitable
from typing import Any, Protocol

from pytest_corpus.adapter.exchange import CallFault


class CallFailed(Exception):
    """A call has no answer, or no further frame: `fault` says why."""

    def __init__(self, fault: CallFault) -> None:
        self.fault = fault
        super().__init__(fault)

    def __str__(self) -> str:
        return self.fault.text


class Frames(Protocol):
    """The frames of a stream, each as the bytes of one JSON document; an asynchronous generator of bytes will do.

    The client reads frame after frame and closes the stream in every case, also before the first and after the last.
    """

    def __aiter__(self) -> AsyncIterator[bytes]: ...

    def __anext__(self) -> Awaitable[bytes]:
        """The next frame.

        Raises:
            StopAsyncIteration: there are no more.
            CallFailed: there are no more, though the stream should have gone on.
        """

    async def aclose(self) -> None:
        """Tell the adapter that no more frames are read."""


class Transport(Protocol):
    """The way to one wire handler (SPECIFICATION 4.1), from opening to closing in one event loop.

    An envelope is whatever a test sends, also what is not an object, and is not changed. Bytes are handed on as they
    came: `adapter/frame_reader.py` judges them. A transport sets no time limit; a call that takes too long is
    cancelled, and the CancelledError is let through. Calls may run concurrently.
    """

    @property
    def streams(self) -> bool:
        """Whether there is a streaming entry point beside the unary one."""

    async def send(self, envelope: Any) -> bytes:
        """The answer of the unary entry point: the bytes of one JSON document.

        Raises:
            CallFailed: there is none.
        """

    def stream(self, envelope: Any) -> Frames:
        """The frames of the streaming entry point, which is called when the first one is asked for."""

    async def settle(self) -> None:
        """Wait a moment, after a call, for what the adapter reports beside its answer."""

    async def aclose(self) -> None:
        """Let go of what the transport itself holds, such as a connection; what a factory made is not its to close."""
