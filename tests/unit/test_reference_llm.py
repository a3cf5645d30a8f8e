"""The embedded reference adapter for LLMs, called directly over its wire."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Coroutine
from contextlib import aclosing
from typing import Any, ClassVar, TypeVar

import pytest

import pytest_corpus.reference
from pytest_corpus.reference.llm.adapter import ReferenceLLM
from pytest_corpus.spec.errors import is_a
from pytest_corpus.spec.faults import FAULTS

T = TypeVar("T")
CANARY = "canary-7f3a9c51e2"
MESSAGES = [{"role": "user", "content": "Say something about rivers"}]
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
FAULTY = [fault for fault in FAULTS if fault.http_status is not None]


class Sink:
    """Records all telemetry."""

    def __init__(self) -> None:
        self.observed: list[dict[str, Any]] = []
        self.counted: list[dict[str, Any]] = []

    def observe(self, **fields: Any) -> None:
        self.observed.append(fields)

    def counter(self, **fields: Any) -> None:
        self.counted.append(fields)

    def outcomes(self) -> list[str]:
        """The outcomes of all streams."""
        return [each["extra"]["code"] for each in self.counted if each["name"] == "count_stream_final_outcome"]


class ProviderError(Exception):
    """What a provider's SDK raises; its text may not come out."""

    def __init__(self, kind: str, http_status: int | None, retry_after_ms: float | None = None) -> None:
        super().__init__(CANARY)
        self.kind = kind
        self.http_status = http_status
        self.retry_after_ms = retry_after_ms


class Backend:
    """A provider that raises `fault`, or hangs, where it is reached with `chunk` (None: the operation)."""

    def __init__(self, fault: BaseException | None = None, *, hang: bool = False, chunk: int | None = None) -> None:
        self.fault = fault
        self.hang = hang
        self.chunk = chunk
        self.calls: list[tuple[str, dict[str, Any]]] = []

    async def reached(self, op: str, **facts: Any) -> None:
        self.calls.append((op, facts))
        if facts.get("chunk") == self.chunk and self.hang:
            await asyncio.Event().wait()
        if facts.get("chunk") == self.chunk and self.fault is not None:
            raise self.fault


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asyncio.wait_for(work, 10))


def request(op: str, args: dict[str, Any] | None = None, **ctx: Any) -> dict[str, Any]:
    return {"op": f"llm.{op}", "ctx": ctx, "args": args or {}}


def call(adapter: ReferenceLLM, op: str, args: dict[str, Any] | None = None, **ctx: Any) -> dict[str, Any]:
    return run(adapter.handle(request(op, args, **ctx)))


def complete(adapter: ReferenceLLM, **args: Any) -> dict[str, Any]:
    return call(adapter, "complete", {"messages": MESSAGES, **args})


async def frames_of(adapter: ReferenceLLM, envelope: Any) -> list[dict[str, Any]]:
    return [frame async for frame in adapter.handle_stream(envelope)]


def stream(adapter: ReferenceLLM, args: dict[str, Any] | None = None, **ctx: Any) -> list[dict[str, Any]]:
    return run(frames_of(adapter, request("stream", {"messages": MESSAGES, **(args or {})}, **ctx)))


def soon(ms: float) -> float:
    return time.time() * 1000 + ms


def test_the_factory_makes_the_adapter() -> None:
    """`pytest_corpus.reference:llm` is a factory that takes both hooks."""
    sink, backend = Sink(), Backend()
    adapter = pytest_corpus.reference.llm(metrics=sink, provider=backend)
    assert (adapter.metrics, adapter.provider) == (sink, backend)


