"""Collects log records and printed text while a call runs."""

from __future__ import annotations

import logging
import sys
from functools import partial
from types import TracebackType
from typing import Any, ClassVar

from pytest_corpus.adapter.scope import Observed, current_call
from pytest_corpus.adapter.snapshot import safe_call
from pytest_corpus.redaction import display_path, list_names

_STANDARD = frozenset(vars(logging.makeLogRecord({})))


def text_of(record: logging.LogRecord) -> tuple[str, bool]:
    """Return the message, extra fields and exception of a record as lines, and True if the message is valid."""
    message = safe_call(lambda: record.getMessage())  # noqa: PLW0108 - a record may be of any class
    extras = {key: value for key, value in vars(record).items() if key not in _STANDARD and key != "message"}
    parts = [message]
    if message is None:
        parts = [safe_call(lambda: str(record.msg)), safe_call(lambda: repr(record.args))]
    parts += [safe_call(partial(repr, item)) for item in extras.items()]
    if record.exc_info:
        parts.append(safe_call(lambda: logging.Formatter().formatException(record.exc_info)))  # type: ignore[arg-type]
    return "\n".join(part for part in parts if part), message is not None


class Tee:
    """A text stream that passes its text on, and copies it to the calls that listen."""

    def __init__(self, stream: Any, place: int) -> None:
        self.stream, self._place = stream, place

    def write(self, text: str) -> Any:
        """Write a text, and copy it to the calls that listen."""
        for tap in LogTap.listening_taps():
            tap.printed[self._place].append(str(text))
        return self.stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class LogTap:
    """A context manager that collects every log record and all printed text.

    It listens behind the filters of loggers, so it also gets records of new and of non-propagating loggers.
    Loggers without an explicit level emit from INFO on, or with `debug` from DEBUG on (R124); the handlers of the
    application do not get the additional records. Records below INFO are in `debug_texts`. `sources` has the logger
    and the line of each text in `texts`; `debug_sources` has them for `debug_texts`.

    Concurrent calls each get the texts of their scope; texts outside of any scope go to all of them.

    Attributes:
        printed: the text on standard output and standard error.
    """

    _active: ClassVar[list[LogTap]] = []
    _methods: ClassVar[tuple[Any, Any]] = (logging.Logger.isEnabledFor, logging.Logger.callHandlers)
    _tees: ClassVar[tuple[Tee, ...]] = ()

    def __init__(self, call: Observed | None = None, debug: bool = False) -> None:
        self.texts: list[str] = []
        self.debug_texts: list[str] = []
        self.sources: list[str] = []
        self.debug_sources: list[str] = []
        self.printed: tuple[list[str], list[str]] = ([], [])
        self._call = call
        self._level = logging.DEBUG if debug else logging.INFO

    @classmethod
    def listening_taps(cls) -> list[LogTap]:
        """Return the taps that collect the text of the current call, or all taps if this call has none."""
        call = current_call()
        return [tap for tap in cls._active if tap._call is call] or cls._active

    def keep_record(self, record: logging.LogRecord) -> bool:
        """Keep message, extra fields and exception text of a record; return False if its message is invalid."""
        text, is_sound = text_of(record)
        is_debug = record.levelno < logging.INFO
        (self.debug_texts if is_debug else self.texts).append(text)
        (self.debug_sources if is_debug else self.sources).append(_source_of(record))
        return is_sound

    def __enter__(self) -> LogTap:
        self._active.append(self)
        if len(self._active) == 1:
            self._begin()
        return self

    @classmethod
    def _begin(cls) -> None:
        emits, hand_on = cls._methods = logging.Logger.isEnabledFor, logging.Logger.callHandlers

        def emits_to_tap(logger: logging.Logger, level: int) -> bool:
            if emits(logger, level):
                return True
            is_off = logger.disabled or logger.manager.disable >= level
            is_heard = any(level >= tap._level for tap in cls.listening_taps())
            return is_heard and not is_off and not _has_level(logger)

        def pass_to_taps(logger: logging.Logger, record: logging.LogRecord) -> None:
            # For an invalid record `logging` prints a complaint, but pytest's handler would raise.
            heard_by = [tap.keep_record(record) for tap in cls.listening_taps()]  # a list: every tap keeps it
            if all(heard_by) and (record.levelno >= logging.root.level or _has_level(logger)):
                hand_on(logger, record)

        logging.Logger.isEnabledFor = emits_to_tap  # type: ignore[method-assign,assignment]
        logging.Logger.callHandlers = pass_to_taps  # type: ignore[method-assign,assignment]
        cls._tees = Tee(sys.stdout, 0), Tee(sys.stderr, 1)
        sys.stdout, sys.stderr = cls._tees

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._active.remove(self)
        if not self._active:
            logging.Logger.isEnabledFor, logging.Logger.callHandlers = self._methods  # type: ignore[method-assign]
            out, err = self._tees
            if sys.stdout is out:
                sys.stdout = out.stream
            if sys.stderr is err:
                sys.stderr = err.stream
        printed = ["".join(written) for written in self.printed if written]
        self.texts += printed
        self.sources += ["what is printed"] * len(printed)


def _source_of(record: logging.LogRecord) -> str:
    """Return the logger of a record, and the line of code that logged it, as text."""
    name, file, line = (vars(record).get(each) for each in ("name", "pathname", "lineno"))
    logger = f" of the logger {list_names([name])}" if isinstance(name, str) else ""
    where = f" at {display_path(file)}:{line}" if isinstance(file, str) and isinstance(line, int) else ""
    return f"a log record{logger}{where}"


def _has_level(logger: logging.Logger) -> bool:
    """True if a logger or one of its ancestors, except the root, has an explicit level."""
    each: logging.Logger | None = logger
    while each is not None and each is not logging.root:
        if each.level:
            return True
        each = each.parent
    return False
