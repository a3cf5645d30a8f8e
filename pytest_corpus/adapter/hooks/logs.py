"""Everything that is emitted through `logging`, or printed, while a call runs."""

from __future__ import annotations

import logging
import sys
from functools import partial
from types import TracebackType
from typing import Any

from pytest_corpus.adapter.snapshot import safe_call
from pytest_corpus.redaction import names, shown_file

_STANDARD = frozenset(vars(logging.makeLogRecord({})))


def text_of(record: logging.LogRecord) -> tuple[str, bool]:
    """Message, extra fields and exception text of a record, a line each, and whether its message can be written."""
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
    """A stream of text that keeps what is written to it, and passes it on."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.written: list[str] = []

    def write(self, text: str) -> Any:
        """Keep a text and pass it on."""
        self.written.append(str(text))
        return self.stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class LogTap:
    """A context manager that collects the text of every record that any logger emits, and of what is printed.

    It listens where loggers hand their records on, after their own filters: loggers that do not propagate, or
    that are made while the call runs, are heard too. Loggers without a level of their own emit from INFO, or with
    `debug` from DEBUG (R124); what the application would not see without that is not handed on to its handlers.
    Records below INFO are kept apart, in `debug_texts`. `sources` has the logger and the line of each text in `texts`,
    and `debug_sources` of those in `debug_texts`.
    """

    def __init__(self, debug: bool = False) -> None:
        self.texts: list[str] = []
        self.debug_texts: list[str] = []
        self.sources: list[str] = []
        self.debug_sources: list[str] = []
        self._level = logging.DEBUG if debug else logging.INFO
        self._methods = logging.Logger.isEnabledFor, logging.Logger.callHandlers
        self._printed: tuple[Tee, ...] = ()

    def take(self, record: logging.LogRecord) -> bool:
        """Keep message, extra fields and exception text of a record; whether its message can be written at all."""
        text, is_sound = text_of(record)
        is_debug = record.levelno < logging.INFO
        (self.debug_texts if is_debug else self.texts).append(text)
        (self.debug_sources if is_debug else self.sources).append(_source_of(record))
        return is_sound

    def __enter__(self) -> LogTap:
        emits, hand_on = self._methods = logging.Logger.isEnabledFor, logging.Logger.callHandlers

        def emits_to_tap(logger: logging.Logger, level: int) -> bool:
            if emits(logger, level):
                return True
            is_off = logger.disabled or logger.manager.disable >= level
            return level >= self._level and not is_off and not _has_level(logger)

        def heard(logger: logging.Logger, record: logging.LogRecord) -> None:
            # A record that cannot be written is only complained of by `logging`; pytest's handler would raise.
            if self.take(record) and (record.levelno >= logging.root.level or _has_level(logger)):
                hand_on(logger, record)

        logging.Logger.isEnabledFor = emits_to_tap  # type: ignore[method-assign,assignment]
        logging.Logger.callHandlers = heard  # type: ignore[method-assign,assignment]
        self._printed = Tee(sys.stdout), Tee(sys.stderr)
        sys.stdout, sys.stderr = self._printed
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        logging.Logger.isEnabledFor, logging.Logger.callHandlers = self._methods  # type: ignore[method-assign]
        out, err = self._printed
        if sys.stdout is out:
            sys.stdout = out.stream
        if sys.stderr is err:
            sys.stderr = err.stream
        printed = ["".join(tee.written) for tee in self._printed if tee.written]
        self.texts += printed
        self.sources += ["what is printed"] * len(printed)


def _source_of(record: logging.LogRecord) -> str:
    """The logger of a record and the line that logged it, for people; a record may be of any class."""
    name, file, line = (vars(record).get(each) for each in ("name", "pathname", "lineno"))
    logger = f" of the logger {names([name])}" if isinstance(name, str) else ""
    where = f" at {shown_file(file)}:{line}" if isinstance(file, str) and isinstance(line, int) else ""
    return f"a log record{logger}{where}"


def _has_level(logger: logging.Logger) -> bool:
    """Return whether a logger, or one above it but the root, has a level of its own."""
    each: logging.Logger | None = logger
    while each is not None and each is not logging.root:
        if each.level:
            return True
        each = each.parent
    return False
