"""How a test ends when it does not simply pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_corpus.adapter.exchange import Exchange


class Violation(AssertionError):
    """The adapter does not keep the sentence under test.

    Attributes:
        expected: what the sentence asks for, in the kit's words.
        got: what came instead, as keys, types, codes and numbers; never content.
        path: where in the answer, e.g. ``result.usage.total_tokens``.
        replay: the requests that led to it, for the terminal, where one alone does not show it.
        problems: everything that is wrong with the answer, where that is more than one thing.
        exchange: the exchange that shows it, where that is known; else it is the last one of the test.
    """

    exchange: Exchange | None = None

    def __init__(
        self, expected: str, got: str = "", path: str = "", replay: str = "", problems: tuple[str, ...] = ()
    ) -> None:
        self.expected, self.got, self.path, self.replay = expected, got, path, replay
        self.problems = problems
        super().__init__(expected, got, path)

    def seen_in(self, exchange: Exchange) -> Violation:
        """Itself, with the exchange that shows it."""
        self.exchange = exchange
        return self

    def __str__(self) -> str:
        where = f" at {self.path}" if self.path else ""
        return f"expected {self.expected}; got {self.got or 'something else'}{where}"


class Accepted(Violation):
    """A success where the sentence asks for a refusal: nothing that was written or seen before explains it.

    Attributes:
        wanted: the classes of errors that would do.
    """

    def __init__(self, expected: str, got: str, wanted: tuple[str, ...] = ()) -> None:
        self.wanted = wanted
        super().__init__(expected, got)


class Misclassified(Violation):
    """A refusal of another class than the sentence asks for.

    Attributes:
        wanted: the classes that would do.
        names: the classes that it names.
    """

    def __init__(self, expected: str, got: str, wanted: tuple[str, ...], names: tuple[str, ...]) -> None:
        self.wanted, self.names = wanted, names
        super().__init__(expected, got)


class Undecided(Exception):
    """A test that could not come to a verdict; its subclasses say why."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class NotApplicable(Undecided):
    """The adapter truthfully does not offer what the sentence speaks of."""


class NotAssessed(Undecided):
    """A hook is missing or the test could not see what it needs.

    Attributes:
        keyword: the factory keyword that would make it assessable, or an empty string.
    """

    def __init__(self, reason: str, keyword: str = "") -> None:
        self.keyword = keyword
        super().__init__(reason)


class Full(NotAssessed):
    """A quota for what the suite writes is used up (R115)."""


class Outage(NotAssessed):
    """The provider behind the adapter does not answer; the reason says since when."""


class Blocked(NotAssessed):
    """Another requirement is broken, as was seen here, and stands in the way.

    What only may be its fault, or could not be found out, is `NotAssessed`: whatever blocks is found violated.

    Attributes:
        by: the id of that requirement.
        seen: what was seen of it, in the kit's words.
        violation: the violation of it, where a check of its own found one.
        evidence: the exchange in which it was seen, where that is not the last one of the test.
    """

    def __init__(
        self, by: str, seen: str, *, violation: Violation | None = None, evidence: Exchange | None = None
    ) -> None:
        self.by, self.seen, self.violation, self.evidence = by, seen, violation, evidence
        super().__init__(f"blocked by {by}: {seen}")
