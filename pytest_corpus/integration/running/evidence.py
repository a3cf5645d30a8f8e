"""The evidence for a test's findings, taken from its exchanges in the process that ran the test."""

from __future__ import annotations

import functools
import itertools
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from pytest_corpus.adapter.exchange import Exchange, context_of
from pytest_corpus.adapter.reports import Count, Observation
from pytest_corpus.adapter.snapshot import to_bytes
from pytest_corpus.adapter.tracebacks import logged_exception, message_of, traceback_of
from pytest_corpus.evidence import shell
from pytest_corpus.integration.collecting.nodes import name_of_test, owner, requirement_of
from pytest_corpus.integration.running.endings import Notes
from pytest_corpus.kit.audit.telemetry import reports_of
from pytest_corpus.kit.outcomes import Story, Violation
from pytest_corpus.redaction import (
    LONGEST_STRING,
    VOCABULARY,
    describe_size,
    describe_word,
    is_plain_identifier,
    list_keys,
    map_value,
    mask_secrets,
    secret_values,
    shorten,
    show_content,
    show_foreign_text,
    show_shape,
)
from pytest_corpus.spec.errors import BY_KIND
from pytest_corpus.spec.operations import BY_OP
from pytest_corpus.text.values import abridge, strings_of
from pytest_corpus.verdict.finding import Finding

LONGEST = 2_000  # the most characters of a request or an answer
SHORTEST = 3  # a shorter text may occur in both request and answer by chance
MOST_LINES = 20
MOST_RECORDS = 5
MADE_UP = 12
MOST_OBSERVATIONS = 4
FRAMES_AT_ENDS = 2  # the frames of a long stream that are shown at its beginning and at its end
FRAMES_AROUND = 2  # the frames that are shown before and after the faulty frame
MOST_JUDGED = 4  # the most calls that are shown if a finding is based on several
MOST_WRITES = 2  # the most earlier writes that are shown before a read
UNLOGGED = "not known: log the exception to see its place"
WRITTEN_BEFORE = "# What was written before: run with --corpus-transcript, then pytest-corpus replay --as shell"


def finding_of(violation: Violation, secrets: Iterable[str], item: pytest.Item) -> Finding:
    """Return the finding for a test's violation, with secrets masked. `EvidenceCapture.complete` adds the evidence."""
    own = owner(item)
    assert own is not None
    return Finding(
        violation.requirement,
        violation.expected,
        mask_planted(violation.got[:200], secrets),
        mask_planted(violation.path[:100], secrets),
        violation.indirect,
        adapter=own[0].label,
        component=own[1],
        tested=requirement_of(item),
        found_by=item.nodeid,
    )


