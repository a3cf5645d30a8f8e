"""Gives each test the recorded answers of a transcript instead of calling an adapter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from pytest_corpus.adapter.calls import CallBatch, expect_reports
from pytest_corpus.adapter.client import AdapterClient
from pytest_corpus.adapter.exceptions import Unresponsive
from pytest_corpus.adapter.inputs import Source
from pytest_corpus.adapter.instance import Declaration, InstanceHooks
from pytest_corpus.adapter.scope import call_scope
from pytest_corpus.evidence import encoding
from pytest_corpus.evidence.transcript import Key, TestTrace, Transcript, parse_line
from pytest_corpus.spec.transports import SCHEMES
from pytest_corpus.validation.sealed_lines import dumps


class Unrecorded(Exception):
    """The error for a test that needs data that the transcript does not contain."""


class Player(Source):
    """Replays a transcript test by test: the recorded calls in order, and the recorded readings.

    A reading is an input of a test besides answers, such as a clock. A fact is a result that several tests share.

    Attributes:
        diverged: the reason why the current test cannot be judged; empty if everything was recorded so far.
    """

    def __init__(self, transcript: Transcript, label: str) -> None:
        self.transcript, self.label = transcript, label
        self.diverged = ""
        self._trace = TestTrace()
        self._recordings: list[_Recording] = [_Recording([], {})]
        self._facts: dict[tuple[str, str], TestTrace] = {}
        for trace in transcript.tests.values():
            for fact in trace.by_fact:
                if fact:
                    self._facts.setdefault((trace.process, fact), trace)

    @property
    def process(self) -> str:
        """The process that ran the current test."""
        return self._trace.process

    def begin(self, test: str, repetition: int) -> None:
        """Start to replay another test."""
        key: Key = (self.label, test, repetition)
        self._trace, self.diverged = self.transcript.tests.get(key, TestTrace()), ""
        self._recordings = [_Recording.of(self._trace, "")]
        if not self._trace.has_ended:
            self.diverged = "the transcript does not have this test"

    def end_test(self) -> str:
        """Return the reason why the test cannot be judged; empty if the test used exactly what is recorded."""
        if left := self._recordings[0].remaining:
            self.diverged = self.diverged or f"the transcript has {left} more exchanges than this test asks for"
        return self.diverged

    def enter(self, scope: str) -> None:
        """Continue with the recording of a shared fact, until `leave`."""
        self._recordings.append(_Recording.of(self._facts.get((self.process, scope), TestTrace()), scope))

    def leave(self) -> None:
        """Continue with the recording of the test."""
        self._recordings.pop()

    def read(self, what: str, look: Callable[[], Any]) -> Any:
        """Return the next recorded reading of this name; if none is left, call `look` and mark the test as diverged."""
        part = self._recordings[-1]
        readings, used = part.readings.get(what, ()), part.used_readings[what]
        part.used_readings[what] += 1
        if used < len(readings):
            return readings[used]
        if not self.diverged:
            self.diverged = f"the transcript does not have what this test reads: {what}"
        return look()

    def sleep(self, seconds: float) -> None:
        """Return at once, because recorded answers need no time."""

    def next(self, entry_point: str, component: str, *asked: Any) -> dict[str, Any]:
        """Return the next recorded call, or group of concurrent calls.

        Raises:
            Unrecorded: the next call in the transcript is different or missing.
            Unresponsive: the call was not made, because earlier calls did not finish.
        """
        part = self._recordings[-1]
        if not self.diverged and not part.remaining:
            self.diverged = f"the transcript ends after {part.used_calls} exchanges of this test"
        if self.diverged:
            raise Unrecorded(self.diverged)
        found = parse_line(part.lines[part.used_calls])
        part.used_calls += 1
        if silent := found.get("unresponsive"):
            raise Unresponsive(silent["op"], moving=silent["moving"])
        recorded = [each["request"] for each in found.get("calls", [found])]
        same = (found["entry_point"], found.get("component", "")) == (entry_point, component)
        if not same or [dumps(each) for each in asked] != [dumps(each) for each in recorded]:
            self.diverged = f"request {part.used_calls} of this test differs from the one in the transcript"
            raise Unrecorded(self.diverged)
        return found


@dataclass(slots=True)
class _Recording:
    """The recorded calls and readings of a test or of a shared fact, and how many of them were used."""

    lines: Sequence[bytes]
    readings: Mapping[str, list[Any]]
    used_calls: int = 0
    used_readings: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, trace: TestTrace, fact: str) -> _Recording:
        """Return the calls and readings that determined a fact; if the name is empty, those of the test itself."""
        ended = trace.last_line
        return cls(trace.by_fact.get(fact, []), (ended["readings"] if ended else {}).get(fact, {}))

    @property
    def remaining(self) -> int:
        """The number of recorded calls that were not used yet."""
        return len(self.lines) - self.used_calls


class RecordedInstance:
    """Answers calls from a transcript, with the interface of an adapter instance.

    Attributes:
        accepted_hooks: the hooks that the factory requested.
        remote: the recorded facts of an adapter in another process.
    """

    accepted_hooks: tuple[str, ...] = ()

    def __init__(self, player: Player, facts: Mapping[str, Any], hooks: InstanceHooks) -> None:
        self._player, self._facts, self._hooks = player, facts, hooks
        self.generation = 0
        self.remote: Any = _remote_facts(facts) if facts["transport"] else None

    def open(self, _components: tuple[str, ...]) -> None:
        """Count the call, and do nothing else, because a transcript needs no connection."""
        self.generation += 1

    def new_instance(self, hooks: InstanceHooks, _call_timeout: float) -> RecordedInstance:
        """Return another instance that answers from the same transcript."""
        other = RecordedInstance(self._player, self._facts, hooks)
        other.open(())
        return other

    def is_copy_of(self, _other: Any) -> bool:
        """Return False. A transcript needs no check for copies, because it contains the calls of each instance."""
        return False

    def close(self) -> list[str]:
        """Do nothing, because nothing was opened."""
        return []

    @property
    def hooks(self) -> frozenset[str]:
        """The hooks that the adapter requested or called until now."""
        return frozenset(self.remote.hooks.called_hooks if self.remote else self._facts["hooks"])

    @property
    def hears_logs(self) -> bool:
        """True if the log records of the adapter were visible."""
        return bool(self._facts["hears_logs"])

    def has_handler(self, component: str) -> bool:
        """True if the adapter served the component in the recorded run."""
        return component in self._facts["components"]

    def has_named_handler(self, component: str) -> bool:
        """True if the component was tested in the recorded run."""
        return component in self._facts["components"]

    def has_stream(self, component: str) -> bool:
        """True if the component had a streaming entry point."""
        return component in self._facts["streams"]

    def answer(self, batch: CallBatch) -> None:
        """Set the recorded answers, metrics and logs of calls."""
        if batch.raw is not None:
            asked = [encoding.encode_raw_request(batch.raw)]
        else:
            asked = [encoding.encode_value(exchange.request) for exchange in batch.exchanges]
        found = self._player.next(batch.entry_point, batch.component, *asked)
        with call_scope(batch.exchanges[0].observed if batch.exchanges else None):
            self._report_arrivals(found)
        if batch.raw is not None:
            batch.answer = encoding.decode_raw_answer(found["answer"])
        else:
            for exchange, each in zip(batch.exchanges, found.get("calls", [found]), strict=True):
                encoding.restore_exchange(exchange, each)
        for exchange in batch.exchanges:
            exchange.observed.ended = 0.0
        expect_reports(batch, observes="metrics" in self.hooks or self.remote is not None)

    def _report_arrivals(self, found: Mapping[str, Any]) -> None:
        """Report the recorded arrivals at the provider, as if they happened now."""
        self.generation = found.get("generation", self.generation)
        for each in found.get("arrivals", ()):
            facts = encoding.decode_value(each.get("facts", {}))
            chunk = {"chunk": encoding.decode_value(each["chunk"])} if "chunk" in each else {}
            self._hooks.provider.count_arrival(each["op"], **chunk, **facts)
        if self.remote is not None:
            self.remote.hooks.called |= set(found.get("hooks", ()))


def make_recorded_client(
    declaration: Declaration, player: Player, facts: Mapping[str, Any], call_timeout: float = 30.0, **options: Any
) -> AdapterClient:
    """Return a client whose answers come from a transcript."""
    hooks = InstanceHooks()
    instance = RecordedInstance(player, facts, hooks)
    return AdapterClient(declaration, call_timeout, hooks=hooks, instance=instance, **options).open(())


def _remote_facts(facts: Mapping[str, Any]) -> Any:
    """Return the facts that tests need about an adapter at an address. The replay adds each hook that is called."""
    scheme = next(each for each in SCHEMES if each.prefix == facts["transport"])
    called = set[str]()
    hooks = SimpleNamespace(called=called, called_hooks=called, given_up=0)
    return SimpleNamespace(address=SimpleNamespace(scheme=scheme), hooks=hooks, known={})
