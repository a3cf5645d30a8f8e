"""Effects of the project that must not change a verdict: fixtures, other plugins, settings, replaced functions."""

import asyncio
import builtins
import gc
import os
import pkgutil
import random
import re
import socket
import sys
import time
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType, TracebackType
from typing import Any

import pytest

from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.adapter.inputs import Clock
from pytest_corpus.kit.outcomes import Violation
from pytest_corpus.redaction import secret_values

SHORT_S = 0.002
"""The seconds within which a clock must advance."""


def _can_advance(clock: Callable[[], Any]) -> bool:
    before, until = clock(), Clock.monotonic() + SHORT_S
    while Clock.monotonic() < until:
        pass
    return bool(clock() > before)


def _can_wait(sleep: Callable[[float], Any]) -> bool:
    for _ in range(3):  # a single fast return may be chance
        started = Clock.monotonic()
        sleep(2 * SHORT_S)
        if Clock.monotonic() - started < SHORT_S:
            return False
    return True


def _can_wait_in_a_loop(sleep: Callable[[float], Any]) -> bool:
    loop = asyncio.new_event_loop()
    try:
        return _can_wait(lambda seconds: loop.run_until_complete(sleep(seconds)))
    finally:
        loop.close()


def _make_variation_check(*arguments: Any) -> Callable[[Callable[..., Any]], bool]:
    return lambda function: len({str(function(*arguments)) for _ in range(8)}) > 1


@dataclass(frozen=True, slots=True)
class StandardFunction:
    """A standard function that the adapter and the suite need; `works` returns True for a good replacement."""

    module: ModuleType
    name: str
    works: Callable[[Callable[..., Any]], bool]
    original: Any

    @property
    def is_replaced(self) -> bool:
        """True if the function was replaced."""
        return getattr(self.module, self.name, None) is not self.original

    @property
    def is_broken(self) -> bool:
        """True if the replacement of the function behaves differently."""
        if not self.is_replaced:
            return False
        try:
            return not self.works(getattr(self.module, self.name))
        except Exception:  # noqa: BLE001 - a replacement may raise anything
            return True


def _make_functions(module: ModuleType, works: Callable[..., bool], *names: str) -> tuple[StandardFunction, ...]:
    return tuple(StandardFunction(module, name, works, getattr(module, name)) for name in names)


CLOCKS = _make_functions(
    time, _can_advance, "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "time", "time_ns"
)

FUNCTIONS = (
    *CLOCKS,
    *_make_functions(time, _can_wait, "sleep"),
    *_make_functions(asyncio, _can_wait_in_a_loop, "sleep"),
    *_make_functions(random, _make_variation_check(), "random"),
    *_make_functions(random, _make_variation_check(0, 1 << 30), "randint"),
    *_make_functions(random, _make_variation_check(range(1 << 30)), "choice"),
    *_make_functions(uuid, _make_variation_check(), "uuid1", "uuid4"),
    *_make_functions(os, _make_variation_check(8), "urandom"),
)

OF_TIME = frozenset(
    {"COM-ENV-3", "COM-ENV-6", "COM-ENV-7", "COM-ERR-9", "COM-ERR-22", "COM-STREAM-4", "COM-STREAM-10", "COM-STREAM-11",
     "COM-OBS-7", "COM-OBS-10", "COM-OBS-17", "COM-OBS-19", "COM-DEADLINE-8", "COM-FAULT-8", "COM-FAULT-10",
     "COM-FAULT-14", "COM-IDEM-6", "GRA-QUERY-19", "WIR-CTX-2", "TRA-CALL-5"}
)  # fmt: skip
"""Requirements that compare a time of the adapter with a time of the suite; requirements on deadlines do so, too."""

CHANGED = "a plugin changed the parameters of tests (--corpus-repeat=N repeats them)"
FORKED = "a plugin (--forked) ran each test in a process of its own, in which the adapter does not live; run without it"


