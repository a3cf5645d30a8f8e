"""Repeats calls after transient errors, as a client would. Such an error does not show a fault of the adapter (R114).

A retryable answer that no test planned leads to another call. If the error stays, a plain call decides who is
responsible. If the plain call works, the adapter is responsible. If calls that worked before now fail, the provider is
responsible: the suite waits for the provider, and gives up if it does not come back. If an operation never worked, the
adapter is responsible (R147). Requests to a new namespace are retried whenever an answer asks for a retry (R141).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Protocol, TypeVar

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.calls import endless_fault, is_steady, is_still_sending
from pytest_corpus.adapter.exceptions import DeclarationError, Unresponsive
from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.adapter.scope import part_of
from pytest_corpus.adapter.tracebacks import PROGRAMMING_ERRORS, logged_exception
from pytest_corpus.adapter.turns import break_off_body
from pytest_corpus.adapter.usage import Outages
from pytest_corpus.kit.outcomes import Outage, Undecided
from pytest_corpus.kit.prerequisites import Prerequisites
from pytest_corpus.kit.reply import Reply, StreamReply, hint_s
from pytest_corpus.kit.requests import Calls, Request
from pytest_corpus.kit.store.store import are_stopped_by_quota, quota_used_up
from pytest_corpus.spec.errors import AWAY, BY_KIND, TAXONOMY
from pytest_corpus.spec.operations import BY_OP, operations_of

Answer = TypeVar("Answer")

PAUSES_S = (0.05, 0.2)
"""The pauses before the second and the third attempt."""

BUILDING_S = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
"""The pauses between attempts of a write while its index is built; other namespaces may work (ERRORS 6.3)."""

FAMILIAR = 3
"""If the adapter was responsible for this many errors of an operation, later calls are repeated without a pause."""

CALL_S, RUN_S = 30.0, 120.0
"""The seconds that the suite waits for a provider in one call, and in a run."""

UNKNOWN_S = 5.0
"""The seconds that the suite waits if no call worked and no answer states a wait, or if the log shows a bug."""

FIRST_WAIT_S, LONGEST_WAIT_S = 0.25, 4.0
"""The first and the longest pause while a provider is unavailable; each pause is twice the one before."""

PROBE_S = 5.0
"""The time limit of a plain call that checks if the provider is back."""

ASKED_AT_MOST_S = 10.0
"""After this time a slowly failing call is not repeated again."""

UNRELATED = ("capabilities", "health")
"""The bare names of operations that need no provider."""


def is_retryable(reply: Reply | StreamReply) -> bool:
    """True if an answer is an error of a retryable class (ERRORS 4) and does not deny that it is retryable."""
    classes = [TAXONOMY[name] for name in reply.names] if reply.is_error else []
    return bool(classes) and classes[0].retry == "yes" and reply.details.get("retryable") is not False


def _has_logged_bug(reply: Reply | StreamReply) -> bool:
    """True if the log of a call shows an exception of a kind that no retry can mend, such as a TypeError."""
    logged = logged_exception(reply.exchange.observed.logs)
    return logged is not None and logged.type in PROGRAMMING_ERRORS


def has_transient_error(exchange: Exchange) -> bool:
    """True if an answer, or an item in the answer, failed with a transient error that no test planned."""
    if exchange.own:
        return False
    planned = {BY_KIND[kind].canonical for kind in exchange.observed.faults}
    planned |= set(AWAY) if planned.intersection(AWAY) else set()
    found = (TAXONOMY[name] for frame in exchange.frames for name in _named_classes(frame.body))
    return any(each.retry == "yes" and each.family not in planned for each in found)


def _named_classes(value: Any) -> Iterator[str]:
    """Yield the classes that an answer and its items name."""
    parts = value if isinstance(value, list) else value.values() if isinstance(value, dict) else ()
    if isinstance(value, dict) and isinstance(error := value.get("error"), str) and error in TAXONOMY:
        yield error
    for part in parts:
        if isinstance(part, (list, dict)):
            yield from _named_classes(part)


class RetryingComponent(Calls, Protocol):
    """A component whose calls are repeated by `Retries`."""

    @property
    def main(self) -> RetryingComponent: ...

    @property
    def retries(self) -> Retries: ...

    @property
    def prerequisites(self) -> Prerequisites: ...


class Retries:
    """Repeats calls of one component that failed with transient errors."""

    def __init__(self, calls: RetryingComponent) -> None:
        self._calls = calls
        self.probing = False

    @property
    def _outages(self) -> Outages:
        return self._calls.client.meter.outages

    def call_until_answered(
        self, op: str, attempt: Callable[[float], Answer], failing: Callable[[Answer], list[Reply | StreamReply]]
    ) -> Answer:
        """Make a call, repeat it as long as a repetition may help, and return the last answer.

        Args:
            op: the operation, qualified; empty if the request names none.
            attempt: makes the call; its argument is the number of seconds waited before.
            failing: returns the parts of an answer that failed with errors that may be transient.

        Raises:
            Outage: the provider is not available.
            QuotaUsedUp: a quota for the suite's data is used up.
        """
        if self._outages.lasting:
            raise Outage(self._outages.outage_text)
        begun = inputs.monotonic()
        answer = attempt(0.0)
        if not self.probing and failing(answer):
            break_off_body(crowded=True)  # the adapter may refuse calls because it is busy
            return self._repeat_call(op, attempt, failing, answer, begun)
        if isinstance(answer, (Reply, StreamReply)) and answer.is_error and has_transient_error(answer.exchange):
            self._calls.client.part.drop([answer.exchange])  # a gateway may have sent it, so the audit skips it
        self._note_answer(op, answer)
        return answer

    def find_endless(self, long: Exchange) -> None:
        """Send a short request after a stream that exceeded the time limit; mark both streams as endless if neither
        ends.

        A long answer may take long. But a stream is endless if it has little to send and still sends without a pause
        until the limit.
        """
        calls, name = self._calls, long.op.partition(".")[2]
        if not is_still_sending(long) or name not in calls.operations(streaming=True):
            return
        with calls.client.provider.paused(), suppress(Unresponsive):
            request = {"op": long.op, "ctx": {}, "args": calls.requests.short(name)}
            short = calls.client.send(request, calls.component, streaming=True)
            if is_still_sending(short) and is_steady(short, calls.client.call_timeout):
                long.fault, short.fault = endless_fault(long), endless_fault(short)

    def repeat_until_ready(self, attempt: Callable[[], Reply], tries: int, usual_s: float) -> Reply:
        """Repeat a query until its index, which has data, is ready (R141); return the answer.

        Args:
            tries: the largest number of calls if the answer does not state a pause.
            usual_s: the pause in that case.
        """
        begun, reply = inputs.monotonic(), attempt()
        while reply.is_a("IndexNotReady"):
            asked_s, spent_s = hint_s(reply), inputs.monotonic() - begun
            if asked_s is None or self._is_hopeless:
                asked_s, tries = min(asked_s or usual_s, usual_s), tries - 1
            elif spent_s + asked_s > CALL_S:
                self._outages.hopeless.add(self._calls.component)
                break
            if tries < 0:
                break
            inputs.sleep(asked_s)
            reply = attempt()
        return reply

    @contextmanager
    def calling_once(self) -> Iterator[None]:
        """Make the calls in this block only once, even if they fail."""
        outer, self.probing = self.probing, True
        try:
            yield
        finally:
            self.probing = outer

    def _note_answer(self, op: str, answer: Answer) -> None:
        succeeded = isinstance(answer, (Reply, StreamReply)) and not answer.is_error
        if succeeded and op in BY_OP and _bare_name(op) not in UNRELATED:
            self._outages.worked[op] = None

    def _repeat_call(
        self,
        op: str,
        attempt: Callable[[float], Answer],
        failing: Callable[[Answer], list[Reply | StreamReply]],
        answer: Answer,
        begun: float,
    ) -> Answer:
        """Repeat a call at once, twice or until its index is built, and then after each wait for the provider."""
        made, before_s = [failing(answer)], self._outages.waited_s
        self._outages.note_failure(begun)
        familiar = self._outages.own.get(op, 0) >= FAMILIAR
        builds = op in BY_OP and BY_OP[op].mutating and all(reply.is_a("IndexNotReady") for reply in made[0])
        for pause_s in BUILDING_S if builds and not familiar else PAUSES_S:
            if inputs.monotonic() - begun > ASKED_AT_MOST_S or self._is_hopeless:
                break
            if not self._calls.store.free_space(made[-1][0]) and not self._wait_as_asked(
                made[-1], 0.0 if familiar else pause_s
            ):
                break
            answer = attempt(inputs.monotonic() - begun)
            if not (left := failing(answer)):
                return self._drop_failed_attempts(op, answer, made, before_s)
            made.append(left)
        while not self._is_hopeless:
            works = self._can_call_plainly(op, made[-1])
            if are_stopped_by_quota(self._calls.store, made[-1], others_work=works):
                raise quota_used_up(made[-1][0])
            if works and hint_s(made[-1][0]) is None:
                break
            if not works and not self._await_provider(op, made[-1]):
                break
            answer = attempt(inputs.monotonic() - begun)  # the provider may have come back meanwhile
            if not (left := failing(answer)):
                return self._drop_failed_attempts(op, answer, made, before_s)
            made.append(left)
            if works:
                break
        self._blame_adapter(op, made)
        return answer

    def _wait_as_asked(self, left: list[Reply | StreamReply], usual_s: float) -> bool:
        """Wait as long as an answer asks, by default `usual_s`; return False at once if that pause is too long.

        Many failures are very short. So before the second attempt, the suite obeys only the hints of rate limits.
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

    def _drop_failed_attempts(
        self, op: str, answer: Answer, made: list[list[Reply | StreamReply]], before_s: float
    ) -> Answer:
        """Record an outage of the provider, and remove the failed attempts from the test; return the answer.

        The waits that answers ask for do not count as an outage if the call then works.
        """
        if hint_s(made[0][0]) is not None:
            self._outages.waited_s = before_s
        self._outages.interruptions += 1
        self._calls.client.part.drop(reply.exchange for replies in made for reply in replies)
        self._note_answer(op, answer)
        return answer

    def _blame_adapter(self, op: str, made: list[list[Reply | StreamReply]]) -> None:
        """Record that the adapter is responsible for the error. The attempts before the last one are dropped."""
        self._outages.own[op] = self._outages.own.get(op, 0) + 1
        for reply in made[-1]:
            reply.exchange.own = True
        self._calls.client.part.drop(reply.exchange for replies in made[:-1] for reply in replies)

    # -- looking for the provider ------------------------------------------------------------------------

    @property
    def _is_hopeless(self) -> bool:
        """True if the suite waited for the provider before without success."""
        return self._calls.component in self._outages.hopeless

    def _operations_that_worked(self) -> list[str]:
        """Return the operations of this component that worked before, reads first."""
        own = [BY_OP[op] for op in self._outages.worked if BY_OP[op].component == self._calls.component]
        return [row.name for row in sorted(own, key=lambda row: row.mutating)]

    def _probe_operations(self, op: str) -> list[str]:
        """Return the operations whose plain calls show if the provider is available.

        The result is one operation that worked before: the operation itself, else the principal one, else any. If no
        operation ever worked, the result is all operations that only read.
        """
        worked = self._operations_that_worked()
        for known in (_bare_name(op), self._calls.principal, *worked):
            if known in worked:
                return [known]
        reading = (row for row in operations_of(self._calls.component) if not row.mutating)
        found = (row.name for row in reading if row.name not in UNRELATED)
        return [name for name in found if self._calls.prerequisites.is_callable(name)]

    def _can_call_plainly(self, op: str, left: list[Reply | StreamReply]) -> bool:
        """True if a plain call works, here or on the main instance, although this call failed (answers in `left`)."""
        if self._is_starting(op, left):
            return _plain_call_works(self._calls, _bare_name(op))
        if (there := self._read_written_place(left)) is not None and (is_retryable(there) or not there.is_error):
            return not there.is_error
        return self._can_call_elsewhere(op)

    def _can_call_elsewhere(self, op: str) -> bool:
        places = {place.client: place for place in (self._calls, self._calls.main)}
        return any(_plain_call_works(place, probe) for place in places.values() for probe in self._probe_operations(op))

    def _is_starting(self, op: str, left: list[Reply | StreamReply]) -> bool:
        """True if an operation, or a new instance, never worked and its error says when to retry (R141)."""
        is_new = op not in self._outages.worked or self._calls.client is not self._calls.main.client
        stores = self._calls.requests.plain_read_of(left[0].exchange.request) is not None
        return is_new and op in BY_OP and not stores and left[0].error.get("retry_after_ms") is not None

    def _read_written_place(self, left: list[Reply | StreamReply]) -> Reply | StreamReply | None:
        """Send a plain read in the namespace and tenant of a repeated request; return the answer, or None."""
        if hint_s(left[0]) is None or self._calls.component in self._outages.never_readable:
            return None
        plain = self._calls.requests.plain_read_of(left[0].exchange.request)
        return _call_once(self._calls, lambda: plain) if plain else None

    def _await_provider(self, op: str, left: list[Reply | StreamReply]) -> bool:
        """Wait until a plain call works again; return False if the adapter is responsible.

        The adapter is responsible if no operation ever worked, if only one place fails, or if a new instance works.

        Raises:
            Outage: the provider did not come back.
        """
        worked, there = self._operations_that_worked(), self._read_written_place(left)
        # If a plain read of the same namespace must be retried too, only this namespace is not ready (R141).
        unready = there is not None and is_retryable(there) and hint_s(there) is not None
        never = op not in self._outages.worked and all(map(_has_logged_bug, left))
        hinted = any(hint_s(reply) is not None for reply in left)
        for pause_s in self._pauses(left, CALL_S if (worked or hinted) and not never else UNKNOWN_S):
            inputs.sleep(pause_s)
            self._outages.waited_s += 0.0 if unready else pause_s
            if self._can_call_plainly(op, left):
                return True
        if unready and self._calls.principal in worked and self._can_call_elsewhere(op):
            self._outages.never_readable.add(self._calls.component)
            return False
        is_own = not worked or (unready and self._calls.principal not in worked)
        is_late = self._is_starting(op, left) and self._can_call_elsewhere(op)
        if is_own or is_late or self._can_call_new_instance(op):
            self._outages.hopeless.add(self._calls.component)
            return False
        self._outages.interruptions += 1
        self._outages.lasting = True
        raise Outage(self._outages.outage_text)

    def _pauses(self, left: list[Reply | StreamReply], most_s: float) -> Iterator[float]:
        """Yield the pauses that an answer asks for, or else growing pauses, until the time is used up."""
        asked_s = max((hint for reply in left if (hint := hint_s(reply)) is not None), default=None)
        pause_s, begun = FIRST_WAIT_S if asked_s is None else max(asked_s, PAUSES_S[0]), self._outages.began
        while inputs.monotonic() + pause_s < begun + most_s and self._outages.waited_s + pause_s < RUN_S:
            yield pause_s
            pause_s = min(2 * pause_s, LONGEST_WAIT_S) if asked_s is None else pause_s

    def _can_call_new_instance(self, op: str) -> bool:
        try:
            other = self._calls.second_instance(PROBE_S)
        except DeclarationError:
            return False
        try:
            return any(_plain_call_works(other, probe) for probe in self._probe_operations(op))
        finally:
            other.client.close()


def _plain_call_works(place: RetryingComponent, name: str) -> bool:
    """Make a plain call that no cache can answer and the current test does not see; return True if it succeeds."""
    reply = _call_once(place, lambda: Request(name, place.requests.distinct(name)))
    return reply is not None and (reply.is_success if isinstance(reply, Reply) else reply.is_finished)


def _call_once(place: RetryingComponent, plain: Callable[[], Request]) -> Reply | StreamReply | None:
    """Make a call once, unseen by the current test, and return the answer, or None."""
    try:
        with place.retries.calling_once(), part_of(place.client.part, is_seen=False):
            request = plain()
            return place.invoke(request.op, request.args, request.ctx, limit_s=PROBE_S)
    except (Undecided, Unresponsive):
        return None


def _bare_name(op: str) -> str:
    return op.partition(".")[2]
