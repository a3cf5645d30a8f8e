"""The small parts: exchange, facts, metrics, provider, logs, loop."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
from arrivals import arrived
from hypothesis import given
from hypothesis import strategies as st

from pytest_corpus.adapter.exchange import Exchange, non_finite
from pytest_corpus.adapter.facts import Capabilities
from pytest_corpus.adapter.hooks.logs import LogTap
from pytest_corpus.adapter.hooks.metrics import RecordingSink
from pytest_corpus.adapter.hooks.provider import ProviderFault, ProviderProbe
from pytest_corpus.adapter.loop import LoopThread, TimeLimit
from pytest_corpus.adapter.plain import NotJSON
from pytest_corpus.spec.faults import FAULTS

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)

# -- exchange ------------------------------------------------------------------------------------------


@given(JSON)
def test_json_comes_back_as_it_is(value: Any) -> None:
    """A JSON value survives, and its size is that of its compact UTF-8 text."""
    import json

    frame = arrived(value)
    assert frame.body == value or any(True for _ in non_finite(value))
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert frame.size == len(text.encode())


def test_mappings_and_tuples_become_json() -> None:
    """Any mapping is an object, any tuple an array."""
    assert arrived(MappingProxyType({"a": (1, MappingProxyType({}))})).body == {"a": [1, {}]}


@pytest.mark.parametrize("value", [object(), {1}, b"", {(1, 2): 3}, 1j])
def test_no_json(value: Any) -> None:
    """What JSON does not know is refused by type, without content."""
    with pytest.raises(NotJSON):
        arrived({"deep": [value]})


def test_recursion_is_no_json() -> None:
    """What contains itself, or is nested without end, is refused."""
    around: list[Any] = []
    around.append(around)
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    for value in (around, deep):
        with pytest.raises(NotJSON):
            arrived(value)


def test_non_finite_paths() -> None:
    """Every NaN and infinity is found with its path."""
    value = {"a": [1.0, float("nan")], "b": {"c": float("-inf")}, "d": 2.0}
    assert sorted(non_finite(value)) == ["a[1]", "b.c"]
    assert list(non_finite(float("inf"))) == ["(root)"]


@pytest.mark.parametrize(
    ("request_", "op"), [({"op": "llm.health"}, "llm.health"), ({"op": 7}, ""), ([], ""), (None, "")]
)
def test_op_of_an_exchange(request_: Any, op: str) -> None:
    """The operation of a request, whatever the request is."""
    assert Exchange(request_, streaming=False).op == op


# -- facts ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("document", [{"supports_streaming": False}, {"features": {"supports_streaming": False}}])
def test_a_flag_flat_or_nested(document: Mapping[str, Any]) -> None:
    """A flag is read at the top and inside `features`."""
    assert Capabilities("llm", document).flag("supports_streaming") is False


@pytest.mark.parametrize("value", [None, "yes", 1, [], {}])
def test_a_flag_that_is_no_boolean_is_unknown(value: Any) -> None:
    """Null and other types are not a claim."""
    assert Capabilities("llm", {"supports_streaming": value}).flag("supports_streaming") is None


def test_null_at_the_top_hides_nothing() -> None:
    """A null is as good as an absent key: the nested value counts."""
    document = {"max_context_length": None, "limits": {"max_context_length": 64}}
    assert Capabilities("llm", document).limit("max_context_length") == 64


@pytest.mark.parametrize(
    ("value", "expected"),
    [(64, 64), (64.0, 64), (64.5, None), (0, None), (-1, None), (True, None), ("64", None), (float("nan"), None)],
)
def test_a_limit(value: Any, expected: int | None) -> None:
    """A limit is a whole positive number, in either notation."""
    assert Capabilities("llm", {"limits": {"max_context_length": value}}).limit("max_context_length") == expected


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"models": [{"name": "a"}, {"name": "b"}]}, ("a", "b")),
        ({"supported_models": ["a", "b"]}, ("a", "b")),
        ({"features": {"supported_models": ["a"]}}, ("a",)),
        ({"models": ["a", {"name": "b"}, 7, {"family": "x"}]}, ("a", "b")),
        ({"models": [{"name": "a"}], "supported_models": ["a"]}, ("a",)),
        ({}, ()),
        ({"models": None}, ()),
        ({"models": {"a": {}}}, ()),
    ],
)
def test_models(document: Mapping[str, Any], expected: tuple[str, ...]) -> None:
    """Models are read in every documented spelling, each once."""
    assert sorted(Capabilities("llm", document).models) == sorted(expected)


def test_context_window() -> None:
    """A model's own window comes before the general limit."""
    document = {"models": [{"name": "a", "context_window": 8}, {"name": "b"}], "max_context_length": 64}
    facts = Capabilities("llm", document)
    assert [facts.context_window(model) for model in ("a", "b", None)] == [8, 64, 64]
    assert Capabilities("llm", {}).context_window("a") is None