class Surroundings:
    """The state of the process when the adapters were opened, for comparison during tests."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._process, self._environment, self._variables = os.getpid(), environment, dict(environment)
        self._socket, self._connect = socket.socket, socket.socket.connect

    def obstacle(self) -> str:
        """Return the reason why no test can be judged in this process; empty if there is none."""
        if os.getpid() != self._process:
            return FORKED
        return _replacement_text(each for each in FUNCTIONS if each.is_broken)

    def explain_by_changes(self, violation: Violation) -> str:
        """Return the reason why changes in the process may have caused a violation; empty if this is impossible.

        A replaced clock may work and still differ from a clock that the adapter kept. This can cause wrong times and
        failed calls. Replaced sockets and variables can cause only failed calls.
        """
        replaced = [each for each in FUNCTIONS if each.is_replaced]
        failed = any(map(_has_failed, violation.exchanges))
        has_deadline = any("deadline_ms" in (each.ctx or ()) for each in violation.exchanges)
        of_time = violation.requirement in OF_TIME or has_deadline
        if any(each not in CLOCKS for each in replaced) or (replaced and (failed or of_time)):
            return _replacement_text(replaced)
        if not failed:
            return ""
        if socket.socket is not self._socket or socket.socket.connect is not self._connect:
            by = " by pytest-socket" if "pytest_socket" in sys.modules else ""
            return f"sockets were blocked{by} while tests ran; allow the adapter's hosts (--allow-hosts)"
        lost = set(secret_values(self._variables)) - set(secret_values(os.environ))
        gone = [name for name, value in self._variables.items() if value in lost]
        if os.environ is not self._environment or gone:
            what = ", ".join(sorted(gone)[:3]) or "other variables"
            said = f"a fixture or a plugin changed os.environ ({what}) while tests ran"
            return f"{said}; keep it away from the suite's tests"
        return ""


def _replacement_text(functions: Iterable[StandardFunction]) -> str:
    names = ", ".join(f"{each.module.__name__}.{each.name}" for each in functions)
    return (
        f"a fixture or a plugin replaced {names} while tests ran; keep it away from the suite's tests" if names else ""
    )


def _has_failed(exchange: Exchange) -> bool:
    last = exchange.frames[-1].body if exchange.frames else None
    return exchange.fault is not None or (isinstance(last, dict) and last.get("error") is not None)


CHANGING: Mapping[str, tuple[str, ...]] = {
    "missing": ("pytest_runtest_protocol", "pytest_runtestloop"),
    "not collected": ("pytest_generate_tests", "pytest_collection_modifyitems", "pytest_pycollect_makeitem"),
    "not reported": ("pytest_runtest_protocol", "pytest_runtest_logreport"),
    "not run": ("pytest_runtest_protocol", "pytest_runtest_call", "pytest_pyfunc_call"),
    "altered": ("pytest_runtest_makereport", "pytest_runtest_logreport"),
    "repeated": ("pytest_runtest_protocol", "pytest_runtest_call", "pytest_pyfunc_call"),
    "otherwise": ("pytest_runtest_call", "pytest_runtest_makereport", "pytest_runtest_logreport"),
}
"""For each kind of mismatch (a key of `MISMATCHES`, or `missing`), the hooks by which a plugin may cause it."""

OWN = ("_pytest", "pytest", "pluggy", "pytest_corpus", "xdist")
"""The packages whose hooks are harmless."""

OUTCOMES = (pytest.fail.Exception, pytest.skip.Exception, pytest.exit.Exception)
MOST_CAUSES = 20  # the most exceptions of a chain of causes that are inspected


def name_suspects(config: pytest.Config, why: str) -> str:
    """Return a text in parentheses with the plugins that may have caused a mismatch; empty if there are none."""
    found = set()
    for hook in CHANGING[why]:
        caller = getattr(config.hook, hook, None)
        for each in caller.get_hookimpls() if caller is not None else ():
            if _package(each.function.__module__) not in OWN:
                found.add(distribution_name(config, each.function.__module__, each.plugin_name))
    names = sorted(found)
    return f" (a plugin may be the reason: {', '.join(names)})" if names else ""


def raising_plugin(config: pytest.Config, error: BaseException | None) -> str:
    """Return the name of the plugin whose code raised an exception; empty if pytest, Python or the suite raised it."""
    known = dict(_foreign_plugins(config))
    for module in reversed(list(_modules_of_traceback(error.__traceback__ if error else None))):
        if _package(module) == "pytest_corpus":
            return ""
        if _package(module) in known:
            return distribution_name(config, module, known[_package(module)])
    return ""


def outcome_behind(error: BaseException) -> BaseException | None:
    """Return pytest's exception for fail, skip or exit: `error` itself or one of its causes, or None."""
    seen: BaseException | None = error
    for _ in range(MOST_CAUSES):
        if seen is None or isinstance(seen, OUTCOMES):
            return seen
        inner = seen.exceptions if isinstance(seen, BaseExceptionGroup) else ()
        seen = next((each for each in inner if isinstance(each, OUTCOMES)), seen.__cause__ or seen.__context__)
    return None