@pytest.mark.parametrize("envelope", [None, [], "x", 1, {}, {"op": 1, "ctx": {}, "args": {}}])
def test_what_is_no_request_gets_an_error_envelope_at_both_doors(envelope: Any) -> None:
    """A malformed request is answered, never raised."""
    [frame] = run(frames_of(ReferenceLLM(), envelope))
    for answer in (run(ReferenceLLM().handle(envelope)), frame):
        assert answer.keys() == {"ok", "code", "error", "message", "retry_after_ms", "details", "ms"}
        assert (answer["code"], answer["error"]) == ("BAD_REQUEST", "BadRequest")
        assert answer["details"]["validation_errors"]


@pytest.mark.parametrize(
    ("ctx", "field"),
    [
        ([], "request.ctx"),
        ({"deadline_ms": "soon"}, "ctx.deadline_ms"),
        ({"deadline_ms": 0}, "ctx.deadline_ms"),
        ({"deadline_ms": math.nan}, "ctx.deadline_ms"),
        ({"attrs": []}, "ctx.attrs"),
        ({"attrs": {CANARY: math.inf}}, "ctx.attrs"),
        ({"attrs": {"n": 2**63}}, "ctx.attrs"),
        ({"tenant": 7}, "ctx.tenant"),
    ],
)
def test_a_malformed_context_is_refused_by_field(ctx: Any, field: str) -> None:
    """The refusal names the field, and nothing that the client wrote."""
    answer = run(ReferenceLLM().handle({"op": "llm.health", "ctx": ctx, "args": {}}))
    assert answer["details"]["validation_errors"][0]["field"] == field
    assert CANARY not in json.dumps(answer)


def test_unknown_keys_and_null_context_fields_are_ignored() -> None:
    """What the documents do not name, and what is null, changes nothing."""
    envelope = request("complete", {"messages": [{**MESSAGES[0], "x": 1}], "x": 1}, tenant=None, x=1)
    assert run(ReferenceLLM().handle({**envelope, "x": 1}))["ok"]


def test_no_depth_of_nesting_is_an_outage() -> None:
    """`attrs` may be of any depth; arguments too deep for this interpreter are a bad request."""
    deep: list[Any] = []
    for _ in range(10_000):
        deep = [deep]
    args = {"messages": MESSAGES, "temperature": 0}
    assert call(ReferenceLLM(), "complete", args, attrs={"x": deep})["ok"]
    assert complete(ReferenceLLM(), **args | {"x": deep})["code"] in ("OK", "BAD_REQUEST")


@pytest.mark.parametrize(
    ("args", "field"),
    [
        ({"messages": None}, "args.messages"),
        ({"messages": [{"role": CANARY, "content": ""}]}, "args.messages[0].role"),
        ({"messages": [{"role": "user"}]}, "args.messages[0].content"),
        ({"messages": [{**MESSAGES[0], "tool_calls": [{}]}]}, "args.messages[0].tool_calls[0].id"),
        ({"temperature": 2.1}, "args.temperature"),
        ({"temperature": math.nan}, "args.temperature"),
        ({"top_p": 0}, "args.top_p"),
        ({"max_tokens": 1.5}, "args.max_tokens"),
        ({"stop_sequences": [1]}, "args.stop_sequences[0]"),
        ({"tools": [{"type": "function", "function": {"name": "f"}}]}, "args.tools[0].function.parameters"),
        ({"tool_choice": "required"}, "args.tool_choice"),
        ({"tool_choice": CANARY}, "args.tool_choice"),
    ],
)
def test_bad_arguments_are_refused_by_field_before_the_provider_is_reached(args: dict[str, Any], field: str) -> None:
    """A validation failure is not retryable, names the field and costs no backend work."""
    backend = Backend()
    answer = complete(ReferenceLLM(provider=backend), **args)
    assert answer["error"] in ("BadRequest", "InputFormatError")
    assert answer["details"]["validation_errors"][0]["field"] == field
    assert CANARY not in json.dumps(answer)
    assert backend.calls == []


def test_an_unknown_model_is_not_available() -> None:
    """Every operation that takes a model is gated by the list of models."""
    for op in ("complete", "count_tokens"):
        answer = call(ReferenceLLM(), op, {"messages": MESSAGES, "text": "", "model": "no-such"})
        assert answer["code"] == "MODEL_NOT_AVAILABLE"


