"""Sampling parameters: ranges and types (SPECIFICATION 8.3; SCHEMA 4.1.3)."""

from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.fixtures import core
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.kit.vocabulary import texts
from pytest_corpus.spec.errors import PERMANENT
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.llm.support.capabilities import MOST_MODELS, NO_STOPS, OPTIONAL, RANGES, UNSIGNED
from pytest_corpus.suites.llm.support.component import LLM, llm
from pytest_corpus.suites.llm.support.scenarios.completions import require_completion

NUMBERS = {name: f"LLM-SAMPLING-{number}" for number, name in enumerate(RANGES, start=1)}
BEYOND = {
    "temperature": (-0.01, -1, 2.01, 10),
    "top_p": (0, -0.5, 1.01, 50),
    "frequency_penalty": (-2.01, -10, 2.01, 50),
    "presence_penalty": (-2.01, -10, 2.01, 50),
}
"""Values just below, far below, just above and far above a range."""

NO_COUNTS = (-1, -100, 0.5, 1.5)
"""Numbers that are not valid as `max_tokens`."""

NO_NUMBERS: dict[str, Any] = {"string": "hot", "numeral": "1", "list": [1], "object": {"value": 1}}
RULES = [pytest.param(name, marks=pytest.mark.requirement(NUMBERS[name]), id=name) for name in RANGES]


@pytest.mark.core
@pytest.mark.parametrize("which", range(4), ids=["just_below", "far_below", "just_above", "far_above"])
@pytest.mark.parametrize("name", RULES)
def test_a_value_beyond_its_range_is_refused(llm: LLM, name: str, which: int) -> None:
    """A parameter that is slightly or far outside its range is BAD_REQUEST."""
    llm.require("complete")
    llm.expect_refused("complete", **{name: BEYOND[name][which]})


@pytest.mark.parametrize("name", RULES)
def test_a_value_beyond_its_range_is_refused_for_every_model(llm: LLM, name: str) -> None:
    """A value far outside its range is BAD_REQUEST for each listed model."""
    llm.require("complete")
    for model in llm.models()[:MOST_MODELS]:
        # Plain requests name a model already.
        llm.expect_refused("complete", **({"model": model} if model != llm.model else {}), **{name: BEYOND[name][-1]})


@pytest.mark.requirement("LLM-SAMPLING-5")
@pytest.mark.parametrize("value", NO_COUNTS)
def test_max_tokens_is_a_whole_number_from_zero_on(llm: LLM, value: float) -> None:
    """A negative or fractional `max_tokens` is BAD_REQUEST."""
    llm.require("complete")
    llm.expect_refused("complete", max_tokens=value)


@core("LLM-SAMPLING-6")
@pytest.mark.parametrize("name", list(RANGES))
@pytest.mark.parametrize("where", ["low", "middle", "high", "whole"])
@pytest.mark.parametrize("operation", ["complete", "stream"])
def test_a_value_within_its_range_is_accepted(llm: LLM, operation: str, name: str, where: str) -> None:
    """Both ends, the middle and an integer of a range are accepted. An unclaimed parameter may be refused (R117)."""
    llm.require(operation)
    expect.applicable(llm.accepts_argument(name, operation), f"{name} is refused permanently")
    value = value_in_range(llm, name, where)
    expect.applicable(value is not None, f"no integer lies in the range of {name}")
    every = {each: value_in_range(llm, each, where) for each in RANGES if llm.accepts_argument(each, operation)}
    together = llm.ask_once(operation, **{each: number for each, number in every.items() if number is not None})
    # If all are accepted together, each is; otherwise each is sent alone.
    reply = llm.ask(operation, **{name: value}) if together.is_error else together
    if not llm.claims(name, operation) and reply.is_a(*PERMANENT):
        raise NotApplicable(f"no range of {name} is stated, and the adapter refuses {value:g} permanently")
    expect.works(reply, f"{name} {value:g} to be accepted")


def value_in_range(llm: LLM, name: str, where: str) -> float | None:
    """Return an allowed value of a parameter; None if an integer (`whole`) is wanted, but no integer is allowed."""
    low, high = llm.range_of(name)
    low = 0.05 if name == "top_p" and low <= 0 else low
    value = {"low": low, "middle": (low + high) / 2, "high": high, "whole": int(high)}[where]
    return None if value < low else value


