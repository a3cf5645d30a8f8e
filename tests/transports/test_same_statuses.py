"""An adapter is found to be the same behind each transport, and with the one format that it offers (R87)."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from cli_runs import read_statuses, run_suite
from plain_servers import PlainHttp, Request, place_of, refusal
from served_adapters import SERVE, SERVE_SSE_ALONE, command, served
from test_raw import STREAM, opened

from pytest_corpus.spec.transports import HOOKS_HEADER, JSON, NDJSON, SSE

ALL = "pytest_corpus.reference:all"

OUTSIDE = {"COM-LEAK-7": "not_assessed", "COM-STREAM-11": "not_applicable", "COM-WIRE-14": "not_applicable"}
"""Requirements of this process: debug records, streams (TRA-CALL-5 elsewhere), and a start for a single call (R74)."""

Statuses = dict[tuple[str, str], str]


def judged(folder: Path, address: str, *more: str) -> tuple[str, Statuses]:
    ended = run_suite(folder, f"--corpus-adapter=a={address}", "--corpus-report=r.json", *more)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return json.loads((folder / "r.json").read_text())["verdict"], read_statuses(folder / "r.json")


@pytest.fixture(scope="module")
def inside(tmp_path_factory: pytest.TempPathFactory) -> Statuses:
    """The statuses of the reference adapters in the process of the suite."""
    verdict, found = judged(tmp_path_factory.mktemp("inside"), ALL)
    assert verdict == "conformant"
    return found


def same(inside: Statuses, outside: Statuses) -> None:
    """Both are alike, but for what only a transport can break and what is not asked outside this process."""
    expected = {key: OUTSIDE.get(key[1], status) for key, status in inside.items()}
    differing = {key: (expected.get(key), status) for key, status in outside.items() if expected.get(key) != status}
    assert not {key: both for key, both in differing.items() if not key[1].startswith("TRA-")}
    assert inside.keys() == outside.keys()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "serve", "more"),
    [("http", SERVE, ()), ("http", SERVE_SSE_ALONE, ()), ("ws", SERVE, ()), ("grpc", SERVE, ("--grpc",))],
    ids=["ndjson", "sse", "websocket", "grpc"],
)
def test_the_reference_is_conformant_at_an_address(
    scheme: str, serve: list[str], more: tuple[str, ...], inside: Statuses, tmp_path: Path
) -> None:
    """With both hooks, and with its log."""
    with served(ALL, *more, serve=serve, log=tmp_path / "adapter.log") as (place, _):
        verdict, found = judged(tmp_path, f"{scheme}://{place}", "-ocorpus_log=adapter.log")
    assert verdict == "conformant"
    same(inside, found)


@pytest.mark.slow
def test_the_reference_is_conformant_as_a_program(inside: Statuses, tmp_path: Path) -> None:
    """With both hooks; its standard error is its log."""
    verdict, found = judged(tmp_path, command(ALL))
    assert verdict == "conformant"
    same(inside, found)


class Refuses(PlainHttp):
    """Answers NOT_SUPPORTED to formats that it does not offer, with a status of choice; keeps the requests."""

    def __init__(self, said: int, *offered: str) -> None:
        super().__init__()
        self.said, self.offered = said, offered
        self.asked: list[Request] = []

    async def answer(self, request: Request, writer: asyncio.StreamWriter) -> None:
        self.asked.append(request)
        await super().answer(request, writer)

    async def not_offered(self, writer: asyncio.StreamWriter, accept: str, envelope: Any, hooks: str) -> None:
        await self.send(writer, self.said, refusal("NotSupported"), JSON)


@pytest.mark.parametrize("said", [406, 501, 400, 200])
def test_events_are_read_where_lines_are_refused(said: int) -> None:
    """With 406, or with the status of the error: TRA-HTTP-9 allows each."""
    server = Refuses(said, SSE)
    with place_of(server) as place, opened(place) as client:
        for _ in range(2):
            exchange = client.send(STREAM, "llm", streaming=True)
            assert exchange.fault is None
            assert len(exchange.frames) > 1
        assert client.provider.calls() == 2
    assert [each.headers["accept"] for each in server.asked][-1:] == [SSE]
    assert [each.headers["accept"] for each in server.asked].count(NDJSON) == 1


@pytest.mark.parametrize("said", [406, 501])
def test_a_stream_in_neither_format_is_refused_once_for_each_call(said: int) -> None:
    """A further attempt in the other format does not count."""
    server = Refuses(said)
    with place_of(server) as place, opened(place) as client:
        for _ in range(2):
            exchange = client.send(STREAM, "llm", streaming=True)
            assert (exchange.fault, len(exchange.frames)) == (None, 1)
    tried = [each for each in server.asked if each.headers["accept"] == SSE]
    assert len(server.asked) == 3
    if said != 406:
        assert [each.headers[HOOKS_HEADER.lower()].rpartition("/")[2] for each in tried] == ["0"]
