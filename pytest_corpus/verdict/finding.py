"""A finding: a violation in the form that is kept, sent to other processes and rendered."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

Level = Literal["shape", "full"]
LEVELS: tuple[Level, ...] = ("shape", "full")


@dataclass(frozen=True, slots=True)
class Finding:
    """A violation of a requirement that a test found.

    `integration/running/evidence.py` makes it from the `Violation`. The first five members are the fact: findings are
    equal if these are equal, and the JSON report contains only these. The other members tell where the fact was found,
    and give evidence without content: keys, types, codes and numbers. Only `full` has content, with masked secrets.

    Attributes:
        indirect: True if the requirement only blocks the test, and another test checks it more precisely.
        adapter, component, tested, found_by: the test that found it; `tested` is its requirement, `found_by` its id.
        test, node: the test that made the call, by the name in the report and pytest's id.
        rerun: the command that shows the finding again.
        sent: the entry point and the request.
        answer: the received frames, in one line.
        raised: the exception that the adapter raised; `raised_at` has its type and place alone.
        fault: the planned fault of the provider that occurred.
        observed: the received observations.
        problems: every problem of an answer that breaks a schema.
        traceback: one line per frame of the adapter, outermost first, and one per cause.
        judged_on: the last calls that the finding was judged on, if there are several.
        story: a line about the calls that led to the finding, and these calls; empty if one call shows the finding.
        script: commands that send the request again, or all requests of the story.
        logged: the log of the call, one line per record.
        printed: the output and log of the test as pytest captured them, without the records in `logged`.
        trace: the traceback through the suite, if requested.
        full: the same finding with content; None if content is not wanted.
    """

    requirement: str
    expected: str
    got: str = ""
    path: str = ""
    indirect: bool = False
    adapter: str = field(default="", compare=False)
    component: str = field(default="", compare=False)
    tested: str = field(default="", compare=False)
    found_by: str = field(default="", compare=False)
    test: str = field(default="", compare=False)
    node: str = field(default="", compare=False)
    rerun: str = field(default="", compare=False)
    sent: str = field(default="", compare=False)
    answer: str = field(default="", compare=False)
    raised: str = field(default="", compare=False)
    raised_at: str = field(default="", compare=False)
    fault: str = field(default="", compare=False)
    observed: str = field(default="", compare=False)
    problems: tuple[str, ...] = field(default=(), compare=False)
    traceback: tuple[str, ...] = field(default=(), compare=False)
    judged_on: tuple[str, ...] = field(default=(), compare=False)
    story: tuple[str, ...] = field(default=(), compare=False)
    script: tuple[str, ...] = field(default=(), compare=False)
    logged: tuple[str, ...] = field(default=(), compare=False)
    printed: tuple[str, ...] = field(default=(), compare=False)
    trace: str = field(default="", compare=False)
    full: Finding | None = field(default=None, compare=False)

    @property
    def fact(self) -> dict[str, Any]:
        """The members that make findings equal, by name, as in reports and transcripts."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.compare}

    def at_level(self, level: Level) -> Finding:
        """Return the finding with the evidence that a level shows."""
        return self.full or self if level == "full" else replace(self, full=None)
