"""Plugins of users that are in the way: what each does to the one test that sees the violation of a client.

Some mean well (a time limit, a rerun, a marker), some lie. Each is named after what it does, and goes with the source
of a plugin or a conftest.py, and with what a sound client comes to beside it.
"""

from dataclasses import dataclass

HEAD = """
import json
import pytest

def hit(nodeid):
    return "test_the_arguments_meet_their_schema" in nodeid

def rewritten(report, change):
    pairs = []
    for name, value in report.user_properties:
        pairs += change(value) if name == "corpus" else [(name, value)]
    report.user_properties[:] = pairs

def forged(**changes):
    return lambda text: [("corpus", json.dumps({**json.loads(text), **changes}))]

def passed(report):
    report.outcome, report.longrepr = "passed", None
"""

ITEMS = """
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if hit(item.nodeid):
            {}
"""

AROUND = """
@pytest.hookimpl(wrapper=True, tryfirst=True)
def {}:
    if not hit({}): return (yield)
    {}
"""


def each_item(code: str) -> str:
    """A plugin that does something to the item once all are collected."""
    return ITEMS.format(code)


def around_call(code: str) -> str:
    """A plugin around the call of the test."""
    return AROUND.format("pytest_runtest_call(item)", "item.nodeid", code)


def making(code: str) -> str:
    """A plugin that changes the report of the call as it is made, after all others."""
    body = f"report = yield\n    if call.when == 'call':\n        {code}\n    return report"
    return AROUND.format("pytest_runtest_makereport(item, call)", "item.nodeid", body)


def logging(code: str) -> str:
    """A plugin that changes the report of the call as it is logged, before all others."""
    body = f"if report.when == 'call':\n        {code}\n    return (yield)"
    return AROUND.format("pytest_runtest_logreport(report)", "report.nodeid", body)


@dataclass(frozen=True)
class Hostile:
    """A plugin that is in the way.

    Attributes:
        source: its code, behind `HEAD`.
        sound: what a sound client comes to: "partial", "conformant", or "" where several ends are right.
        place: the module that it is: a plugin that is loaded with -p, or a conftest.
        apart: it needs a process of its own.
        disturbed_end: pytest itself ends with a code of its own, after the verdict.
    """

    name: str
    source: str
    sound: str = "partial"
    place: str = "hostile"
    options: tuple[str, ...] = ()
    apart: bool = False
    disturbed_end: bool = False

    def __str__(self) -> str:
        return self.name


SKIPS = (
    Hostile("skip_in_setup",
            "\n@pytest.hookimpl(tryfirst=True)\ndef pytest_runtest_setup(item):\n"
            "    if hit(item.nodeid): pytest.skip('hostile')\n"),
    Hostile(
        "skip_in_a_fixture",
        "\n@pytest.fixture(autouse=True)\ndef no(request):\n    if hit(request.node.nodeid): pytest.skip('hostile')\n",
        place="conftest",
    ),
    Hostile("skip_after_the_test",
            "\n@pytest.fixture(autouse=True)\ndef no(request):\n    yield\n"
            "    if hit(request.node.nodeid): pytest.skip('hostile')\n", sound="", place="conftest"),
    Hostile("skipif_marker", each_item("item.add_marker(pytest.mark.skipif(True, reason='hostile'))")),
    Hostile(
        "module_marker",
        "\nimport pytest_corpus.suites.wire.test_request_builders as chapter\nchapter.pytestmark = pytest.mark.skip\n",
        apart=True,
    ),
)  # fmt: skip

XFAILS = (
    Hostile("xfail", each_item("item.add_marker(pytest.mark.xfail)"), sound=""),
    Hostile("xfail_strict", each_item("item.add_marker(pytest.mark.xfail(strict=True))")),
    Hostile("xfail_not_run", each_item("item.add_marker(pytest.mark.xfail(run=False))")),
    Hostile(
        "xfail_in_a_fixture",
        "\n@pytest.fixture(autouse=True)\ndef no(request):\n    if hit(request.node.nodeid): pytest.xfail('hostile')\n",
        place="conftest",
    ),
    Hostile("wasxfail", making("report.wasxfail = 'hostile'; passed(report)"), sound=""),
    Hostile("wasxfail_logged", logging("report.wasxfail, report.outcome = 'hostile', 'skipped'")),
)

NOT_RUN = (
    Hostile(
        "pyfunc_call",
        "\n@pytest.hookimpl(tryfirst=True)\ndef pytest_pyfunc_call(pyfuncitem):\n"
        "    return True if hit(pyfuncitem.nodeid) else None\n",
    ),
    Hostile("other_function", each_item("item.obj = lambda **given: None"), "conformant"),
    Hostile("other_runtest", each_item("item.runtest = lambda: None")),
    Hostile("other_function_late", around_call("item.obj = lambda **given: None\n    return (yield)")),
    Hostile("runtestloop", "\n@pytest.hookimpl(tryfirst=True)\ndef pytest_runtestloop(session):\n    return True\n"),
)

