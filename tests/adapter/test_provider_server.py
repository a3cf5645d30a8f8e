"""A provider with an address: what it answers, how it fails, what counts, and that it is there only when asked for."""

import asyncio
import base64
import gc
import http.client
import json
import logging
import math
import operator
import socket
import struct
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import pytest_corpus
from pytest_corpus.adapter.hooks.provider import ProviderProbe
from pytest_corpus.adapter.hooks.vendors.endpoint import Trouble
from pytest_corpus.adapter.hooks.vendors.shapes import SHAPES
from pytest_corpus.adapter.hooks.vendors.stand_in import split_tokens

CHAT, RESPONSES, EMBEDDINGS, MESSAGES = "v1/chat/completions", "v1/responses", "v1/embeddings", "v1/messages"
WAIT_S = 30
USER = [{"role": "user", "content": "What is the sea?"}]
TOOL = {
    "type": "object",
    "properties": {"place": {"type": "string"}, "days": {"type": "integer", "minimum": 3}},
    "required": ["place", "days"],
}
PLAIN: dict[str, dict[str, Any]] = {
    CHAT: {"model": "m", "messages": USER},
    RESPONSES: {"model": "m", "input": "What is the sea?"},
    EMBEDDINGS: {"model": "m", "input": "the sea"},
    MESSAGES: {"model": "m", "max_tokens": 100, "messages": USER},
    "v2/chat": {"model": "m", "messages": USER},
    "v2/embed": {"model": "m", "input_type": "search_query", "texts": ["the sea", "a hill"]},
    "v1/tokenize": {"model": "m", "text": "the sea"},
}


class Proxied(ProviderProbe):
    """A probe whose address is a proxy before another stand-in: what is planned happens there."""

    def __init__(self) -> None:
        super().__init__()
        self.upstream = ProviderProbe()

    @property
    def url(self) -> str:
        return self.proxy(self.upstream.url)

    def close(self) -> None:
        super().close()
        self.upstream.close()


@pytest.fixture(params=[ProviderProbe, Proxied], ids=["stand_in", "proxy"])
def probe(request: pytest.FixtureRequest) -> Iterator[ProviderProbe]:
    made: ProviderProbe = request.param()
    yield made
    made.close()


def asked(
    probe: ProviderProbe, path: str, body: Any, headers: Mapping[str, str] | None = None
) -> tuple[int, Any, Mapping[str, str]]:
    """Status, body and headers of an answer; a body of None is a GET."""
    host, _, token = probe.url.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(host, timeout=WAIT_S)
    try:
        data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        connection.request("GET" if body is None else "POST", f"/{token}/{path}", data, dict(headers or {}))
        answer = connection.getresponse()
        read = answer.read()
        is_json = answer.headers.get_content_type() == "application/json"
        return answer.status, json.loads(read) if is_json else read.decode(), dict(answer.headers.items())
    finally:
        connection.close()


def answer_of(probe: ProviderProbe, path: str, **changed: Any) -> Any:
    """The good answer to a plain request with some of it changed."""
    status, body, _ = asked(probe, path, {**PLAIN[path], **changed})
    assert status == 200, body
    return body


def events_of(probe: ProviderProbe, path: str, **changed: Any) -> list[Any]:
    """The data of the events of a stream; what is no JSON as text."""
    text = answer_of(probe, path, stream=True, **changed)
    data = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    return [json.loads(each) if each.startswith("{") else each for each in data]


def words_of(path: str, answer: Any) -> str:
    if path == CHAT:
        return str(answer["choices"][0]["message"]["content"])
    return str((answer["output"][0] if path == RESPONSES else answer)["content"][0]["text"])


@pytest.mark.parametrize("path", [CHAT, RESPONSES, MESSAGES])
def test_an_answer_depends_on_the_question_alone(probe: ProviderProbe, path: str) -> None:
    """The same question has the same answer, from another server too; another one has another."""
    other = ProviderProbe()
    first, again = answer_of(probe, path), answer_of(other, path)
    other.close()
    assert first == again
    changed = {"input": "hm"} if path == RESPONSES else {"messages": [{"role": "user", "content": "hm"}]}
    assert words_of(path, answer_of(probe, path, **changed)) != words_of(path, first)


