"""Expectations: what they raise, and what they count as a look."""

from typing import Any

import pytest

from pytest_corpus.adapter.exchange import CallFault, Exchange, Frame
from pytest_corpus.kit import expect
from pytest_corpus.kit.outcomes import Blocked, NotAssessed, Violation
from pytest_corpus.kit.reply import Reply


def reply(body: Any = None, *, fault: CallFault | None = None, limited: bool = False) -> Reply:
    frames = [] if fault else [Frame(body, 2, 0.0)]
    return Reply(Exchange({"op": "llm.health"}, False, frames, fault, limited=limited))


def test_what_a_test_rests_on_is_found_in_its_own_name() -> None:
    """A violation found on the way blocks the test by the requirement that it breaks, and goes along."""
    with pytest.raises(Blocked) as blocked, expect.resting_on("LLM-MODEL-1"):
        expect.success(reply({"ok": False, "error": "BadRequest", "code": "BAD_REQUEST"}))
    assert blocked.value.by == "LLM-MODEL-1"
    assert isinstance(blocked.value.violation, Violation)


def test_what_a_test_rests_on_is_no_look() -> None:
    """Only what the test itself looks at counts."""
    with expect.counting_checks() as taken:
        with expect.resting_on("LLM-MODEL-1"):
            expect.that(True, "anything")
        assert taken() == 0
        expect.that(True, "anything")
        assert taken() == 1


@pytest.mark.parametrize(
    ("error", "code", "by"), [("Oops", "OOPS", "COM-ERR-4"), (None, "OOPS", "COM-ERR-2"), ("Oops", 7, "COM-ERR-2")]
)
def test_an_error_without_a_known_name_blocks(error: Any, code: Any, by: str) -> None:
    """A name that is not known, and one that is not a string, are findings of different requirements."""
    with pytest.raises(Blocked) as blocked:
        expect.refusal(reply({"ok": False, "error": error, "code": code}), "BadRequest")
    assert blocked.value.by == by


def test_a_call_that_was_given_little_time_accuses_nobody() -> None:
    """Running into a limit below the call limit is not a violation of COM-WIRE-2; running into that one is."""
    late = CallFault("timeout", "no end after 2 s")
    with pytest.raises(NotAssessed) as undecided:
        expect.readable(reply(fault=late, limited=True))
    assert not isinstance(undecided.value, Blocked)
    with pytest.raises(Blocked) as blocked:
        expect.readable(reply(fault=late))
    assert blocked.value.by == "COM-WIRE-2"
