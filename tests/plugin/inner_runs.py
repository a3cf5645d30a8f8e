"""Inner pytest runs: a folder of a user's, the suite run in it, and what came out."""

import importlib
import json
import subprocess
import sys
from typing import Any

import pytest
from forks import DISRUPTIVE, PLUGIN

from pytest_corpus.integration.options import run_options
from pytest_corpus.suites import CHAPTERS

OTHERS = ("randomly", "asyncio", "cov", "cacheprovider", "xdist", *DISRUPTIVE)
"""Plugins that an inner run goes without, for speed, unless it asks for them."""

REFERENCE = "--corpus-adapter=pytest_corpus.reference:llm"

WRAPPED = '''
import inspect

from pytest_corpus import reference
from pytest_corpus.reference import llm

class Wrapped:
    """A reference adapter with something changed by a subclass."""

    component = "llm"

    def __init__(self, metrics=None, provider=None):
        self.metrics, self.provider = metrics, provider
        self.inner = getattr(reference, self.component)(metrics, provider)

    async def handle(self, envelope):
        return await self.inner.handle(envelope)

    def handle_stream(self, envelope):
        return self.inner.handle_stream(envelope)

def op_of(envelope):
    return envelope.get("op") if isinstance(envelope, dict) else None

def refused(code, error, **more):
    return {"ok": False, "code": code, "error": error, "message": "not this", "details": None, "ms": 1.0,
            "retry_after_ms": None, **more}

def changes(op):
    """Make an adapter of a function that changes each successful answer of an operation, or returns another one."""
    def adapter(change):
        class Changing(Wrapped):
            component = op.partition(".")[0]
            async def handle(self, envelope):
                answer = await super().handle(envelope)
                return op_of(envelope) == op and answer["ok"] and change(answer) or answer
        Changing.__name__ = Changing.__qualname__ = change.__name__
        return Changing
    return adapter

def before(op):
    """Make an adapter of a function that is called before each call of an operation, and may return its answer."""
    def adapter(act):
        class Acting(Wrapped):
            component = op.partition(".")[0]
            async def handle(self, envelope):
                given = act(self, envelope) if op_of(envelope) == op else None
                given = await given if inspect.isawaitable(given) else given
                return given or await super().handle(envelope)
        Acting.__name__ = Acting.__qualname__ = act.__name__
        return Acting
    return adapter

@changes("llm.complete")
def Broken(answer):
    """Breaks LLM-COMPLETE-2."""
    answer["result"]["finish_reason"] = "because"

@changes("llm.count_tokens")
def Miscounting(answer):
    """Breaks LLM-TOKENS-1."""
    answer["result"] = -1

def hookless(): return llm()
'''
"""What most adapters of these tests begin with."""


def preload() -> None:
    """Import once what every inner run needs: `pytester` forgets modules that an inner run imported."""
    for name in ("integration.conformance", "stream_validator", "reference.llm.adapter"):
        importlib.import_module(f"pytest_corpus.{name}")
    for component, chapters in CHAPTERS.items():
        importlib.import_module(f"pytest_corpus.suites.{component}.support.root_causes")
        for chapter in chapters:
            importlib.import_module(f"pytest_corpus.suites.{component}.{chapter}")


PYTHON = sys.executable  # not the program of forks, for what needs a new process


