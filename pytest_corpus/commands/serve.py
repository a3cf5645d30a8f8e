"""`pytest-corpus serve`: put a Python adapter behind HTTP, WebSocket, gRPC or stdio."""

import argparse
import asyncio
import contextlib
import importlib.util
import os
import re
import signal
import sys
from typing import Any

from pytest_corpus.adapter.opening.factory import import_factory
from pytest_corpus.commands import FINE, CommandError
from pytest_corpus.commands import _console as console
from pytest_corpus.serving.access import Access, is_loopback
from pytest_corpus.serving.service import Service, write_unhandled_records
from pytest_corpus.serving.stdio import MAX_LINE_BYTES, LineTooLong, answer_lines, take_stdout

HOST, PORT = "127.0.0.1", 8080
TOKEN_VARIABLE = "CORPUS_SERVE_TOKEN"  # noqa: S105 - a variable's name


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the adapter and its address."""
    parser.add_argument("factory", metavar="FACTORY", help="module:factory, as for --corpus-adapter")
    instead = parser.add_mutually_exclusive_group()
    stdio = "serve on standard input and output, one line of JSON per message"
    instead.add_argument("--stdio", action="store_true", help=stdio)
    instead.add_argument("--grpc", action="store_true", help="serve gRPC instead of HTTP and WebSocket")
    parser.add_argument("--host", default=HOST, help=f"the address to listen on (default {HOST})")
    token = (
        f"what a request must have as Authorization: Bearer TOKEN (default: {TOKEN_VARIABLE} of the environment); "
        "required with a --host beyond loopback"
    )
    parser.add_argument("--token", metavar="TOKEN", help=token)
    hooks = "also post reports to hooks on this host, not only on loopback; repeatable"
    parser.add_argument("--allow-hooks", metavar="HOST", action="append", default=[], help=hooks)
    parser.add_argument("--port", type=int, default=PORT, help=f"the port; 0 for any that is free (default {PORT})")
    log = "write every envelope and frame to standard error, with its content"
    parser.add_argument("--log-frames", action="store_true", help=log)
    parser.epilog = (
        "HTTP answers as Accept asks: application/json, application/x-ndjson or text/event-stream. WebSockets use the "
        "same address. The server stops at Ctrl-C, SIGTERM or, with --stdio, at the end of standard input."
    )


def run(given: argparse.Namespace) -> int:
    """Serve the adapter until a signal arrives or standard input ends."""
    if given.grpc and importlib.util.find_spec("grpc") is None:
        raise CommandError("gRPC needs grpcio: pip install 'pytest-corpus[grpc]', or serve with --stdio")
    if not (given.stdio or given.grpc) and importlib.util.find_spec("aiohttp") is None:
        raise CommandError("HTTP needs aiohttp: pip install 'pytest-corpus[http]', or serve with --stdio")
    if not 0 <= given.port <= 65535:
        raise CommandError(f"--port={given.port}: use a number from 0 to 65535")
    access = _make_access(given)
    write_unhandled_records()
    answers = take_stdout() if given.stdio else -1
    try:
        log = sys.stderr if given.log_frames else None
        service = Service(import_factory(given.factory), given.factory, log=log, access=access)
        asyncio.run(_serve(service, given, answers))
    except LineTooLong:
        said = f"a line on standard input is longer than {MAX_LINE_BYTES >> 20} MiB; send shorter ones"
        raise CommandError(said) from None
    return FINE


def _make_access(given: argparse.Namespace) -> Access:
    """Return the access rules of the server. Raises CommandError if anyone on the network could call it."""
    token = os.environ.get(TOKEN_VARIABLE, "") if given.token is None else given.token
    if (token or given.token is not None) and not re.fullmatch(r"[\x21-\x7e]+", token):
        source = TOKEN_VARIABLE if given.token is None else "--token"
        raise CommandError(f"{source}: use letters, digits and signs of ASCII, at least one, and no space")
    if not (token or given.stdio or is_loopback(given.host)):
        raise CommandError(
            f"--host={given.host} can be reached from other machines: set {TOKEN_VARIABLE} (or --token), "
            "which each request must then have as Authorization: Bearer TOKEN"
        )
    return Access(given.host, token, frozenset(host.lower().strip("[]") for host in given.allow_hooks))


async def _serve(service: Service, given: argparse.Namespace, answers: int) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(name, stopped.set)
    await service.open()
    try:
        await (_serve_stdio(service, answers, stopped) if given.stdio else _serve_network(service, given, stopped))
    finally:
        for said in await service.close():
            console.warn(f"closing the adapter raised {said}")


async def _serve_stdio(service: Service, answers: int, stopped: asyncio.Event) -> None:
    ends = [asyncio.ensure_future(each) for each in (answer_lines(service, answers), stopped.wait())]
    done, rest = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)
    for task in done:
        task.result()


async def _serve_network(service: Service, given: argparse.Namespace, stopped: asyncio.Event) -> None:
    server = _make_server(service, given)
    try:
        try:
            port = await server.start(given.host, given.port)
        except OSError as error:
            said = f"{given.host}:{given.port} cannot be listened on: {(error.strerror or str(error)).lower()}"
            raise CommandError(said) from None
        host = f"[{given.host}]" if ":" in given.host else given.host
        where = f"grpc://{host}:{port}" if given.grpc else f"http://{host}:{port}/ and ws://{host}:{port}/"
        console.say(f"serving {given.factory} at {where}")
        sys.stdout.flush()
        await stopped.wait()
    finally:
        await server.close()


def _make_server(service: Service, given: argparse.Namespace) -> Any:
    if given.grpc:
        from pytest_corpus.serving.grpc import GrpcServer

        return GrpcServer(service)
    from pytest_corpus.serving.http import HttpServer

    return HttpServer(service)
