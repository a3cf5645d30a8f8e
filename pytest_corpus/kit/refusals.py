"""One root cause, one finding: a wrong class that the plainest bad requests get is not found again in every refusal.

Only a refusal of that very class where BadRequest belongs is explained by it: what is accepted, or refused with yet
another class, stays a finding of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_corpus.kit.outcomes import Blocked, Misclassified, Violation
from pytest_corpus.spec.errors import is_a

if TYPE_CHECKING:
    from pytest_corpus.kit.component import Subject

NO_ARGUMENTS = "COM-WIRE-7"
"""The requirement that says that `args` of the wrong type is refused with BAD_REQUEST."""


@dataclass(frozen=True, slots=True)
class WrongErrorClass:
    """A wrong class that bad requests get: its names, and the requirement that it is found by."""

    root: str
    names: tuple[str, ...]


def wrong_error_class(subject: Subject) -> WrongErrorClass | None:
    """The one wrong class that wrong arguments of two operations get, those of the principal one among them."""
    subject.client.provider.clear()
    named = _names(subject, subject.principal)
    others = [name for name in subject.operations(streaming=False) if name != subject.principal]
    other = next((name for name in others if subject.wrong_types(name) and subject.works(name)), None)
    if named is None or other is None or _names(subject, other) != named:
        return None
    bare = subject.send({**subject.envelope(subject.principal), "args": [1]})
    return WrongErrorClass(NO_ARGUMENTS if bare.names == named else subject.checked, named)


def explained(wrong_error_class: WrongErrorClass | None, requirement: str, violation: Violation) -> Blocked | None:
    """Whether a violation is the same wrong class in another place."""
    if wrong_error_class is None or not isinstance(violation, Misclassified) or requirement == wrong_error_class.root:
        return None
    bad = any(is_a(family, "BadRequest") for family in violation.wanted)
    if not bad or violation.names != wrong_error_class.names:
        return None
    return Blocked(wrong_error_class.root, "bad requests of every kind get this class")


def _names(subject: Subject, name: str) -> tuple[str, ...] | None:
    """The classes that wrong arguments of an operation are refused with; None where they are rightly, or not at all."""
    reply = subject.call(name, subject.wrong_types(name))
    return reply.names if reply.names and not reply.is_a("BadRequest") else None
