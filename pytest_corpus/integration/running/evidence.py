"""Evidence of a test's findings, taken from the exchanges in the process that ran the test."""

from __future__ import annotations

import functools
import itertools
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import pytest

from pytest_corpus.adapter.exchange import Exchange, context_of
from pytest_corpus.adapter.reports import Count, Observation
from pytest_corpus.adapter.snapshot import to_bytes
from pytest_corpus.adapter.tracebacks import logged_exception, traceback_of, whole
from pytest_corpus.evidence import shell
from pytest_corpus.integration.collecting.nodes import test_of
from pytest_corpus.kit.audit.telemetry import reports_of
from pytest_corpus.kit.outcomes import Story, Violation
from pytest_corpus.redaction import (
    LONGEST_STRING,
    VOCABULARY,
    content,
    cut,
    describe_size,
    foreign_text,
    is_plain,
    list_keys,
    map_value,
    mask_secrets,
    secret_values,
    shape,
    word,
)
from pytest_corpus.spec.errors import BY_KIND
from pytest_corpus.spec.operations import BY_OP
from pytest_corpus.text.values import abridge, strings_of
from pytest_corpus.verdict.evidence import Content, Evidence
from pytest_corpus.verdict.ledger import Finding, TestRecord

LONGEST = 2_000  # the most characters of a request or an answer
SHORTEST = 3  # a shorter text of an answer may be in a request by chance
MOST_LINES = 20
MOST_RECORDS = 5
MADE_UP = 12
MOST_OBSERVATIONS = 4
FRAMES_AT_ENDS = 2  # the frames of a long stream that are shown at its beginning and at its end
FRAMES_AROUND = 2  # and before and after the frame at fault
MOST_JUDGED = 4  # the most calls that are shown of those that a finding was judged on
MOST_WRITES = 2  # the most writes of the test that are shown before a request that reads what they wrote
UNLOGGED = "not known: log the exception to see its place"
WRITTEN_BEFORE = "# What was written before: run with --corpus-transcript, then pytest-corpus replay --as shell"


@dataclass(frozen=True, slots=True)
class Sighting:
    """A violation of a requirement as a test saw it; `indirect` if it only blocks the test.

    `made` are the test's exchanges, including cached ones; `recalled` are the cached exchanges of other tests.
    """

    requirement: str
    violation: Violation
    indirect: bool = False
    made: Sequence[Exchange] = ()
    recalled: Set[Exchange] = frozenset()

    @property
    def finding(self) -> Finding:
        """The finding for the record."""
        seen = self.violation
        return Finding(self.requirement, seen.expected, seen.got[:200], seen.path[:100], self.indirect)

    @property
    def exchange(self) -> Exchange | None:
        """The exchange that shows the violation: the last of its story, or the exchange that it was judged on."""
        story = self.violation.story
        return (story.exchanges or (None,))[-1] if story else self.violation.exchange

    @property
    def judged_on(self) -> Sequence[Exchange]:
        """The last of the calls that the finding was judged on, if there are several and no story contains them."""
        several = len(self.violation.exchanges) > 1 and self.violation.story is None
        return self.violation.exchanges[-MOST_JUDGED:] if several else ()

    @property
    def told(self) -> Story | None:
        """The story of the finding. For a read: the last calls that wrote the wrong value, or wrote to the place."""
        if self.violation.story or self.judged_on or self.exchange is None or self._is_write(self.exchange):
            return self.violation.story
        named = [each for each in self.before if not self.violation.about.isdisjoint(strings_of(each.request))]
        writes = [*filter(self._is_write, named)] or self.writes
        return Story("the test had written:", tuple(writes[-MOST_WRITES:])) if writes else None

    @property
    def origin(self) -> pytest.Item | None:
        """The test that made the exchange, if it was judged later."""
        origin: pytest.Item | None = self.exchange.origin if self.exchange else None
        return origin

    @property
    def before(self) -> list[Exchange]:
        """The test's exchanges before the one that shows the finding; all of them if it belongs to another test."""
        if self.violation.story:
            return [each for each in self.violation.story.exchanges if each is not self.exchange]
        return list(itertools.takewhile(lambda each: each is not self.exchange, self.made))

    @property
    def writes(self) -> list[Exchange]:
        """The earlier writes of the test."""
        place = _namespace(self.exchange)
        return [each for each in self.before if self._is_write(each) and place in (None, _namespace(each))]

    def _is_write(self, exchange: Exchange) -> bool:
        """True if an exchange of the test is a write."""
        return exchange.op in BY_OP and BY_OP[exchange.op].mutating and exchange not in self.recalled

    def answered(self) -> set[str]:
        """Texts in earlier answers that no earlier request contained; a request may repeat such a text."""
        asked = "\n".join(strings_of([each.request for each in self.before]))
        found = {text for each in self.before for frame in each.frames for text in strings_of(frame.body)}
        return {each for each in found if len(each) >= SHORTEST and each not in VOCABULARY and each not in asked}

    @property
    def reads_what_others_wrote(self) -> bool:
        """True if the request reads a namespace to which the test itself wrote nothing."""
        exchange = self.exchange
        return bool(exchange and _namespace(exchange) is not None and not (self.writes or self._is_write(exchange)))

    def sent(self, now: float) -> list[shell.Sent]:
        """The requests that show the finding; deadlines count from `now`."""
        before = self.before if self.violation.story else self.writes
        made = (*before, *([self.exchange] if self.exchange else []))
        return [shell.Sent(to_bytes(each.request).decode(), each.streaming, now, each.observed.faults) for each in made]


