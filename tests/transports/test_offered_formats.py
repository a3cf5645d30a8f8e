"""Streams over HTTP in the one format that an adapter offers (R87)."""

import asyncio
from typing import Any

import pytest
from plain_servers import PlainHttp, Request, place_of, refusal
from test_raw import STREAM, opened

from pytest_corpus.spec.transports import HOOKS_HEADER, JSON, NDJSON, SSE


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
        assert [each.headers[HOOKS_HEADER.lower()].rpartition("/")[2] for each in tried] == ["0-0"]