def test_a_prompt_may_fill_the_context_window_but_not_exceed_it() -> None:
    """The declared window is enforced to the token."""
    window = ReferenceLLM.context_window
    full = complete(ReferenceLLM(), messages=[{"role": "user", "content": "a " * (window - 1)}])
    over = complete(ReferenceLLM(), messages=[{"role": "user", "content": "a " * window}])
    assert full["result"]["usage"]["total_tokens"] == window
    assert over["code"] == "PROMPT_TOO_LONG"
    assert over["details"]["max_context_length"] == window


@pytest.mark.parametrize("limit", [0, 1, 5, 10_000])
def test_max_tokens_is_honoured_and_usage_adds_up(limit: int) -> None:
    """A reply that was cut says so."""
    result = complete(ReferenceLLM(), max_tokens=limit)["result"]
    usage = result["usage"]
    assert usage["completion_tokens"] <= limit
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert result["finish_reason"] == ("stop" if limit == 10_000 else "length")


def test_a_stop_sequence_cuts_the_text_before_it() -> None:
    """The stop sequence itself is not given."""
    text = complete(ReferenceLLM())["result"]["text"]
    stop = text.split()[5]
    cut = complete(ReferenceLLM(), stop_sequences=[stop])["result"]
    assert (cut["text"], cut["finish_reason"]) == (text[: text.index(stop)], "stop")


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "get_weather"}}])
def test_a_required_tool_is_called_in_both_modes(choice: Any) -> None:
    """A demanded tool call comes with its finish reason, or in the final chunk."""
    args = {"tools": [TOOL], "tool_choice": choice}
    result = complete(ReferenceLLM(), **args)["result"]
    [frame] = stream(ReferenceLLM(), args)
    assert result["finish_reason"] == "tool_calls"
    assert result["tool_calls"] == frame["chunk"]["tool_calls"]
    assert result["tool_calls"][0]["function"]["name"] == "get_weather"


def test_a_stream_gives_the_text_of_the_completion_in_several_frames() -> None:
    """Frames are closed, coded STREAMING, and only the last one is final."""
    frames = stream(ReferenceLLM())
    result = complete(ReferenceLLM())["result"]
    assert all(frame.keys() == {"ok", "code", "ms", "chunk"} for frame in frames)
    assert {frame["code"] for frame in frames} == {"STREAMING"}
    assert [frame["chunk"]["is_final"] for frame in frames] == [False] * (len(frames) - 1) + [True]
    assert "".join(frame["chunk"]["text"] for frame in frames) == result["text"]
    assert frames[-1]["chunk"]["usage_so_far"] == result["usage"]


@pytest.mark.parametrize("text", ["a b  c", "e\u0301\u0308x", "\U0001f469\u200d\U0001f469\u200d\U0001f466", "\ud800"])
def test_a_longer_text_never_has_fewer_tokens(text: str) -> None:
    """Token counts are monotone over every prefix."""
    counts = [
        call(ReferenceLLM(), "count_tokens", {"text": text[:end]})["result"]["tokens"] for end in range(len(text) + 1)
    ]
    assert counts == sorted(counts)
    assert counts[0] == 0 < counts[-1]


@pytest.mark.parametrize("fault", FAULTY, ids=lambda fault: fault.kind)
def test_provider_faults_are_mapped_and_keep_their_text_to_themselves(fault: Any) -> None:
    """Every kind of fault reaches the wire as its canonical class, with hints where it may be retried."""
    backend = Backend(ProviderError(fault.kind, fault.http_status, retry_after_ms=1200))
    answer = complete(ReferenceLLM(provider=backend))
    frame = stream(ReferenceLLM(provider=backend))[-1]
    retryable = fault.canonical in ("ResourceExhausted", "Unavailable", "TransientNetwork")
    for error in (answer, frame):
        assert is_a(error["error"], fault.canonical)
        assert error["retry_after_ms"] == (1200 if retryable else None)
        assert CANARY not in json.dumps(error)


