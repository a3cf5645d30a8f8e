"""The embedded reference adapter for LLMs, called directly over its wire."""

import asyncio
from contextlib import aclosing
from typing import Any

import pytest
from reference_calls import Backend, call, request, run, stream

from pytest_corpus.reference.llm.adapter import ReferenceLLM

MESSAGES = [{"role": "user", "content": "Say something about rivers"}]
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}


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


def complete(adapter: ReferenceLLM, **args: Any) -> dict[str, Any]:
    return call(adapter, "complete", {"messages": MESSAGES, **args})


def test_no_depth_of_nesting_is_an_outage() -> None:
    """`attrs` may be of any depth; arguments too deep for this interpreter are a bad request."""
    deep: list[Any] = []
    for _ in range(10_000):
        deep = [deep]
    args = {"messages": MESSAGES, "temperature": 0}
    assert call(ReferenceLLM(), "complete", args, attrs={"x": deep})["ok"]
    assert complete(ReferenceLLM(), **args | {"x": deep})["code"] in ("OK", "BAD_REQUEST")


def test_every_stream_has_one_final_outcome_even_when_abandoned_or_refused() -> None:
    """Whoever ends a stream, it is counted and observed once; one that is left early as Unavailable."""

    async def abandon(adapter: ReferenceLLM) -> None:
        async with aclosing(adapter.handle_stream(request("llm.stream", {"messages": MESSAGES}))) as frames:
            await anext(frames)

    sink = Sink()
    adapter = ReferenceLLM(metrics=sink)
    stream(adapter, "stream", {"messages": MESSAGES})
    stream(adapter, "stream", {"messages": 1})
    stream(adapter, "stream", {"messages": MESSAGES}, deadline_ms=1)
    run(abandon(adapter))
    assert sink.outcomes() == ["OK", "InputFormatError", "DeadlineExceeded", "Unavailable"]
    assert len(sink.observed) == 4


@pytest.mark.parametrize("fault", [asyncio.CancelledError(), KeyboardInterrupt()], ids=["cancel", "interrupt"])
def test_cancellation_is_not_swallowed(fault: BaseException) -> None:
    """An exception that stops the program goes through, and is observed all the same."""

    async def interrupted(adapter: ReferenceLLM) -> None:
        with pytest.raises(type(fault)):
            await adapter.handle(request("llm.complete", {"messages": MESSAGES}))

    sink = Sink()
    asyncio.run(interrupted(ReferenceLLM(metrics=sink, provider=Backend({0: fault}))))
    assert len(sink.observed) == 1


def test_the_cache_serves_deterministic_requests_of_the_same_tenant_only() -> None:
    """Tenant, model and every argument belong to the key; other temperatures are not cached."""
    backend = Backend()
    adapter = ReferenceLLM(provider=backend)
    args = {"messages": MESSAGES, "temperature": 0}
    first = call(adapter, "complete", args, tenant="a")
    assert call(adapter, "complete", args, tenant="a")["result"] == first["result"]
    assert len(backend.calls) == 1
    for other, tenant in [(args, "b"), ({**args, "max_tokens": 3}, "a"), ({**args, "temperature": 1}, "a")] * 2:
        call(adapter, "complete", other, tenant=tenant)
    assert len(backend.calls) == 5
