"""The names of other plugins: plugins that ended a test, and plugins that may have changed its report."""

from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any

import pytest

CHANGING: Mapping[str, tuple[str, ...]] = {
    "missing": ("pytest_runtest_protocol", "pytest_runtestloop"),
    "not collected": ("pytest_generate_tests", "pytest_collection_modifyitems", "pytest_pycollect_makeitem"),
    "not reported": ("pytest_runtest_protocol", "pytest_runtest_logreport"),
    "not run": ("pytest_runtest_protocol", "pytest_runtest_call", "pytest_pyfunc_call"),
    "altered": ("pytest_runtest_makereport", "pytest_runtest_logreport"),
    "repeated": ("pytest_runtest_protocol", "pytest_runtest_call", "pytest_pyfunc_call"),
    "otherwise": ("pytest_runtest_call", "pytest_runtest_makereport", "pytest_runtest_logreport"),
}
"""The hooks by which a plugin may cause a mismatch, by the keys of `MISMATCHES`, or keep tests from beginning."""

OWN = ("_pytest", "pytest", "pluggy", "pytest_corpus", "xdist")
"""The packages whose hooks change no test."""

OUTCOMES = (pytest.fail.Exception, pytest.skip.Exception, pytest.exit.Exception)
MOST_CAUSES = 20  # the most exceptions behind each other that are looked at


def implementing_plugins(config: pytest.Config, hooks: tuple[str, ...]) -> list[str]:
    """The names of the other plugins that implement at least one of some hooks."""
    found = set()
    for hook in hooks:
        caller = getattr(config.hook, hook, None)
        for each in caller.get_hookimpls() if caller is not None else ():
            if _package(each.function.__module__) not in OWN:
                found.add(name_of(config, each.function.__module__, each.plugin_name))
    return sorted(found)


def suspects(config: pytest.Config, why: str) -> str:
    """The end of a sentence that names the plugins that may be the reason; empty if there are none."""
    names = implementing_plugins(config, CHANGING[why])
    return f" (a plugin may be the reason: {', '.join(names)})" if names else ""


def raising_plugin(config: pytest.Config, error: BaseException | None) -> str:
    """The plugin whose code raised an exception; empty if pytest, Python or the suite raised it."""
    known = dict(_modules(config))
    for module in reversed(list(_frames(error.__traceback__ if error else None))):
        if _package(module) == "pytest_corpus":
            return ""
        if _package(module) in known:
            return name_of(config, module, known[_package(module)])
    return ""


def outcome_behind(error: BaseException) -> BaseException | None:
    """The pytest outcome of a time limit that other code, such as hypothesis, turned into an error."""
    seen: BaseException | None = error
    for _ in range(MOST_CAUSES):
        if seen is None or isinstance(seen, OUTCOMES):
            return seen
        inner = seen.exceptions if isinstance(seen, BaseExceptionGroup) else ()
        seen = next((each for each in inner if isinstance(each, OUTCOMES)), seen.__cause__ or seen.__context__)
    return None


def cause_of_end(config: pytest.Config, error: BaseException) -> str:
    """The cause of the end of a test that an exception outside of the suite ended."""
    plugin, kind = raising_plugin(config, error), type(error).__name__
    return f"{plugin} ended tests ({kind})" if plugin else f"tests were ended by {kind}"


def name_of(config: pytest.Config, module: str, name: str) -> str:
    """The name of a plugin's distribution, or the plugin's name."""
    for plugin, distribution in config.pluginmanager.list_plugin_distinfo():
        if _package(getattr(plugin, "__name__", type(plugin).__module__)) == _package(module):
            return str(distribution.project_name)
    return name.rpartition("/")[2] if name.endswith(".py") else name


def _modules(config: pytest.Config) -> Iterator[tuple[str, str]]:
    """The package and the name of each other plugin."""
    for name, plugin in config.pluginmanager.list_name_plugin():
        package = _package(getattr(plugin, "__name__", type(plugin).__module__)) if plugin is not None else ""
        if package and package not in OWN:
            yield package, name


def _frames(trace: TracebackType | None) -> Iterator[str]:
    """The modules that an exception passed, innermost last."""
    while trace is not None:
        yield str(trace.tb_frame.f_globals.get("__name__", ""))
        trace = trace.tb_next


def _package(module: str) -> str:
    return module.partition(".")[0]


def is_replaced(item: pytest.Item, target: object, arguments: Mapping[str, Any]) -> bool:
    """True if the arguments of a conformance test differ from the suite's target and parameters."""
    parameters = getattr(item, "callspec", None)
    given = parameters.params if parameters is not None else {}
    own = (arguments[name] is value for name, value in given.items() if name in arguments)
    return not (all(own) and any(value is target for value in arguments.values()))