@pytest.mark.parametrize(("path", "limit", "ended"), [
    (CHAT, {"max_tokens": 3}, lambda answer: answer["choices"][0]["finish_reason"] == "length"),
    (CHAT, {"max_completion_tokens": 3}, lambda answer: answer["choices"][0]["finish_reason"] == "length"),
    (RESPONSES, {"max_output_tokens": 3}, lambda answer: answer["incomplete_details"]["reason"]),
    (MESSAGES, {"max_tokens": 3}, lambda answer: answer["stop_reason"] == "max_tokens"),
])  # fmt: skip
def test_an_answer_keeps_to_its_limit(probe: ProviderProbe, path: str, limit: Any, ended: Any) -> None:
    """It has as many tokens as it may have, says so, and counts them."""
    answer = answer_of(probe, path, **limit)
    usage = answer["usage"]
    assert len(split_tokens(words_of(path, answer))) == 3 == usage.get("completion_tokens", usage.get("output_tokens"))
    assert ended(answer)


@pytest.mark.parametrize(("path", "name"), [(CHAT, "stop"), (MESSAGES, "stop_sequences")])
def test_an_answer_stops_before_the_first_stop_sequence(probe: ProviderProbe, path: str, name: str) -> None:
    """Anthropic's says at which one."""
    whole = words_of(path, answer_of(probe, path))
    first, second = sorted(whole.split()[2:4], key=whole.index)
    answer = answer_of(probe, path, **{name: [second, first]})
    assert words_of(path, answer) == whole[: whole.index(first)]
    if path == MESSAGES:
        assert (answer["stop_reason"], answer["stop_sequence"]) == ("stop_sequence", first)


def test_a_chat_has_as_many_answers_as_are_asked_for(probe: ProviderProbe) -> None:
    """Each is another one, and all of them are counted."""
    answer = answer_of(probe, CHAT, n=3)
    texts = [choice["message"]["content"] for choice in answer["choices"]]
    assert len(set(texts)) == 3
    assert answer["usage"]["completion_tokens"] == sum(len(split_tokens(text)) for text in texts)


def test_json_fits_its_schema(probe: ProviderProbe) -> None:
    """If JSON is requested, the answer is JSON, and of the schema if there is one."""
    assert isinstance(json.loads(words_of(CHAT, answer_of(probe, CHAT, response_format={"type": "json_object"}))), dict)
    chat = {"type": "json_schema", "json_schema": {"name": "trip", "schema": TOOL}}
    response = {"format": {"type": "json_schema", "name": "trip", "schema": TOOL}}
    message = {"format": {"type": "json_schema", "schema": TOOL}}
    for path, wanted in (
        (CHAT, {"response_format": chat}),
        (RESPONSES, {"text": response}),
        (MESSAGES, {"output_config": message}),
    ):
        assert json.loads(words_of(path, answer_of(probe, path, **wanted))) == {"place": "ámber", "days": 3}


def test_a_tool_is_called_where_one_must_be(probe: ProviderProbe) -> None:
    """With arguments of its schema; where the model is free it answers in words."""
    named = {"name": "trip", "parameters": TOOL}
    tools = {"tools": [{"type": "function", "function": {"name": "other"}}, {"type": "function", "function": named}]}
    chosen = {"type": "function", "function": {"name": "trip"}}
    (choice,) = answer_of(probe, CHAT, **tools, tool_choice=chosen)["choices"]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["tool_calls"][0]["function"]["name"] == "trip"
    assert json.loads(choice["message"]["tool_calls"][0]["function"]["arguments"]) == {"place": "ámber", "days": 3}
    (item,) = answer_of(probe, RESPONSES, tools=[{"type": "function", **named}], tool_choice="required")["output"]
    assert (item["type"], item["name"]) == ("function_call", "trip")
    offered = {"tools": [{"name": "trip", "input_schema": TOOL}]}
    message = answer_of(probe, MESSAGES, **offered, tool_choice={"type": "any"})
    assert (message["stop_reason"], message["content"][0]["input"]) == ("tool_use", {"place": "ámber", "days": 3})
    assert words_of(MESSAGES, answer_of(probe, MESSAGES, **offered))


def test_a_stream_says_what_an_answer_says(probe: ProviderProbe) -> None:
    """The pieces joined are the text, and the end tells reason and usage."""
    *chunks, usage, done = events_of(probe, CHAT, stream_options={"include_usage": True})
    answer = answer_of(probe, CHAT)
    assert "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks) == words_of(CHAT, answer)
    assert (chunks[-1]["choices"][0]["finish_reason"], usage["usage"], done) == ("stop", answer["usage"], "[DONE]")
    events = events_of(probe, RESPONSES)
    deltas = [each["delta"] for each in events if each["type"] == "response.output_text.delta"]
    assert "".join(deltas) == words_of(RESPONSES, answer_of(probe, RESPONSES))
    assert events[-1]["response"] == answer_of(probe, RESPONSES)
    assert [each["sequence_number"] for each in events] == list(range(len(events)))
    events = events_of(probe, MESSAGES)
    deltas = [each["delta"]["text"] for each in events if each["type"] == "content_block_delta"]
    message = answer_of(probe, MESSAGES)
    assert "".join(deltas) == words_of(MESSAGES, message)
    assert events[-2]["delta"]["stop_reason"] == message["stop_reason"]


