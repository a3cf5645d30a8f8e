"""The outcomes of tests that do not pass. They hold values; only this module makes the text of a violation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pytest_corpus.adapter.exceptions import UNCALLABLE
from pytest_corpus.kit.judgement import exchanges_read
from pytest_corpus.redaction import OWN_NAME, describe_word, list_keys, redact_path
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.text.problems import Problem

if TYPE_CHECKING:
    from pytest_corpus.adapter.exchange import Exchange

ABSENT: Final = object()
"""The default of `found`. None cannot be the default, because it stands for null."""


MOST_NAMES = 2
_COUNTED = (
    "answer|byte|call|character|dimension|edge|embedding|failure|frame|id|item|key|label|letter|match|name|node|"
    "observation|operation|path|quer|record|result|step|text|time|token|vector|word"
)
_PLURAL = re.compile(rf"(?<![\d.,])(1 (?:\w+ )?)({_COUNTED})(ies|es|s)\b")
_SHOWN = re.compile(rf"{OWN_NAME.pattern}|[a-z][0-9]?")  # names of the suite, or their ends in a place


class Keys(tuple[object, ...]):
    """The keys that an adapter chose. Keys that look like names are shown, the others are counted."""


def describe(found: object) -> str:
    """Return a value as text: a word of the protocol, a number, or its kind and size, but never content."""
    return list_keys("the key", found) if isinstance(found, Keys) else describe_word(found)


def describe_names(names: Collection[object]) -> str:
    """Return the number of names as text, and with it the first few names that the suite made."""
    own = sorted(name for name in names if isinstance(name, str) and _SHOWN.fullmatch(name))[:MOST_NAMES]
    more = ", ..." if own and len(own) < len(names) else ""
    return f"{len(names)} ({', '.join(own)}{more})" if own else str(len(names))


def difference(wanted: Iterable[object], found: Iterable[object]) -> str:
    """Return the numbers of missing and of surplus names as text, each with the first few names."""
    right, there = Counter(map(str, wanted)), Counter(map(str, found))
    missing, more = [*(right - there).elements()], [*(there - right).elements()]
    return f"{describe_names(missing)} missing, {describe_names(more)} too many"


def use_singular_after_one(text: str) -> str:
    """Return a text with singular nouns after a 1, as in `1 node`."""
    return _PLURAL.sub(lambda found: f"{found[1]}{found[2]}y" if found[3] == "ies" else f"{found[1]}{found[2]}", text)


def _describe_problem(problem: Problem) -> str:
    """Describe a broken rule of a schema, with the value that breaks it if the value may be shown."""
    is_named = not problem.found or problem.message.endswith(f", is {problem.found}")
    return problem.message if is_named else f"{problem.message}, found {problem.found}"


def _last_key(path: str) -> str:
    """Return the last key of a path, with the indexes after it."""
    *_, last = re.split(r"\.(?!\d+(?:\.|$))", redact_path(path))
    return last


@dataclass(frozen=True, slots=True)
class Story:
    """A sequence of calls that leads to a violation.

    Attributes:
        text: a line about the calls; for concurrent calls a drawing instead of exchanges.
    """

    text: str
    exchanges: tuple[Exchange, ...] = ()


class Violation(AssertionError):
    """The adapter violates the tested sentence.

    Args:
        expected: the demand of the sentence, in words of the suite.
        got: the answer, in words of the suite; not needed with `found` or `problems`.
        path: the place in the answer, in words of the suite, e.g. ``result.usage.total_tokens``.
        found: the value in the answer, with any content.
        problems: all errors in the answer; the first error is the finding.
        frame: the number of the frame of a stream, from 1.
        about: the names of wrong things in a store, if they are known.
        story: the calls that lead to the violation, if one call alone does not show it.

    Attributes:
        exchanges: the exchanges that it was judged on; the last one shows it. These are the exchanges that the test
            read since the last condition that held; `attach_exchanges` sets others.
        requirement: the id of the violated requirement, once it is known (`for_requirement`).
        indirect: True if the requirement only blocks the test that found the violation.
    """

    def __init__(
        self,
        expected: str,
        got: str = "",
        path: str = "",
        *,
        found: object = ABSENT,
        problems: tuple[Problem, ...] = (),
        frame: int = 0,
        about: Iterable[str] = (),
        story: Story | None = None,
    ) -> None:
        self.expected, self.found, self.problems, self.frame = use_singular_after_one(expected), found, problems, frame
        self.about, self.story = frozenset(about), story
        self.exchanges = exchanges_read()
        self.requirement, self.indirect = "", False
        self._got, self._path = use_singular_after_one(got), path
        super().__init__(expected, got, path)

    @property
    def got(self) -> str:
        """The answer as text: keys, types, codes and numbers, never content."""
        if not self.problems:
            return self._got if self.found is ABSENT else describe(self.found)
        name = _last_key(self.problems[0].path) or (f"frame {self.frame}" if self.frame else "the answer")
        return f"{name} {_describe_problem(self.problems[0])}"

    @property
    def path(self) -> str:
        """The place in the answer, without keys that may be content."""
        path = redact_path(self.problems[0].path) if self.problems else self._path
        return ", ".join(part for part in (f"frame {self.frame}" if self.frame else "", path) if part)

    @property
    def lines(self) -> tuple[str, ...]:
        """All errors in the answer, one error per line."""
        places = (redact_path(each.path) or ("(root)" if each.schema else "") for each in self.problems)
        return tuple(
            f"{where} {_describe_problem(each)}".strip() for where, each in zip(places, self.problems, strict=True)
        )

    @property
    def exchange(self) -> Exchange | None:
        """The exchange that shows the violation, or the last exchange of its story; None if no exchange was read."""
        shown = self.story.exchanges if self.story else self.exchanges
        return shown[-1] if shown else None

    def attach_exchanges(self, *exchanges: Exchange) -> Violation:
        """Set the exchanges that the violation is judged on, and return the violation."""
        self.exchanges = exchanges
        return self

    def for_requirement(self, requirement: str, *, indirect: bool = False) -> Violation:
        """Return the violation for this requirement: itself, or a copy if it already belongs to another requirement."""
        found = self
        if self.requirement not in ("", requirement):  # the audit keeps its own copy
            found = type(self).__new__(type(self), *self.args)
            vars(found).update(vars(self))
        found.requirement, found.indirect = requirement, indirect
        return found

    def __str__(self) -> str:
        where = f" at {self.path}" if self.path else ""
        return f"expected {self.expected}; got {self.got or 'something else'}{where}"


Violations = Iterator[tuple[str, Violation]]
"""Yields pairs: the id of a requirement, and a violation of this requirement."""


class UnexpectedSuccess(Violation):
    """A success although the sentence requires a refusal.

    Attributes:
        wanted: the classes of errors that would be correct.
    """

    def __init__(self, expected: str, got: str, wanted: tuple[str, ...] = ()) -> None:
        self.wanted = wanted
        super().__init__(expected, got)


class WrongRefusal(Violation):
    """A refusal with another class than the sentence requires.

    Attributes:
        wanted: the classes that would be correct.
        names: the classes that the refusal names.
    """

    def __init__(self, expected: str, got: str, wanted: tuple[str, ...], names: tuple[str, ...]) -> None:
        self.wanted, self.names = wanted, names
        super().__init__(expected, got)


class Undecided(Exception):
    """A test without a verdict; the subclass gives the reason."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class NotApplicable(Undecided):
    """The adapter truthfully does not offer the feature that the requirement is about."""


