"""Plugins that are in the way: no green light for a violating client, no blame for a sound one."""

import pytest
from fail_closed import (
    CLIENT,
    QUICK,
    REPORT,
    SOUND,
    VIOLATED,
    VIOLATED_TEST,
    VIOLATING,
    assert_conformant,
    assert_fail_closed,
    assert_partial,
    hostile_run,
    shorten,
)
from hostile_plugins import HARMLESS, HEAD, TABLE, Hostile
from inner_runs import Project, said, violated
from sweep_plugins import sweep
from thinning import thin_out

STRIKING, SWEEPING = sweep(VIOLATED_TEST), sweep("")
"""Each behaviour at each hook, which the one test that sees the violation meets, or every test."""

BY_NAME = {entry.name: entry for entry in (*TABLE, *STRIKING)}
PLUGINS = ("cacheprovider",)

OPTIONS = {
    "no terminal": ("-p", "no:terminal"),
    "no skipping": ("-p", "no:skipping"),
    "no junitxml": ("-p", "no:junitxml"),
    "no cache": ("-p", "no:cacheprovider"),
    "first failure": ("-x",),
    "number of failures": ("--maxfail=1",),
    "stepwise": ("--stepwise", "-p", "cacheprovider"),
    "last failed": ("--lf", "-p", "cacheprovider"),
}
"""Options of pytest that may stand beside the suite."""


@pytest.fixture(autouse=True)
def _short_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    shorten(monkeypatch)


def run(project: Project, entry: Hostile, *options: str, sound: bool) -> pytest.RunResult:
    place = "conftest" if "conftest" in entry.traits else "hostile"
    project.pytester.makepyfile(**{"mine": CLIENT, place: entry.source})
    project.pytester.syspathinsert()
    loaded = () if place == "conftest" else ("-p", place)
    given = (SOUND if sound else VIOLATING, REPORT, *QUICK, *loaded, *options)
    distributed = "-n" in options
    if "apart" in entry.traits or distributed:
        return project.run_apart(*given, plugins=("xdist",) if distributed else ())
    return project.run(*given)


@pytest.mark.parametrize("entry", [*thin_out(TABLE, 3, 1), *thin_out(STRIKING, 5), *thin_out(SWEEPING, 5, 1)])
def test_violating(project: Project, entry: Hostile) -> None:
    """Beside whatever plugin, a violating client is never conformant, and the exit code is never 0."""
    result = run(project, entry, sound=False)
    assert_fail_closed(project, result, sound=False, disturbed_end="disturbed_end" in entry.traits)


@pytest.mark.parametrize("entry", [*thin_out(TABLE, 6), *thin_out(SWEEPING, 5, 2)])
def test_sound(project: Project, entry: Hostile) -> None:
    """Beside whatever plugin, a sound client is never nonconformant; it is conformant only where everything ran."""
    result = run(project, entry, sound=True)
    assert_fail_closed(project, result, sound=True, disturbed_end="disturbed_end" in entry.traits)
    if entry.sound == "partial":
        assert_partial(project, result)
    elif entry.sound == "conformant":
        assert_conformant(project, result)


STAYS = ("made_passed", "logged_passed", "call_forgets", "findings_removed", "exit_code_last", "record_contradicted")


@pytest.mark.parametrize("name", STAYS)
def test_a_violation_stays(project: Project, name: str) -> None:
    """A violation that the body itself raised stays one, whatever a plugin does to its report."""
    run(project, BY_NAME[name], sound=False)
    assert violated(project.report()) == {VIOLATED}


@pytest.mark.parametrize("name", ["pyfunc_call", "skip_in_setup", "record_dropped", "swallowed_around_the_function"])
def test_it_is_not_assessed(project: Project, name: str) -> None:
    """The requirement whose test said nothing is not satisfied; all others are as they are."""
    run(project, BY_NAME[name], sound=False)
    entries = {entry["id"]: entry["status"] for entry in project.report()["requirements"]}
    assert entries.pop(VIOLATED) in ("not_assessed", "violated")
    assert entries.pop("WIR-ARGS-3") in ("satisfied", "not_assessed")
    assert set(entries.values()) == {"satisfied"}