def test_embeddings_are_unit_vectors_of_the_texts(probe: ProviderProbe) -> None:
    """As long as asked for, the same in both encodings, near to each other where texts share words."""
    texts = ["the sea is wide", "the sea is deep", "amber"]
    answer = answer_of(probe, EMBEDDINGS, input=texts, dimensions=64)
    assert [each["index"] for each in answer["data"]] == [2, 1, 0], "an index says which text it is, not the place"
    sea, deep, amber = (each["embedding"] for each in reversed(answer["data"]))
    assert [len(sea), math.hypot(*sea)] == [64, pytest.approx(1)]
    assert sum(map(operator.mul, sea, deep)) > sum(map(operator.mul, sea, amber))
    coded = answer_of(probe, EMBEDDINGS, input=texts[0], dimensions=64, encoding_format="base64")
    assert struct.unpack("<64f", base64.b64decode(coded["data"][0]["embedding"])) == pytest.approx(sea)
    assert len(answer_of(probe, EMBEDDINGS)["data"][0]["embedding"]) == 1536


def test_counts_are_those_of_the_usage(probe: ProviderProbe) -> None:
    """The tokens of a request can be asked before it."""
    _, counted, _ = asked(probe, "v1/messages/count_tokens", PLAIN[MESSAGES])
    assert counted["input_tokens"] == answer_of(probe, MESSAGES)["usage"]["input_tokens"]
    _, counted, _ = asked(probe, "v1/responses/input_tokens", PLAIN[RESPONSES])
    assert counted["input_tokens"] == answer_of(probe, RESPONSES)["usage"]["input_tokens"]


@pytest.mark.parametrize(("path", "wrong"), [
    (CHAT, {"temperature": 2.1}),
    (CHAT, {"max_tokens": 0}),
    (CHAT, {"messages": []}),
    (CHAT, {"messages": [{"role": "nobody", "content": "hi"}]}),
    (CHAT, {"stop": ["a", "b", "c", "d", "e"]}),
    (CHAT, {"n": 0}),
    (CHAT, {"tool_choice": "required"}),
    (CHAT, {"tool_choice": "sometimes"}),
    (RESPONSES, {"top_p": 1.5}),
    (EMBEDDINGS, {"input": ""}),
    (EMBEDDINGS, {"dimensions": 1537}),
    (MESSAGES, {"temperature": 1.1}),
    (MESSAGES, {"max_tokens": None}),
    (MESSAGES, {"messages": [{"role": "tool", "content": "hi"}]}),
    (MESSAGES, {"stop_sequences": [" "]}),
], ids=str)  # fmt: skip
def test_what_the_vendor_refuses_is_refused(probe: ProviderProbe, path: str, wrong: Any) -> None:
    """With 400, in the vendor's own form, and without the value."""
    status, body, _ = asked(probe, path, {**PLAIN[path], **wrong})
    assert (status, body["error"]["type"]) == (400, "invalid_request_error")
    assert (path == MESSAGES) == (body.get("type") == "error")
    assert "nobody" not in body["error"]["message"]


@pytest.mark.parametrize(
    ("path", "body", "status"), [(CHAT, b"{", 400), (CHAT, b"[]", 400), ("v1/unknown", {}, 404), ("../x", {}, 404)]
)
def test_what_is_no_request_is_refused(probe: ProviderProbe, path: str, body: Any, status: int) -> None:
    """And counts for nothing, but where a proxy has handed it on."""
    assert asked(probe, path, body)[0] == status
    assert probe.calls() == (1 if isinstance(probe, Proxied) else 0)


def test_each_request_counts_as_reached(probe: ProviderProbe) -> None:
    """By an op of its own; chunks do not count, a batch tells its size, headers tell of the context."""
    for path in (CHAT, RESPONSES, EMBEDDINGS, MESSAGES):
        answer_of(probe, path)
    events_of(probe, CHAT)
    answer_of(probe, EMBEDDINGS, input=["a", "b"])
    answer_of(probe, EMBEDDINGS, input=["a"])
    asked(probe, "v1/models", None, {"Traceparent": "00-1-2-01", "X-Deadline-Ms": "1900000000000"})
    assert probe.arrivals == (
        *("llm.complete", "llm.complete", "embedding.embed", "llm.complete", "llm.stream"),
        *("embedding.embed_batch", "embedding.embed", "models.list"),
    )
    *_, arrival = probe.take_arrivals()
    assert arrival.facts == {"traceparent": "00-1-2-01", "deadline_ms": 1_900_000_000_000}


