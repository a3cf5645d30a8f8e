"""Transports to an adapter outside of this process (SPECIFICATION 4.2.4), one row per kind of address."""

from dataclasses import dataclass

PROTOCOL_HEADER = "X-Adapter-Protocol"
"""The header with which a client may name its protocol version (SPECIFICATION 18.2)."""

HOOKS_HEADER = "X-Corpus-Hooks"
"""The request header with the address to which the adapter sends metrics and other hook calls."""

HOOKS_VARIABLE = "CORPUS_HOOKS_URL"
"""The environment variable with the same address, for a program that the suite starts."""

PROVIDER_VARIABLE = "CORPUS_PROVIDER_URL"
"""The environment variable with the address of a test provider for vendors' clients."""

PROXY_VARIABLE = "CORPUS_PROVIDER_PROXY"
"""The environment variable with the address of a proxy before the real provider (`provider-upstream`)."""

PROVIDER_PATH = "provider"
"""The path of the test provider below the address of the hooks."""


@dataclass(frozen=True, slots=True)
class Scheme:
    """One kind of address.

    Attributes:
        prefix: the beginning of the address.
        module: the module in `adapter/transports/` that connects to it.
        extra: the extra of this package that it needs, or empty.
        library: the module that the extra installs.
        formats: its possible names in `streaming_transports` (SPECIFICATION 4.2.4.5).
    """

    prefix: str
    module: str
    extra: str
    library: str
    formats: tuple[str, ...]


SCHEMES = (
    Scheme("http://", "http", "http", "aiohttp", ("ndjson", "sse")),
    Scheme("https://", "http", "http", "aiohttp", ("ndjson", "sse")),
    Scheme("ws://", "websocket", "http", "aiohttp", ("websocket",)),
    Scheme("wss://", "websocket", "http", "aiohttp", ("websocket",)),
    Scheme("grpc://", "grpc", "grpc", "grpc", ("grpc",)),
    Scheme("cmd:", "stdio", "", "", ("stdio",)),
)
"""Every kind of address."""

GRPC_SERVICE = "corpus.v1.Adapter"
"""The service of `proto/corpus/v1/adapter.proto`."""

GRPC_ENVELOPE = "corpus-envelope-bin"
"""The trailing metadata that may contain the error envelope if the gRPC status is not OK (R89)."""

NDJSON = "application/x-ndjson"
SSE = "text/event-stream"
JSON = "application/json"

STREAM_TYPES = {"ndjson": NDJSON, "sse": SSE}
"""The content type of each streaming format of HTTP (SPECIFICATION 4.2.4.1, 4.2.4.2)."""

TRANSPORT_GROUPS = {
    "remote": ("http", "websocket", "stdio", "grpc"),
    "http": ("http",),
    "messages": ("websocket", "stdio"),
    "websocket": ("websocket",),
    "stdio": ("stdio",),
    "grpc": ("grpc",),
}
"""The transports that a requirement may need, each with its modules in `adapter/transports/`."""

CONNECTION = {
    "header": ("linelist", "NAME:VALUE for each request to an address; ${VARIABLE} is of the environment; repeatable"),
    "tls-verify": ("string", "verify TLS: yes (default), no, or path of a CA bundle (PEM)"),
    "connections": ("string", "most HTTP connections at the same time (default 100)"),
    "startup-timeout": ("string", "seconds to wait for the adapter to start (default 10)"),
    "log": ("string", "log file of a remote adapter, searched for leaked secrets"),
    "provider-upstream": (
        "string",
        (
            "the real provider of an adapter at an address, behind a proxy: cmd: finds the "
            "proxy in CORPUS_PROVIDER_PROXY, for others the run prints its address"
        ),
    ),
    "call-timeout": ("string", "seconds until a call is abandoned (default 30; profile quick: 10)"),
}
"""Settings of the connection to an adapter: keys of [tool.pytest-corpus], each with its ini type and its help."""
