"""Project settings that must not influence the adapter's answers: warnings as errors, and blocked sockets."""

import builtins
import gc
import pkgutil
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

LOOPBACK = ("127.0.0.1", "::1")


def lenient_marks(config: pytest.Config) -> Iterator[pytest.MarkDecorator]:
    """Marks for each test of the suite: warnings are reported, and the suite's servers are reachable."""
    hosts = config.getoption("allow_hosts", None)
    if hosts or config.getoption("disable_socket", False):  # of pytest-socket
        yield pytest.mark.allow_hosts([*LOOPBACK, *(hosts.split(",") if isinstance(hosts, str) else ())])
    if filters := _lenient_filters(config):
        yield pytest.mark.filterwarnings(*filters)


@contextmanager
def report_warnings(config: pytest.Config) -> Iterator[None]:
    """Report the adapter's warnings outside of tests, even if the project turns them into errors."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
        if _lenient_filters(config):
            gc.collect()  # or pytest raises what garbage warns of after the run
    for each in caught:
        try:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno, source=each.source)
        except Warning:
            said = {"warning_message": each, "when": "config", "nodeid": "", "location": None}
            config.hook.pytest_warning_recorded.call_historic(kwargs=said)


def _lenient_filters(config: pytest.Config) -> list[str]:
    """The filters of warnings in Python and pytest, with errors turned into reports; empty if none is an error."""
    given = [each for each in sys.warnoptions if _is_valid(each)]
    literal = [*given, *(config.getoption("pythonwarnings", None) or ())]
    every = [*given, *config.getini("filterwarnings"), *literal[len(given) :]]
    if not any(map(_is_error, every)):
        return []
    return [_reporting_filter(each, literal=each in literal) for each in every]


def _is_error(warning_filter: str) -> bool:
    action = warning_filter.partition(":")[0].strip()
    return bool(action) and "error".startswith(action)


def _is_valid(warning_filter: str) -> bool:
    """False for a filter that Python ignored at its start because its category was unknown."""
    category = [*warning_filter.split(":"), "", ""][2].strip()
    try:
        return not category or hasattr(builtins, category) or bool(pkgutil.resolve_name(category))
    except (ImportError, AttributeError, ValueError):
        return False


def _reporting_filter(warning_filter: str, *, literal: bool) -> str:
    """A filter that reports the warnings for which another one raises; `literal`: its texts are not patterns."""
    action, *rest = warning_filter.split(":")
    if literal and rest:
        rest[0] = re.escape(rest[0].strip())
        if len(rest) > 2 and rest[2].strip():
            rest[2] = re.escape(rest[2].strip()) + r"\Z"
    return ":".join(["default" if _is_error(action) else action, *rest])
