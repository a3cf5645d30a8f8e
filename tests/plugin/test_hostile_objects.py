"""Whatever an adapter raises, leaves behind or hands over: a report, a verdict that is never too good, and no crash."""

import sys

import pytest
from inner_runs import Project, said, violated
from thinning import thin_out_rows

from pytest_corpus.adapter.event_loop.closing import ClosingBudget

HOSTILE = '''
import asyncio, os, time
import pytest

KEY = "sk_live_51H8xAbCdEf"

def boom_all():
    raise BaseExceptionGroup("all", [SystemExit(KEY), KeyboardInterrupt()])

# -- what is raised

@changes("llm.complete")
def exits_pytest(answer): pytest.exit("enough", returncode=0)

class Frames:
    def __init__(self, close): self.sent, self.close = 0, close
    def __aiter__(self): return self
    async def __anext__(self):
        self.sent += 1
        if self.sent > 3: raise StopAsyncIteration
        return {"ok": "yes", "code": "NO", "ms": -1}
    async def aclose(self): self.close()

class aclose_hides(Wrapped):
    """Every frame is broken, and closing the stream raises."""
    def handle_stream(self, envelope): return Frames(boom_all)

# -- what is left behind

class Leaving(Wrapped):
    async def handle(self, envelope):
        if op_of(envelope) == "llm.complete" and not getattr(self, "left", None):
            self.left = await self.leave()
        return await self.inner.handle(envelope)

class task_exits(Leaving):
    async def work(self):
        try: await asyncio.sleep(1000)
        except asyncio.CancelledError: raise SystemExit(0)
    async def leave(self):
        task = asyncio.ensure_future(self.work())
        await asyncio.sleep(0)
        return [task]

class forks(Leaving):
    async def leave(self):
        child = os.fork()
        if child == 0:
            await asyncio.sleep(0)
        return [child]

class close_skips(Leaving):
    async def leave(self): return [1]
    def close(self): pytest.skip("no")
'''

ANSWERS = {"exits_pytest": "COM-WIRE-1", "aclose_hides": "COM-STREAM-1"}

LEFT = {
    "task_exits": "closing left behind 1 task (task_exits.work)",
    "forks": "",
    "close_skips": "closing raised Skipped",
}

FEW = "--corpus-requirement=COM-WIRE-[123],COM-NUM-2,COM-STREAM-[12],COM-CAP-2,LLM-COMPLETE-[12]"
KEY = "sk_live_51H8xAbCdEf"


def run(project: Project, name: str, *, apart: bool = False) -> pytest.RunResult:
    project.adapter(HOSTILE, name="hostile")
    given = (f"--corpus-adapter=hostile:{name}", "-ocorpus_call_timeout=2", "--corpus-report=r.json", FEW)
    return project.run_apart(*given) if apart else project.run(*given)


@pytest.mark.parametrize(("name", "broken"), ANSWERS.items(), ids=ANSWERS)
def test_a_hostile_answer(project: Project, name: str, broken: str) -> None:
    """It is the finding of one requirement, no fault of the kit and no skip, and a report is written."""
    result = run(project, name)
    assert result.ret == 1, said(result)
    assert "INTERNALERROR" not in said(result)
    assert "fault of pytest-corpus" not in said(result)
    assert project.report()["verdict"] != "conformant"
    assert broken in violated(project.report())
    assert KEY not in said(result) + (project.path / "r.json").read_text("utf-8")


@pytest.mark.parametrize(("name", "told"), thin_out_rows(LEFT.items(), 3))
def test_what_is_left_behind(project: Project, name: str, told: str) -> None:
    """The report is written, by this process alone, and what was left behind is told in one line."""
    if name == "forks" and sys.platform == "win32":
        pytest.skip("there is no fork here")
    result = run(project, name, apart=True)
    assert result.ret == 0, said(result)
    assert "INTERNALERROR" not in said(result)
    assert "Traceback" not in said(result)
    assert (f"adapter hostile:{name}: {told}" if told else "corpus conformance") in said(result)
    assert said(result).count("corpus conformance") == 1
    assert project.report()["verdict"] != "conformant"
    assert KEY not in said(result)


def test_hanging_closings_of_fresh_instances(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few are waited for; a run ends in a bounded time and says so."""
    monkeypatch.setattr(ClosingBudget.__init__, "__defaults__", (30.0, 0.4, 3))
    project.adapter(
        "import asyncio\n"
        "class Hanging(Wrapped):\n    async def aclose(self): await asyncio.sleep(1000)\n"
        "def make(metrics, provider): return Hanging(metrics, provider)\n"
    )
    few = "--corpus-requirement=COM-FAULT-[12],COM-CAP-2"
    result, report = project.judged("mine:make", few)
    assert result.ret == 0, said(result)
    assert "adapter mine:make: closing takes longer than 0.4 s" in said(result)
    assert "closing 1 fresh instance did not end in time" in said(result)
    assert report["requirements"]


@pytest.mark.parametrize("outcome", ["skip", "fail", "xfail", "exit"])
@pytest.mark.parametrize("place", [pytest.param("module", marks=pytest.mark.slow), "factory"])
def test_outcomes_of_pytest_while_opening(project: Project, outcome: str, place: str) -> None:
    """A skip of pytest's in an adapter's module or factory is a bad declaration, not a green run."""
    call = f"pytest.{outcome}('not here'" + (
        ", allow_module_level=True)" if (outcome, place) == ("skip", "module") else ")"
    )
    source = (
        f"import pytest\n{call}\ndef make(): pass\n" if place == "module" else f"import pytest\ndef make(): {call}\n"
    )
    project.adapter(source)
    result = project.run("--corpus-adapter=mine:make", FEW)
    assert result.ret == pytest.ExitCode.USAGE_ERROR, said(result)
    assert "raises" in said(result)
    assert "Traceback" not in said(result)
