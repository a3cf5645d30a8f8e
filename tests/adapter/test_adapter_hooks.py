"""The hooks that a factory may ask for: metrics, the provider and log records."""

import asyncio
import json
import logging
import re
import time
from typing import Any

import pytest

from pytest_corpus.adapter.fault_plan import canaries
from pytest_corpus.adapter.hooks.logs import LogTap
from pytest_corpus.adapter.hooks.metrics import RecordingSink
from pytest_corpus.adapter.hooks.provider import ProviderFault, ProviderProbe
from pytest_corpus.adapter.hooks.vendors import anthropic_messages, openai
from pytest_corpus.adapter.hooks.vendors.tunnel import CONTEXT
from pytest_corpus.resources import folder
from pytest_corpus.spec.errors import BY_KIND, FAULTS, OVER_TCP


def test_sink_records_with_defaults() -> None:
    """Observations and counts are kept in order with the defaults of the interface."""
    sink = RecordingSink()
    sink.observe(component="llm", op="complete", ms=1.5, ok=True)
    sink.counter(component="llm", name="ops_total")
    (seen,), (counted,) = sink.observations, sink.counts
    assert (seen.op, seen.code, dict(seen.extra), seen.malformed) == ("complete", "OK", {}, "")
    assert (counted.name, counted.value, counted.malformed) == ("ops_total", 1, "")
    assert sink


@pytest.mark.parametrize(("args", "kwargs", "complaint"), [
    (("llm", "complete"), {}, "positional arguments"),
    ((), {"component": "llm", "op": "x", "ms": 1}, "without ok"),
    ((), {"component": "llm", "op": "x", "ms": 1, "ok": True, "tenant": "t"}, "unknown argument tenant"),
    ((), {"component": "llm", "op": "x", "ms": 1, "ok": True, "extra": [1]}, "extra is not a mapping"),
])  # fmt: skip
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


def reach(probe: ProviderProbe, op: str = "llm.complete", **facts: Any) -> str:
    """The result of an arrival at the provider: the fault's kind, or an empty string."""
    try:
        asyncio.run(asyncio.wait_for(probe.reached(op, **facts), 1))
    except ProviderFault as fault:
        return fault.kind
    except TimeoutError:
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


@pytest.mark.parametrize("file", ["report/report.schema.json", "transcript/transcript.schema.json"])
def test_schemas_know_every_kind(file: str) -> None:
    """Reports and transcripts take every kind that the author of an adapter may name in `without`."""
    text = (folder("schemas") / file).read_text("utf-8")
    found = [json.loads(each) for each in re.findall(r'"enum": (\[[^]]*"quota_exhausted"[^]]*\])', text)]
    assert found == [[*(kind for kind in BY_KIND if kind not in OVER_TCP), *CONTEXT]]


def test_vendors_have_errors_for_every_kind() -> None:
    """A failure that is not the client's fault never gets the type of a bad request."""
    kinds = {fault.kind for fault in FAULTS if fault.http_status}
    assert kinds <= openai.ERROR_NAMES.keys()
    assert kinds - anthropic_messages.TYPES.keys() == {
        kind for kind in kinds if BY_KIND[kind].canonical == "BadRequest"
    }


def test_a_fault_carries_its_facts() -> None:
    """Kind, status, advice and a message with a canary of its own."""
    probe = ProviderProbe()
    plan = probe.plan("rate_limited", retry_after_ms=70)
    assert canaries(probe.plans) == ()
    with pytest.raises(ProviderFault) as caught:
        asyncio.run(probe.reached("llm.complete"))
    fault = caught.value
    assert (fault.kind, fault.http_status, fault.retry_after_ms) == ("rate_limited", 429, 70)
    assert plan.canary in fault.message
    assert canaries(probe.plans) == (plan.canary,)


def test_canaries_differ() -> None:
    """Each plan has a secret of its own."""
    probe = ProviderProbe()
    assert len({probe.plan("auth").canary for _ in range(20)}) == 20


