"""State machines: random sequences of operations, compared with a small model of what they should leave behind.

A component's machine is a hypothesis `RuleBasedStateMachine` with a list `envelopes` of every request that it
sent; its rules raise a `Violation` where the adapter and the model part ways.
"""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from pytest_corpus.adapter import inputs
from pytest_corpus.kit.generation.generate import Over, imported_as_they_are, nothing_left_behind, settings
from pytest_corpus.kit.outcomes import NotAssessed, Undecided, Violation

GENERATE_S, SHRINK_S = 5.0, 1.0
"""The time limits for generating sequences, and for shortening a failing one; a fast adapter needs far less."""


def machines() -> ModuleType:
    """The module `hypothesis.stateful`, imported when it is first needed."""
    with imported_as_they_are():
        import hypothesis.stateful

    return hypothesis.stateful


@dataclass
class _Runs:
    """The outcome of the sequences so far: the shortest failing one, or the reason why there is no verdict."""

    until: float = float("inf")
    violation: Violation | None = None
    envelopes: list[Any] = field(default_factory=list)
    undecided: Undecided | None = None
    stopped: bool = False

    @property
    def over(self) -> bool:
        return self.undecided is not None or inputs.monotonic() > self.until

    def begin(self) -> None:
        """Start the clock with the first sequence: what hypothesis does before it takes long on a busy machine."""
        self.until = min(self.until, inputs.monotonic() + GENERATE_S)

    def note(self, outcome: BaseException | None, envelopes: list[Any]) -> None:
        """Keep the outcome of a sequence where it is worth keeping."""
        if isinstance(outcome, Undecided):
            self.undecided = outcome
        if not isinstance(outcome, Violation):
            return
        if self.violation is None:
            self.until = inputs.monotonic() + SHRINK_S
        if self.violation is None or len(envelopes) <= len(self.envelopes):
            self.violation, self.envelopes = outcome, list(envelopes)


def run_machine(machine_class: type[Any], *, seed: int, steps: int, examples: int) -> None:
    """Run a machine on random sequences, the same ones for the same seed.

    Raises:
        Violation: that of the shortest failing sequence that was found; its `replay` lists the envelopes.
        Undecided: a rule could not go on.
    """
    stateful = machines()
    import hypothesis
    import hypothesis.errors

    runs = _Runs()

    def machine() -> Any:
        if runs.over:
            runs.stopped = True
            raise Over("the time is up")
        runs.begin()
        made = machine_class()
        tear_down = made.teardown

        def teardown() -> None:
            runs.note(sys.exc_info()[1], made.envelopes)
            tear_down()

        made.teardown = teardown
        return made

    chosen = settings(examples, stateful_step_count=steps, print_blob=False)
    try:
        with nothing_left_behind():
            stateful.run_state_machine_as_test(hypothesis.seed(seed)(machine), settings=chosen)
    except (Violation, Undecided, Over):
        pass
    except hypothesis.errors.HypothesisException as error:
        if runs.violation is None and not runs.stopped:
            raise NotAssessed(f"the sequences cannot be repeated ({type(error).__name__})") from error
    if runs.violation is not None:
        runs.violation.replay = replay(runs.envelopes, seed)
        raise runs.violation from None
    if runs.undecided is not None:
        raise runs.undecided


@contextmanager
def replayed(envelopes: Callable[[], list[Any]], seed: int) -> Iterator[None]:
    """Give a `Violation` the envelopes that led to it."""
    try:
        yield
    except Violation as violation:
        violation.replay = replay(envelopes(), seed)
        raise


def replay(envelopes: list[Any], seed: int) -> str:
    """The envelopes of a sequence, one a line, to be sent again in this order."""
    lines = [json.dumps(envelope, ensure_ascii=True) for envelope in envelopes]
    return "\n".join([f"{len(lines)} requests, seed {seed}", *lines])
