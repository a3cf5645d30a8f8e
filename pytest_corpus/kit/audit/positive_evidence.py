"""Positive evidence: an answer satisfies a requirement only if it shows the subject of the requirement."""

from pytest_corpus.adapter.exchange import Exchange, is_observed
from pytest_corpus.kit import expect
from pytest_corpus.kit.audit import telemetry
from pytest_corpus.kit.outcomes import Blocked
from pytest_corpus.kit.reply import Reply, StreamReply

SUCCESS_FRAMES = ("COM-STREAM-1", "COM-STREAM-2", "COM-STREAM-3", "COM-STREAM-4", "COM-STREAM-10")

ANY_FRAMES = (expect.SIZE, expect.TERMINAL, "COM-STREAM-7", "COM-NUM-2", expect.ENVELOPE)

STRINGS = {
    "COM-ERR-3": ("code", "error"),
    expect.NAMED: ("code", "error"),
    "COM-ERR-10": ("code", "error"),
    "COM-ERR-5": ("message",),
}
"""Maps a requirement to the members of an error envelope that must be strings."""

UNIQUE_VALUES = ("COM-OBS-13", "COM-OBS-14", "COM-OBS-26")
"""The requirements that forbid certain values as labels."""

STREAM_OUTCOMES = ("COM-OBS-11", "COM-OBS-18", "EMB-OBS-1")

ONE_OBSERVATION = ("COM-OBS-1", "COM-OBS-2", "COM-OBS-3")

OUTCOME_LABELS = ("COM-OBS-5", "COM-OBS-6", "COM-OBS-28")

LABELS = (*OUTCOME_LABELS, "COM-OBS-8", "COM-OBS-10")
"""Requirements on labels of reports. The reports of `capabilities` need not have these labels (R19)."""


def demonstrates(requirement: str, reply: Reply | StreamReply, component: str) -> bool:
    """True if an answer that does not violate a requirement also shows that the requirement is satisfied.

    Raises:
        Blocked: a necessary part of the answer is missing. Another requirement reports this.
    """
    fault = reply.exchange.fault
    ended = fault is None or fault.kind not in ("timeout", "cut_off", "endless")
    if requirement == expect.IN_TIME or (requirement == expect.ANSWERS and ended):
        return ended
    expect.readable(reply)
    if requirement.startswith("COM-LEAK") or requirement in UNIQUE_VALUES:
        return _was_searched(requirement, reply.exchange)
    if requirement.startswith("COM-OBS") or requirement in STREAM_OUTCOMES:
        return _was_observed(requirement, reply.exchange, component)
    if requirement.startswith(("COM-ERR", "COM-SUBTYPE")):
        if not reply.is_error:
            return False
        if not all(isinstance(reply.error.get(key), str) for key in STRINGS.get(requirement, ())):
            raise Blocked(expect.WORDED, f"{reply} lacks a string that it must carry", judged_on=(reply.exchange,))
        return True
    if requirement in SUCCESS_FRAMES:
        return isinstance(reply, StreamReply) and bool(reply.chunks)
    return bool(reply.exchange.frames) if requirement in ANY_FRAMES else not reply.is_error


def is_shown_by_reports(requirement: str) -> bool:
    """True if only the reports of a call can show that a requirement is satisfied."""
    return "-OBS-" in requirement or requirement == "COM-LEAK-2"


def _was_searched(requirement: str, exchange: Exchange) -> bool:
    """True if the request contained a secret that could have appeared in the answer or in the reports."""
    if not exchange.secrets:
        return False
    if requirement in (*UNIQUE_VALUES, "COM-LEAK-2"):
        reported = bool(telemetry.reports_of(exchange))
        return reported or not is_observed(exchange) or bool(telemetry.single_observation(exchange))
    return requirement not in ("COM-LEAK-1", "COM-LEAK-9") or telemetry.failure_of(exchange) is not None


def _was_observed(requirement: str, exchange: Exchange, component: str) -> bool:
    if not telemetry.must_observe(exchange, component):
        return False
    if requirement in STREAM_OUTCOMES:
        return exchange.streaming
    if requirement in ONE_OBSERVATION:
        return telemetry.observation_requirement(exchange) == requirement
    seen = telemetry.single_observation(exchange)
    if requirement in LABELS and (telemetry.bare_op(exchange) == "capabilities" or seen.malformed):
        return False
    if requirement == "COM-OBS-8":
        return isinstance((exchange.ctx or {}).get("tenant"), str)
    return requirement not in OUTCOME_LABELS or not telemetry.is_hidden_failure(exchange)