@pytest.mark.parametrize("sound", [True, False])
@pytest.mark.parametrize("name", OPTIONS)
def test_options(project: Project, name: str, sound: bool) -> None:
    """Options of pytest change nothing for a sound client, and turn no violation green."""
    project.pytester.makepyfile(mine=CLIENT)
    result = project.run(SOUND if sound else VIOLATING, REPORT, *OPTIONS[name], plugins=PLUGINS)
    assert_fail_closed(project, result, sound=sound)
    if sound:
        assert_conformant(project, result)


@pytest.mark.parametrize("option", ["--lf", "--ff", "--stepwise"])
def test_a_second_run(project: Project, option: str) -> None:
    """The failures of the run before decide only which tests run: the violation turns no run green."""
    project.pytester.makepyfile(mine=CLIENT)
    project.run(VIOLATING, REPORT, plugins=PLUGINS)
    assert_fail_closed(project, project.run(VIOLATING, REPORT, option, plugins=PLUGINS), sound=False)


def test_selected_by_the_user(project: Project) -> None:
    """A run without the test of the violated requirement has no verdict; exit code 0 is right."""
    project.pytester.makepyfile(mine=CLIENT)
    result = project.run(VIOLATING, REPORT, "-k", "not test_the_arguments")
    assert_fail_closed(project, result, sound=False, whole=False)
    assert (result.ret, project.report()["verdict"]) == (0, "partial"), said(result)


SLOW = """
    def build_embed_request(self):
        import time
        time.sleep(1.0)
        return super().build_embed_request({})
"""

ALARM = """
import signal, pytest

def too_late(signum, frame):
    pytest.fail("hostile: Timeout (>0.3s)")

@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item, nextitem):
    if "test_a_builder_builds" not in item.nodeid: return (yield)
    before = signal.signal(signal.SIGALRM, too_late)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
"""
"""The signal method of pytest-timeout."""

EXITING = """
import os, threading, pytest

@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item, nextitem):
    timer = threading.Timer(0.3, os._exit, [1])
    timer.start()
    try:
        return (yield)
    finally:
        timer.cancel()
"""
"""The thread method of pytest-timeout."""


def slow_client(project: Project, arguments: str) -> None:
    """Write a client one of whose builders takes a second."""
    head, _, _ = CLIENT.partition("    def ")
    project.pytester.makepyfile(mine=head + SLOW.format(arguments))
    project.pytester.syspathinsert()


@pytest.mark.skipif(not hasattr(__import__("signal"), "SIGALRM"), reason="the plugin uses SIGALRM")
@pytest.mark.parametrize("sound", [True, False])
def test_a_time_limit_by_signal(project: Project, sound: bool) -> None:
    """A test that another plugin's time limit ends is not assessed: neither violated nor passed."""
    slow_client(project, "" if sound else "text=['Hello']")
    project.pytester.makepyfile(hostile=ALARM)
    assert_partial(project, project.run(VIOLATING, REPORT, "-p", "hostile"))
    status = {entry["id"]: entry["status"] for entry in project.report()["requirements"]}
    assert status["WIR-BUILD-1"] == "not_assessed"
    assert sound or status[VIOLATED] != "satisfied"


def test_a_time_limit_by_exit(project: Project) -> None:
    """A process that another plugin's time limit ends leaves a partial report, and an exit code that is not 0."""
    slow_client(project, "")
    project.pytester.makepyfile(hostile=EXITING)
    assert project.run_apart(VIOLATING, REPORT, "-p", "hostile").ret != 0
    assert project.report()["verdict"] == "partial"