SWALLOWED = (
    Hostile("swallowed_around_the_call", around_call("try: return (yield)\n    except BaseException: return None"),
            sound="conformant"),
    Hostile(
        "swallowed_around_the_function",
        AROUND.format(
            "pytest_pyfunc_call(pyfuncitem)",
            "pyfuncitem.nodeid",
            "try: return (yield)\n    except BaseException: return True",
        ),
        sound="conformant",
    ),
    Hostile(
        "swallowed_by_runtest",
        "\nfrom contextlib import suppress\ndef quiet(run):\n    def runtest():\n"
        "        with suppress(BaseException): run()\n    return runtest\n"
        + each_item("item.runtest = quiet(item.runtest)"),
        sound="",
    ),
    Hostile(
        "swallowed_by_the_function",
        "\nfrom contextlib import suppress\ndef quiet(run):\n    def test(**given):\n"
        "        with suppress(BaseException): run(**given)\n    return test\n"
        + each_item("item.obj = quiet(item.obj)"),
        sound="",
    ),
    Hostile(
        "call_forgets",
        AROUND.format(
            "pytest_runtest_makereport(item, call)", "item.nodeid", "call.excinfo = None\n    return (yield)"
        ),
        sound="conformant",
    ),
)  # fmt: skip

SATISFIED = "forged(outcome='satisfied', findings=[])"


def put(value: str) -> str:
    """A plugin that puts something in the place of the record as it is logged, and calls the test passed."""
    return logging(f"rewritten(report, lambda text: [('corpus', {value})]); passed(report)")


def pretended(changes: str) -> str:
    """A plugin that changes the record as it is logged, and calls the test passed."""
    return logging(f"rewritten(report, forged({changes})); passed(report)")


FORGED = (
    Hostile("record_forged", making(f"rewritten(report, {SATISFIED}); passed(report)"), ""),
    Hostile("record_forged_late", logging(f"rewritten(report, {SATISFIED}); passed(report)"), ""),
    Hostile("findings_removed", making("rewritten(report, forged(findings=[])); passed(report)"), ""),
    Hostile("record_doubled", making("rewritten(report, lambda text: 2 * [('corpus', text)])")),
    Hostile("record_contradicted",
            making(f"rewritten(report, lambda text: [('corpus', text), *{SATISFIED}(text)]); passed(report)")),
    Hostile("record_dropped", making("rewritten(report, lambda text: []); passed(report)")),
    Hostile("record_dropped_late", logging("report.user_properties.clear(); passed(report)")),
    Hostile("record_of_another_test",
            "\nseen = []\n@pytest.hookimpl(wrapper=True)\ndef pytest_runtest_logreport(report):\n"
            "    mine = [value for name, value in report.user_properties if name == 'corpus']\n"
            "    if mine and not hit(report.nodeid): seen.extend(mine)\n"
            "    if mine and hit(report.nodeid):\n"
            "        rewritten(report, lambda text: [('corpus', seen[0])]); passed(report)\n"
            "    return (yield)\n"),
    Hostile("record_is_no_json", put("'x'")),
    Hostile("record_is_a_list", put("'[]'")),
    Hostile("record_is_a_number", put("7")),
    Hostile("unknown_outcome", pretended("outcome='brilliant'")),
    Hostile("unknown_key", pretended("colour='green'"), ""),
    Hostile("other_requirement", pretended("requirement='WIR-ENV-1', outcome='satisfied', findings=[]")),
    Hostile("unknown_requirement", pretended("requirement='X-1', outcome='satisfied', findings=[]")),
    Hostile("other_adapter", pretended("adapter='other', outcome='satisfied', findings=[]")),
    Hostile("other_component", pretended("component='llm', outcome='satisfied', findings=[]")),
)  # fmt: skip
"""The record of the test, which travels with its report, is not what the run wrote."""

REPORTS = (
    Hostile("made_passed", making("passed(report)"), "conformant"),
    Hostile("made_failed", making("report.outcome = 'failed'; report.longrepr = 'hostile'")),
    Hostile("logged_passed", logging("passed(report)"), "conformant"),
    Hostile("logged_failed", logging("report.outcome = 'failed'")),
    Hostile("logged_rerun", logging("report.outcome = 'rerun'")),
    Hostile("logged_as_setup", logging("report.when = 'setup'; passed(report)")),
    Hostile("logged_as_another", logging("report.nodeid = 'other.py::test_other'; passed(report)"), ""),
    Hostile(
        "new_report",
        AROUND.format(
            "pytest_runtest_makereport(item, call)",
            "item.nodeid",
            "yield\n    call.excinfo = None\n    return pytest.TestReport.from_item_and_call(item, call)",
        ),
    ),
    Hostile("logged_twice",
            "\nfrom _pytest.runner import runtestprotocol\n"
            "def pytest_runtest_protocol(item, nextitem):\n"
            "    if not hit(item.nodeid): return None\n"
            "    for report in runtestprotocol(item, log=False, nextitem=nextitem):\n"
            "        for _ in range(2): item.ihook.pytest_runtest_logreport(report=report)\n"
            "    return True\n", ""),
    Hostile("not_logged",
            "\nfrom _pytest.runner import runtestprotocol\n"
            "def pytest_runtest_protocol(item, nextitem):\n"
            "    if not hit(item.nodeid): return None\n"
            "    for report in runtestprotocol(item, log=False, nextitem=nextitem):\n"
            "        if report.when != 'call': item.ihook.pytest_runtest_logreport(report=report)\n"
            "    return True\n"),
)  # fmt: skip

RUNNING = (*SKIPS, *XFAILS, *NOT_RUN, *SWALLOWED, *FORGED, *REPORTS)
