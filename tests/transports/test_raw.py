"""Raw exchanges: what a test of a transport sends stands as it is, and what comes back is all there."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from plain_servers import PlainHttp, place_of
from servers import HTTP, MESSAGES

from pytest_corpus.adapter.client import AdapterClient, Declaration
from pytest_corpus.adapter.exceptions import Unresponsive
from pytest_corpus.adapter.hooks import late_reports
from pytest_corpus.adapter.opening.address import parse
from pytest_corpus.adapter.opening.remote import Connection, RemoteFactory
from pytest_corpus.adapter.transports.raw import RawRequest
from pytest_corpus.spec.transports import NDJSON

CAPABILITIES = {"op": "llm.capabilities", "ctx": {}, "args": {}}
STREAM = {"op": "llm.stream", "ctx": {}, "args": {"messages": [{"role": "user", "content": "some words to stream"}]}}


@contextmanager
def opened(address: str, limit_s: float = 3.0, startup_s: float = 2.0, **how: Any) -> Iterator[AdapterClient]:
    """A client of an adapter at an address; few of these report what they do, and others are not waited for long."""
    factory = RemoteFactory(parse(address), Connection(startup_s=startup_s, **how))
    client = AdapterClient(Declaration("a", factory, address, in_process=False, startup_s=startup_s), limit_s).open()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(late_reports, "LATEST_S", 0.05)
        try:
            yield client
        finally:
            assert client.close() == []


def test_an_answer_over_http_has_its_status_and_headers() -> None:
    """Status, headers in any case, and the body as it came; a call is counted, and is not an exchange."""
    with place_of(HTTP.make("LowerCase")) as place, opened(place) as client:
        answer = client.raw_call(RawRequest(CAPABILITIES, method="GET"), "llm")
        assert (answer.status, answer.fault) == (405, None)
        answer = client.raw_call(RawRequest(STREAM, True, accept=NDJSON), "llm")
        assert (answer.content_type, answer.header("TRANSFER-encoding")) == (NDJSON, "chunked")
        assert answer.body.count(b"\n") > 1
        assert client.meter.total_calls == 2
        assert client.part.exchanges == []


def test_a_client_that_leaves_hears_no_more() -> None:
    """After a number of pieces the connection is closed, and the time is noted."""
    with place_of(PlainHttp) as place, opened(place) as client:
        answer = client.raw_call(RawRequest(STREAM, True, accept=NDJSON, leave_after=1), "llm")
        assert len(answer.pieces) == 1
        assert answer.left_s is not None


@pytest.mark.parametrize("name", ["PlainSocket", "PlainLines"])
def test_a_message_is_seen_whole(name: str) -> None:
    """With the id of its request; silence after invalid JSON is not a fault."""
    with place_of(MESSAGES.make(name)) as place, opened(place) as client:
        answer = client.raw_call(RawRequest(CAPABILITIES), "llm")
        assert [piece.data.startswith(b'{"id":%d,"frame":{' % (answer.number or 0)) for piece in answer.pieces] == [
            True
        ]
        answer = client.raw_call(RawRequest(body=b"no json"), "llm")
        assert (answer.fault, answer.noise) == (None, 0)


def test_an_adapter_that_never_answers_is_not_asked_for_ever() -> None:
    """After two calls that ran into the limit none is made."""

    class Silent(PlainHttp):
        async def other_method(self, writer: object) -> None:
            await asyncio.sleep(60)

    with place_of(Silent) as place, opened(place, 0.2) as client:
        for _ in range(2):
            fault = client.raw_call(RawRequest(CAPABILITIES, method="GET"), "llm").fault
            assert fault is not None
            assert fault.kind == "timeout"
        with pytest.raises(Unresponsive):
            client.raw_call(RawRequest(CAPABILITIES, method="GET"), "llm")