def test_a_retryable_error_without_advice_suggests_a_backoff() -> None:
    """Clients always learn how long to wait; a throttled tenant is named by hash."""
    answer = complete(ReferenceLLM(provider=Backend(ProviderError("rate_limited", 429))))
    assert answer["retry_after_ms"] is None
    assert answer["details"]["suggested_backoff_ms"] > 0
    assert answer["details"]["throttle_scope"]


@pytest.mark.parametrize("fault", [RuntimeError(CANARY), ProviderError("novel", None)])
def test_an_unexpected_exception_is_unavailable(fault: Exception) -> None:
    """A fault of no kind has a neutral message and a retryable class."""
    answer = complete(ReferenceLLM(provider=Backend(fault)))
    assert (answer["code"], answer["error"]) == ("UNAVAILABLE", "Unavailable")
    assert CANARY not in json.dumps(answer)


def test_a_fault_in_mid_stream_is_its_last_frame() -> None:
    """Data frames, then the error, then nothing."""
    sink = Sink()
    frames = stream(ReferenceLLM(metrics=sink, provider=Backend(ProviderError("network", 502), chunk=2)))
    assert [frame["ok"] for frame in frames] == [True, True, False]
    assert sink.outcomes() == ["TransientNetwork"]


@pytest.mark.parametrize("op", ["complete", "count_tokens", "health"])
def test_an_expired_deadline_costs_no_backend_work(op: str) -> None:
    """Every operation but capabilities fails fast."""
    backend = Backend()
    adapter = ReferenceLLM(provider=backend)
    answer = call(adapter, op, {"messages": MESSAGES, "text": ""}, deadline_ms=soon(-1000))
    [frame] = stream(adapter, deadline_ms=soon(-1000))
    assert answer["code"] == frame["code"] == "DEADLINE_EXCEEDED"
    assert backend.calls == []
    assert call(adapter, "capabilities", deadline_ms=soon(-1000))["ok"]


@pytest.mark.parametrize("chunk", [None, 0, 2])
def test_a_hanging_provider_is_left_at_the_deadline(chunk: int | None) -> None:
    """The budget bounds every wait, unary and in a stream."""
    adapter = ReferenceLLM(provider=Backend(hang=True, chunk=chunk))
    started = time.monotonic()
    frames = stream(adapter, deadline_ms=soon(80))
    if chunk is None:
        frames += [call(adapter, "complete", {"messages": MESSAGES}, deadline_ms=soon(80))]
        frames += [call(adapter, "health", deadline_ms=soon(80))]
    assert [frame["code"] for frame in frames if not frame["ok"]] == ["DEADLINE_EXCEEDED"] * (
        len(frames) - (chunk or 0)
    )
    assert time.monotonic() - started < 10


@pytest.mark.parametrize(
    ("op", "args", "ctx", "code"),
    [
        ("complete", {"messages": MESSAGES}, {}, "OK"),
        ("complete", {"messages": 1}, {}, "InputFormatError"),
        ("health", {}, {"deadline_ms": 1}, "DeadlineExceeded"),
        ("no_such_op", {}, {}, "NotSupported"),
    ],
)
def test_every_call_is_observed_once(op: str, args: dict[str, Any], ctx: dict[str, Any], code: str) -> None:
    """One observation a call, with the outcome's class and a hashed tenant."""
    sink = Sink()
    call(ReferenceLLM(metrics=sink), op, args, tenant=CANARY, **ctx)
    [observed] = sink.observed
    assert (observed["component"], observed["code"], observed["ok"]) == ("llm", code, code == "OK")
    assert observed["op"] == ("invalid" if op == "no_such_op" else op)
    assert ("deadline_bucket" in observed["extra"]) == bool(ctx)
    assert observed["extra"]["tenant_hash"]
    assert CANARY not in json.dumps([sink.observed, sink.counted])