def test_spellings_of_other_components() -> None:
    """Spellings that the rulings read as one are read as one."""
    assert Capabilities("graph", {"supports_transaction": True}).flag("supports_txn") is True
    assert Capabilities("graph", {"supported_query_dialects": ["cypher"]}).names("dialects") == ("cypher",)
    assert Capabilities("vector", {"limits": {"max_batch": 9}}).limit("max_batch_size") == 9


def test_unknown_fact() -> None:
    """Asking for a fact that no document knows is a mistake of ours."""
    with pytest.raises(KeyError, match="supports_everything"):
        Capabilities("llm", {}).flag("supports_everything")


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"supports_caching": True}, True),
        ({"cache": {"ttl": 5}}, True),
        ({"supports_caching": False}, False),
        ({}, False),
    ],
)
def test_caches(document: Mapping[str, Any], expected: bool) -> None:
    """A cache is claimed by the flag or by a capability of its own."""
    assert Capabilities("llm", document).caches is expected


# -- metrics -------------------------------------------------------------------------------------------


def test_sink_records_with_defaults() -> None:
    """Observations and counts are kept in order with the defaults of the interface."""
    sink = RecordingSink()
    sink.observe(component="llm", op="complete", ms=1.5, ok=True)
    sink.counter(component="llm", name="ops_total")
    (seen,), (counted,) = sink.observations, sink.counts
    assert (seen.op, seen.code, dict(seen.extra), seen.malformed) == ("complete", "OK", {}, "")
    assert (counted.name, counted.value, counted.malformed) == ("ops_total", 1, "")
    assert sink


@pytest.mark.parametrize(
    ("args", "kwargs", "complaint"),
    [
        (("llm", "complete"), {}, "positional arguments"),
        ((), {"component": "llm", "op": "x", "ms": 1}, "without ok"),
        ((), {"component": "llm", "op": "x", "ms": 1, "ok": True, "tenant": "t"}, "unknown argument tenant"),
        ((), {"component": "llm", "op": "x", "ms": 1, "ok": True, "extra": [1]}, "extra is not a mapping"),
    ],
)
def test_sink_keeps_what_does_not_fit(args: Any, kwargs: Any, complaint: str) -> None:
    """A wrong call raises nothing into the adapter; it is kept with what was wrong."""
    sink = RecordingSink()
    sink.observe(*args, **kwargs)
    assert complaint in sink.observations[0].malformed


def test_sink_copies_labels() -> None:
    """Labels that the adapter changes later are kept as they were."""
    sink, extra = RecordingSink(), {"a": 1}
    sink.observe(component="llm", op="x", ms=1, ok=True, extra=extra)
    extra["a"] = 2
    assert sink.observations[0].extra == {"a": 1}


# -- provider ------------------------------------------------------------------------------------------


def reach(probe: ProviderProbe, op: str = "llm.complete", **facts: Any) -> str:
    """What an arrival at the provider comes to: the fault's kind, or an empty string."""
    try:
        asyncio.run(asyncio.wait_for(probe.reached(op, **facts), 1))
    except ProviderFault as fault:
        return fault.kind
    except asyncio.TimeoutError:
        return "hang"
    except RuntimeError:
        return "unexpected"
    return ""


def test_operations_are_counted_and_chunks_are_not() -> None:
    """`calls` counts arrivals of an op, or of all, without chunks."""
    probe = ProviderProbe()
    for facts in ({}, {"chunk": 0}, {"chunk": 1}, {"items": 3}):
        reach(probe, "llm.stream", **facts)
    reach(probe, "llm.complete")
    assert (probe.calls("llm.stream"), probe.calls("llm.complete"), probe.calls()) == (2, 1, 3)
    assert probe.arrivals == ("llm.stream", "llm.stream", "llm.complete")


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.kind)
def test_every_kind(fault: Any) -> None:
    """Each kind does what the table says, once, and then no more."""
    probe = ProviderProbe()
    plan = probe.plan(fault.kind, "llm.complete", delay_ms=1)
    expected = "" if fault.kind == "slow" else fault.kind
    assert [reach(probe), reach(probe)] == [expected, ""]
    assert plan.fired == 1


