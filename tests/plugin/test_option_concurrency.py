"""`--corpus-concurrency` and `corpus_concurrency`: many tests in flight."""

import re
import shlex
import sys
import threading
from collections import Counter
from types import SimpleNamespace
from typing import Any, cast

import pytest
from inner_runs import Project, options, said, statuses, violated
from slow_adapters import Slow

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.adapter.turns import Body
from pytest_corpus.integration.declaring import adapters
from pytest_corpus.integration.running import in_flight
from pytest_corpus.integration.running.endings import Ending
from pytest_corpus.integration.running.in_flight import Attempt, ConcurrentTests
from pytest_corpus.integration.running.width import Width
from pytest_corpus.kit.outcomes import NotApplicable, Violation
from pytest_corpus.kit.store.store import EXISTING_STATES
from pytest_corpus.spec.components import COMPONENTS
from pytest_corpus.suites.graph.support.store import GraphStore

FEW = "LLM-COMPLETE-*,LLM-STREAM-*,LLM-MODEL-*,COM-CTX-*,COM-ERR-*,COM-CONC-1"
WIDE = "--corpus-concurrency=16"
AUTO = "--corpus-concurrency=auto"
ONE = "--corpus-concurrency=1"


def notes(result: pytest.RunResult) -> list[str]:
    """The lines of a run on its width."""
    return [line.partition(": ")[2] for line in result.outlines if line.startswith("--corpus-concurrency=")]


@pytest.mark.parametrize(("given", "most"), [((), None), ((WIDE,), 16), ((AUTO,), None)])
def test_the_width_is_given(project: Project, given: tuple[str, ...], most: int | None) -> None:
    """By default the run finds it out; the ini file has the same setting."""
    assert options(project, *given).concurrency == most
    ini = [f"-o{each.removeprefix('--').replace('-', '_')}" for each in given]
    assert options(project, *ini).concurrency == most


@pytest.mark.parametrize("width", [WIDE, AUTO])
def test_tests_in_flight_have_the_same_statuses(project: Project, width: str) -> None:
    """Of an adapter that answers slowly, and many of its calls are under way at the same time."""
    one, alone = project.judged("slow_adapters:llm", FEW, ONE)
    Slow.peak = 0
    result, beside = project.judged("slow_adapters:llm", FEW, width)
    assert statuses(beside) == statuses(alone), said(result)
    assert Slow.peak > 8, said(result)
    assert not notes(one)
    assert ("tests at a time" in "".join(notes(result))) is (width == AUTO)


@pytest.mark.parametrize("width", [ONE, WIDE])
def test_pytest_lists_the_time_that_a_test_took(project: Project, width: str) -> None:
    """Although the list of its findings is the plugin's own; a call takes 20 ms."""
    result, report = project.judged("slow_adapters:llm", "LLM-COMPLETE-*", width, "--durations=0", "-vv")
    listed = re.findall(r"^([0-9.]+)s call +corpus/llm/test_complete_basic", said(result), re.MULTILINE)
    assert violated(report) == set()
    assert sum(float(each) >= 0.02 for each in listed) > 5, said(result)


@pytest.mark.parametrize("width", [WIDE, AUTO])
def test_no_more_tests_are_begun_than_the_adapter_takes_calls(
    project: Project, monkeypatch: pytest.MonkeyPatch, width: str
) -> None:
    """A `concurrency` that it publishes counts from the first test on (R148)."""
    monkeypatch.setattr("slow_adapters.ReferenceLLM.concurrency", 1)
    Slow.peak = 0
    result, report = project.judged("slow_adapters:llm", "LLM-COMPLETE-*,LLM-MODEL-*", width)
    assert violated(report) == set(), said(result)
    assert Slow.peak == 1, said(result)


