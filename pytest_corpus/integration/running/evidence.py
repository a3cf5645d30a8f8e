"""Evidence of a test's findings, taken from its exchanges in the process that ran it."""

from __future__ import annotations

import itertools
import linecache
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from pytest_corpus.adapter.exchange import Exchange, context_of
from pytest_corpus.adapter.hooks.metrics import Observation
from pytest_corpus.adapter.snapshot import to_bytes
from pytest_corpus.adapter.tracebacks import EscapedException
from pytest_corpus.evidence import shell
from pytest_corpus.integration.collecting.nodes import test_of
from pytest_corpus.kit.outcomes import Story, Violation
from pytest_corpus.redaction import (
    LONGEST_STRING,
    VOCABULARY,
    content,
    cut,
    listed,
    mapped,
    masked,
    secret_values,
    sentence,
    shape,
    sized,
    word,
)
from pytest_corpus.spec.errors import BY_KIND
from pytest_corpus.spec.operations import BY_OP
from pytest_corpus.text.values import strings_of
from pytest_corpus.verdict.evidence import Content, Evidence
from pytest_corpus.verdict.ledger import Finding, TestRecord

LONGEST = 2_000  # the most characters of a request or an answer
SHORTEST = 3  # a shorter text of an answer may be in a request by chance
MOST_LINES = 20
MOST_RECORDS = 5
MADE_UP = 12
MOST_OBSERVATIONS = 4
WRITTEN_BEFORE = "# What was written before: run with --corpus-transcript, then pytest-corpus replay --as shell"


@dataclass(frozen=True, slots=True)
class FindingContext:
    """The context of a finding: an exchange, the calls that led to it, and all problems of the answer.

    `before` are the exchanges that the test had made or recalled before this one; None if they are unknown.
    """

    exchange: Exchange | None = None
    story: Story | None = None
    problems: tuple[str, ...] = ()
    before: tuple[Exchange, ...] | None = None

    @property
    def origin(self) -> pytest.Item | None:
        """The test that made the exchange, if it was judged later."""
        origin: pytest.Item | None = self.exchange.origin if self.exchange else None
        return origin

    @classmethod
    def of(cls, violation: Violation, exchange: Exchange | None, made: Sequence[Exchange] = ()) -> FindingContext:
        """The context of a violation in one exchange, or in several, of those that the test `made`."""
        if violation.story:
            *earlier, last = violation.story.exchanges or (None,)
            return cls(last, violation.story, violation.lines, tuple(filter(None, earlier)))
        known = any(each is exchange for each in made)
        before = tuple(itertools.takewhile(lambda each: each is not exchange, made)) if known else None
        return cls(exchange, None, violation.lines, before)

    @property
    def writes(self) -> list[Exchange]:
        """The calls of the test that had written before."""
        place = _namespace(self.exchange)
        return [each for each in self.before or () if _is_write(each) and place in (None, _namespace(each))]

    def answered(self) -> set[str]:
        """The texts of earlier answers that no earlier request had: of these, a request may repeat one."""
        before = self.before or ()
        asked = "\n".join(strings_of([each.request for each in before]))
        found = {text for each in before for frame in each.frames for text in strings_of(frame.body)}
        return {each for each in found if len(each) >= SHORTEST and each not in VOCABULARY and each not in asked}

    @property
    def reads_what_others_wrote(self) -> bool:
        """True if the request reads a namespace in which the test itself wrote nothing."""
        exchange = self.exchange
        return exchange is not None and not (self.writes or _is_write(exchange)) and _namespace(exchange) is not None

    def sent(self, now: float) -> list[shell.Sent]:
        """The requests that show the finding; deadlines count from `now`."""
        before = self.before or () if self.story else self.writes
        made = (*before, *([self.exchange] if self.exchange else []))
        return [shell.Sent(to_bytes(each.request).decode(), each.streaming, now, each.faults) for each in made]