@dataclass(frozen=True, slots=True)
class EvidenceCapture:
    """Collects the evidence for a test's findings.

    Attributes:
        notes: the observations during the test.
        full: True if the evidence may contain content.
        made_up: True if the suite invented all requests; False if a client library built them or the user gave queries.
        printed: the output that pytest captured, as pairs of title and text.
        logs: True to include log records, which are available if `hears_logs`.
        trace: the traceback through the suite.
        target: the adapter for shell commands that repeat the requests.
    """

    notes: Notes
    full: bool
    made_up: bool
    printed: Sequence[tuple[str, str]] = ()
    logs: bool = False
    trace: str = ""
    target: shell.ShellTarget | None = None
    hears_logs: bool = False

    @property
    def planted_secrets(self) -> tuple[str, ...]:
        """The secrets that the test sent."""
        return tuple(self.notes.secrets)

    def complete(self, finding: Finding, violation: Violation, item: pytest.Item, rerun: str) -> Finding:
        """Return a finding with the evidence for its violation.

        Args:
            item: the test whose call shows the violation; metrics or logs may have arrived during a later test.
            rerun: the command that runs the test again.
        """
        secrets = (*self.planted_secrets, *secret_values(os.environ))
        mask = functools.partial(mask_secrets, secrets=secrets)
        exchange, judged_on, story = violation.exchange, _supporting_calls(violation), self._story_of(violation)
        request = functools.partial(self._mask_foreign_texts, violation=violation, secrets=secrets)
        raised = self._exception_text(finding, exchange, secrets) if exchange else ""
        shape_of = (
            functools.partial(show_content, secrets=secrets, most=LONGEST, foreign=False) if self.made_up else _shape
        )
        found = replace(
            finding,
            test=name_of_test(item),
            node=item.nodeid,
            rerun=mask(rerun),
            sent=_call_text(exchange, request(exchange.ordered_request)) if exchange else "",
            raised=raised,
            raised_at=raised,
            fault=_planned_faults(exchange) if exchange else "",
            observed=mask(_observed_metrics(exchange, finding.requirement, secrets)) if exchange else "",
            problems=tuple(map(mask, violation.lines)),
            judged_on=_number_calls(judged_on, request),
            story=_story_lines(story, shape_of),
            trace=mask(self.trace),
        )
        if not self.full:
            return found
        shown = functools.partial(show_content, secrets=secrets, most=LONGEST, foreign=False)
        logged = tuple(_log_lines(exchange.observed.logs, secrets)) if exchange and self.logs else ()
        printed = [(title, text) for title, text in self.printed if not (logged and " log " in title)]
        escaped = exchange.fault.raised if exchange and exchange.fault else None
        whole = replace(
            found,
            sent=_call_text(exchange, shown(exchange.ordered_request)) if exchange else "",
            answer=self._answer(violation, exchange, secrets) if exchange and exchange.frames else "",
            raised=message_of(escaped, secrets) if escaped else raised,
            traceback=tuple(traceback_of(escaped, secrets)) if escaped else (),
            judged_on=_number_calls(judged_on, shown),
            story=_story_lines(story, shown),
            script=tuple(map(mask, self._script(violation))),
            logged=logged,
            printed=tuple(_printed_lines(printed, secrets)),
        )
        return replace(found, full=whole)

    def _story_of(self, violation: Violation) -> Story | None:
        """Return the sequence of calls that shows a violation.

        For a wrong read, these calls are the last writes of the same value, or else of the same namespace.
        """
        exchange = violation.exchange
        if violation.story or _supporting_calls(violation) or exchange is None or self._is_write(exchange):
            return violation.story
        named = [
            each
            for each in self._earlier_exchanges(violation)
            if not violation.about.isdisjoint(strings_of(each.request))
        ]
        writes = [*filter(self._is_write, named)] or self._writes(violation)
        return Story("the test had written:", tuple(writes[-MOST_WRITES:])) if writes else None

    def _earlier_exchanges(self, violation: Violation) -> list[Exchange]:
        """Return the test's exchanges before the violating exchange; all of them if another test made that exchange."""
        if violation.story:
            return [each for each in violation.story.exchanges if each is not violation.exchange]
        return list(itertools.takewhile(lambda each: each is not violation.exchange, self.notes.made))

    def _writes(self, violation: Violation) -> list[Exchange]:
        """Return the test's writes in the same namespace before the exchange that shows a violation."""
        place = _namespace(violation.exchange)
        earlier = filter(self._is_write, self._earlier_exchanges(violation))
        return [each for each in earlier if place in (None, _namespace(each))]

    def _is_write(self, exchange: Exchange) -> bool:
        """True if the test itself made an exchange that writes."""
        return exchange.op in BY_OP and BY_OP[exchange.op].mutating and exchange not in self.notes.recalled

    def _script(self, violation: Violation) -> list[str]:
        """Return shell commands that send the requests of a violation again; empty if that is impossible."""
        if self.target is None:
            return []
        exchange, writes, now = violation.exchange, self._writes(violation), time.time()
        made = (*(self._earlier_exchanges(violation) if violation.story else writes), *([exchange] if exchange else []))
        lines = shell.write_script(
            self.target,
            [
                shell.SentRequest(to_bytes(each.request).decode(), each.streaming, now, each.observed.faults)
                for each in made
            ],
        )
        reads = exchange is not None and _namespace(exchange) is not None and not self._is_write(exchange)
        return [WRITTEN_BEFORE, *lines] if lines and reads and not writes else lines

    def _mask_foreign_texts(self, request: Any, violation: Violation, secrets: tuple[str, ...]) -> str:
        """Return a request as text. A text that came from the adapter is replaced by its length.

        Such a text occurs in an earlier answer, but in no earlier request.
        """
        if not self.made_up:
            return _shape(request)
        before = self._earlier_exchanges(violation)
        asked = "\n".join(strings_of([each.request for each in before]))
        found = {text for each in before for frame in each.frames for text in strings_of(frame.body)}
        foreign = {each for each in found if len(each) >= SHORTEST and each not in VOCABULARY and each not in asked}
        own = map_value(request, lambda text: describe_size(text) if any(each in text for each in foreign) else text)
        return show_content(own, secrets, LONGEST, foreign=False)

    def _exception_text(self, finding: Finding, exchange: Exchange, secrets: tuple[str, ...]) -> str:
        """Return the exception of a call, or advice on how to make the cause of an unplanned error visible."""
        known, seen = _raised_exception(exchange, secrets), exchange.observed
        is_hidden = self.hears_logs and not (known or exchange.fault or seen.faults or any(seen.logs))
        return UNLOGGED if is_hidden and finding.got.startswith("the error Unavailable") else known

    def _answer(self, violation: Violation, exchange: Exchange, secrets: tuple[str, ...]) -> str:
        """Return the answer as text. A long stream is cut to its first and last frames and those around the fault."""
        made = [each.request for each in (*self._earlier_exchanges(violation), exchange)] if self.made_up else []
        own, bodies = {*strings_of(made)}, [frame.body for frame in exchange.frames]
        if not exchange.streaming:
            whole = show_content(bodies[-1], secrets, LONGEST + 1, foreign=True, own=own)
            if len(whole) <= LONGEST:
                return whole
            return show_content(abridge(bodies[-1], violation.path), secrets, LONGEST, foreign=True, own=own)
        at_fault = violation.frame or len(bodies)
        shown = {*range(1, FRAMES_AT_ENDS + 1), *range(at_fault - FRAMES_AROUND, at_fault + FRAMES_AROUND + 1)}
        shown |= {*range(len(bodies) - FRAMES_AT_ENDS + 1, len(bodies) + 1)}
        parts: list[str] = []
        for is_shown, group in itertools.groupby(enumerate(bodies, 1), key=lambda pair: pair[0] in shown):
            frames = list(group)
            if is_shown:
                most = LONGEST // max(1, len(shown))
                parts += [show_content(body, secrets, most, foreign=True, own=own) for _, body in frames]
            else:
                parts.append(f'"... frames {frames[0][0]} to {frames[-1][0]}"')
        return f"[{', '.join(parts)}]"