FLAKY = """
from itertools import count
calls = count(1)

@changes("llm.complete")
def Flaky(answer):
    if next(calls) == 1:
        answer["result"]["finish_reason"] = "because"
"""
"""Breaks LLM-COMPLETE-2 once."""

RERUNS = {
    "hides the first": "",
    "logs the first as a rerun": "report.outcome = 'rerun'; item.ihook.pytest_runtest_logreport(report=report)",
}


def rerunning(logged: str) -> str:
    """A plugin that runs a test again until it passes, at most three times."""
    return (
        "from _pytest.runner import runtestprotocol\n"
        "def pytest_runtest_protocol(item, nextitem):\n"
        "    for attempt in range(3):\n"
        "        reports = runtestprotocol(item, log=False, nextitem=nextitem)\n"
        "        again = any(report.failed for report in reports)\n"
        "        if not again: break\n"
        f"        for report in reports: {logged or 'pass'}\n"
        "        item._initrequest()\n"
        "    for report in reports: item.ihook.pytest_runtest_logreport(report=report)\n"
        "    return True\n"
    )


INSIDE = """
import pytest

@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    given = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    for attempt in range(3):
        try:
            pyfuncitem.obj(**given)
        except BaseException:
            if attempt == 2: raise
        else:
            return True
"""


@pytest.mark.parametrize("name", [*RERUNS, "calls the function again"])
def test_reruns(project: Project, name: str) -> None:
    """A violation that a rerun plugin hides behind a pass is not satisfied, and the run is not green."""
    project.adapter(FLAKY)
    project.pytester.makepyfile(hostile=rerunning(RERUNS[name]) if name in RERUNS else INSIDE)
    project.pytester.syspathinsert()
    alone = ("--corpus-concurrency=1", "-p", "hostile")  # else what fails in company is run again alone
    options = ("--corpus-adapter=mine:Flaky", "--corpus-requirement=LLM-COMPLETE-2", REPORT, *alone)
    result = project.run(*options)
    report = project.report()
    [entry] = [entry for entry in report["requirements"] if entry["id"] == "LLM-COMPLETE-2"]
    assert entry["status"] in ("violated", "not_assessed"), said(result)
    assert result.ret != 0, said(result)


WORKERS = {
    "output emptied": "config.workeroutput['corpus'] = '{}'",
    "output dropped": "del config.workeroutput['corpus']",
    "output is not json": "config.workeroutput['corpus'] = 'x'",
    "nothing expected": "config.workeroutput['corpus'] = json.dumps({label: {**told, 'expected': []} "
    "for label, told in json.loads(config.workeroutput['corpus']).items()})",
}

ON_WORKERS = """
@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    config = session.config
    if hasattr(config, "workeroutput"):
        {}
"""


def distributed(project: Project, source: str, *, sound: bool) -> pytest.RunResult:
    return run(project, Hostile("distributed", HEAD + source, "unsure"), "-n", "2", sound=sound)


@pytest.mark.slow
@pytest.mark.parametrize("name", WORKERS)
def test_a_worker_that_lies_of_a_sound_client(project: Project, name: str) -> None:
    """A verdict does not rest on the last report of a worker."""
    result = distributed(project, ON_WORKERS.format(WORKERS[name]), sound=True)
    assert_fail_closed(project, result, sound=True)


@pytest.mark.parametrize("name", thin_out(WORKERS, len(WORKERS)))
def test_a_worker_that_lies_and_drops_the_test(project: Project, name: str) -> None:
    """A test that no worker runs is missed, even where the workers keep quiet about it."""
    result = distributed(project, ON_WORKERS.format(WORKERS[name]) + BY_NAME["dropped"].source, sound=False)
    assert_fail_closed(project, result, sound=False)