def test_a_fault_carries_its_facts() -> None:
    """Kind, status, advice and a message with a canary of its own."""
    probe = ProviderProbe()
    plan = probe.plan("rate_limited", retry_after_ms=70)
    assert probe.canaries == ()
    with pytest.raises(ProviderFault) as caught:
        asyncio.run(probe.reached("llm.complete"))
    fault = caught.value
    assert (fault.kind, fault.http_status, fault.retry_after_ms) == ("rate_limited", 429, 70)
    assert plan.canary in fault.message
    assert probe.canaries == (plan.canary,)


def test_canaries_differ() -> None:
    """Each plan has a secret of its own."""
    probe = ProviderProbe()
    assert len({probe.plan("auth").canary for _ in range(20)}) == 20


def test_a_plan_of_an_op_strikes_that_op() -> None:
    """Another op goes by; a plan without op strikes any."""
    probe = ProviderProbe()
    probe.plan("auth", "llm.stream")
    assert [reach(probe, "llm.complete"), reach(probe, "llm.stream")] == ["", "auth"]
    probe.plan("auth")
    assert reach(probe, "anything.else") == "auth"


def test_at_chunk() -> None:
    """With `at_chunk` it strikes that chunk alone, without it the operation alone."""
    probe = ProviderProbe()
    probe.plan("network", "llm.stream", at_chunk=1)
    arrivals = [reach(probe, "llm.stream", **facts) for facts in ({}, {"chunk": 0}, {"chunk": 1}, {"chunk": 2})]
    assert arrivals == ["", "", "network", ""]
    probe.plan("network", "llm.stream")
    assert [reach(probe, "llm.stream", chunk=0), reach(probe, "llm.stream")] == ["", "network"]


def test_times() -> None:
    """It strikes as often as planned."""
    probe = ProviderProbe()
    probe.plan("unavailable", times=3)
    assert [reach(probe) for _ in range(5)] == ["unavailable"] * 3 + ["", ""]


def test_slow_takes_its_time() -> None:
    """`slow` sleeps so many milliseconds and goes on."""
    probe = ProviderProbe()
    probe.plan("slow", delay_ms=80)
    started = time.monotonic()
    assert reach(probe) == ""
    assert time.monotonic() - started >= 0.08


def test_clear() -> None:
    """Forgotten plans no longer strike, and the counts stay."""
    probe = ProviderProbe()
    probe.plan("auth", times=5)
    reach(probe)
    probe.clear()
    assert (reach(probe), probe.calls(), probe.canaries) == ("", 2, ())


def test_unknown_kind() -> None:
    """A plan of an unknown kind is refused with the names of all."""
    with pytest.raises(ValueError, match="unknown fault kind 'bang'; one of rate_limited"):
        ProviderProbe().plan("bang")


# -- logs ----------------------------------------------------------------------------------------------


def test_every_logger_is_heard() -> None:
    """Also one that does not propagate, and only while the tap is open."""
    quiet = logging.getLogger("tests.quiet")
    quiet.propagate = False
    with LogTap() as tap:
        logging.getLogger("tests.loud").warning("loud %s", 1)
        quiet.warning("quiet")
    logging.getLogger("tests.loud").warning("after")
    quiet.propagate = True
    # Other threads of this process may have something to say, too.
    assert [text for text in tap.texts if text in ("loud 1", "quiet", "after")] == ["loud 1", "quiet"]


def test_levels_stay_as_they_are() -> None:
    """A debug record that nobody would see is not seen, unless asked for."""
    logger = logging.getLogger("tests.debugging")
    before = logging.root.level
    with LogTap() as tap:
        logger.debug("hidden")
    with LogTap(debug=True) as deep:
        logger.debug("shown")
    assert (tap.texts, deep.texts, logging.root.level) == ([], ["shown"], before)


def test_debug_is_taken_back_after_an_exception() -> None:
    """The levels are restored, whatever happens inside."""
    before = logging.root.level
    with pytest.raises(ValueError), LogTap(debug=True):
        raise ValueError
    assert logging.root.level == before
    assert not [handler for handler in logging.root.handlers if isinstance(handler, LogTap)]


