"""HTTP servers for tests, which run in a thread and give answers that a test defines."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar


class Server(ThreadingHTTPServer):
    """A server on a free port of this machine."""

    daemon_threads = True

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(("127.0.0.1", 0), handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


Kind = TypeVar("Kind", bound=Server)


@contextmanager
def run_server(server: Kind) -> Iterator[Kind]:
    """Serve requests in a thread within the context."""
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


class Handler(BaseHTTPRequestHandler):
    """A handler that reads complete requests and sends complete answers, without logging."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.answer()

    def answer(self) -> None:
        """Answer a request."""
        raise NotImplementedError

    def read(self) -> bytes:
        """Return the body of the request."""
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def begin(self, headers: Mapping[str, str], status: int = 200) -> None:
        """Send the head of an answer."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def reply(self, body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        """Answer with JSON; bytes are sent unchanged."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        own = {"Content-Type": "application/json", "Content-Length": str(len(data))}
        self.begin({**own, **(headers or {})}, status)
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Log nothing."""