class Project:
    """A user's folder in which pytest is run."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.path = pytester.path

    def adapter(self, source: str = "", name: str = "mine") -> str:
        """Write a module whose code starts with `WRAPPED`; its name."""
        self.pytester.makepyfile(**{name: WRAPPED + source})
        return name

    def arguments(self, given: tuple[str, ...], with_plugins: tuple[str, ...]) -> list[str]:
        """The arguments of an inner run: what was given, and the plugins switched off.

        Where tests are only collected, no adapter says which components it has: here it has LLM.
        """
        off = [part for name in OTHERS if name not in with_plugins for part in ("-p", f"no:{name}")]
        unasked = "--collect-only" in given and not any(part.startswith("--corpus-components") for part in given)
        return [*PLUGIN, *off, *given, *(["--corpus-components=llm"] if unasked else [])]

    def run(self, *given: str, plugins: tuple[str, ...] = ()) -> pytest.RunResult:
        """Run pytest in this process."""
        return self.pytester.runpytest_inprocess(*self.arguments(given, plugins))

    def judged(
        self, adapter: str, few: str = "", *more: str, plugins: tuple[str, ...] = ()
    ) -> tuple[pytest.RunResult, dict[str, Any]]:
        """Run the suite, or `few` of its requirements, against an adapter; the run and its report."""
        scope = few if few.startswith("-") or not few else f"--corpus-requirement={few}"
        given = (f"--corpus-adapter={adapter}", *filter(None, [scope]), "--corpus-report=r.json", *more)
        return self.run(*given, plugins=plugins), self.report()

    def run_apart(self, *given: str, plugins: tuple[str, ...] = (), timeout: float = 100) -> pytest.RunResult:
        """Run pytest in a process of its own."""
        return self.pytester.runpytest_subprocess(*self.arguments(given, plugins), timeout=timeout)

    def run_bare(self, *given: str) -> subprocess.CompletedProcess[str]:
        """Run pytest as its console script does: without the folder on `sys.path`."""
        main = "import sys; sys.path[:] = filter(None, sys.path); import pytest; sys.exit(pytest.main())"
        command = [sys.executable, "-c", main, *self.arguments(given, ())]
        return subprocess.run(command, cwd=self.path, capture_output=True, text=True, timeout=100, check=False)

    def start(self, *given: str, plugins: tuple[str, ...] = (), python: str = PYTHON) -> subprocess.Popen[bytes]:
        """Begin a run of its own, in a group of its own, that can be killed."""
        return subprocess.Popen(
            [python, "-m", "pytest", *self.arguments(given, plugins)],
            cwd=self.path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip

    def report(self, name: str = "r.json") -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.path / name).read_text("utf-8"))
        return found


def options(project: Project, *given: str) -> run_options.Options:
    """The options of a run, which does not begin."""
    return run_options.read_options(project.pytester.parseconfig(*PLUGIN, *given))


def refusal(project: Project, *given: str) -> str:
    """The sentence with which the options of a run are refused."""
    with pytest.raises(pytest.UsageError) as refused:
        options(project, *given)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def statuses(report: dict[str, Any]) -> dict[tuple[str, str], str]:
    """Each requirement's status, by component and id."""
    return {(entry["component"], entry["id"]): entry["status"] for entry in report["requirements"]}


def status_by_id(report: dict[str, Any]) -> dict[str, str]:
    """The statuses of those requirements that were tested, by id."""
    return {entry["id"]: entry["status"] for entry in report["requirements"] if entry["tests"]}


MEASURED = ("started_at", "duration_s", "sha256", "calls", "tokens", "took_ms", "command", "runs")
"""Members of a report, at whatever depth, that differ from run to run: times, calls, the command, the digest."""


def without_times(report: Any) -> Any:
    """A report, or a part of one, without what differs from run to run."""
    if isinstance(report, dict):
        return {key: without_times(value) for key, value in report.items() if key not in MEASURED}
    return [without_times(each) for each in report] if isinstance(report, list) else report


def violated(report: dict[str, Any], level: str = "MUST") -> set[str]:
    """The ids of a report's violated requirements of a level."""
    return {
        entry["id"] for entry in report["requirements"] if entry["status"] == "violated" and entry["level"] == level
    }


def error_lines(result: pytest.RunResult) -> list[str]:
    """The lines of a run that complain, on either stream."""
    return [line for line in (*result.outlines, *result.errlines) if line.startswith("ERROR: ")]


def usage_error(result: pytest.RunResult) -> str:
    """The one line with which a run was refused."""
    assert result.ret == pytest.ExitCode.USAGE_ERROR, said(result)
    [line] = error_lines(result)
    return line


def said(result: pytest.RunResult) -> str:
    """Everything that a run printed."""
    return "\n".join((*result.outlines, *result.errlines))


def ids(result: pytest.RunResult) -> list[str]:
    """The node ids that `--collect-only -q` printed."""
    return [line for line in result.outlines if "::" in line]


def whole_suite(project: Project) -> list[str]:
    """The ids of the whole suite, as the option way collects them."""
    return selected(project, "--corpus-requirement=*")


def assert_passed(result: pytest.RunResult, project: Project, few: str, *, suites: int = 1, own: int = 0) -> None:
    """All tests of a selection passed, once for each of `suites`, and `own` tests of the user's, and no other."""
    expected = suites * len(selected(project, few)) + own
    outcomes = {key: count for key, count in result.parseoutcomes().items() if key != "deselected"}
    assert outcomes == {"passed": expected}, said(result)


def selected(project: Project, few: str) -> list[str]:
    """The ids that a `--corpus-requirement` leaves, as the option way collects them."""
    if few not in _SELECTED:
        result = project.run(REFERENCE, few, "--collect-only", "-q", "-c", "/dev/null", "--noconftest")
        _SELECTED[few] = [name for name in ids(result) if name.startswith("corpus/")]
        assert _SELECTED[few]
    return _SELECTED[few]


_SELECTED: dict[str, list[str]] = {}
