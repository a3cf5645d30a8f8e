"""Further vendors of a provider with an address: Cohere, and one that an author adds."""

import asyncio
import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from test_provider_server import PLAIN, answer_of, asked, events_of

from pytest_corpus.adapter.hooks.provider import ProviderProbe
from pytest_corpus.adapter.hooks.vendors.api import VENDORS
from pytest_corpus.adapter.hooks.vendors.endpoint import event
from pytest_corpus.adapter.hooks.vendors.stand_in import minimal_instance
from pytest_corpus.adapter.hooks.vendors.visit import CutWrites
from pytest_corpus.vendors import Body, Endpoint, Errors

CHAT, EMBED, TOKENIZE = "v2/chat", "v2/embed", "v1/tokenize"
PLACE = {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]}
TOOL = {"type": "function", "function": {"name": "weather", "parameters": PLACE}}


@pytest.fixture
def provider() -> Iterator[ProviderProbe]:
    made = ProviderProbe()
    yield made
    made.close()


def parts_of(provider: ProviderProbe, **changed: Any) -> list[dict[str, Any]]:
    """The events of a stream, without the sign of its end."""
    return [each for each in events_of(provider, CHAT, **changed) if each != "[DONE]"]


def test_each_vendor_has_paths_of_its_own() -> None:
    """No two vendors have an endpoint at one place."""
    places = [place for endpoints in VENDORS.values() for place in endpoints]
    assert len(places) == len(set(places))


def test_cohere_counts_as_its_operations(provider: ProviderProbe) -> None:
    """A chat, a stream, a batch of texts, a count and the list of models."""
    for path in (CHAT, EMBED, TOKENIZE):
        answer_of(provider, path)
    answer_of(provider, CHAT, stream=True)
    status, models, _ = asked(provider, "v1/models", None)
    assert status == 200
    assert models["models"][0]["name"]
    arrived = ("llm.complete", "embedding.embed_batch", "llm.count_tokens", "llm.stream", "models.list")
    assert provider.arrivals == arrived


def test_a_stream_of_cohere_says_what_an_answer_says(provider: ProviderProbe) -> None:
    """The texts of its parts are the text of the answer; it ends alike."""
    whole, events = answer_of(provider, CHAT), parts_of(provider)
    parts = [event["delta"]["message"]["content"]["text"] for event in events if event["type"] == "content-delta"]
    assert "".join(parts) == whole["message"]["content"][0]["text"]
    assert events[-1]["delta"] == {"finish_reason": whole["finish_reason"], "usage": whole["usage"]}


@pytest.mark.parametrize(("changed", "reason"), [
    ({"max_tokens": 3}, "MAX_TOKENS"),
    ({"stop_sequences": [" "]}, "STOP_SEQUENCE"),
    ({"tools": [TOOL], "tool_choice": "REQUIRED"}, "TOOL_CALL"),
    ({"response_format": {"type": "json_object", "json_schema": PLACE}}, "COMPLETE"),
])  # fmt: skip
def test_cohere_ends_for_the_reason_that_it_names(provider: ProviderProbe, changed: Any, reason: str) -> None:
    """A limit, a stop sequence, a tool that must be called, and JSON of a schema."""
    answer, events = answer_of(provider, CHAT, **changed), parts_of(provider, **changed)
    assert answer["finish_reason"] == events[-1]["delta"]["finish_reason"] == reason
    message = answer["message"]
    text = (
        message["tool_calls"][0]["function"]["arguments"] if "tool_calls" in message else message["content"][0]["text"]
    )
    assert reason not in ("TOOL_CALL", "COMPLETE") or json.loads(text) == {"place": "ámber"}


@pytest.mark.parametrize(("path", "wrong"), [
    (CHAT, {"temperature": 1.1}),
    (CHAT, {"p": 1}),
    (CHAT, {"presence_penalty": -1}),
    (CHAT, {"stop_sequences": list("abcdef")}),
    (CHAT, {"tool_choice": "auto"}),
    (CHAT, {"messages": [{"role": "robot", "content": "hi"}]}),
    (EMBED, {"texts": [""]}),
    (TOKENIZE, {"text": "a" * 65_537}),
])  # fmt: skip
def test_what_cohere_refuses_is_refused(provider: ProviderProbe, path: str, wrong: Any) -> None:
    """With 400, and a message."""
    status, body, _ = asked(provider, path, {**PLAIN[path], **wrong})
    assert status == 400
    assert body["message"]


def test_a_fault_of_cohere_has_its_hint_in_the_headers(provider: ProviderProbe) -> None:
    """The status of the kind, the body of the vendor."""
    provider.plan("rate_limited", retry_after_ms=1234)
    status, body, headers = asked(provider, CHAT, PLAIN[CHAT])
    assert (status, headers["retry-after-ms"], headers["retry-after"]) == (429, "1234", "2")
    assert "upstream said" in body["message"]