def cause_of_end(config: pytest.Config, error: BaseException) -> str:
    """Return a phrase about an exception that ended a test: the plugin that raised it, if known, and its type."""
    plugin, kind = raising_plugin(config, error), type(error).__name__
    return f"{plugin} ended tests ({kind})" if plugin else f"tests were ended by {kind}"


def distribution_name(config: pytest.Config, module: str, name: str) -> str:
    """Return the name of the distribution of a plugin, or the plugin's own name."""
    for plugin, distribution in config.pluginmanager.list_plugin_distinfo():
        if _package(getattr(plugin, "__name__", type(plugin).__module__)) == _package(module):
            return str(distribution.project_name)
    return name.rpartition("/")[2] if name.endswith(".py") else name


def _foreign_plugins(config: pytest.Config) -> Iterator[tuple[str, str]]:
    """Yield the package and the name of each plugin that is not pytest's or ours."""
    for name, plugin in config.pluginmanager.list_name_plugin():
        package = _package(getattr(plugin, "__name__", type(plugin).__module__)) if plugin is not None else ""
        if package and package not in OWN:
            yield package, name


def _modules_of_traceback(trace: TracebackType | None) -> Iterator[str]:
    """Yield the modules of a traceback, innermost last."""
    while trace is not None:
        yield str(trace.tb_frame.f_globals.get("__name__", ""))
        trace = trace.tb_next


def _package(module: str) -> str:
    return module.partition(".")[0]


def has_other_arguments(item: pytest.Item, target: object, arguments: Mapping[str, Any]) -> bool:
    """True if a conformance test was called with other arguments than the suite's target and parameters."""
    parameters = getattr(item, "callspec", None)
    given = parameters.params if parameters is not None else {}
    own = (arguments[name] is value for name, value in given.items() if name in arguments)
    return not (all(own) and any(value is target for value in arguments.values()))


LOOPBACK = ("127.0.0.1", "::1")


def lenient_marks(config: pytest.Config) -> Iterator[pytest.MarkDecorator]:
    """Yield marks for each test of the suite: warnings are not errors, and the suite's own servers are reachable."""
    hosts = config.getoption("allow_hosts", None)
    if hosts or config.getoption("disable_socket", False):  # of pytest-socket
        yield pytest.mark.allow_hosts([*LOOPBACK, *(hosts.split(",") if isinstance(hosts, str) else ())])
    if filters := _filters_without_errors(config):
        yield pytest.mark.filterwarnings(*filters)


@contextmanager
def report_warnings(config: pytest.Config) -> Iterator[None]:
    """Report the adapter's warnings within the context, even if the project turns warnings into errors."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
        if _filters_without_errors(config):
            gc.collect()  # otherwise pytest would raise the warnings of deleted objects after the run
    for each in caught:
        try:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno, source=each.source)
        except Warning:
            said = {"warning_message": each, "when": "config", "nodeid": "", "location": None}
            config.hook.pytest_warning_recorded.call_historic(kwargs=said)


def _filters_without_errors(config: pytest.Config) -> list[str]:
    """Return the warning filters with "error" replaced by "default"; empty if no filter has the action "error"."""
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
    """True if the category of a warning filter exists. Otherwise Python ignored the filter when it started."""
    category = [*warning_filter.split(":"), "", ""][2].strip()
    try:
        return not category or hasattr(builtins, category) or bool(pkgutil.resolve_name(category))
    except (ImportError, AttributeError, ValueError):
        return False


def _reporting_filter(warning_filter: str, *, literal: bool) -> str:
    """Return a warning filter with the action "error" replaced by "default"; a `literal` filter has plain texts."""
    action, *rest = warning_filter.split(":")
    if literal and rest:
        rest[0] = re.escape(rest[0].strip())
        if len(rest) > 2 and rest[2].strip():
            rest[2] = re.escape(rest[2].strip()) + r"\Z"
    return ":".join(["default" if _is_error(action) else action, *rest])