@pytest.mark.parametrize(("plan", "options", "arrivals", "met"), [
    (("auth", "llm.stream"), {}, [("llm.complete", {}), ("llm.stream", {})], ["", "auth"]),
    (("auth",), {}, [("anything.else", {})], ["auth"]),
    (*(("network", "llm.stream"), {"at_chunk": 1}),
     [("llm.stream", {}), *(("llm.stream", {"chunk": chunk}) for chunk in range(3))], ["", "", "network", ""]),
    (("network", "llm.stream"), {}, [("llm.stream", {"chunk": 0}), ("llm.stream", {})], ["", "network"]),
    (("unavailable",), {"times": 3}, [("llm.complete", {})] * 5, ["unavailable"] * 3 + ["", ""]),
], ids=["its op", "any op", "its chunk", "no chunk", "as often as planned"])  # fmt: skip
def test_a_plan_strikes_where_it_is_meant_to(plan: Any, options: Any, arrivals: Any, met: list[str]) -> None:
    """The op and the chunk that it names, and no other; without an op any."""
    probe = ProviderProbe()
    probe.plan(*plan, **options)
    assert [reach(probe, op, **facts) for op, facts in arrivals] == met


def test_slow_takes_its_time() -> None:
    """`slow` sleeps for its milliseconds and goes on."""
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
    assert (reach(probe), probe.calls(), canaries(probe.plans)) == ("", 2, ())


def test_unknown_kind() -> None:
    """A plan of an unknown kind is refused with the names of all."""
    with pytest.raises(ValueError, match="unknown fault kind 'bang'; one of rate_limited"):
        ProviderProbe().plan("bang")


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
    """A debug record that would not be shown is not seen, unless asked for, and kept apart from the others."""
    logger = logging.getLogger("tests.debugging")
    before = logging.root.level
    with LogTap() as tap:
        logger.debug("hidden")
    with LogTap(debug=True) as deep:
        logger.debug("shown")
    assert (tap.debug_texts, deep.texts, deep.debug_texts, logging.root.level) == ([], [], ["shown"], before)


def test_debug_is_taken_back_after_an_exception() -> None:
    """Loggers emit and hand on the same as before, whatever happens inside."""
    before = logging.Logger.isEnabledFor, logging.Logger.callHandlers
    with pytest.raises(ValueError), LogTap(debug=True):
        raise ValueError
    assert (logging.Logger.isEnabledFor, logging.Logger.callHandlers) == before


def test_a_level_that_is_set_while_the_tap_is_open_stays() -> None:
    """The level of the root logger is the application's."""
    before = logging.root.level
    with LogTap():
        logging.root.setLevel(logging.CRITICAL)
    found = logging.root.level
    logging.root.setLevel(before)
    assert found == logging.CRITICAL


def test_extra_fields_and_exceptions_are_read() -> None:
    """The fields of a record can leak, too, not only its message."""
    with LogTap() as tap:
        try:
            raise ValueError("in the exception")
        except ValueError:
            logging.getLogger("tests.extra").exception("failed", extra={"prompt": "in the extra"})
    [text] = [text for text in tap.texts if "failed" in text]
    assert "in the exception" in text
    assert "in the extra" in text


def test_a_mistake_after_its_test_is_of_no_other_test() -> None:
    """A request that came before the mistakes were taken notes what it raises as late."""
    provider = ProviderProbe()
    note = provider.mistakes.mistake_recorder()
    assert provider.mistakes.take_mistakes() == ([], [])
    try:
        json.loads("{")
    except json.JSONDecodeError as error:
        note(error)
    taken, (late,) = provider.mistakes.take_mistakes()
    assert taken == []
    assert "provider.serve) raised JSONDecodeError at " in late
    assert f"after its test ({json.decoder.__file__}:" in late
    assert late.endswith(" in test_a_mistake_after_its_test_is_of_no_other_test)"), late
