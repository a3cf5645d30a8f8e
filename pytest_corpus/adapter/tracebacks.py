"""Describes an exception that an adapter let escape, and the line of the adapter's code that raised it."""

import linecache
import os
import re
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Final

from pytest_corpus.adapter.snapshot import safe_str
from pytest_corpus.redaction import display_path, mask_secrets, show_foreign_text, type_name

MOST_FRAMES: Final = 12
MOST_CAUSES: Final = 3
LONGEST_MESSAGE: Final = 400

PROGRAMMING_ERRORS: Final = frozenset({
    "AssertionError", "AttributeError", "ImportError", "ModuleNotFoundError", "NameError", "NotImplementedError",
    "SyntaxError", "TypeError", "UnboundLocalError",
})  # fmt: skip
"""The classes of exceptions that are a mistake in code, and never the state of a provider."""

_SUITE: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_REFERENCE: Final = os.path.join(_SUITE, "reference") + os.sep
_LIBRARIES: Final = tuple({sysconfig.get_path(name) + os.sep for name in ("stdlib", "purelib", "platlib")})
_NAME: Final = re.compile(r"[\w.<>]{1,80}")


@dataclass(frozen=True, slots=True)
class CodePlace:
    """A line of code: its file, number and function. A file below the current folder has a relative path."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class EscapedException:
    """The description of an exception. It has no references to objects of the exception.

    `message` is the text of the exception, including content; `places` are the frames outside of the suite, the
    outermost first; `causes` are the exceptions behind it, each as its type and message.
    """

    type: str
    message: str = ""
    places: tuple[CodePlace, ...] = ()
    causes: tuple[tuple[str, str], ...] = ()

    @property
    def place(self) -> CodePlace | None:
        """The innermost line of the adapter's own code, or of an installed package if no other line is known."""
        return next(reversed(self.own_places), None)

    @property
    def own_places(self) -> Sequence[CodePlace]:
        """The places in the adapter's own code, or all places if there are none."""
        own = [place for place in self.places if not os.path.abspath(place.file).startswith(_LIBRARIES)]
        return own or self.places

    @property
    def trail(self) -> str:
        """The places of the exception, the innermost first, in one line."""
        return " < ".join(f"{place} in {place.function}" for place in reversed(self.places))

    def __str__(self) -> str:
        """The type of the exception and the place where it was raised, without its message."""
        return f"{self.type} at {self.place}" if self.place else self.type


def escaped_exception(error: BaseException) -> EscapedException:
    """Describe an exception. Errors in the methods of the exception do no harm."""
    causes = tuple((type_name(each), safe_str(each)[:LONGEST_MESSAGE]) for each in _causes_of(error))
    return EscapedException(
        type_name(error), safe_str(error)[:LONGEST_MESSAGE], tuple(_places(error))[-MOST_FRAMES:], causes
    )


def _causes_of(error: BaseException) -> Iterator[BaseException]:
    seen = {id(error)}
    for _ in range(MOST_CAUSES):
        cause = _read_attribute(error, "__cause__")
        if cause is None and not _read_attribute(error, "__suppress_context__"):
            cause = _read_attribute(error, "__context__")
        if not isinstance(cause, BaseException) or id(cause) in seen:
            return
        seen.add(id(cause))
        error = cause
        yield error


def _read_attribute(error: BaseException, name: str) -> object:
    """Return an attribute as the interpreter stores it, because a class of the adapter may return another value."""
    found: object = BaseException.__dict__[name].__get__(error)
    return found


def _places(error: BaseException) -> Iterator[CodePlace]:
    trace = _read_attribute(error, "__traceback__")
    while isinstance(trace, TracebackType):
        code = trace.tb_frame.f_code
        if not _is_of_the_suite(code.co_filename):
            yield CodePlace(display_path(code.co_filename), trace.tb_lineno, _function_name(code.co_name))
        trace = trace.tb_next


def _is_of_the_suite(name: str) -> bool:
    """True if a file is part of the suite, or the name is not a file. The reference adapters count as adapters."""
    path = os.path.abspath(name)
    return name.startswith("<") or (path.startswith(_SUITE) and not path.startswith(_REFERENCE))


def _function_name(function: str) -> str:
    return function if _NAME.fullmatch(function) else "a function of an unusual name"


def message_of(raised: EscapedException, secrets: tuple[str, ...]) -> str:
    """Return an exception with its message and its place, in one line."""
    message = show_foreign_text(raised.message, secrets)
    where = f"  (at {raised.place})" if raised.place else ""
    return mask_secrets(f"{raised.type}: " if message else raised.type, secrets) + message + where


def traceback_of(raised: EscapedException, secrets: tuple[str, ...]) -> Iterator[str]:
    """Yield the lines of an exception's traceback, and one line for each exception behind it."""
    for place in raised.places:
        file = os.path.abspath(place.file)
        linecache.checkcache(file)  # the file may have changed since it was read
        source = linecache.getline(file, place.line).strip()
        yield mask_secrets(f"{place} in {place.function}", secrets) + (
            f": {show_foreign_text(source, secrets)}" if source else ""
        )
    yield from (
        f"caused by {mask_secrets(name, secrets)}: {show_foreign_text(message, secrets)}"
        for name, message in raised.causes
    )


_TRACE: Final = re.compile(r"^Traceback \(most recent call last\):\s*$", re.MULTILINE)
_FRAME: Final = re.compile(r'^ *File "([^"\n]+)", line (\d{1,7}), in (.+)$', re.MULTILINE)
_RAISED: Final = re.compile(r"^(?:[A-Za-z_][\w.]*\.)?([A-Za-z_]\w{0,79})(?::|$)", re.MULTILINE)
_NAMED: Final = re.compile(r"\b([A-Z]\w{0,60}(?:Error|Exception|Interrupt|Exit|Timeout|Expired))\b")
_PLACED: Final = re.compile(r"(?<![\w./\\-])([\w./\\-]{1,200}\.py)(?::|\", line )(\d{1,7})\b")


def logged_exception(texts: Sequence[str]) -> EscapedException | None:
    """Return the last exception in a log: from a traceback, or from a line that names its class and its place."""
    return next(
        (found for text in reversed(texts) if (found := _exception_of_traceback(text) or _exception_in_line(text))),
        None,
    )


def _exception_of_traceback(text: str) -> EscapedException | None:
    """Return the exception of the last traceback in a text; earlier tracebacks show its causes."""
    *_, start = (-1, *(found.end() for found in _TRACE.finditer(text)))
    frames = list(_FRAME.finditer(text, start)) if start >= 0 else []
    raised = _RAISED.search(text, frames[-1].end()) if frames else None
    if raised is None:
        return None
    places = (
        CodePlace(display_path(found[1]), int(found[2]), _function_name(found[3]))
        for found in frames
        if not _is_of_the_suite(found[1])
    )
    return EscapedException(raised[1], places=tuple(places)[-MOST_FRAMES:])


def _exception_in_line(text: str) -> EscapedException | None:
    """Return the exception that the first line of a text names."""
    line = text.partition("\n")[0]
    kind, place = _NAMED.search(line), _PLACED.search(line)
    if kind is None:
        return None
    return EscapedException(kind[1], places=(CodePlace(display_path(place[1]), int(place[2]), ""),) if place else ())
