"""Expectations and shared claims without an adapter: what they raise, and what they count as a look."""

import ast
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_corpus import kit, suites
from pytest_corpus.adapter.exchange import CallFault, Exchange, Frame
from pytest_corpus.kit import expect
from pytest_corpus.kit.judgement import judging
from pytest_corpus.kit.outcomes import Blocked, NotApplicable, NotAssessed, Violation, WrongRefusal
from pytest_corpus.kit.reply import Reply
from pytest_corpus.suites.graph.support.scenarios.batches import expect_order
from pytest_corpus.suites.shared.claims import replays
from pytest_corpus.suites.shared.claims.faults import expect_provider_hint


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
    with judging() as taken:
        with expect.resting_on("LLM-MODEL-1"):
            expect.check(True, "anything")
        assert taken.checks == 0
        expect.check(True, "anything")
        assert taken.checks == 1


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


def test_a_wrong_count_is_not_called_a_wrong_order() -> None:
    """Operations that count nothing are the finding of the counts, which tells what was counted."""
    with pytest.raises(Blocked, match=r"GRA-NODE-5: expected the node counts \[2, 1\], in any order.*; got \[0, 0\]"):
        expect_order([0, 0], [2, 1])


def test_a_wrong_order_is_called_one() -> None:
    """The right counts in another order are a wrong order; counts that are missing are none."""
    with pytest.raises(Violation, match=r"in the order of the operations.*; got \[1, 2\]"):
        expect_order([1, 2], [2, 1])
    expect_order([None, 1], [2, 1])


def test_results_that_differ_are_told_by_their_keys() -> None:
    """Neither what a result holds nor the keys that agree are shown."""
    said = replays.describe_difference(
        {"text": "secret", "model": "m", "usage": {"a": 1}}, {"text": "canary", "model": "m"}
    )
    assert "text" in said
    assert "usage" in said
    assert not any(word in said for word in ("secret", "canary", "model"))


def reply_with(hint: Any, *given: float) -> Any:
    """An error with a hint, after the provider gave some."""
    exchange = SimpleNamespace(observed=SimpleNamespace(hints_ms=frozenset(given)))
    return SimpleNamespace(exchange=exchange, is_error=True, error={"retry_after_ms": hint})


@pytest.mark.parametrize(
    ("hint", "given"), [(1234, (1234,)), (1234.0, (1234,)), (2000, (1234,)), (1500, (1234,)), (2000, (1234, 2000))]
)
def test_any_spelling_of_the_providers_hint_is_right(hint: float, given: tuple[float, ...]) -> None:
    """A provider over HTTP says it in milliseconds and in whole seconds; rounding up to a full second is right."""
    expect_provider_hint(reply_with(hint, *given), "complete")


@pytest.mark.parametrize("hint", [None, 1, 1.234, 2, 1000, 2001, 3000, "1234", True])
def test_another_value_is_not(hint: Any) -> None:
    """Seconds, a shorter value, one beyond the next full second, and none are violations."""
    with pytest.raises(Violation):
        expect_provider_hint(reply_with(hint, 1234, 2000), "complete")


def test_a_hint_that_the_api_has_no_place_for_is_not_missed() -> None:
    """An event in mid-stream of a vendor's API has none."""
    with pytest.raises(NotApplicable):
        expect_provider_hint(reply_with(None), "stream")


PLAIN_WORDS = {"another", "another one", "another answer", "it is there", "neither", "none", "none of them", "nothing"}
PLAIN_WORDS |= {"one", "only once", "others", "some", "something else", "the first one", "the opposite", "the same"}
PLAIN_WORDS |= {"not all of them", "of one only", "that of another", "that of the other", "those of another"}


def test_a_finding_names_the_thing_that_came_instead() -> None:
    """The other half of `expected` is never a word such as `others`: a finding is read line by line."""
    plain = []
    for file in sorted([*Path(kit.__file__).parent.rglob("*.py"), *Path(suites.__file__).parent.rglob("*.py")]):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and (at := GOT.get(ast.unparse(node.func))) is not None:
                constants = [each for argument in node.args[at : at + 1] for each in ast.walk(argument)]
                words = {str(each.value) for each in constants if isinstance(each, ast.Constant)}
                plain += [f"{file.name}:{node.lineno} {word}" for word in words & PLAIN_WORDS]
    assert plain == []


GOT = {"expect.check": 2, "check": 2, "Violation": 1, "self.differ": 1}
"""The place of the answer in words among the arguments."""


@pytest.mark.parametrize(
    ("said", "right"),
    [
        ("1 nodes", "1 node"),
        ("1 different matches, 11 nodes", "1 different match, 11 nodes"),
        ("exactly 1 vectors", "exactly 1 vector"),
        ("more than 1 queries, 0.1 tokens", "more than 1 query, 0.1 tokens"),
        ("1 to 3 texts, 21 edges, the items 1 and 3", "1 to 3 texts, 21 edges, the items 1 and 3"),
    ],
)
def test_of_one_thing_a_finding_speaks_in_the_singular(said: str, right: str) -> None:
    """Numbers and nouns agree."""
    violation = Violation(said, said)
    assert (violation.expected, violation.got) == (right, right)


def test_a_violation_of_two_requirements_is_two() -> None:
    """A test may find the violation that the audit keeps as one of another requirement."""
    kept = WrongRefusal("a refusal", "the error AuthError", ("BadRequest",), ("AuthError",)).for_requirement(
        "COM-ERR-4"
    )
    found = kept.attach_exchanges(reply().exchange).for_requirement("LLM-MSG-1", indirect=True)
    assert (kept.requirement, kept.indirect, found.requirement, found.indirect) == (
        "COM-ERR-4",
        False,
        "LLM-MSG-1",
        True,
    )
    assert (str(found), found.exchanges, type(found)) == (str(kept), kept.exchanges, WrongRefusal)
    assert kept.for_requirement("COM-ERR-4") is kept