class NotAssessed(Undecided):
    """A hook is missing, or the test could not observe a necessary fact.

    Args:
        obstacle: a row of the table of obstacles, or the message of an exception.
        values: the values in the text of the obstacle.

    Attributes:
        keyword: the factory keyword that would make the test assessable, or an empty string.
    """

    def __init__(self, obstacle: Obstacle | str, **values: object) -> None:
        self.keyword = str(values.get("keyword", ""))
        super().__init__(obstacle.reason(**values) if isinstance(obstacle, Obstacle) else obstacle)


class QuotaUsedUp(NotAssessed):
    """The quota for data that the suite writes is used up (R115)."""


class Outage(NotAssessed):
    """The provider behind the adapter does not answer; the reason states since when."""


class Blocked(NotAssessed):
    """Another requirement is violated, which prevents a verdict.

    The violation was observed. If a violation is only possible, the outcome is `NotAssessed`.

    Attributes:
        by: the id of the violated requirement.
        seen: the observed behaviour, in the kit's words.
        violation: the violation, if a separate check found one.
        exchanges: the exchanges that show the violation; the last one shows it best, as in `Violation.exchanges`.
    """

    def __init__(
        self, by: str, seen: str, *, violation: Violation | None = None, judged_on: tuple[Exchange, ...] | None = None
    ) -> None:
        self.by, self.seen, self.violation = by, seen, violation
        known = violation.exchanges if violation else exchanges_read()
        self.exchanges = known if judged_on is None else judged_on
        super().__init__(Obstacle.BLOCKED, requirement=by, seen=seen)


NOT_ANSWERED = (*UNCALLABLE, Outage)
"""The exceptions after which no more calls are made."""