@pytest.mark.parametrize("code", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_worker_that_exits(project: Project, code: int) -> None:
    """A worker that ends in the middle of the test, even with code 0, leaves a run without a verdict."""
    source = (
        "\nimport os\ndef pytest_runtest_call(item):\n"
        f"    if hit(item.nodeid) and 'embedding.embed]' in item.nodeid: os._exit({code})\n"
    )
    result = distributed(project, source, sound=False)
    assert_fail_closed(project, result, sound=False)
    assert_partial(project, result)


DISTRIBUTED = (
    "skip_in_setup", "xfail_strict", "pyfunc_call", "other_runtest", "swallowed_around_the_call",
    "swallowed_around_the_function", "record_forged", "record_dropped", "record_contradicted", "made_passed",
    "logged_passed", "logged_twice", "not_logged", "one_case_less", "dropped", "exit_code_last", "exit_0_in_a_test",
)  # fmt: skip
BRIEFLY = ("pyfunc_call", "one_case_less")

DOZEN = (
    "runtest_setup-first-skip", "runtest_setup-around_first-return_before", "runtest_call-first-xfail",
    "runtest_call-around_first-swallow", "runtest_call-around_last-return_before",
    "runtest_makereport-around_first-return_before", "runtest_makereport-around_first-swallow",
    "runtest_logreport-around_first-return_before", "pyfunc_call-first-return", "pyfunc_call-around_last-swallow",
    "runtest_protocol-first-return", "collection_modifyitems-last-return",
)  # fmt: skip


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in BRIEFLY else pytest.mark.slow) for name in (*DISTRIBUTED, *DOZEN)]
)
def test_violating_on_two_workers(project: Project, name: str) -> None:
    """On two workers it is the same."""
    result = run(project, BY_NAME[name], "-n", "2", sound=False)
    assert_fail_closed(project, result, sound=False, disturbed_end="disturbed_end" in BY_NAME[name].traits)


@pytest.mark.parametrize(
    "scope", [("--corpus-requirement=LLM-COMPLETE-2",), pytest.param((), marks=pytest.mark.slow)], ids=["few", "whole"]
)
@pytest.mark.parametrize("entry", [each for each in SWEEPING if each.name in DOZEN], ids=str)
def test_a_violating_adapter(project: Project, entry: Hostile, scope: tuple[str, ...]) -> None:
    """With an adapter it is the same: its violation is not satisfied, and the exit code is not 0."""
    project.adapter()
    project.pytester.makepyfile(hostile=entry.source)
    project.pytester.syspathinsert()
    result = project.run("--corpus-adapter=mine:Broken", *scope, REPORT, *QUICK, "-p", "hostile")
    assert_fail_closed(project, result, sound=False, violated="LLM-COMPLETE-2", whole=not scope)
    assert result.ret != 0, said(result)


@pytest.mark.parametrize("name", HARMLESS)
def test_harmless(project: Project, name: str) -> None:
    """Beside a plugin that changes nothing, a sound client is conformant."""
    assert_conformant(project, hostile_run(project, f"import pytest\n{HARMLESS[name]}", sound=True))


@pytest.mark.parametrize("name", HARMLESS)
def test_harmless_beside_a_violation(project: Project, name: str) -> None:
    """Beside a plugin that changes nothing, a violating client is nonconformant, and blamed for that alone."""
    result = hostile_run(project, f"import pytest\n{HARMLESS[name]}", sound=False)
    assert (result.ret, project.report()["verdict"]) == (1, "nonconformant"), said(result)
    assert violated(project.report()) == {VIOLATED}


@pytest.mark.parametrize("options", [("--durations=3",), ("--junitxml=j.xml",), ("-q",), ("-vv",), ("-rA",), ("-s",)])
def test_harmless_options(project: Project, options: tuple[str, ...]) -> None:
    """Options that change what is shown change no verdict."""
    assert_conformant(project, project.run(SOUND, REPORT, *options))


@pytest.mark.slow
@pytest.mark.parametrize("name", HARMLESS)
def test_harmless_on_two_workers(project: Project, name: str) -> None:
    """On two workers it is the same."""
    assert_conformant(project, distributed(project, f"\n{HARMLESS[name]}", sound=True))
