"""Raw requests and answers, for tests of the transport itself: nothing is encoded or read."""

import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from pytest_corpus.adapter.exchange import CallFault
from pytest_corpus.adapter.hooks.server import HookServer
from pytest_corpus.adapter.transports.protocol import MAX_ANSWER_BYTES, SideChannel, Transport, request_bytes, too_long
from pytest_corpus.spec.transports import JSON

LISTEN_S = 0.1
"""The seconds to listen to a channel of messages after its last answer."""


@dataclass(frozen=True, slots=True)
class RawRequest:
    """A raw request.

    Attributes:
        envelope: the request, whatever it is.
        streaming: it goes to the streaming entry point.
        body: bytes that are sent instead of the envelope; on stdio and WebSocket, instead of the whole message.
        method, accept, content_type, encoding, headers: of HTTP alone; `encoding` is what `Accept-Encoding` offers.
        leave_after: the number of pieces after which the client goes away; None: it reads to the end.
        disconnect: leaving a WebSocket closes its connection, which is one of its own.
        listen_s: the seconds to listen to a channel of messages after the last answer, or after leaving it.
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
        data: its bytes; of gRPC those of the message `Frame`.
        at_s: when it came, in seconds after the request.
        binary: whether it is a binary message of a WebSocket.
    """

    data: bytes
    at_s: float
    binary: bool = False


@dataclass(slots=True)
class RawAnswer:
    """The answer as far as it has come.

    Attributes:
        status, version, headers: of HTTP; 0 and empty where there was no answer.
        code: the name of gRPC's status.
        trailing: gRPC's trailing metadata.
        pieces, size: what came, in its order, and how many bytes that is.
        number: the id of the call on a channel of messages; None where a whole message was sent.
        noise: how many messages since the channel was opened were no objects at all.
        left_s: when the client went away, in seconds after the request; None where it did not.
        fault: why there is no whole answer.
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
        """All pieces together."""
        return b"".join(piece.data for piece in self.pieces)

    @property
    def elapsed_s(self) -> float:
        """The seconds since the request was sent."""
        return time.monotonic() - self.started

    def header(self, name: str) -> str:
        """The values of a header, with commas; empty where it is not there."""
        return ", ".join(value for each, value in self.headers if each.lower() == name.lower())

    @property
    def content_type(self) -> str:
        """The content type, without its parameters."""
        return self.header("Content-Type").partition(";")[0].strip().lower()

    def keep(self, data: bytes, *, binary: bool = False) -> None:
        """Note a piece that came just now; of an answer that is longer than any nothing is kept."""
        if self.fault is not None:
            return
        self.size += len(data)
        self.pieces.append(Piece(data, self.elapsed_s, binary))
        if self.size > MAX_ANSWER_BYTES:
            self.pieces.clear()
            self.fault = too_long().fault

    def goes_on_after(self, data: bytes, request: RawRequest) -> bool:
        """Note a piece, and return if the client reads on: it does not leave, and the answer is not too long."""
        self.keep(data)
        if len(self.pieces) == request.leave_after:
            self.leave()
        return self.left_s is None and self.fault is None

    def leave(self) -> None:
        """Note that the client goes away."""
        self.left_s = self.elapsed_s


class RawTransport(Transport, Protocol):
    """A transport to an adapter outside this process, whose reports arrive by themselves."""

    streams: bool = True
    turns: int = 0

    async def raw(self, request: RawRequest, answer: RawAnswer) -> None:
        """Send a request as it stands, and note in `answer` what comes, until it is whole."""


class Remote(Protocol):
    """The adapter at an address, as the `connect` of a transport module sees it; `connect` sets `transport`."""

    transport: RawTransport
    address: Any
    connection: Any
    hooks: HookServer
    proxy: str
    side_channel: SideChannel

    @property
    def target(self) -> str: ...

    async def reach(self) -> ssl.SSLContext: ...

    def unreachable(self, fault: str, remedy: str = "") -> Exception: ...