def test_a_system_without_room_for_threads_runs_tests_alone(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test is waited for that could not be begun, and no piece of the work of one."""
    start, begun = threading.Thread.start, Counter[str]()

    def start_some(thread: threading.Thread) -> None:
        kind = "test" if thread.name.startswith("corpus-test") else "other"
        begun[kind] += 1
        if begun[kind] % 4 == 3 and (kind == "test" or "run_as" in str(vars(thread).get("_target"))):
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_some)
    result, report = project.judged("slow_adapters:llm", "LLM-COMPLETE-*,COM-CTX-*,COM-WIRE-*", WIDE)
    assert violated(report) == set(), said(result)
    assert begun["test"] > 2
    assert "the system begins no more threads" in "".join(notes(result)), said(result)


@pytest.mark.parametrize(("scope", "several"), [("session", True), ("function", False)])
def test_fixtures_of_the_session_keep_no_test_from_being_in_flight(project: Project, scope: str, several: bool) -> None:
    """As plugins for asyncio have them; a fixture of each test may change what another test meets."""
    fixture = f"import pytest\n@pytest.fixture(autouse=True, scope={scope!r})\ndef prepared():\n    yield\n"
    project.path.joinpath("conftest.py").write_text(fixture, encoding="utf-8")
    Slow.peak = 0
    result, report = project.judged("slow_adapters:llm", "LLM-COMPLETE-*,COM-CTX-*", WIDE)
    assert violated(report) == set(), said(result)
    assert (Slow.peak > 8) is several


def make_attempt(item: object = None, **more: Any) -> Attempt:
    """An attempt of a body that gets its turn at once."""
    return Attempt(cast("pytest.Function", item), cast("Body", SimpleNamespace(resume=int, is_resting=False)), **more)


def test_a_test_that_does_not_apply_is_run_alone_once_for_each_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """That the others of the requirement do not apply is believed beside other tests."""
    monkeypatch.setattr(in_flight, "requirement_of", lambda item: item)
    tests, [one, other] = (
        ConcurrentTests(Width(4), may_be_cut_short=False),
        map(NotApplicable, ("too large", "too small")),
    )
    attempts = [make_attempt("LLM-MODEL-1", unoffered=each) for each in (one, one, other)]
    assert [tests.ending_from_attempt(each) for each in attempts] == [None, None, None]
    tests.find_disturbance(attempts[0].item, attempts[0], None, Ending("not_applicable", one), ())
    ended = [tests.ending_from_attempt(each) for each in attempts]
    assert [each and each.outcome for each in ended] == ["not_applicable", "not_applicable", None]


@pytest.mark.parametrize(
    ("component", "few", "namespaces"),
    [
        ("graph", "GRA-NODE-1,GRA-EDGE-1,GRA-BATCH-*,GRA-NS-*,GRA-BULK-1", "10"),
        pytest.param("vector", "VEC-UPSERT-1,VEC-NS-*,VEC-DELETE-*", "64", marks=pytest.mark.slow),
        *(pytest.param(component, "", "64", marks=pytest.mark.slow) for component in COMPONENTS),
        pytest.param("vector", "", "10", marks=pytest.mark.slow),
    ],
)
def test_each_component_has_the_same_statuses(project: Project, component: str, few: str, namespaces: str) -> None:
    """In its whole suite, too; and if there are fewer namespaces than tests that could be in flight."""
    many = f"--corpus-max-namespaces={namespaces}"
    _, alone = project.judged(f"slow_adapters:{component}", few, ONE)
    result, beside = project.judged(f"slow_adapters:{component}", few, WIDE, many)
    assert statuses(beside) == statuses(alone), said(result)


def test_what_shows_late_is_waited_for_by_several_tests(project: Project) -> None:
    """With `auto`, although the calls take no time."""
    result, report = project.judged("late_adapters:LateVector", "VEC-UPSERT-1,VEC-DELETE-*", AUTO)
    assert violated(report) == set(), said(result)
    assert "because tests wait for the adapter" in "".join(notes(result)), said(result)


def test_what_late_reports_show_counts_as_it_does_alone(project: Project) -> None:
    """With `auto`, tests wait together for late reports; a wrong one is found, of whichever test it is."""
    few = "COM-OBS-*,LLM-COMPLETE-*"
    _, alone = project.judged("late_adapters:mislabelled", few, ONE)
    result, beside = project.judged("late_adapters:mislabelled", few, AUTO)
    assert violated(alone)
    assert statuses(beside) == statuses(alone), said(result)
    assert "because tests wait for the adapter" in "".join(notes(result)), said(result)


def test_an_adapter_that_answers_at_once_is_run_one_test_at_a_time(project: Project) -> None:
    """With `auto` nothing is begun before its turn."""
    result, report = project.judged("pytest_corpus.reference:llm", FEW, AUTO)
    assert violated(report) == set()
    assert not notes(result)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("Queued", "a report of the adapter names no call"),
        ("FourAtATime", "the adapter puts calls off"),
        ("FourEmbeddings", "the adapter puts calls off"),
        pytest.param("TwentyASecond", "the adapter puts calls off", marks=pytest.mark.slow),
        ("Blocking", ""),
        ("Pooled", ""),
        ("Waiting", ""),
    ],
)
def test_a_sound_adapter_is_blamed_for_nothing(project: Project, name: str, why: str) -> None:
    """Whatever it makes of calls at the same time; the run says why it has fewer tests in flight."""
    few = {
        "Queued": f"{FEW},COM-OBS-*",
        "FourEmbeddings": "EMB-CACHE-1",  # of what was sent in company nothing may be sent again
        "TwentyASecond": "LLM-STREAM-*,COM-CTX-*",
    }
    result, report = project.judged(f"slow_adapters:{name}", few.get(name, FEW), WIDE)
    assert violated(report) == set(), said(result)
    assert why in "".join(notes(result))


def test_a_test_that_rests_is_not_waited_for() -> None:
    """A test that must run alone begins while another one waits for a time to pass, and not before."""
    tests, resting, busy = ConcurrentTests(Width(4), may_be_cut_short=False), make_attempt(), make_attempt()
    tests._running |= {resting, busy}
    tests._subject = cast("Any", SimpleNamespace(test_attributes=list))
    resting.body.is_resting = True

    def end() -> None:
        tests._running.discard(busy)
        busy.over.set()

    threading.Timer(0.05, end).start()
    tests.wait_until_quiet(may_rest=True)
    assert tests._running == {resting}


def test_what_was_sent_in_company_is_not_sent_again() -> None:
    """A test that made calls finds its facts out anew when it is run alone: the adapter may keep the answers."""
    tests, attempt = ConcurrentTests(Width(4), may_be_cut_short=False), make_attempt()
    assert not tests.must_unlearn(None)
    assert not tests.must_unlearn(attempt)
    attempt.part.exchanges.append(Exchange({}, False))
    assert tests.must_unlearn(attempt)
    attempt.unoffered = NotApplicable("too large")  # asked of facts that were found out alone
    assert not tests.must_unlearn(attempt)


@pytest.mark.parametrize("reopened", [True, False])
def test_what_goes_with_an_instance_is_no_disturbance(monkeypatch: pytest.MonkeyPatch, reopened: bool) -> None:
    """If the adapter blocks and is opened anew, what other tests have written in its memory is lost."""
    tests, instance = ConcurrentTests(Width(4), may_be_cut_short=False), SimpleNamespace(generation=1)
    attempt, other = [make_attempt() for _ in range(2)]
    other.part.exchanges.append(Exchange({}, False))
    tests._running |= {attempt, other}

    def lose(*_: object) -> None:
        instance.generation += reopened
        raise Violation("a node", "none")

    monkeypatch.setattr(tests, "_run_attempt", lose)
    records = SimpleNamespace(end_test=id)
    subject = SimpleNamespace(client=SimpleNamespace(instance=instance), store=SimpleNamespace(written=records))
    tests._run_in_thread(attempt, cast("Any", subject))
    assert attempt.violation is not None
    assert (attempt.other_exchange is None) is reopened


def test_data_of_ended_tests_are_deleted_while_others_go_on(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test is waited for, and none misses what it wrote."""
    running, rooms = list[int](), list[tuple[int, int]]()
    begin, make_room = ConcurrentTests._begin_attempts, GraphStore._free_space_for_others

    def note_running(tests: ConcurrentTests) -> None:
        running[:] = [tests.running]
        begin(tests)

    def note_room(store: GraphStore) -> bool:
        before, has_room = len(store.written.select(*EXISTING_STATES)), make_room(store)
        rooms.append((running[-1], before - len(store.written.select(*EXISTING_STATES))))
        return has_room

    monkeypatch.setattr("pytest_corpus.suites.graph.support.store.MANY_NODES", 60)
    monkeypatch.setattr(ConcurrentTests, "_begin_attempts", note_running)
    monkeypatch.setattr(GraphStore, "_free_space_for_others", note_room)
    result, report = project.judged("slow_adapters:graph", "GRA-NODE-*,GRA-EDGE-*,GRA-QUERY-*", WIDE)
    assert violated(report) == set(), said(result)
    assert any(beside and gone >= 10 for beside, gone in rooms), rooms


def test_calls_that_disturb_each_other_are_one_finding(project: Project) -> None:
    """An adapter that keeps one call's state breaks one requirement, not those that its answers break."""
    result, report = project.judged("slow_adapters:Forgetful", "EMB-EMBED-*,EMB-BATCH-*,EMB-TOKENS-*,COM-CTX-3", WIDE)
    assert violated(report) == {"COM-CONC-1"}, said(result)
    [finding] = [entry for entry in report["requirements"] if entry["id"] == "COM-CONC-1"]
    assert "beside other calls, and not alone" in str(finding)
    assert "at most 1 test at a time: calls at the same time disturb each other" in notes(result)


def test_an_adapter_elsewhere_is_run_one_test_at_a_time(project: Project) -> None:
    """The run says why."""
    program = shlex.join([sys.executable, "-c", "from pytest_corpus.cli import main; main()", "serve"])
    result, report = project.judged(f"cmd:{program} pytest_corpus.reference:llm --stdio", "LLM-MODEL-*", WIDE)
    assert violated(report) == set(), said(result)
    assert notes(result) == ["at most 1 test at a time: the adapter runs outside this process"]


def test_the_last_failed_tests_are_run_again(project: Project) -> None:
    """`--lf` selects as before, and pytest-timeout lets tests in flight end."""
    project.adapter()
    given = ("--corpus-adapter=mine:Broken", "--corpus-requirement=LLM-COMPLETE-*", WIDE, "--timeout=30")
    first = project.run(*given, plugins=("cacheprovider", "timeout"))
    again = project.run(*given, "--lf", plugins=("cacheprovider", "timeout"))
    assert first.parseoutcomes()["failed"] == again.parseoutcomes()["failed"] > 0
    assert "passed" not in again.parseoutcomes()


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("--corpus-transcript=t.jsonl", "a transcript is recorded"),
        ("--corpus-budget=calls=900", "a budget is set"),
        ("--corpus-repeat=2", "tests are repeated"),
    ],
)
def test_what_needs_one_test_at_a_time_says_so(project: Project, given: str, why: str) -> None:
    """If a width is asked for by number."""
    result, _ = project.judged("pytest_corpus.reference:llm", "LLM-MODEL-1", WIDE, given)
    assert notes(result) == [f"1 test at a time: {why}"]
    assert notes(project.judged("pytest_corpus.reference:llm", "LLM-MODEL-1", AUTO, given)[0]) == []


