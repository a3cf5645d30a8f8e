"""A plugin that compares the call in each finding's evidence with the call that the finding is based on."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

import pytest

from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.integration.declaring.properties import RECORD, values_of
from pytest_corpus.integration.running.execution_hooks import EXECUTION
from pytest_corpus.kit.outcomes import ABSENT, Keys, Violation
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.redaction import STARS
from pytest_corpus.verdict.finding import Finding
from pytest_corpus.verdict.ledger import TestRecord

ON_NO_CALL = ("COM-CAP-9",)
"""Requirements that something is missing, which no call can show."""

DESCRIBED = ("the error ", "a success", "a stream ", "no answer (", "nothing")
"""The first words of descriptions of a complete answer."""

PARTS = {"result": "result", "chunk": "chunk", "details": "error", "retry_after_ms": "error"}
"""The first key of a path into an answer, and a key that such an answer has."""


class Witness:
    """A plugin that notes the findings whose evidence does not show the call that they are based on."""

    def __init__(self) -> None:
        self.misplaced: list[str] = []

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        execution = item.stash.get(EXECUTION, None)
        if call.when == "call" and execution is not None and execution.result is not None:
            shown = [each for text in values_of(report, RECORD) for each in TestRecord.load(text).findings]
            for violation, finding in zip(execution.result.notes.violations, shown, strict=True):
                said = "; ".join(find_contradictions(violation, finding)) if finding.node else ""
                if said:
                    self.misplaced.append(f"{violation.requirement} in {item.name}: {said} ({violation})")
        return report


def find_contradictions(violation: Violation, shown: Finding) -> Iterator[str]:
    """Yield the differences between the evidence of a finding and the exchange that it is based on."""
    if not violation.exchanges:
        if not (violation.story or violation.requirement in ON_NO_CALL):
            yield "it was judged on no call"
        return
    judged = violation.exchanges[-1]
    if violation.story is None and shown.sent.partition(" ")[0] != ("handle_stream" if judged.streaming else "handle"):
        yield f"the entry point of another call is shown: {shown.sent[:40]}"
    is_masked = STARS in shown.sent.partition(", ")[0]
    if violation.story is None and judged.op and not is_masked and f'"op": "{judged.op}"' not in shown.sent:
        yield f"{judged.op} was judged, and shown is {shown.sent[:60]}"
    if not any(str(found) == str(violation) for found in judged.findings or ()):
        yield from _of_the_answer(violation, judged)


def _of_the_answer(violation: Violation, judged: Exchange) -> Iterator[str]:
    """Yield the differences between the answer of an exchange and the description in a violation."""
    reply = StreamReply(judged) if judged.streaming else Reply(judged)
    got, key = violation.got, violation.path.partition(".")[0]
    if got.startswith(DESCRIBED) and not got.startswith((str(reply), "nothing ")) and len(got) > len("nothing"):
        yield f"the answer is {reply}"
    bodies = [frame.body for frame in judged.frames if isinstance(frame.body, dict)]
    if key in PARTS and judged.fault is None and not any(PARTS[key] in body for body in bodies):
        yield f"the answer has no {PARTS[key]}"
    if violation.frame > len(judged.frames) + 1:
        yield f"it has {len(judged.frames)} frames"
    results = [body["result"] for body in bodies if "result" in body]
    if violation.path.startswith("result.") and not all(isinstance(result, dict) for result in results):
        yield "its result is not an object"
    if isinstance(violation.found, Keys):
        return
    if violation.found not in (ABSENT, None) and not any(violation.found == each for each in _values(judged)):
        yield f"the value {violation.found!r} is not in the answer"


def _values(judged: Exchange) -> Iterator[Any]:
    """Yield every value in an answer, and in the metrics of the call."""
    reports: list[Any] = [*judged.observed.observations, *judged.observed.counts]
    stack: list[Any] = [frame.body for frame in judged.frames]
    stack += [value for report in reports for value in (report.component, *members_of(report).values())]
    while stack:
        value = stack.pop()
        yield value
        stack += value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def members_of(report: Any) -> dict[str, Any]:
    """Return the members of a report."""
    return {name: getattr(report, name) for name in type(report).__slots__}