@dataclass(frozen=True, slots=True)
class EvidenceCapture:
    """The settings of evidence: `full` includes content; `made_up` says that all requests are the suite's own.

    `printed` are pytest's captured sections, `planted` every secret that the test planted; `logs` includes log records.
    """

    full: bool
    made_up: bool
    planted: tuple[str, ...] = ()
    printed: Sequence[tuple[str, str]] = ()
    logs: bool = False
    trace: str = ""
    target: shell.Target | None = None

    def evidence(
        self,
        record: TestRecord,
        behind: Sequence[FindingContext],
        item: pytest.Item,
        rerun: Callable[[pytest.Item, str], str],
    ) -> tuple[Evidence, ...]:
        """The evidence of each finding of a test; `rerun` gives the command that shows a requirement's again.

        A late report is evidence of the test that made the call.
        """
        secrets = (*self.planted, *secret_values(os.environ))
        return tuple(
            self._one(record, finding, each, secrets, item=each.origin or item, rerun=rerun)
            for finding, each in zip(record.findings, behind, strict=True)
        )

    def _one(
        self,
        record: TestRecord,
        finding: Finding,
        behind: FindingContext,
        secrets: tuple[str, ...],
        *,
        item: pytest.Item,
        rerun: Callable[[pytest.Item, str], str],
    ) -> Evidence:
        exchange = behind.exchange
        fault = exchange.fault if exchange else None
        return Evidence(
            adapter=record.adapter,
            component=record.component,
            requirement=finding.requirement,
            test=test_of(item),
            node=item.nodeid,
            rerun=masked(rerun(item, finding.requirement), secrets),
            sent=_sent(exchange, self._request(behind, secrets)) if exchange else "",
            raised=masked(str(fault.raised), secrets) if fault and fault.raised else "",
            fault=_fault(exchange) if exchange else "",
            observed=masked(_observed(exchange, finding.requirement), secrets) if exchange else "",
            problems=tuple(masked(each, secrets) for each in behind.problems),
            story=_told(
                behind.story,
                lambda each: content(each, secrets, LONGEST, foreign=False) if self.made_up else shape(each, LONGEST),
            ),
            trace=masked(self.trace, secrets),
            content=self._content(behind, secrets) if self.full else None,
        )

    def _request(self, behind: FindingContext, secrets: tuple[str, ...]) -> str:
        """The request of a finding, in which texts that are not the suite's own stand by their length."""
        request = behind.exchange.request if behind.exchange else None
        if not self.made_up or behind.before is None:
            return shape(request, LONGEST)
        foreign = behind.answered()
        own = mapped(request, lambda text: sized(text) if any(each in text for each in foreign) else text)
        return content(own, secrets, LONGEST, foreign=False)

    def _content(self, behind: FindingContext, secrets: tuple[str, ...]) -> Content:
        exchange = behind.exchange
        story = _told(behind.story, lambda each: content(each, secrets, LONGEST, foreign=False))
        logged = tuple(_logged(exchange.logs, secrets)) if exchange and self.logs else ()
        printed = [(title, text) for title, text in self.printed if not (logged and " log " in title)]
        shown = tuple(_printed(printed, secrets))
        lines = shell.script(self.target, behind.sent(time.time())) if self.target else []
        if lines and behind.reads_what_others_wrote:
            lines.insert(0, WRITTEN_BEFORE)
        script = tuple(masked(line, secrets) for line in lines)
        if exchange is None:
            return Content(story=story, script=script, printed=shown)
        bodies = [frame.body for frame in exchange.frames]
        answer: Any = bodies if exchange.streaming else bodies[-1] if bodies else None
        raised = exchange.fault.raised if exchange.fault else None
        return Content(
            sent=_sent(exchange, content(exchange.request, secrets, LONGEST, foreign=False)),
            answer=content(answer, secrets, LONGEST, foreign=True) if bodies else "",
            raised=_whole(raised, secrets) if raised else "",
            traceback=tuple(_traceback(raised, secrets)) if raised else (),
            story=story,
            script=script,
            logged=logged,
            printed=shown,
        )


def _is_write(exchange: Exchange) -> bool:
    """True if a test of its own wrote something with it."""
    return exchange.op in BY_OP and BY_OP[exchange.op].mutating and not exchange.recalled


def _namespace(exchange: Exchange | None) -> object:
    """The namespace that a request names; None if it names none."""
    args = exchange.request.get("args") if exchange and isinstance(exchange.request, Mapping) else None
    return args.get("namespace") if isinstance(args, Mapping) else None