def _namespace(exchange: Exchange | None) -> object:
    """Return the namespace that a request names, or None."""
    args = exchange.request.get("args") if exchange and isinstance(exchange.request, Mapping) else None
    return args.get("namespace") if isinstance(args, Mapping) else None


def context_secrets(request: Any) -> list[str]:
    """Return the tenant and the idempotency key of a request. Leave out short values, which the suite did not make."""
    if not (context := context_of(request)):
        return []
    values = (context.get("tenant"), context.get("idempotency_key"))
    return [value for value in values if isinstance(value, str) and len(value) >= MADE_UP]


def mask_planted(text: str, planted: Iterable[str]) -> str:
    """Return a text in which the planted secrets and those of the environment are masked."""
    return mask_secrets(text, (*planted, *secret_values(os.environ))) if text else ""


def _supporting_calls(violation: Violation) -> Sequence[Exchange]:
    """Return the last calls that a finding is based on; empty if there is only one, or if a `Story` shows them."""
    several = len(violation.exchanges) > 1 and violation.story is None
    return violation.exchanges[-MOST_JUDGED:] if several else ()


def _shape(request: Any) -> str:
    return show_shape(request, LONGEST)


def _call_text(exchange: Exchange, request: str) -> str:
    return f"{'handle_stream' if exchange.streaming else 'handle'} {request}"


def _planned_faults(exchange: Exchange) -> str:
    return ", ".join(
        f"{kind} (HTTP {BY_KIND[kind].http_status})" if BY_KIND[kind].http_status else kind
        for kind in dict.fromkeys(exchange.observed.faults)
    )


def _raised_exception(exchange: Exchange, secrets: tuple[str, ...]) -> str:
    """Return the exception of a call without its message: an exception that escaped, or one that the adapter logged.

    A logged exception is not shown if its type or place also occurs in a text of the call, and so may be content.
    """
    if exchange.fault is not None:
        return mask_secrets(str(exchange.fault.raised), secrets) if exchange.fault.raised else ""
    last = exchange.frames[-1].body if exchange.frames else None
    is_error = isinstance(last, Mapping) and last.get("ok") is False
    logged = logged_exception(exchange.observed.logs) if is_error else None
    parts, texts = (logged.type, str(logged.place)) if logged else (), ["", *_content_texts(exchange)]
    is_content = any(mask_secrets(part, secrets) != part or part in text for part in parts for text in texts)
    return f"{logged}  (logged)" if logged and not is_content else ""


