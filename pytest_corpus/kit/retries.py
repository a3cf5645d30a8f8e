"""Asking again as a sound client does: an answer that may pass says nothing of the adapter (R114).

A retryable answer that no test planned is asked again. If it stays retryable, a plain call decides whose answer it is:
the adapter's if plain calls work, the provider's if they fail as well. Then the suite waits for the provider, and
gives up if it does not come back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.exceptions import DeclarationError, Unresponsive
from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.adapter.usage import Outages
from pytest_corpus.kit.outcomes import Full, Outage, Undecided
from pytest_corpus.kit.prerequisites import Prerequisites
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.requests import Calls
from pytest_corpus.spec.errors import BY_KIND, TAXONOMY
from pytest_corpus.spec.operations import BY_OP, operations_of

Answer = TypeVar("Answer")

PAUSES_S = (0.05, 0.2)
"""The pauses before the second and the third time that a call is made."""

BUILDING_S = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
"""The pauses before a write is made again whose index is being built: other namespaces may work (ERRORS 6.3)."""

FAMILIAR = 3
"""An operation that has given such answers of its own so often is asked again without a pause."""

CALL_S, RUN_S = 30.0, 120.0
"""The seconds that the suite waits for a provider, in one call and in a run."""

FIRST_WAIT_S, LONGEST_WAIT_S = 0.25, 4.0
"""The pauses between two looks at a provider that is away double from the first to the second of these."""

PROBE_S = 5.0
"""The seconds that a plain call may take that checks if the provider is back."""

ASKED_AT_MOST_S = 10.0
"""A call that fails as slowly as this is not made a third time."""

LONGEST_HINT_MS = 1e12
"""A longer time to wait, which no number may hold, is the same."""

UNRELATED = ("capabilities", "health")
"""Bare names of operations that need no provider."""


def is_retryable(reply: Reply | StreamReply) -> bool:
    """Return if an answer is an error of a class that a client may retry (ERRORS 4), and does not deny it."""
    classes = [TAXONOMY[name] for name in reply.names] if reply.is_error else []
    return bool(classes) and classes[0].retry == "yes" and reply.details.get("retryable") is not False


def hint_s(reply: Reply | StreamReply) -> float | None:
    """The seconds after which an answer asks to be called again; None if it does not say."""
    hints = (reply.error.get("retry_after_ms"), reply.details.get("suggested_backoff_ms"))
    given = [hint for hint in hints if isinstance(hint, (int, float)) and not isinstance(hint, bool)]
    return min(given[0], LONGEST_HINT_MS) / 1000 if given and given[0] >= 0 else None


def is_passing(exchange: Exchange) -> bool:
    """Return if an answer, or an item in it, failed in a way that may pass, and no planned fault is the reason."""
    if exchange.own or exchange.recalled:
        return False
    planned = {BY_KIND[kind].canonical for kind in exchange.faults}
    found = (TAXONOMY[name] for frame in exchange.frames for name in _classes(frame.body))
    return any(each.retry == "yes" and each.family not in planned for each in found)


def _classes(value: Any) -> Iterator[str]:
    """The classes of the taxonomy that an answer names, for itself or for an item."""
    parts = value if isinstance(value, list) else value.values() if isinstance(value, dict) else ()
    if isinstance(value, dict) and isinstance(error := value.get("error"), str) and error in TAXONOMY:
        yield error
    for part in parts:
        if isinstance(part, (list, dict)):
            yield from _classes(part)


class Retried(Calls, Protocol):
    """A component that asks again."""

    @property
    def main(self) -> Retried: ...

    @property
    def retries(self) -> Retries: ...

    @property
    def prerequisites(self) -> Prerequisites: ...


class Retries:
    """Makes the calls of one component again that came to nothing for a reason that may pass."""

    def __init__(self, calls: Retried) -> None:
        self._calls = calls
        self.probing = False

    @property
    def _outages(self) -> Outages:
        return self._calls.client.meter.outages

    def answered(
        self, op: str, attempt: Callable[[float], Answer], failing: Callable[[Answer], list[Reply | StreamReply]]
    ) -> Answer:
        """The answer to a call, made again as long as that may help.

        Args:
            op: the operation, qualified; empty if the request names none.
            attempt: makes the call, given the seconds that were waited before.
            failing: the parts of an answer that failed in a way that may pass.

        Raises:
            Outage: the provider is away.
            Full: a quota for what the suite writes is used up.
        """
        if self._outages.lasting:
            raise Outage(self._outages.said)
        begun = inputs.monotonic()
        answer = attempt(0.0)
        if failing(answer) and not self.probing:
            return self._again(op, attempt, failing, answer, begun)
        self._note(op, answer)
        return answer

    @contextmanager
    def once(self) -> Iterator[None]:
        """Make calls once, whatever their answer."""
        outer, self.probing = self.probing, True
        try:
            yield
        finally:
            self.probing = outer

    def _note(self, op: str, answer: Answer) -> None:
        succeeded = isinstance(answer, (Reply, StreamReply)) and not answer.is_error
        if succeeded and op in BY_OP and _bare(op) not in UNRELATED:
            self._outages.worked[op] = None

    def _again(
        self,
        op: str,
        attempt: Callable[[float], Answer],
        failing: Callable[[Answer], list[Reply | StreamReply]],
        answer: Answer,
        begun: float,
    ) -> Answer:
        """Make the call again: at most twice, or until its index is built, and once more after an outage."""
        made = [failing(answer)]
        self._outages.begin(begun)
        familiar = self._outages.own.get(op, 0) >= FAMILIAR
        builds = op in BY_OP and BY_OP[op].mutating and all(reply.is_a("IndexNotReady") for reply in made[0])
        for pause_s in BUILDING_S if builds and not familiar else PAUSES_S:
            if inputs.monotonic() - begun > ASKED_AT_MOST_S or self._outages.never:
                break
            if not self._calls.relieve(made[-1][0]) and not self._pause(made[-1], 0.0 if familiar else pause_s):
                break
            answer = attempt(inputs.monotonic() - begun)
            if not (left := failing(answer)):
                return self._interrupted(op, answer, made)
            made.append(left)
        if self._outages.never or self._works(op):
            self._own(op, made)
            return answer
        if any(map(self._calls.is_full, made[-1])):
            raise Full(f"a quota is used up: {made[-1][0]}")
        if not self._await(op):
            self._own(op, made)
            return answer
        answer = attempt(inputs.monotonic() - begun)
        if left := failing(answer):
            made.append(left)
            self._own(op, made)
            return answer
        return self._interrupted(op, answer, made)

    def _pause(self, left: list[Reply | StreamReply], usual_s: float) -> bool:
        """Wait as long as an answer asks, else `usual_s`; whether that is short enough.

        A failure may be over at once, so before the second call only a limit is waited for as long as it asks.
        """
        builds = left[0].is_a("IndexNotReady")
        heeded = [reply for reply in left if usual_s > PAUSES_S[0] or reply.is_a("ResourceExhausted")]
        asked_s = max((hint for reply in heeded if (hint := hint_s(reply)) is not None), default=None)
        pause_s = usual_s if asked_s is None else max(asked_s, usual_s) if builds else asked_s
        if pause_s > min(CALL_S, RUN_S - self._outages.waited_s):
            return False
        inputs.sleep(pause_s)
        if asked_s is not None and not builds:
            self._outages.waited_s += pause_s
        return True

    def _interrupted(self, op: str, answer: Answer, made: list[list[Reply | StreamReply]]) -> Answer:
        """Note an outage of the provider; the answers from that time are no longer part of the test."""
        self._outages.interruptions += 1
        self._drop(reply.exchange for replies in made for reply in replies)
        self._note(op, answer)
        return answer

    def _own(self, op: str, made: list[list[Reply | StreamReply]]) -> None:
        """Note that this is the adapter's answer: of the calls that came to the same only the last one counts."""
        self._outages.own[op] = self._outages.own.get(op, 0) + 1
        for reply in made[-1]:
            reply.exchange.own = True
        self._drop(reply.exchange for replies in made[:-1] for reply in replies)

    def _drop(self, exchanges: Iterable[Exchange]) -> None:
        dropped = {id(exchange) for exchange in exchanges}
        kept = [each for each in self._calls.client.exchanges if id(each) not in dropped]
        self._calls.client.exchanges[:] = kept

    # -- looking for the provider ------------------------------------------------------------------------

    def _probes(self, op: str) -> list[str]:
        """The operations whose plain calls say whether the provider is there.

        The operation itself if it ever worked, else the principal one if that did, else all that only read.
        """
        component, worked = self._calls.component, self._outages.worked
        for known in (op, f"{component}.{self._calls.principal}"):
            if known in worked:
                return [_bare(known)]
        reading = (row for row in operations_of(component) if not row.mutating and row.name not in UNRELATED)
        return [row.name for row in reading if self._calls.prerequisites.is_callable(row.name)]

    def _works(self, op: str) -> bool:
        """Return if a plain call works while this one does not, here or on the instance of most tests."""
        places = {id(place.client): place for place in (self._calls, self._calls.main)}
        return any(_answers(place, probe) for place in places.values() for probe in self._probes(op))

    def _await(self, op: str) -> bool:
        """Wait until a plain call works again; False if the adapter alone is at fault, as a new instance shows.

        Raises:
            Outage: the provider did not come back.
        """
        for pause_s in self._pauses():
            inputs.sleep(pause_s)
            self._outages.waited_s += pause_s
            if any(_answers(self._calls.main, probe) for probe in self._probes(op)):
                return True
        if self._new_instance_works(op):
            self._outages.never = True
            return False
        self._outages.interruptions += 1
        self._outages.lasting = True
        raise Outage(self._outages.said)

    def _pauses(self) -> Iterator[float]:
        """Growing pauses, as long as there is time to wait in this call and this run."""
        pause_s, begun = FIRST_WAIT_S, self._outages.began
        while inputs.monotonic() + pause_s < begun + CALL_S and self._outages.waited_s + pause_s < RUN_S:
            yield pause_s
            pause_s = min(2 * pause_s, LONGEST_WAIT_S)

    def _new_instance_works(self, op: str) -> bool:
        try:
            other = self._calls.another(PROBE_S)
        except DeclarationError:
            return False
        try:
            return any(_answers(other, probe) for probe in self._probes(op))
        finally:
            other.client.close()


def _answers(place: Retried, name: str) -> bool:
    """Make a plain call that no cache can answer, unseen by the test at hand, and return whether it succeeds."""
    exchanges, before = place.client.exchanges, len(place.client.exchanges)
    try:
        with place.retries.once(), place.client.provider.paused():
            reply = place.invoke(name, place.requests.distinct(name), limit_s=PROBE_S)
        return reply.is_success if isinstance(reply, Reply) else reply.finished
    except (Undecided, Unresponsive):
        return False
    finally:
        del exchanges[before:]


def _bare(op: str) -> str:
    return op.partition(".")[2]