def context_secrets(request: Any) -> list[str]:
    """The tenant and the idempotency key of a request, if the suite made them."""
    if not (context := context_of(request)):
        return []
    values = (context.get("tenant"), context.get("idempotency_key"))
    return [value for value in values if isinstance(value, str) and len(value) >= MADE_UP]


def without_secrets(text: str, planted: Iterable[str]) -> str:
    """A text of a finding, with secrets masked."""
    return masked(text, (*planted, *secret_values(os.environ))) if text else ""


def _sent(exchange: Exchange, request: str) -> str:
    return f"{'handle_stream' if exchange.streaming else 'handle'} {request}"


def _fault(exchange: Exchange) -> str:
    return ", ".join(
        f"{kind} (HTTP {BY_KIND[kind].http_status})" if BY_KIND[kind].http_status else kind
        for kind in dict.fromkeys(exchange.faults)
    )


def _observed(exchange: Exchange, requirement: str) -> str:
    if not requirement.startswith("COM-OBS-"):
        return ""
    counters = [f"counter {word(count.name)} by {word(count.value)}{_extra(count.extra)}" for count in exchange.counts]
    every = [*map(_observation, exchange.observations), *counters]
    more = f" and {len(every) - MOST_OBSERVATIONS} more" if len(every) > MOST_OBSERVATIONS else ""
    return "; ".join(every[:MOST_OBSERVATIONS]) + more if every else "nothing"


def _observation(seen: Observation) -> str:
    labels = {"component": seen.component, "op": seen.op, "ms": seen.ms, "ok": seen.ok, "code": seen.code}
    return ", ".join(f"{name}={word(_rounded(value))}" for name, value in labels.items()) + _extra(seen.extra)


def _extra(labels: Mapping[str, Any]) -> str:
    """The keys of further labels, and the code among them."""
    if not labels:
        return ""
    codes = [f" and code={word(labels['code'])}"] if "code" in labels else []
    return f", extra with {listed('the key', labels)}" + "".join(codes)


def _rounded(value: object) -> object:
    return round(value, 1) if isinstance(value, float) else value


def _whole(raised: EscapedException, secrets: tuple[str, ...]) -> str:
    message = sentence(raised.message, secrets)
    where = f"  (at {raised.place})" if raised.place else ""
    return masked(f"{raised.type}: " if message else raised.type, secrets) + message + where


def _traceback(raised: EscapedException, secrets: tuple[str, ...]) -> Iterator[str]:
    for place in raised.places:
        file = os.path.abspath(place.file)
        linecache.checkcache(file)  # the file may have changed since it was read
        source = linecache.getline(file, place.line).strip()
        yield masked(f"{place} in {place.function}", secrets) + (f": {sentence(source, secrets)}" if source else "")
    yield from (f"caused by {masked(name, secrets)}: {sentence(message, secrets)}" for name, message in raised.causes)


def _logged(records: Sequence[str], secrets: tuple[str, ...]) -> Iterator[str]:
    """The first line of each of the last records, with a number for repeated ones."""
    times = Counter(cut(sentence(record.partition("\n")[0], secrets), LONGEST_STRING) for record in records if record)
    if len(times) > MOST_RECORDS:
        yield f"... {len(times) - MOST_RECORDS} records before"
    for line, number in [*times.items()][-MOST_RECORDS:]:
        yield line + (f"  ({number} times)" if number > 1 else "")


def _printed(sections: Sequence[tuple[str, str]], secrets: tuple[str, ...]) -> Iterator[str]:
    for title, text in sections:
        lines = text.rstrip("\n").splitlines()
        more = [f"... {len(lines) - MOST_LINES} lines before"] if len(lines) > MOST_LINES else []
        yield from (f"[{title}] {line}" for line in (*more, *(sentence(each, secrets) for each in lines[-MOST_LINES:])))


def _told(story: Story | None, shown: Callable[[Any], str]) -> tuple[str, ...]:
    """The lines of a story: its calls, numbered, with their requests as they are shown."""
    if story is None:
        return ()
    calls = (f"{number}. {_sent(each, shown(each.request))}" for number, each in enumerate(story.exchanges, 1))
    return (*story.said.splitlines(), *calls)