@pytest.mark.parametrize(("form", "headers", "hints"), [
    (None, {"retry-after-ms": "1234", "retry-after": "2"}, (1234, 2000)),
    ("retry_after_seconds", {"retry-after": "2"}, (2000,)),
])  # fmt: skip
def test_the_retry_hint_stands_in_the_headers(
    probe: ProviderProbe, form: str | None, headers: dict[str, str], hints: tuple[float, ...]
) -> None:
    """In milliseconds and seconds, or in seconds alone; the plan knows what can be read from it."""
    plan = probe.plan("rate_limited", retry_after_ms=1234, form=form)
    status, body, given = asked(probe, CHAT, PLAIN[CHAT])
    assert (status, body["error"]["code"]) == (429, "rate_limit_exceeded")
    assert {name: value for name, value in given.items() if name.startswith("retry")} == headers
    assert plan.hints_ms == hints
    assert plan.canary in body["error"]["message"]


def test_a_plan_for_one_op_leaves_the_others_alone(probe: ProviderProbe) -> None:
    """A fault of streams does not strike completions, and strikes as often as planned."""
    plan = probe.plan("unavailable", "llm.stream", times=1)
    assert asked(probe, MESSAGES, PLAIN[MESSAGES])[0] == 200
    assert [asked(probe, MESSAGES, {**PLAIN[MESSAGES], "stream": True})[0] for _ in range(2)] == [503, 200]
    assert (plan.fired, probe.calls()) == (1, 3)


@pytest.mark.parametrize("path", [CHAT, MESSAGES])
@pytest.mark.parametrize("form", ["reset", "truncated"])
def test_a_connection_breaks(probe: ProviderProbe, path: str, form: str) -> None:
    """Before the answer, and in a stream."""
    for at_chunk in (None, 1):
        probe.plan("network", at_chunk=at_chunk, form=form)
        with pytest.raises((ConnectionError, http.client.IncompleteRead)):
            asked(probe, path, {**PLAIN[path], "stream": at_chunk is not None})
        probe.clear()


@pytest.mark.parametrize("probe", [ProviderProbe], indirect=True)
def test_who_hangs_up_ends_a_provider_that_hangs(probe: ProviderProbe) -> None:
    """Nothing is left of the connection, and the next request is answered."""
    probe.plan("hang")
    host, _, token = probe.url.removeprefix("http://").partition("/")
    name, _, port = host.partition(":")
    with socket.create_connection((name, int(port))) as waiting:
        body = json.dumps(PLAIN[CHAT])
        waiting.sendall(
            f"POST /{token}/{CHAT} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
        )
        while not any(plan.fired for plan in probe.plans):
            time.sleep(0.005)
    assert probe.server is not None
    until = time.monotonic() + WAIT_S
    while probe.server._open and time.monotonic() < until:
        time.sleep(0.01)
    assert not probe.server._open
    assert answer_of(probe, CHAT)


def test_an_address_means_that_requests_go_over_a_wire(probe: ProviderProbe) -> None:
    """They do from the first address on (stand-in, proxy, tunnel) until it is closed; suites read nothing else."""
    assert not probe.is_on_wire
    assert probe.url
    assert probe.is_on_wire
    probe.close()
    assert not probe.is_on_wire
    probe.tunnel("127.0.0.1", 1)
    assert probe.is_on_wire
    probe.close()
    assert not probe.is_on_wire
    package = Path(pytest_corpus.__file__).parent
    modules = [path for part in ("kit", "suites") for path in (package / part).rglob("*.py")]
    assert [path for path in modules if "provider.server" in path.read_text("utf-8")] == []


def test_a_slow_provider_is_late(probe: ProviderProbe) -> None:
    """The first byte, or a chunk, comes after the delay."""
    for at_chunk in (None, 2):
        probe.plan("slow", at_chunk=at_chunk, delay_ms=80)
        started = time.monotonic()
        events_of(probe, CHAT)
        assert time.monotonic() - started >= 0.08


@pytest.mark.parametrize(("kind", "form"), [("rate_limited", "reset"), ("network", "lost"), ("slow", "garbage")])
def test_a_form_belongs_to_its_kinds(probe: ProviderProbe, kind: str, form: str) -> None:
    """One that a kind does not have is refused, with those that it has."""
    with pytest.raises(ValueError, match=f"unknown form '{form}' of {kind}; one of"):
        probe.plan(kind, form=form)