def test_a_stream_of_cohere_fails_only_in_ways_that_it_has(provider: ProviderProbe) -> None:
    """Its last event can say that the model failed; for a rate limit there is no event, so none is met there."""
    provider.plan("rate_limited", at_chunk=1)
    assert parts_of(provider)[-1]["delta"]["finish_reason"] == "COMPLETE"
    provider.plan("unavailable", at_chunk=1)
    assert parts_of(provider)[-1]["delta"]["finish_reason"] == "ERROR"


class Wire:
    """A connection that notes its writes."""

    def __init__(self) -> None:
        self.writes: list[bytes] = []

    async def send(self, events: bytes) -> None:
        if events:
            self.writes.append(events)


def written(texts: list[str]) -> list[bytes]:
    """The writes of a stream of these texts."""
    wire, chunks = Wire(), [event({"text": text}) for text in texts]
    writes = CutWrites(wire, Random(texts[0]))  # type: ignore[arg-type] # it needs no more of a connection

    async def send() -> None:
        for chunk in chunks:
            await writes.send(chunk)
        await writes.flush()

    asyncio.run(send())
    assert b"".join(wire.writes) == b"".join(chunks)
    return wire.writes


def test_writes_end_where_no_event_does() -> None:
    """Inside every byte of a character, inside events, and after several; what they hold stays in order."""
    every = [written([f"{number} \u6e2f \U0001f3dd \u00e8", "second", "third"]) for number in range(40)]
    ends = [data for writes in every for data in writes[:-1]]
    begins = {data[0] for writes in every for data in writes[1:]}
    assert any(data.count(b"\n\n") > 1 for data in ends), "no write has several events"
    assert any(data.endswith(b"\n") and not data.endswith(b"\n\n") for data in ends), "none ends inside an event's end"
    inside = {byte for character in "\u6e2f\U0001f3dd\u00e8" for byte in character.encode()[1:]}
    assert inside <= begins, "a byte of a character at which no write begins"


def test_a_tool_call_comes_in_pieces(provider: ProviderProbe) -> None:
    """The first alone has the id; the arguments are those of the answer."""
    asked_for = {"stream": True, "tools": [TOOL], "tool_choice": "required", **PLAIN[CHAT]}
    status, body, _ = asked(provider, "v1/chat/completions", asked_for)
    assert status == 200
    lines = [line.removeprefix("data: ") for line in body.splitlines() if line.startswith("data: {")]
    deltas = [choice["delta"] for line in lines for choice in json.loads(line)["choices"]]
    calls = [delta["tool_calls"][0] for delta in deltas if "tool_calls" in delta]
    assert ["id" in call for call in calls] == [True, *[False] * 4]
    assert json.loads("".join(call["function"]["arguments"] for call in calls)) == {"place": "\u00e1mber"}


def test_half_a_surrogate_pair_does_not_break_a_stream() -> None:
    """It stands in an event as an escape."""
    assert b"\\ud800" in event({"name": "\ud800"})


class Generate(Endpoint):
    """An invented API: it echoes."""

    errors = Errors(lambda trouble: {"trouble": trouble.kind}, headers={"x-vendor": "own"})

    def reached(self, _body: Body, /) -> tuple[str, dict[str, Any]]:
        return "llm.complete", {}

    def answer(self, body: Body, _filtered: bool, /) -> Body:
        return {"echo": body["text"]}


def test_an_author_serves_a_vendor_of_his_own(provider: ProviderProbe) -> None:
    """Below a path with a `*`: it is answered, counted, and fails as is planned; the other vendors stay."""
    provider.serve({("POST", "/models/*:generate"): Generate()})
    assert asked(provider, "models/large:generate", {"text": "hi"})[:2] == (200, {"echo": "hi"})
    assert asked(provider, "models/large:generate", {})[0] == 400
    provider.plan("rate_limited", retry_after_ms=50)
    status, body, headers = asked(provider, "models/small:generate", {"text": "hi"})
    assert (status, body) == (429, {"trouble": "rate_limited"})
    assert (headers["x-vendor"], headers["retry-after-ms"]) == ("own", "50")
    assert provider.calls("llm.complete") == 3
    assert answer_of(provider, CHAT)
    assert asked(provider, "models/large:other", {})[0] == 404


def test_an_endpoint_of_the_author_comes_before_a_built_in_one(provider: ProviderProbe) -> None:
    """At the same place."""
    provider.serve({("POST", CHAT): Generate()})
    assert asked(provider, CHAT, {"text": "hi"})[1] == {"echo": "hi"}


@pytest.mark.parametrize(("schema", "made"), [
    ({}, {}),
    ({"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2}, ["a", "a"]),
    ({"anyOf": [{"type": "null"}, {"type": "string"}]}, None),
    ({"type": "string", "minLength": 7}, "ámberrr"),
    ({"type": "string", "maxLength": 2}, "ám"),
    ({"type": ["number", "null"], "maximum": -2}, -2),
    ({"$ref": "#/$defs/a", "$defs": {"a": {"const": 4}}}, 4),
    ({"$ref": "#"}, {}),
])  # fmt: skip
def test_an_instance_is_the_plainest_of_its_schema(schema: Any, made: Any) -> None:
    """Required parts, lower bounds, the first of several; a schema that holds itself comes to an end."""
    assert minimal_instance(schema) == made