def test_extra_fields_and_exceptions_are_read() -> None:
    """What a record carries beside its message can leak, too."""
    with LogTap() as tap:
        try:
            raise ValueError("in the exception")
        except ValueError:
            logging.getLogger("tests.extra").exception("failed", extra={"prompt": "in the extra"})
    [text] = [text for text in tap.texts if "failed" in text]
    assert "in the exception" in text
    assert "in the extra" in text


def test_a_record_that_cannot_be_formatted() -> None:
    """A wrong format string is kept with its arguments, and raises nothing."""
    alone = logging.getLogger("tests.wrong")
    alone.propagate = False
    with LogTap() as tap:
        alone.warning("%d %d", "secret")
    assert "secret" in tap.texts[0]


def test_an_argument_that_cannot_be_shown() -> None:
    """An argument whose text raises does not break the adapter's call."""

    class Odd:
        def __str__(self) -> str:
            raise RuntimeError("no text")

        __repr__ = __str__

    alone = logging.getLogger("tests.odd")
    alone.propagate = False
    with LogTap() as tap:
        alone.warning("got %s", Odd())
    assert len(tap.texts) == 1


# -- loop ----------------------------------------------------------------------------------------------


async def _value(value: int) -> int:
    await asyncio.sleep(0)
    return value


def test_loop_gives_results_and_exceptions(loop: LoopThread) -> None:
    """The result of a coroutine comes back, and what it raises too."""

    async def failing() -> None:
        raise ValueError("inside")

    assert loop.run(_value(7), 1) == 7
    with pytest.raises(ValueError, match="inside"):
        loop.run(failing(), 1)


def test_loop_limit(loop: LoopThread) -> None:
    """What takes longer is cancelled; the loop is said not to be blocked, and goes on."""
    with pytest.raises(TimeLimit) as caught:
        loop.run(asyncio.sleep(1000), 0.05)
    assert caught.value.blocked is False
    assert loop.run(_value(1), 1) == 1


def test_loop_that_is_blocked() -> None:
    """A coroutine that holds the whole loop is told apart, and stopping does not wait for it."""

    async def blocking() -> None:
        time.sleep(3)

    loop = LoopThread("blocked")
    with pytest.raises(TimeLimit) as caught:
        loop.run(blocking(), 0.05)
    assert caught.value.blocked is True
    started = time.monotonic()
    loop.stop()
    assert time.monotonic() - started < 2.5


def test_a_time_out_of_the_adapters_own(loop: LoopThread) -> None:
    """A TimeoutError that the coroutine raises is not taken for ours."""

    async def timing_out() -> None:
        raise asyncio.TimeoutError

    with pytest.raises((asyncio.TimeoutError, TimeoutError)):
        loop.run(timing_out(), 5)


def test_loop_that_was_ended() -> None:
    """A loop that a coroutine ended counts as blocked: no crash, no endless wait, and stopping it does nothing."""
    loop = LoopThread("ended")

    async def ending() -> None:
        asyncio.get_running_loop().stop()
        await asyncio.sleep(0.1)

    with pytest.raises(TimeLimit):
        loop.run(ending(), 0.3)
    with pytest.raises(TimeLimit):
        loop.run(_value(1), 0.3)
    loop.stop()


def test_stop_cancels_what_still_runs() -> None:
    """Tasks that an adapter left behind are cancelled when the loop stops."""
    seen: list[str] = []

    async def leave() -> None:
        async def left() -> None:
            try:
                await asyncio.sleep(1000)
            except asyncio.CancelledError:
                seen.append("cancelled")
                raise

        seen.append("started")
        loop.left = asyncio.get_running_loop().create_task(left())  # type: ignore[attr-defined]
        await asyncio.sleep(0)

    loop = LoopThread("leaving")
    loop.run(leave(), 1)
    loop.stop()
    assert seen == ["started", "cancelled"]


def test_what_is_handed_on_of_the_context_is_kept_until_the_next_test() -> None:
    """The trace and the deadline are noted as they are told, null included; other facts and untold ones are not."""
    probe = ProviderProbe()
    asyncio.run(probe.reached("llm.complete", traceparent="00-a-b-01", deadline_ms=7, items=2))
    asyncio.run(probe.reached("llm.stream", chunk=0, traceparent=None))
    asyncio.run(probe.reached("llm.complete"))
    assert [(arrival.op, arrival.facts) for arrival in probe.handed_on] == [
        ("llm.complete", {"traceparent": "00-a-b-01", "deadline_ms": 7}),
        ("llm.stream", {"traceparent": None}),
    ]
    probe.forget()
    assert (probe.handed_on, probe.calls()) == ([], 2)