def _observed_metrics(exchange: Exchange, requirement: str, secrets: tuple[str, ...]) -> str:
    if "-OBS-" not in requirement:
        return ""
    label = functools.partial(_label_text, contents=_content_texts(exchange), secrets=secrets)
    every = [
        _observation_text(each, label) if isinstance(each, Observation) else _count_text(each, label)
        for each in reports_of(exchange)
    ]
    more = f" and {len(every) - MOST_OBSERVATIONS} more" if len(every) > MOST_OBSERVATIONS else ""
    return "; ".join(every[:MOST_OBSERVATIONS]) + more if every else "nothing"


def _observation_text(seen: Observation, label: Callable[[object], str]) -> str:
    labels = {"component": seen.component, "op": seen.op, "ms": seen.ms, "ok": seen.ok, "code": seen.code}
    return ", ".join(f"{name}={label(_round_number(value))}" for name, value in labels.items()) + _own_labels_text(
        seen.extra, label
    )


def _count_text(count: Count, label: Callable[[object], str]) -> str:
    return f"counter {label(count.name)} by {label(count.value)}{_own_labels_text(count.extra, label)}"


def _own_labels_text(labels: Mapping[str, Any], label: Callable[[object], str]) -> str:
    """Return the adapter's own labels of a metric as text; labels with unusual names are only counted."""
    named = {name: value for name, value in labels.items() if list_keys("", [name]) == f" {name}"}
    shown = [f"{name}={label(value)}" for name, value in sorted(named.items())]
    if others := len(labels) - len(named):
        shown.append(f"{others} with unusual names")
    return f", extra: {', '.join(shown)}" if shown else ""


def _content_texts(exchange: Exchange) -> list[str]:
    """Return the texts of a request and of its answer, except operation and model names."""
    bodies = [exchange.request, *(frame.body for frame in exchange.frames)]
    found = {*strings_of(bodies)} - {*_strings_under(bodies, ("op", "model"))}
    return [text for text in found if len(text) >= SHORTEST and text not in VOCABULARY]


def _strings_under(value: Any, keys: Sequence[str]) -> Iterator[str]:
    """Yield the strings that a JSON value has under some keys, at any depth."""
    if isinstance(value, Mapping):
        yield from (item for name, item in value.items() if name in keys and isinstance(item, str))
    if isinstance(value, (list, Mapping)):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _strings_under(item, keys)


def _label_text(value: object, contents: Sequence[str], secrets: tuple[str, ...]) -> str:
    """Return a metric's label as text; a label that contains a secret or a text of the call is only described."""
    if not isinstance(value, str) or value in VOCABULARY or not is_plain_identifier(value):
        return describe_word(value)
    holds_content = any(text in value or (value in text and len(value) > SHORTEST) for text in contents)
    return describe_word(value) if holds_content or mask_secrets(value, secrets) != value else f'"{value}"'


def _round_number(value: object) -> object:
    return round(value, 1) if isinstance(value, float) else value


def _log_lines(records: Sequence[str], secrets: tuple[str, ...]) -> Iterator[str]:
    """Yield the first line of each of the last log records. Show a repeated line once, with the number of times."""
    times = Counter(
        shorten(show_foreign_text(each.partition("\n")[0], secrets), LONGEST_STRING) for each in records if each
    )
    if len(times) > MOST_RECORDS:
        yield f"... {len(times) - MOST_RECORDS} records before"
    for line, number in [*times.items()][-MOST_RECORDS:]:
        yield line + (f"  ({number} times)" if number > 1 else "")


def _printed_lines(sections: Sequence[tuple[str, str]], secrets: tuple[str, ...]) -> Iterator[str]:
    for title, text in sections:
        lines = text.rstrip("\n").splitlines()
        more = [f"... {len(lines) - MOST_LINES} lines before"] if len(lines) > MOST_LINES else []
        shown = [show_foreign_text(each, secrets) for each in lines[-MOST_LINES:]]
        yield from (f"[{title}] {line}" for line in (*more, *shown))


def _story_lines(story: Story | None, shown: Callable[[Any], str]) -> tuple[str, ...]:
    """Return the description and the numbered calls of a sequence; `shown` makes requests safe to show."""
    return (*story.text.splitlines(), *_number_calls(story.exchanges, shown)) if story else ()


def _number_calls(exchanges: Sequence[Exchange], shown: Callable[[Any], str]) -> tuple[str, ...]:
    """Return the calls as numbered lines; `shown` makes requests safe to show."""
    return tuple(
        f"{number}. {_call_text(each, shown(each.ordered_request))}" for number, each in enumerate(exchanges, 1)
    )
