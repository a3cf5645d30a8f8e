"""Raw requests and answers for tests of the transport itself; they are neither encoded nor parsed."""

import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from pytest_corpus.adapter.exchange import CallFault
from pytest_corpus.adapter.hooks.server import HookServer
from pytest_corpus.adapter.transports.protocol import (
    MAX_ANSWER_BYTES,
    SideChannel,
    Transport,
    request_bytes,
    too_long_failure,
)
from pytest_corpus.spec.transports import JSON

LISTEN_S = 0.1
"""The seconds to listen to a channel of messages after its last answer."""


@dataclass(frozen=True, slots=True)
class RawRequest:
    """A raw request.

    Attributes:
        envelope: the request, of any type.
        streaming: True to use the streaming entry point.
        body: bytes to send instead of the envelope; on stdio and WebSocket instead of the whole message.
        method, accept, content_type, encoding, headers: for HTTP only; `encoding` is the value of `Accept-Encoding`.
        leave_after: the number of pieces after which the client leaves; None: it reads to the end.
        disconnect: True to use a separate WebSocket connection that closes when the client leaves.
        listen_s: the seconds to listen to a message channel after the last answer or after leaving.
    """

    envelope: Any = None
    streaming: bool = False
    body: bytes | None = None
    method: str = "POST"
    accept: str = JSON
    content_type: str = JSON
    encoding: str = "identity"
    headers: Mapping[str, str] = field(default_factory=dict)
    leave_after: int | None = None
    disconnect: bool = False
    listen_s: float = LISTEN_S

    @property
    def data(self) -> bytes:
        """The bytes of the body, or of the envelope."""
        return request_bytes(self.envelope) if self.body is None else self.body


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of an answer: a part of a body, a line, a message.

    Attributes:
        data: the bytes of the piece; for gRPC the bytes of the message `Frame`.
        at_s: the time of arrival in seconds after the request.
        binary: True for a binary message of a WebSocket.
    """

    data: bytes
    at_s: float
    binary: bool = False


@dataclass(slots=True)
class RawAnswer:
    """The answer received so far.

    Attributes:
        status, version, headers: for HTTP; 0 and empty without an answer.
        code: the name of gRPC's status.
        trailing: gRPC's trailing metadata.
        pieces, size: the received pieces in order, and their size in bytes.
        number: the id of the call on a message channel; None if a whole message was sent.
        noise: the number of messages on the channel that were not objects.
        left_s: the time at which the client left, in seconds after the request; None if it stayed.
        fault: the reason for an incomplete answer.
    """

    status: int = 0
    version: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    code: str = ""
    trailing: dict[str, str | bytes] = field(default_factory=dict)
    pieces: list[Piece] = field(default_factory=list)
    size: int = 0
    number: int | None = None
    noise: int = 0
    left_s: float | None = None
    fault: CallFault | None = None
    started: float = field(default_factory=time.monotonic)

    @property
    def body(self) -> bytes:
        """All pieces joined."""
        return b"".join(piece.data for piece in self.pieces)

    @property
    def elapsed_s(self) -> float:
        """The seconds since the request was sent."""
        return time.monotonic() - self.started

    def header(self, name: str) -> str:
        """Return the values of a header, separated by commas; empty if it is absent."""
        return ", ".join(value for each, value in self.headers if each.lower() == name.lower())

    @property
    def content_type(self) -> str:
        """The content type, without its parameters."""
        return self.header("Content-Type").partition(";")[0].strip().lower()

    def add_piece(self, data: bytes, *, binary: bool = False) -> None:
        """Add a piece that just arrived; nothing is added to an answer that is too long."""
        if self.fault is not None:
            return
        self.size += len(data)
        self.pieces.append(Piece(data, self.elapsed_s, binary))
        if self.size > MAX_ANSWER_BYTES:
            self.pieces.clear()
            self.fault = too_long_failure().fault

    def keep_and_continue(self, data: bytes, request: RawRequest) -> bool:
        """Add a piece; return True if the client reads on, False if it must leave or the answer is too long."""
        self.add_piece(data)
        if len(self.pieces) == request.leave_after:
            self.note_leaving()
        return self.left_s is None and self.fault is None

    def note_leaving(self) -> None:
        """Record that the client leaves."""
        self.left_s = self.elapsed_s


class RawTransport(Transport, Protocol):
    """A transport to an adapter outside of this process. The adapter sends its reports separately."""

    streams: bool = True
    late_iterations: int = 0

    async def send_raw(self, request: RawRequest, answer: RawAnswer) -> None:
        """Send a request unchanged, and add received pieces to `answer` until the answer is complete."""


class Remote(Protocol):
    """The part of a `RemoteAdapter` that a transport module's function `connect` uses. `connect` sets `transport`."""

    transport: RawTransport
    address: Any
    connection: Any
    hooks: HookServer
    proxy: str
    side_channel: SideChannel

    @property
    def target(self) -> str: ...

    async def reach(self) -> ssl.SSLContext: ...

    def unreachable_error(self, fault: str, remedy: str = "") -> Exception: ...
