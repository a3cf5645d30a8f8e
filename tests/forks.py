"""Forks processes for inner runs from a server process that has imported what they need, which saves a second each.

A program replaces `sys.executable`: it sends the fork its arguments, environment, folder and standard streams, forwards
signals to it, and exits with its exit code. Whatever it does not support it passes to the real Python.
"""

import contextlib
import gc
import importlib
import json
import os
import random
import runpy
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

ROOT = str(Path(__file__).parents[1])


def _installed() -> list[str]:
    """Return the arguments with which pytest finds the plugin if the project is on the path but not installed."""
    found = any(point.name == "corpus" for point in entry_points(group="pytest11"))
    return [] if found else ["-p", "pytest_corpus.plugin"]


PLUGIN = _installed()  # what makes pytest find the plugin

DISRUPTIVE = ("pytest_forked", "pytest_mock", "repeat", "rerunfailures", "socket", "timeout")
"""Plugins that only the tests of coexistence load, because they start a thread or change functions of Python."""

PROGRAM = """#!{real} -ISE
import json, os, signal, socket, sys
given = [part for part in sys.argv[1:] if part != "-u"] if sys.argv[1:2] == ["-u"] else sys.argv[1:]
settings = {{name: value for name, value in os.environ.items() if name[:6] == "PYTHON" and name not in {kept}}}
if given[:1] == ["-mpytest"]:
    given[:1] = ["-m", "pytest"]
if given[:1] not in (["-c"], ["-m"]) or settings != {settings}:
    os.execv({real!r}, [{real!r}, *sys.argv[1:]])
server = socket.socket(socket.AF_UNIX)
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda number, frame: server.send(bytes([number])))
server.connect({address!r})
asked = json.dumps([given, os.getcwd(), dict(os.environ)]).encode()
socket.send_fds(server, [len(asked).to_bytes(4, "big")], [0, 1, 2])
server.sendall(asked)
code = int.from_bytes(server.recv(4) or b"F", "big", signed=True)
if code < 0:
    if code != -signal.SIGKILL:
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
"""


KEPT = ("PYTHONPATH", "PYTHONUNBUFFERED")
"""Settings of Python that a fork inherits; if a run needs others, a new process is started instead."""

SERVERS: list[subprocess.Popen[bytes]] = []
"""That of this process, whose input stays open as long as it is known."""


@cache
def forking_python() -> str:
    """Return the path of the program that replaces `sys.executable`. The server process ends with this process."""
    if not hasattr(os, "pidfd_open"):
        return sys.executable
    folder = tempfile.mkdtemp(prefix="forks-")
    program, address = Path(folder, "python"), f"{folder}/socket"
    settings = {name: value for name, value in os.environ.items() if name[:6] == "PYTHON" and name not in KEPT}
    program.write_text(PROGRAM.format(real=sys.executable, settings=settings, kept=KEPT, address=address))
    program.chmod(0o700)
    server = subprocess.Popen(
        [sys.executable, __file__, address],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder, start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (ROOT, os.environ.get("PYTHONPATH"))))},
    )  # fmt: skip
    SERVERS.append(server)
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"
    return str(program)


def import_all() -> None:
    """Import the modules that inner runs need."""
    import pytest

    off = [
        part for name in ("asyncio", "cacheprovider", "cov", "randomly", *DISRUPTIVE) for part in ("-p", f"no:{name}")
    ]
    every = ["--corpus-adapter=pytest_corpus.reference:all", "--corpus-components=llm,vector,embedding,graph"]
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        assert pytest.main(["--collect-only", "-q", *off, *PLUGIN, *every]) == 0
    for name in ("pytest_corpus.reference.llm.adapter", "xdist.remote", "yaml"):
        importlib.import_module(name)


def close_server_files(wait: selectors.BaseSelector, asking: socket.socket) -> None:
    """Close the files of the server in a forked process."""
    for key in wait.get_map().values():
        if isinstance(key.fileobj, socket.socket):
            key.fileobj.close()
        elif key.fd:
            os.close(key.fd)
    asking.close()
    wait.close()


def forward_signals(wait: selectors.BaseSelector, asking: socket.socket, fork: int) -> None:
    """Forward signals from the client to a fork; kill the fork if the client has ended."""
    numbers = b""
    with contextlib.suppress(ConnectionError):
        numbers = asking.recv(16)
    if not numbers:
        wait.unregister(asking)
    for number in numbers or [signal.SIGKILL]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(fork, number)


def serve_forks(address: str) -> tuple[list[int], list[Any]]:
    """Fork for each client. In a fork, return the standard streams and the request of the client."""
    listener, wait = socket.socket(socket.AF_UNIX), selectors.DefaultSelector()
    listener.bind(address)
    listener.listen(16)
    for source in (0, listener):
        wait.register(source, selectors.EVENT_READ)
    assert threading.active_count() == 1
    os.write(1, b"ready\n")
    while True:
        for key, _ in wait.select():
            if key.fileobj == 0:
                shutil.rmtree(Path(address).parent)
                os._exit(0)
            elif key.fileobj is listener:
                asking, _ = listener.accept()
                size, streams, _, _ = socket.recv_fds(asking, 4, 3)
                asked = json.loads(asking.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL))
                if not (fork := os.fork()):
                    close_server_files(wait, asking)
                    return streams, asked
                for stream in streams:
                    os.close(stream)
                wait.register(asking, selectors.EVENT_READ, fork)
                wait.register(os.pidfd_open(fork), selectors.EVENT_READ, (fork, asking))
            elif isinstance(key.fileobj, socket.socket):
                forward_signals(wait, key.fileobj, key.data)
            else:
                fork, asking = key.data
                code = os.waitstatus_to_exitcode(os.waitpid(fork, 0)[1])
                wait.unregister(key.fd)
                os.close(key.fd)
                with contextlib.suppress(KeyError, OSError):
                    wait.unregister(asking)
                    asking.send(code.to_bytes(4, "big", signed=True))
                asking.close()
                break  # what is known of that socket is out of date


def run_like_python(program: str, paths: list[str], streams: list[int], asked: list[Any]) -> None:
    """Do in this process, a fork, what Python would do with these arguments, in this folder and environment."""
    (mode, what, *rest), folder, environment = asked
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout = os.fdopen(0, closefd=False), os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace", closefd=False)
    sys.stdout.reconfigure(write_through="PYTHONUNBUFFERED" in environment)
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr  # type: ignore[misc]
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    random.seed()
    more = [path for path in environment.get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.path[:] = ["" if mode == "-c" else folder, *more, *paths]
    vars(sys.modules["xdist.plugin"])["_sys_path"][:] = sys.path  # its copy of the path at the start, for workers
    sys.executable, sys.argv = program, [mode, *rest]
    importlib.invalidate_caches()
    if mode == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        exec(compile(what, "<string>", "exec"), vars(sys.modules["__main__"]))


if __name__ == "__main__":
    _, given = sys.argv
    mine = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    others = [path for path in sys.path[1:] if path not in mine]
    import_all()
    gc.freeze()  # what forks share is not searched for garbage in each of them, which would copy it
    run_like_python(str(Path(given).with_name("python")), others, *serve_forks(given))