@dataclass(frozen=True, slots=True)
class EvidenceCapture:
    """The settings of evidence: `full` includes content; `made_up` is true if the suite made all requests.

    `printed` are pytest's captured sections, `planted` every secret that the test planted; `logs` includes log records,
    which are available if `hears_logs`.
    """

    full: bool
    made_up: bool
    planted: tuple[str, ...] = ()
    printed: Sequence[tuple[str, str]] = ()
    logs: bool = False
    trace: str = ""
    target: shell.ShellTarget | None = None
    hears_logs: bool = False

    def evidence(
        self,
        record: TestRecord,
        behind: Sequence[Sighting],
        item: pytest.Item,
        rerun: Callable[[pytest.Item, str], str],
    ) -> tuple[Evidence, ...]:
        """The evidence of each finding of a test; `rerun` returns the command that repeats the test of a requirement.

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
        behind: Sighting,
        secrets: tuple[str, ...],
        *,
        item: pytest.Item,
        rerun: Callable[[pytest.Item, str], str],
    ) -> Evidence:
        exchange = behind.exchange
        return Evidence(
            adapter=record.adapter,
            component=record.component,
            requirement=finding.requirement,
            expected=finding.expected,
            got=finding.got,
            path=finding.path,
            test=test_of(item),
            node=item.nodeid,
            rerun=mask_secrets(rerun(item, finding.requirement), secrets),
            sent=_sent_parts(exchange, self._mask_foreign_texts(exchange.shown, behind, secrets)) if exchange else "",
            raised=self._raised(finding, exchange, secrets) if exchange else "",
            fault=_fault(exchange) if exchange else "",
            observed=mask_secrets(_reports(exchange, finding.requirement, secrets), secrets) if exchange else "",
            problems=tuple(mask_secrets(each, secrets) for each in behind.violation.lines),
            judged_on=_number_calls(behind.judged_on, lambda each: self._mask_foreign_texts(each, behind, secrets)),
            story=_story_lines(
                behind.told,
                lambda each: content(each, secrets, LONGEST, foreign=False) if self.made_up else shape(each, LONGEST),
            ),
            trace=mask_secrets(self.trace, secrets),
            content=self._content(finding, behind, secrets) if self.full else None,
        )

    def _mask_foreign_texts(self, request: Any, behind: Sighting, secrets: tuple[str, ...]) -> str:
        """A request of a finding; texts that the suite did not make are replaced by their length."""
        if not self.made_up:
            return shape(request, LONGEST)
        foreign = behind.answered()
        own = map_value(request, lambda text: describe_size(text) if any(each in text for each in foreign) else text)
        return content(own, secrets, LONGEST, foreign=False)

    def _raised(self, finding: Finding, exchange: Exchange, secrets: tuple[str, ...]) -> str:
        """The exception of a call; if the adapter hides the cause of an unplanned error, advice to make it visible."""
        known, seen = _raised_exception(exchange, secrets), exchange.observed
        is_hidden = self.hears_logs and not (known or exchange.fault or seen.faults or any(seen.logs))
        return UNLOGGED if is_hidden and finding.got.startswith("the error Unavailable") else known

    def _content(self, finding: Finding, behind: Sighting, secrets: tuple[str, ...]) -> Content:
        exchange = behind.exchange
        shown = functools.partial(content, secrets=secrets, most=LONGEST, foreign=False)
        judged_on, story = _number_calls(behind.judged_on, shown), _story_lines(behind.told, shown)
        logged = tuple(_log_lines(exchange.observed.logs, secrets)) if exchange and self.logs else ()
        printed = [(title, text) for title, text in self.printed if not (logged and " log " in title)]
        lines_printed = tuple(_printed_lines(printed, secrets))
        lines = shell.script(self.target, behind.sent(time.time())) if self.target else []
        if lines and behind.reads_what_others_wrote:
            lines.insert(0, WRITTEN_BEFORE)
        script = tuple(mask_secrets(line, secrets) for line in lines)
        if exchange is None:
            return Content(story=story, script=script, printed=lines_printed)
        raised = exchange.fault.raised if exchange.fault else None
        return Content(
            sent=_sent_parts(exchange, content(exchange.shown, secrets, LONGEST, foreign=False)),
            answer=self._answer(behind, exchange, secrets) if exchange.frames else "",
            raised=whole(raised, secrets) if raised else self._raised(finding, exchange, secrets),
            traceback=tuple(traceback_of(raised, secrets)) if raised else (),
            judged_on=judged_on,
            story=story,
            script=script,
            logged=logged,
            printed=lines_printed,
        )

    def _answer(self, behind: Sighting, exchange: Exchange, secrets: tuple[str, ...]) -> str:
        """The answer; of a long stream, its beginning and end and the frames around the faulty frame."""
        own = {*strings_of([each.request for each in (*behind.before, exchange)])} if self.made_up else set[str]()
        bodies = [frame.body for frame in exchange.frames]
        if not exchange.streaming:
            whole = content(bodies[-1], secrets, LONGEST + 1, foreign=True, own=own)
            if len(whole) <= LONGEST:
                return whole
            return content(abridge(bodies[-1], behind.violation.path), secrets, LONGEST, foreign=True, own=own)
        at_fault = behind.violation.frame or len(bodies)
        shown = {*range(1, FRAMES_AT_ENDS + 1), *range(at_fault - FRAMES_AROUND, at_fault + FRAMES_AROUND + 1)}
        shown |= {*range(len(bodies) - FRAMES_AT_ENDS + 1, len(bodies) + 1)}
        parts: list[str] = []
        for is_shown, group in itertools.groupby(enumerate(bodies, 1), key=lambda pair: pair[0] in shown):
            frames = list(group)
            if is_shown:
                most = LONGEST // max(1, len(shown))
                parts += [content(body, secrets, most, foreign=True, own=own) for _, body in frames]
            else:
                parts.append(f'"... frames {frames[0][0]} to {frames[-1][0]}"')
        return f"[{', '.join(parts)}]"


def _namespace(exchange: Exchange | None) -> object:
    """The namespace that a request names, or None."""
    args = exchange.request.get("args") if exchange and isinstance(exchange.request, Mapping) else None
    return args.get("namespace") if isinstance(args, Mapping) else None


def context_secrets(request: Any) -> list[str]:
    """The tenant and the idempotency key of a request, if the suite made them."""
    if not (context := context_of(request)):
        return []
    values = (context.get("tenant"), context.get("idempotency_key"))
    return [value for value in values if isinstance(value, str) and len(value) >= MADE_UP]


def mask_planted(text: str, planted: Iterable[str]) -> str:
    """Mask secrets in a text of a finding."""
    return mask_secrets(text, (*planted, *secret_values(os.environ))) if text else ""


def _sent_parts(exchange: Exchange, request: str) -> str:
    return f"{'handle_stream' if exchange.streaming else 'handle'} {request}"


def _fault(exchange: Exchange) -> str:
    return ", ".join(
        f"{kind} (HTTP {BY_KIND[kind].http_status})" if BY_KIND[kind].http_status else kind
        for kind in dict.fromkeys(exchange.observed.faults)
    )


def _raised_exception(exchange: Exchange, secrets: tuple[str, ...]) -> str:
    """The exception of a call, without its message: the raised exception, or the one in the log of an error.

    A name that also occurs in a text of the call is not shown, because it may be content.
    """
    if exchange.fault is not None:
        return mask_secrets(str(exchange.fault.raised), secrets) if exchange.fault.raised else ""
    last = exchange.frames[-1].body if exchange.frames else None
    is_error = isinstance(last, Mapping) and last.get("ok") is False
    logged = logged_exception(exchange.observed.logs) if is_error else None
    parts, texts = (logged.type, str(logged.place)) if logged else (), ["", *_contents(exchange)]
    is_content = any(mask_secrets(part, secrets) != part or part in text for part in parts for text in texts)
    return f"{logged}  (logged)" if logged and not is_content else ""


def _reports(exchange: Exchange, requirement: str, secrets: tuple[str, ...]) -> str:
    if "-OBS-" not in requirement:
        return ""
    label = functools.partial(_label, contents=_contents(exchange), secrets=secrets)
    every = [
        _observation(each, label) if isinstance(each, Observation) else _count(each, label)
        for each in reports_of(exchange)
    ]
    more = f" and {len(every) - MOST_OBSERVATIONS} more" if len(every) > MOST_OBSERVATIONS else ""
    return "; ".join(every[:MOST_OBSERVATIONS]) + more if every else "nothing"


def _observation(seen: Observation, label: Callable[[object], str]) -> str:
    labels = {"component": seen.component, "op": seen.op, "ms": seen.ms, "ok": seen.ok, "code": seen.code}
    return ", ".join(f"{name}={label(_round(value))}" for name, value in labels.items()) + _extra(seen.extra, label)


def _count(count: Count, label: Callable[[object], str]) -> str:
    return f"counter {label(count.name)} by {label(count.value)}{_extra(count.extra, label)}"


def _extra(labels: Mapping[str, Any], label: Callable[[object], str]) -> str:
    """Further labels; labels with unusual names are only counted."""
    named = {name: value for name, value in labels.items() if list_keys("", [name]) == f" {name}"}
    shown = [f"{name}={label(value)}" for name, value in sorted(named.items())]
    if others := len(labels) - len(named):
        shown.append(f"{others} with unusual names")
    return f", extra: {', '.join(shown)}" if shown else ""


def _contents(exchange: Exchange) -> list[str]:
    """The texts of a request and of its answer, except operation and model."""
    bodies = [exchange.request, *(frame.body for frame in exchange.frames)]
    found = {*strings_of(bodies)} - {*_strings_under(bodies, ("op", "model"))}
    return [text for text in found if len(text) >= SHORTEST and text not in VOCABULARY]


def _strings_under(value: Any, keys: Sequence[str]) -> Iterator[str]:
    """The strings under some keys in a JSON value."""
    if isinstance(value, Mapping):
        yield from (item for name, item in value.items() if name in keys and isinstance(item, str))
    if isinstance(value, (list, Mapping)):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _strings_under(item, keys)


def _label(value: object, contents: Sequence[str], secrets: tuple[str, ...]) -> str:
    """A label of the adapter, unless it contains a secret or a text of the request or the answer."""
    if not isinstance(value, str) or value in VOCABULARY or not is_plain(value):
        return word(value)
    holds_content = any(text in value or (value in text and len(value) > SHORTEST) for text in contents)
    return word(value) if holds_content or mask_secrets(value, secrets) != value else f'"{value}"'


def _round(value: object) -> object:
    return round(value, 1) if isinstance(value, float) else value


def _log_lines(records: Sequence[str], secrets: tuple[str, ...]) -> Iterator[str]:
    """The first line of each of the last records, with a number for repeated ones."""
    times = Counter(cut(foreign_text(each.partition("\n")[0], secrets), LONGEST_STRING) for each in records if each)
    if len(times) > MOST_RECORDS:
        yield f"... {len(times) - MOST_RECORDS} records before"
    for line, number in [*times.items()][-MOST_RECORDS:]:
        yield line + (f"  ({number} times)" if number > 1 else "")


def _printed_lines(sections: Sequence[tuple[str, str]], secrets: tuple[str, ...]) -> Iterator[str]:
    for title, text in sections:
        lines = text.rstrip("\n").splitlines()
        more = [f"... {len(lines) - MOST_LINES} lines before"] if len(lines) > MOST_LINES else []
        shown = [foreign_text(each, secrets) for each in lines[-MOST_LINES:]]
        yield from (f"[{title}] {line}" for line in (*more, *shown))


def _story_lines(story: Story | None, shown: Callable[[Any], str]) -> tuple[str, ...]:
    """The calls of a story, numbered, with their requests as they may be shown."""
    return (*story.said.splitlines(), *_number_calls(story.exchanges, shown)) if story else ()


def _number_calls(exchanges: Sequence[Exchange], shown: Callable[[Any], str]) -> tuple[str, ...]:
    """Numbered calls, with their requests as they may be shown."""
    return tuple(f"{number}. {_sent_parts(each, shown(each.shown))}" for number, each in enumerate(exchanges, 1))
