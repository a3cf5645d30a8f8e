"""An adapter outside of this process: it has an address, and a server for the hooks."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import importlib.util
import ssl
import time
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from pytest_corpus.adapter.exceptions import DeclarationError
from pytest_corpus.adapter.hooks.metrics import RecordingSink
from pytest_corpus.adapter.hooks.provider import ProviderProbe
from pytest_corpus.adapter.hooks.server import HookServer
from pytest_corpus.adapter.opening.address import Address
from pytest_corpus.adapter.transports.protocol import SideChannel
from pytest_corpus.adapter.transports.raw import RawTransport

DEFAULT_PORTS = {"grpc": 50051}

RETRY_S = 0.05
STARTUP_S = 10.0
CONNECTIONS = 100


@dataclass(frozen=True, slots=True)
class Connection:
    """The settings of connections to addresses.

    Attributes:
        headers: the headers of each request; their values are credentials and never shown.
        tls: ``yes``, ``no`` (certificates are not verified) or the path of a file with certificate authorities.
        connections: the largest number of concurrent connections.
        startup_s: the time limit in seconds for a program to start and for the first answer of an address.
        log: the log file of an adapter at an address, or None.
        upstream: the address of the real provider, if the suite is a proxy for it.
    """

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    tls: str = "yes"
    connections: int = CONNECTIONS
    startup_s: float = STARTUP_S
    log: Path | None = None
    upstream: str = ""

    def context(self) -> ssl.SSLContext:
        """Return the TLS context. Raises OSError if the file of certificate authorities is not readable."""
        context = ssl.create_default_context(cafile=None if self.tls in ("yes", "no") else self.tls)
        if self.tls == "no":
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context


class RemoteFactory:
    """The factory of an adapter at an address: it takes the hooks and returns the remote adapter."""

    def __init__(self, address: Address, connection: Connection) -> None:
        self.address, self.connection = address, connection

    def check(self) -> None:
        """Check that the library for the transport is installed. Raises DeclarationError if not."""
        scheme = self.address.scheme
        if scheme.library and importlib.util.find_spec(scheme.library) is None:
            raise DeclarationError(
                self.address.shown,
                f"{scheme.prefix} needs {'grpcio' if scheme.library == 'grpc' else scheme.library}",
                f"pip install 'pytest-corpus[{scheme.extra}]'",
            )

    def __call__(self, metrics: RecordingSink, provider: ProviderProbe) -> RemoteAdapter:
        return RemoteAdapter(self.address, self.connection, HookServer(metrics, provider), self.proxy(provider))

    def proxy(self, provider: ProviderProbe) -> str:
        """Return the address of the proxy before the adapter's provider; empty without a proxy.

        Raises:
            DeclarationError: the proxy cannot be opened.
        """
        try:
            return provider.proxy(self.connection.upstream) if self.connection.upstream else ""
        except (ValueError, ModuleNotFoundError) as error:
            said = str(error).removeprefix("provider.proxy: ")
            raise DeclarationError(self.address.shown, f"provider-upstream: {said}") from None


class RemoteAdapter:
    """An adapter at an address. It is connected within its context.

    Attributes:
        hooks: the server that receives the adapter's reports.
        proxy: the address of the proxy before the adapter's provider, or empty.
        side_channel: the headers and log lines of the adapter.
        known: the results that transport tests of all components share.
    """

    transport: RawTransport

    def __init__(self, address: Address, connection: Connection, hooks: HookServer, proxy: str = "") -> None:
        self.address, self.connection, self.hooks, self.proxy = address, connection, hooks, proxy
        self.side_channel = SideChannel(connection.log)
        self.known: dict[Hashable, Any] = {}

    @property
    def hears_logs(self) -> bool:
        """True if the suite can read the adapter's log: the standard error of a program, or a log file (R74)."""
        return self.connection.log is not None or self.address.scheme.prefix == "cmd:"

    async def __aenter__(self) -> RemoteAdapter:
        await self.hooks.start()
        try:
            await self.connect()
        except BaseException:
            await self.hooks.aclose()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self.transport.aclose()
        finally:
            await self.hooks.aclose()

    async def connect(self) -> None:
        """Open the transport of the address."""
        module = importlib.import_module(f"pytest_corpus.adapter.transports.{self.address.scheme.module}")
        await module.connect(self)

    @property
    def target(self) -> str:
        """The host and port of the address, with the default port if it names none."""
        url = urlsplit(self.address.text)
        return url.netloc if url.port else f"{url.netloc.rstrip(':')}:{self._port}"

    @property
    def _port(self) -> int:
        url = urlsplit(self.address.text)
        return url.port or (443 if url.scheme in ("https", "wss") else DEFAULT_PORTS.get(url.scheme, 80))

    async def reach(self) -> ssl.SSLContext:
        """Wait until the port is open; with TLS, verify the other side and return the TLS context.

        Raises:
            DeclarationError: the address does not answer or cannot be verified.
        """
        try:
            tls = self.connection.context()
        except (OSError, ssl.SSLError):
            raise self.unreachable_error(
                f"the file {Path(self.connection.tls).name} holds no certificates that can be read",
                "corpus_tls_verify takes yes, no or the path of a CA bundle in PEM",
            ) from None
        url = urlsplit(self.address.text)
        secure = url.scheme in ("https", "wss")
        until = time.monotonic() + self.connection.startup_s
        while True:
            left = until - time.monotonic()
            try:
                opening = asyncio.open_connection(url.hostname, self._port, ssl=tls if secure else None)
                _, writer = await asyncio.wait_for(opening, max(0.05, left))
            except ssl.SSLCertVerificationError:
                raise self.unreachable_error(
                    "its certificate cannot be verified", "name the authority with corpus_tls_verify=FILE"
                ) from None
            except ssl.SSLError:
                plain = url.scheme.removesuffix("s")
                raise self.unreachable_error(
                    "what answers there does not speak TLS as this machine does",
                    f"begin the address with {plain}:// where it has none",
                ) from None
            except UnicodeError:
                raise self.unreachable_error(
                    "no host can have this name", "each part of it between dots must have 1 to 63 characters"
                ) from None
            except (TimeoutError, OSError):
                if time.monotonic() + RETRY_S > until:
                    raise self.unreachable_error(
                        f"nothing answers there within {self.connection.startup_s:g} s",
                        "start the adapter first; corpus_startup_timeout sets how long the suite waits",
                    ) from None
                await asyncio.sleep(RETRY_S)
                continue
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
            return tls

    def unreachable_error(self, fault: str, remedy: str = "") -> DeclarationError:
        """Return the error for an address that cannot be used."""
        return DeclarationError(self.address.shown, fault, remedy)
