"""Everything that is emitted through `logging` while a call runs."""

from __future__ import annotations

import logging
from functools import partial
from types import TracebackType

from pytest_corpus.adapter.snapshot import safe_call

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


class LogTap:
    """A context manager that collects the text of every record that any logger emits.

    It listens where loggers hand their records on, after their own filters: loggers that do not propagate, or
    that are made while the call runs, are heard too. Levels stay as the application set them unless `debug` is
    given, which opens the root logger to debug records.
    """

    def __init__(self, debug: bool = False) -> None:
        self.texts: list[str] = []
        self._debug = debug
        self._root_level = logging.root.level
        self._hand_on = logging.Logger.callHandlers

    def take(self, record: logging.LogRecord) -> bool:
        """Keep message, extra fields and exception text of a record; whether its message can be written at all."""
        text, is_sound = text_of(record)
        self.texts.append(text)
        return is_sound

    def __enter__(self) -> LogTap:
        hand_on = self._hand_on = logging.Logger.callHandlers

        def heard(logger: logging.Logger, record: logging.LogRecord) -> None:
            # A record that cannot be written is only complained of by `logging`; pytest's handler would raise.
            if self.take(record):
                hand_on(logger, record)

        logging.Logger.callHandlers = heard  # type: ignore[method-assign,assignment]
        self._root_level = logging.root.level
        if self._debug:
            logging.root.setLevel(logging.DEBUG)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        logging.Logger.callHandlers = self._hand_on  # type: ignore[method-assign]
        if self._debug:
            logging.root.setLevel(self._root_level)
