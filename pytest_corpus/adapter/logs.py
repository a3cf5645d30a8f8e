"""Everything that is emitted through `logging` while a call runs."""

from __future__ import annotations

import logging
from collections.abc import Callable
from types import TracebackType
from typing import Any

_STANDARD = frozenset(vars(logging.makeLogRecord({})))


def _shown(text: Callable[[], object]) -> str:
    """What a record says, or nothing where the adapter's own objects cannot be written."""
    try:
        return str(text())
    except Exception:  # noqa: BLE001 - a record that cannot be written must not change the call that is watched
        return ""


class LogTap(logging.Handler):
    """A context manager that collects the text of every record that any logger emits.

    It listens where loggers hand their records on, after their own filters: loggers that do not propagate, or
    that are made while the call runs, are heard too. Levels stay as the application set them unless `debug` is
    given, which opens the root logger to debug records.
    """

    def __init__(self, debug: bool = False) -> None:
        super().__init__(level=0)
        self.texts: list[str] = []
        self._debug = debug
        self._root_level = logging.root.level
        self._hand_on = logging.Logger.callHandlers

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the message, the extra fields and the exception text of a record."""
        extras: dict[str, Any] = {k: v for k, v in vars(record).items() if k not in _STANDARD}
        extras.pop("message", None)
        parts = [_shown(record.getMessage) or f"{_shown(lambda: record.msg)} {_shown(lambda: repr(record.args))}"]
        if extras:
            parts.append(_shown(lambda: repr(extras)))
        if record.exc_info:
            parts.append(logging.Formatter().formatException(record.exc_info))
        self.texts.append("\n".join(parts))

    def __enter__(self) -> LogTap:
        hand_on = self._hand_on = logging.Logger.callHandlers

        def heard(logger: logging.Logger, record: logging.LogRecord) -> None:
            self.handle(record)
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