def servers() -> list[threading.Thread]:
    """The threads of servers that run."""
    return [thread for thread in threading.enumerate() if thread.name == "corpus-provider"]


def test_it_is_there_only_when_asked_for() -> None:
    """A probe starts no server until its address is read, which stays the same, and leaves none once it is closed."""
    before = servers()
    probe = ProviderProbe()
    probe.plan("slow")
    assert servers() == before
    assert probe.url == probe.url
    assert len(servers()) == len(before) + 1
    probe.close()
    probe.close()
    assert servers() == before


def test_each_provider_has_an_address_of_its_own(probe: ProviderProbe) -> None:
    """Late requests of one provider's client do not arrive at another: an unknown path is not found and not counted."""
    other = ProviderProbe()
    host = probe.url.rpartition("/")[0].removeprefix("http://")
    connection = http.client.HTTPConnection(host, timeout=WAIT_S)
    connection.request("POST", f"/{other.url.rpartition('/')[2]}/{CHAT}", json.dumps(PLAIN[CHAT]))
    assert connection.getresponse().status == 404
    connection.close()
    other.close()
    assert (probe.calls(), other.calls()) == (0, 0)


def test_clients_at_the_same_time_are_served(probe: ProviderProbe) -> None:
    """One that hangs keeps no other waiting, and closing ends it."""
    probe.plan("hang")
    ended: list[str] = []

    def hang() -> None:
        try:
            asked(probe, CHAT, PLAIN[CHAT])
        except OSError as error:
            ended.append(type(error).__name__)

    hanging = threading.Thread(target=hang)
    hanging.start()
    while not any(plan.fired for plan in probe.plans):
        time.sleep(0.005)
    assert answer_of(probe, MESSAGES)
    assert hanging.is_alive()
    probe.close()
    hanging.join(WAIT_S)
    assert ended == ["RemoteDisconnected"]


def test_it_logs_nothing(probe: ProviderProbe, caplog: pytest.LogCaptureFixture) -> None:
    """No prompt, and no word of its own, whatever it is sent."""
    gc.collect()  # servers of other tests, which log their end
    with caplog.at_level(logging.DEBUG):
        for body in ({**PLAIN[CHAT], "tools": 7}, {**PLAIN[CHAT], "messages": [7]}, b"\xff", PLAIN[CHAT]):
            asked(probe, CHAT, body)
        probe.plan("hang")
        with pytest.raises(asyncio.TimeoutError):
            asyncio.run(asyncio.wait_for(given_up(probe), 0.1))
        probe.close()
        gc.collect()
    assert [record.getMessage() for record in caplog.records if record.name != "asyncio"] == []
    assert "sea" not in caplog.text


async def given_up(probe: ProviderProbe) -> None:
    """Ask over a connection that is left open while the server ends."""
    host, port = probe.url.split("/")[2].split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    body = json.dumps(PLAIN[CHAT])
    path = f"/{probe.url.rpartition('/')[2]}/{CHAT}"
    writer.write(f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
    try:
        await reader.read()
    finally:
        writer.close()


@pytest.mark.parametrize(("errors", "path", "said"), [
    (None, CHAT, "error code"), (None, "api/v2/chat/completions", "error code"), (None, "v2/chat", "message"),
    (None, "api/chat", "error"), (None, "base/api/generate", "error"), ("ollama", "any/path", "error"),
    ("google", CHAT, "error status"), ("problem+json", CHAT, "title"), ("anthropic", "api/chat", "error type"),
])  # fmt: skip
def test_the_errors_of_a_proxy_have_the_shape_of_its_vendor(errors: str | None, path: str, said: str) -> None:
    """By the name that is given, else by the path; Ollama's are a text."""
    probe = ProviderProbe()
    address = probe.proxy("http://127.0.0.1:1", errors=errors)
    host, _, token = address.removeprefix("http://").partition("/")
    probe.plan("rate_limited")
    connection = http.client.HTTPConnection(host, timeout=WAIT_S)
    connection.request("POST", f"/{token}/{path}", b"{}")
    answer = connection.getresponse()
    found = json.loads(answer.read())
    connection.close()
    probe.close()
    assert answer.status == 429
    for name in said.split():
        found = found[name]
    assert isinstance(found, str)


@pytest.mark.parametrize(("kind", "said"), [("overloaded", ["error"]), ("rate_limited", None)])
def test_a_failure_within_a_stream_of_lines_is_a_line(kind: str, said: list[str] | None) -> None:
    """If the text of Ollama's line can express it."""
    line = SHAPES["ollama"].event(Trouble(kind, "failed"))
    assert said == (None if line is None else list(json.loads(line)))
