"""The evidence of a finding, for the terminal and for the formats that show it.

It travels with the record of its test and never becomes part of the JSON document.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

Level = Literal["shape", "full"]
LEVELS: tuple[Level, ...] = ("shape", "full")


@dataclass(frozen=True, slots=True)
class Content:
    """What is shown at the level `full` alone, planted secrets and credentials masked; empty where there is none.

    Attributes:
        sent: the entry point and the request, in one line.
        answer: the frames that came back, in one line.
        raised: the exception that the adapter let escape, with what it says of itself.
        traceback: a line for each frame of the adapter's, the outermost first, and one for each exception behind it.
        replay: the requests that led there, a line each.
        logged: what was logged during the call, a line for each record.
        printed: what was printed and logged during the test, as pytest captured it; without `logged`, if that is told.
    """

    sent: str = ""
    answer: str = ""
    raised: str = ""
    traceback: tuple[str, ...] = ()
    replay: tuple[str, ...] = ()
    logged: tuple[str, ...] = ()
    printed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence of one finding of one test: keys, types, codes, numbers, optionally the content.

    Attributes:
        adapter, component, requirement, test: whose finding it is, as in the report.
        node: pytest's id of the test.
        rerun: the command that shows the finding again.
        sent: the entry point and the shape of the request.
        raised: type and place of the exception that the adapter let escape.
        fault: which fault of the provider struck.
        observed: what the metrics hook was told instead.
        problems: of an answer that breaks a schema, everything that is wrong with it.
        replay: the shapes of the requests that led there, where one alone does not show it.
        trace: the traceback through the suite, where that was asked for.
        content: None at the level `shape`.
    """

    adapter: str
    component: str
    requirement: str
    test: str
    node: str
    rerun: str
    sent: str = ""
    raised: str = ""
    fault: str = ""
    observed: str = ""
    problems: tuple[str, ...] = ()
    replay: tuple[str, ...] = ()
    trace: str = ""
    content: Content | None = None

    def at(self, level: Level) -> Evidence:
        """Return the part that a level shows."""
        return self if level == "full" else replace(self, content=None)


def dump(found: Iterable[Evidence]) -> str:
    """Evidence as a JSON text, to travel between processes."""
    return json.dumps([asdict(each) for each in found])


def load(text: object) -> tuple[Evidence, ...]:
    """The evidence that `dump` wrote.

    Raises:
        ValueError: it is something that `dump` does not write.
    """
    try:
        return tuple(_evidence(each) for each in json.loads(text))  # type: ignore[arg-type]
    except (TypeError, AttributeError, KeyError) as error:
        raise ValueError("no evidence") from error


def _evidence(data: dict[str, Any]) -> Evidence:
    content = data.pop("content")
    lists = {key: tuple(value) for key, value in data.items() if isinstance(value, list)}
    return Evidence(**{**data, **lists}, content=None if content is None else _content(content))


def _content(data: dict[str, Any]) -> Content:
    lists = {key: tuple(value) for key, value in data.items() if isinstance(value, list)}
    return Content(**{**data, **lists})
