"""The runner of state machines: the shortest failing sequence, the same one for the same seed."""

from typing import Any

import pytest

from pytest_corpus.integration.running import messages
from pytest_corpus.kit.generation import stateful as runner
from pytest_corpus.kit.generation.generate import strategies
from pytest_corpus.kit.generation.stateful import machines, run_machine
from pytest_corpus.kit.outcomes import NotApplicable, Violation
from pytest_corpus.verdict.evidence import Evidence
from pytest_corpus.verdict.ledger import Finding


@pytest.fixture(autouse=True)
def endless_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine must not end the search early."""
    monkeypatch.setattr(runner, "GENERATE_S", 600.0)
    monkeypatch.setattr(runner, "SHRINK_S", 600.0)


def counter(limit: int, outcome: type[Exception] = Violation) -> type[Any]:
    """A machine that adds numbers and fails once the sum is above a limit."""
    given, stateful = strategies(), machines()

    class Counter(stateful.RuleBasedStateMachine):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.envelopes: list[dict[str, int]] = []

    def add(machine: Any, number: int) -> None:
        machine.envelopes.append({"add": number})
        if sum(envelope["add"] for envelope in machine.envelopes) > limit:
            raise outcome(f"at most {limit}")

    return type("Adder", (Counter,), {"add": stateful.rule(number=given.integers(0, 9))(add)})


def test_a_machine_that_agrees_passes() -> None:
    """No violation, no error."""
    run_machine(counter(10_000), seed=1, steps=8, examples=5)


def test_the_shortest_sequence_is_told() -> None:
    """Two numbers suffice to come above eleven, and no more are listed."""
    with pytest.raises(Violation) as caught:
        run_machine(counter(11), seed=1, steps=12, examples=20)
    head, *envelopes = caught.value.replay.splitlines()
    assert head == "2 requests, seed 1"
    assert len(envelopes) == 2


def test_the_same_seed_gives_the_same_sequence() -> None:
    """A failure can be repeated."""
    found = []
    for _ in range(2):
        with pytest.raises(Violation) as caught:
            run_machine(counter(11), seed=7, steps=12, examples=20)
        found.append(caught.value.replay)
    assert found[0] == found[1]


def test_a_rule_that_cannot_go_on_leaves_it_open() -> None:
    """The reason for a missing verdict is passed on as it is."""
    with pytest.raises(NotApplicable):
        run_machine(counter(3, NotApplicable), seed=1, steps=12, examples=20)


def test_a_replay_stands_in_the_message() -> None:
    """Each envelope has a line of its own, ready to be copied."""
    finding = Finding("VEC-STATE-1", "this", "that")
    lines = ("1 requests, seed 0", '{"op": "x"}')
    seen = Evidence("a", "vector", "VEC-STATE-1", "t", "n", "rerun", replay=lines)
    said = messages.failure([finding], [seen])
    assert said.endswith('  replay:\n    1 requests, seed 0\n    {"op": "x"}')
