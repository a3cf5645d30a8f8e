"""The evidence of a finding, for the terminal and for the formats that show it.

It travels with the record of its test and is never in the JSON report.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Literal

from pytest_corpus.text.values import from_json_value

Level = Literal["shape", "full"]
LEVELS: tuple[Level, ...] = ("shape", "full")


@dataclass(frozen=True, slots=True)
class Content:
    """The evidence that only the level `full` shows, with planted secrets and credentials masked.

    Attributes:
        sent: the entry point and the request, in one line.
        answer: the received frames, in one line.
        raised: the exception that the adapter raised, with its message.
        traceback: one line per frame of the adapter, outermost first, and one per cause.
        judged_on: the calls that the finding was judged on, one per line, if there are several.
        story: the calls that led to the finding, one per line.
        script: commands that send the request again, or all requests of the story.
        logged: the log of the call, one line per record.
        printed: the output and log of the test as pytest captured them, without the records in `logged`.
    """

    sent: str = ""
    answer: str = ""
    raised: str = ""
    traceback: tuple[str, ...] = ()
    judged_on: tuple[str, ...] = ()
    story: tuple[str, ...] = ()
    script: tuple[str, ...] = ()
    logged: tuple[str, ...] = ()
    printed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence of one finding of one test: keys, types, codes, numbers, optionally the content.

    Attributes:
        adapter, component, requirement, test: the origin of the finding, as in the report.
        expected, got, path: the finding, as in the report.
        node: pytest's id of the test.
        rerun: the command that shows the finding again.
        sent: the entry point and the shape of the request.
        raised: type and place of the exception that the adapter raised.
        fault: the planned fault of the provider that occurred.
        observed: the observations that arrived instead.
        problems: every problem of an answer that breaks a schema.
        judged_on: the shapes of the last calls that were looked at to find it, if they are several.
        story: a line on the calls that led there, and their shapes, if one alone does not show it.
        trace: the traceback through the suite, if requested.
        content: None at the level `shape`.
    """

    adapter: str
    component: str
    requirement: str
    test: str
    node: str
    rerun: str
    expected: str = ""
    got: str = ""
    path: str = ""
    sent: str = ""
    raised: str = ""
    fault: str = ""
    observed: str = ""
    problems: tuple[str, ...] = ()
    judged_on: tuple[str, ...] = ()
    story: tuple[str, ...] = ()
    trace: str = ""
    content: Content | None = None

    def at(self, level: Level) -> Evidence:
        """The part of the evidence that a level shows."""
        return self if level == "full" else replace(self, content=None)


def dump(found: Iterable[Evidence]) -> str:
    """Encode evidence as a JSON text, to send it to another process."""
    return json.dumps([asdict(each) for each in found])


def load(text: object) -> tuple[Evidence, ...]:
    """Decode evidence that `dump` wrote. Raises ValueError for any other text."""
    try:
        return tuple(from_json_value(Evidence, each) for each in json.loads(text))  # type: ignore[arg-type]
    except (TypeError, AttributeError) as error:
        raise ValueError("not evidence") from error
