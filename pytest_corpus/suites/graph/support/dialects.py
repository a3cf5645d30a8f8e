"""The words in which the adapter takes the probe queries (R33)."""

from collections.abc import Callable, Mapping

from pytest_corpus.kit.outcomes import Blocked, NotApplicable, NotAssessed, Undecided
from pytest_corpus.kit.reply import Reply
from pytest_corpus.spec.dialects import Dialect

UNKNOWN = Dialect("", {}, certain=False)
"""A language that the suite does not know."""

BASIC = ("find", "group")
"""The questions that any adapter of a language can be asked."""


class Dialects:
    """The dialects that an adapter lists and the suite knows, and the first spelling of each question that it takes."""

    def __init__(self, listed: tuple[str, ...], table: Mapping[str, Dialect]) -> None:
        self.listed, self._table = listed, table
        self.known = tuple(name for name in listed if name.lower() in table)
        self._taken: dict[tuple[str, str], str] = {}
        self._refused: dict[tuple[str, str], list[Reply]] = {}

    def row(self, dialect: str) -> Dialect:
        """The probe queries of a language; none if it is unknown."""
        return self._table.get(dialect.lower(), UNKNOWN)

    def texts(self, purpose: str, dialect: str) -> tuple[str, ...]:
        """Every spelling of a question."""
        return self.row(dialect).spellings.get(purpose, ())

    def was_tried(self, purpose: str, dialect: str) -> bool:
        """Return whether the spelling that is taken is known, if there is one."""
        return (dialect, purpose) in self._taken

    def attempt(self, purpose: str, dialect: str, attempt: Callable[[str], Reply]) -> None:
        """Find the first spelling that `attempt` is not refused with; the most usual one where all are."""
        asked = dialect, purpose
        texts = self.texts(purpose, dialect)
        refused = self._refused[asked] = []
        for text in texts:
            reply = attempt(text)
            if not reply.is_a("BadRequest", "NotSupported"):
                self._taken[asked] = text
                refused.clear()
                break
            refused.append(reply)
        self._taken.setdefault(asked, texts[0] if texts else "")

    def text(self, purpose: str, dialect: str) -> str:
        """The spelling of a question that was tried."""
        return self._taken[dialect, purpose]

    def obstacle(self, purpose: str, dialect: str) -> Undecided | None:
        """The reason why a question that was tried cannot be asked; None if it can."""
        refused = self._refused.get((dialect, purpose))
        if not self._taken.get((dialect, purpose)):
            return NotAssessed(f"no probe query {purpose!r} for {dialect}: give one with --corpus-dialects")
        if not refused:
            return None
        if purpose in BASIC and self.row(dialect).certain and all(reply.is_a("BadRequest") for reply in refused):
            return Blocked("GRA-QUERY-1", f"every spelling of a plain {dialect} query is refused: {refused[0]}")
        if purpose in BASIC and all(reply.is_a("NotSupported") for reply in refused):
            return Blocked("GRA-DIALECT-2", f"a plain {dialect} query, though listed, is answered with {refused[0]}")
        if purpose not in BASIC and all(reply.is_a("NotSupported") for reply in refused):
            return NotApplicable(f"what the probe query {purpose!r} asks is not supported")
        return NotAssessed(f"no spelling of the probe query {purpose!r} is taken: give one with --corpus-dialects")
