"""The errors of declarations and refused calls. Each is a sentence for the user."""

from pytest_corpus.text.problems import PlainError


class DeclarationError(PlainError):
    """The declared adapter or client cannot be tested; `str()` names the declaration, the fault and the remedy.

    `shape` is the fault without the text of an exception.
    """

    def __init__(self, declared: str, fault: str, remedy: str = "", *, kind: str = "adapter", shape: str = "") -> None:
        self.declared, self.fault, self.remedy, self.kind, self.shape = declared, fault, remedy, kind, shape
        super().__init__(declared, fault, remedy)

    def __str__(self) -> str:
        return self._sentence(self.fault)

    def sentence_without_content(self) -> str:
        """Return the sentence of the error without the text of an exception."""
        return self._sentence(self.shape or self.fault)

    def _sentence(self, fault: str) -> str:
        said = f"corpus {self.kind} {self.declared!r}: {fault}"
        return f"{said}; {self.remedy}" if self.remedy else said


class WriteForbidden(Exception):
    """The error for a write that is not sent, because the client only reads."""

    def __init__(self, op: str) -> None:
        self.op = op
        super().__init__(op)

    def __str__(self) -> str:
        return f"{self.op} writes, and this run only reads"


class MissingAnswer(Exception):
    """The error for a request that may not be sent and has no recorded answer. Its text `full` may show the request."""

    def __init__(self, shape: str, full: str = "") -> None:
        super().__init__(shape)
        self.shape, self.full = shape, full or shape


class BudgetSpent(Exception):
    """The error for a call that is not made, because `--corpus-budget` allows no more calls."""

    def __init__(self, budget: str) -> None:
        self.budget = budget
        super().__init__(budget)

    def __str__(self) -> str:
        return f"the budget of {self.budget} is spent"


class Unresponsive(Exception):
    """The error for a call to an operation that exceeded the time limit too often, so it is not called again.

    Attributes:
        moving: True if a stream still sent frames at the limit, and might have ended later.
    """

    def __init__(self, op: str, *, moving: bool = False) -> None:
        self.op, self.moving = op, moving
        super().__init__(op)

    def __str__(self) -> str:
        if self.moving:
            return f"{self.op} exceeded the time limit several times and is no longer called"
        return f"{self.op} did not answer several times and is not called any more"


UNCALLABLE = (BudgetSpent, DeclarationError, MissingAnswer, Unresponsive, WriteForbidden)
"""The reasons why a call is not made, or has no answer that could be judged."""