def test_every_stream_has_one_final_outcome_even_when_abandoned_or_refused() -> None:
    """Whoever ends a stream, it is counted and observed once; one that is left early as Unavailable."""

    async def abandon(adapter: ReferenceLLM) -> None:
        async with aclosing(adapter.handle_stream(request("stream", {"messages": MESSAGES}))) as frames:
            await anext(frames)

    sink = Sink()
    adapter = ReferenceLLM(metrics=sink)
    stream(adapter)
    stream(adapter, {"messages": 1})
    stream(adapter, deadline_ms=1)
    run(abandon(adapter))
    assert sink.outcomes() == ["OK", "InputFormatError", "DeadlineExceeded", "Unavailable"]
    assert len(sink.observed) == 4


@pytest.mark.parametrize("fault", [asyncio.CancelledError(), KeyboardInterrupt()], ids=["cancel", "interrupt"])
def test_cancellation_is_not_swallowed(fault: BaseException) -> None:
    """What is to stop the program goes through, and is observed all the same."""

    async def interrupted(adapter: ReferenceLLM) -> None:
        with pytest.raises(type(fault)):
            await adapter.handle(request("complete", {"messages": MESSAGES}))

    sink = Sink()
    asyncio.run(interrupted(ReferenceLLM(metrics=sink, provider=Backend(fault))))
    assert len(sink.observed) == 1


def test_health_reports_a_provider_that_is_down() -> None:
    """A failing provider is a report, not a failure of the report."""
    answer = call(ReferenceLLM(provider=Backend(ProviderError("unavailable", 503))), "health")
    assert answer["ok"]
    assert (answer["result"]["ok"], answer["result"]["status"]) == (False, "down")
    assert answer["result"]["reason"] == "UNAVAILABLE"


def test_the_cache_serves_deterministic_requests_of_the_same_tenant_only() -> None:
    """Tenant, model and every argument belong to the key; other temperatures are not cached."""
    backend = Backend()
    adapter = ReferenceLLM(provider=backend)
    args = {"messages": MESSAGES, "temperature": 0}
    first = call(adapter, "complete", args, tenant="a")
    assert call(adapter, "complete", args, tenant="a")["result"] == first["result"]
    assert len(backend.calls) == 1
    for other, tenant in [
        (args, "b"),
        ({**args, "max_tokens": 3}, "a"),
        ({**args, "temperature": 1}, "a"),
    ] * 2:
        call(adapter, "complete", other, tenant=tenant)
    assert len(backend.calls) == 5


def test_a_replayed_idempotency_key_gets_the_first_answer() -> None:
    """The provider is reached once for one tenant, arguments and key; anything else is another request."""
    backend = Backend()
    adapter = ReferenceLLM(provider=backend)
    args = {"messages": MESSAGES}
    first = call(adapter, "complete", args, tenant="a", idempotency_key="k")["result"]
    expected = dict(first)
    first.clear()
    assert call(adapter, "complete", args, tenant="a", idempotency_key="k")["result"] == expected
    assert len(backend.calls) == 1
    call(adapter, "complete", args, tenant="b", idempotency_key="k")
    call(adapter, "complete", {**args, "max_tokens": 3}, tenant="a", idempotency_key="k")
    assert len(backend.calls) == 3


def test_features_that_are_switched_off_are_refused() -> None:
    """An adapter that does not claim a capability does not offer it."""

    class Plain(ReferenceLLM):
        features: ClassVar[dict[str, bool]] = {
            **ReferenceLLM.features,
            "supports_streaming": False,
            "supports_tools": False,
        }

    [frame] = stream(Plain())
    answer = complete(Plain(), tools=[TOOL])
    assert frame["code"] == answer["code"] == "NOT_SUPPORTED"