def test_reports_come_in_order(project: Project) -> None:
    """Whatever ended first; `-k` selects as before, and `-x` ends the run at the first failure."""
    selected = ("--corpus-adapter=slow_adapters:llm", "-kTestOptional or unknown", "-v")
    one, many = project.run(*selected, ONE), project.run(*selected, WIDE)
    lines = [[line.split(" ")[0] for line in run.outlines if "::" in line] for run in (one, many)]
    assert lines[0] == lines[1] != []
    project.adapter()
    result = project.run("--corpus-adapter=mine:Broken", f"--corpus-requirement={FEW}", "-x", WIDE)
    result.assert_outcomes(failed=1, passed=result.parseoutcomes().get("passed", 0))
    assert result.ret == 2 or "stopping after 1 failures" in said(result)


SAME = "LLM-COMPLETE-*,LLM-MODEL-*,COM-ERR-*,COM-LEAK-1,COM-NUM-1"

SENDING = """
import asyncio, json

class Sending(Wrapped):
    async def handle(self, envelope):
        await asyncio.sleep(0.01)
        with open("sent.txt", "a") as file:
            file.write(json.dumps(envelope, default=str) + chr(10))
        return await self.inner.handle(envelope)
"""


def test_two_runs_send_the_same_requests(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test sends what depends on the seed and on answers alone, whatever ran beside it."""
    monkeypatch.setattr(adapters, "new_run", lambda: "abcdefghjk")
    module, sent, found = project.adapter(SENDING), project.path / "sent.txt", []
    for _ in range(2):
        inputs.reset_entries(Counter())  # a process counts its facts
        project.judged(f"{module}:Sending", SAME, WIDE)
        found.append({re.sub(r'"deadline_ms": \d+', "", line) for line in sent.read_text("utf-8").splitlines()})
        sent.unlink()
    assert found[0] ^ found[1] == set()
