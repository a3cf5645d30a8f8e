"""Runs the adapters in other languages: their programs, the requests to them, and the hooks that they call."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

import http_servers

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
WAIT_S = 10.0


def copied(example: str, folder: Path) -> Path:
    """The example in a folder of its own, as after copying it."""
    ignored = shutil.ignore_patterns("node_modules", "adapter.log", "vector-adapter-go")
    return Path(shutil.copytree(EXAMPLES / example, folder / example, ignore=ignored))


def end_group(process: subprocess.Popen[Any]) -> None:
    """End a program that leads a process group, and all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def run_readme(folder: Path) -> str:
    """Run the commands of an example's README in its folder, on a free port; what they print.

    What is installed already is not installed again.
    """
    (block,) = re.findall(r"```sh\n(.*?)```", (folder / "README.md").read_text(), re.DOTALL)
    (port,) = set(re.findall(r"\b818\d\b", block))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        block = block.replace(port, str(free.getsockname()[1]))
    commands = "".join(line for line in block.splitlines(True) if not line.startswith("pip "))
    script = f'set -e\npytest() {{ {shlex.quote(sys.executable)} -m pytest "$@"; }}\n{commands}'
    printed = folder / "printed"
    with printed.open("w") as file:
        process = subprocess.Popen(
            ["bash", "-c", script], cwd=folder, stdout=file, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        process.wait(600)
    finally:
        end_group(process)
    output = printed.read_text()
    assert process.returncode == 0, output
    return output


@contextmanager
def served(command: Sequence[str], folder: Path, **variables: str) -> Iterator[int]:
    """The port at which a program listens, once it says so; SIGTERM must end it."""
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, text=True, start_new_session=True, env={**os.environ, **variables}
    ) as process:
        try:
            assert process.stdout is not None
            found = re.fullmatch(r"listening on http://127\.0\.0\.1:(\d+)\n", process.stdout.readline())
            assert found
            yield int(found[1])
            process.terminate()
            assert process.wait(WAIT_S) == 0
        finally:
            end_group(process)


def ask(port: int, body: Any, *, method: str = "POST", **headers: str) -> HTTPResponse:
    """The head of an answer; `body` is JSON unless it is bytes, and `_` in the names of headers stands for `-`."""
    connection = HTTPConnection("127.0.0.1", port, timeout=WAIT_S)
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    sent = {"Content-Type": "application/json", **{name.replace("_", "-"): text for name, text in headers.items()}}
    connection.request(method, "/any/path", data, sent)
    return connection.getresponse()


def hang_up(port: int, body: Any, hooks: Hooks, **headers: str) -> None:
    """Ask, and close the connection while the provider hangs."""
    data = json.dumps(body).encode()
    lines = {"Host": "a", "Content-Type": "application/json", "Content-Length": str(len(data)), **headers}
    lines["X-Corpus-Hooks"] = hooks.url
    head = "POST / HTTP/1.1\r\n" + "".join(f"{name}: {text}\r\n" for name, text in lines.items()) + "\r\n"
    with socket.create_connection(("127.0.0.1", port), WAIT_S) as connection:
        connection.sendall(head.encode() + data)
        assert hooks.reached.wait(WAIT_S)


REFUSALS: dict[str, tuple[int, dict[str, Any]]] = {
    "no JSON": (400, {"body": b"{"}),
    "no UTF-8": (400, {"body": b'"\xff"'}),
    "a list": (400, {"body": []}),
    "GET": (405, {"body": b"", "method": "GET"}),
    "another type": (415, {"body": {}, "Content_Type": "text/plain"}),
    "an unknown format": (406, {"body": {}, "Accept": "image/png"}),
    "too large": (413, {"body": b'"%b"' % (b"a" * 17 * 2**20)}),
}
"""Requests that never become a call, and the status of the answer."""


def completion(body: Mapping[str, Any]) -> tuple[str, bytes]:
    """The type and the body of a vendor's answer to a chat."""
    if not body.get("stream"):
        return "application/json", b'{"choices": [{"message": {"content": "One two."}, "finish_reason": "stop"}]}'
    deltas: list[dict[str, Any]] = [{"delta": {"content": text}} for text in ("One", " two", ".")]
    events = [{"choices": [each]} for each in [*deltas, {"delta": {}, "finish_reason": "stop"}]]
    return "text/event-stream", "".join(f"data: {json.dumps(each)}\n\n" for each in [*events, "[DONE]"]).encode()


class Hooks(http_servers.Server):
    """A stand-in for the hooks of the suite, and for a vendor below `/provider`; with `hangs` that never answers.

    Attributes:
        reports: the path and body of each request.
        left: set when the adapter gives up on a provider that hangs.
    """

    def __init__(self, *, hangs: bool = False) -> None:
        super().__init__(_HookHandler)
        self.hangs = hangs
        self.reports: list[tuple[str, dict[str, Any]]] = []
        self.reached, self.left, self.observed = threading.Event(), threading.Event(), threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        """The address of the hooks for a request."""
        return f"{super().url}/token/7"

    @property
    def observations(self) -> list[dict[str, Any]]:
        return [report for path, report in self.reports if path == "/token/7/metrics/observe"]


class _HookHandler(http_servers.Handler):
    server: Hooks

    def answer(self) -> None:
        body = json.loads(self.read())
        self.server.reports.append((self.path, body))
        kind, data = "application/json", b"{}"
        if "/provider/" in self.path:
            self.server.reached.set()
            if self.server.hangs:
                self.rfile.read(1)
                self.server.left.set()
                return
            if not self.path.endswith("/reached"):
                kind, data = completion(body)
        else:
            self.server.observed.set()
        self.reply(data, headers={"Content-Type": kind})