@pytest.mark.requirement("LLM-SAMPLING-7")
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        (name, kind)
        for name in (*RANGES, "max_tokens")
        for kind in NO_NUMBERS
        if kind in ("numeral", "list") or name in ("temperature", "max_tokens")
    ],
)
def test_a_value_that_is_not_a_number_is_refused(llm: LLM, name: str, kind: str) -> None:
    """A value that is not a number is BAD_REQUEST: a list, an object or a string (even if it contains only digits)."""
    llm.require("complete")
    llm.expect_refused("complete", **{name: NO_NUMBERS[kind]})


@pytest.mark.requirement("LLM-SAMPLING-8")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, value) for name, values in BEYOND.items() for value in (values[0], "1")),
        *(("temperature", value) for value in (BEYOND["temperature"][-1], [1])),
        *(("max_tokens", value) for value in (-1, 0.5, "1", [1])),
    ],
    ids=str,
)
def test_a_stream_refuses_what_a_completion_refuses(llm: LLM, name: str, value: Any) -> None:
    """`stream` refuses the values that `complete` refuses: outside their range or of the wrong type."""
    llm.require("stream", "complete")
    if not llm.ask_once("complete", **{name: value}).is_a("BadRequest"):
        raise NotApplicable(f"another test reports that complete does not refuse this {name}")
    if name in UNSIGNED:
        expect.either(llm.ask_once("stream", **{name: value}), *PERMANENT)
    else:
        llm.expect_refused("stream", **{name: value})


@pytest.mark.requirement("LLM-SAMPLING-10")
@pytest.mark.parametrize("what", [*OPTIONAL, "all", "low", "middle", "high"])
@pytest.mark.parametrize("operation", ["complete", "stream"])
def test_every_optional_argument_is_taken(llm: LLM, operation: str, what: str) -> None:
    """Valid optional arguments are accepted, alone and together, and with the ends and the middles of their ranges."""
    llm.require(operation)
    values = llm.optional_arguments()
    if not llm.accepts_argument("system_message", operation):
        del values["system_message"]
    if what in OPTIONAL:
        expect.applicable(what in values, "system_message is not offered")
        values = {what: values[what]} if llm.ask_once(operation, **values).is_error else values
    elif what != "all":
        ends = {name: value_in_range(llm, name, what) for name in RANGES}
        values |= {name: value for name, value in ends.items() if value is not None}
    reply = llm.ask_once(operation, **values)
    llm.require_fit(reply)
    expect.works(reply, f"{what} to be accepted")


@pytest.mark.requirement("LLM-SAMPLING-11")
@pytest.mark.parametrize(
    ("operation", "name", "value"),
    [
        *((operation, "stop_sequences", value) for operation in ("complete", "stream") for value in NO_STOPS),
        *(("stream", name, value) for name in UNSIGNED[1:] for value in (BEYOND[name][0], "1")),
    ],
    ids=str,
)
def test_what_may_be_ignored_is_checked(llm: LLM, operation: str, name: str, value: Any) -> None:
    """An invalid value is refused even if the operation's signature lacks the argument."""
    llm.require(operation)
    llm.expect_refused(operation, **{name: value})


@pytest.mark.requirement("LLM-SAMPLING-9")
def test_stop_sequences_end_a_completion(llm: LLM) -> None:
    """A text does not contain its stop sequence, even if more (unusual) stop sequences are given."""
    llm.require("complete")
    expect.applicable(llm.accepts_argument("stop_sequences"), "stop_sequences are refused permanently")
    args = llm.requests.long("complete")
    stops = [letter for letter in text_of(llm, args) if letter.isalpha()]
    expect.assessable(stops, Obstacle.NO_LETTERS)
    most_usual = max(sorted(set(stops)), key=stops.count)
    odd, plain = ({**args, "stop_sequences": [most_usual, *more]} for more in (texts(2, "w", ["backtick_end"]), []))
    text = text_of(llm, odd, plain)
    expect.check(
        most_usual not in text, "a text that ends before its stop sequence", "the stop sequence", "result.text"
    )


def text_of(llm: LLM, args: dict[str, Any], otherwise: dict[str, Any] | None = None) -> str:
    """Return the text of a completion; if `args` are refused permanently, send the arguments `otherwise` instead."""
    reply = llm.call("complete", args)
    if otherwise is not None and not expect.either(reply, *PERMANENT):
        reply = llm.call("complete", otherwise)
    llm.require_fit(reply)
    require_completion(llm, reply)
    return str(reply.result["text"])
