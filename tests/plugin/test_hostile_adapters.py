"""Adapters that do what no adapter should: the run ends, says what broke, and tests the rest."""

from pathlib import Path

import pytest
from inner_runs import PYTHON, Project, said, statuses, violated
from thinning import thin_out, thin_out_rows

from pytest_corpus.adapter.hooks import late_reports

HOSTILE = '''
import asyncio, itertools, time

class Wrapped(Wrapped):
    def __init__(self): super().__init__()

def success(result):
    return {"ok": True, "code": "OK", "ms": 1.0, "result": result}

def completion(**changed):
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return success({"text": "x", "model": "reference-large", "usage": usage, "finish_reason": "stop", **changed})

def frame(text="", is_final=False):
    return {"ok": True, "code": "STREAMING", "ms": 1.0, "chunk": {"text": text, "is_final": is_final}}

def raising(error):
    raise error

def completing(answer):
    """An adapter whose `llm.complete` gives what `answer` gives, awaited where it can be."""
    class Completing(Wrapped):
        async def handle(self, envelope):
            if op_of(envelope) != "llm.complete":
                return await self.inner.handle(envelope)
            given = answer()
            return await given if asyncio.iscoroutine(given) else given
    return Completing

class Stubborn:
    async def __call__(self):
        while True:
            try:
                await asyncio.sleep(1000)
            except asyncio.CancelledError:
                pass

recursive = {}
recursive["me"] = recursive

hangs = completing(lambda: asyncio.sleep(1000))
will_not_be_cancelled = completing(lambda: Stubborn()())
blocks_the_loop = completing(lambda: time.sleep(1.5))
keyboard_interrupt = completing(lambda: raising(KeyboardInterrupt()))
system_exit = completing(lambda: raising(SystemExit(3)))
a_list = completing(lambda: [1, 2])
none = completing(lambda: None)
text = completing(lambda: '{"ok": true}')
an_object = completing(object)
contains_itself = completing(lambda: recursive)
a_set = completing(lambda: completion(text={1}))
nan = completing(lambda: completion(text="x", usage={"prompt_tokens": float("nan"), "total_tokens": 1}))
five_mebibytes = completing(lambda: completion(text="x" * (5 << 20), extra=1))
lone_surrogate = completing(lambda: completion(text="\\ud800", finish_reason="\\ud800"))

class hangs_everywhere(Wrapped):
    async def handle(self, envelope): await asyncio.sleep(1000)
    async def handle_stream(self, envelope):
        await asyncio.sleep(1000)
        yield {}

class raises_everywhere(Wrapped):
    async def handle(self, envelope): raise KeyboardInterrupt
    def handle_stream(self, envelope): raise SystemExit

class not_a_coroutine(Wrapped):
    def handle(self, envelope): return 7

class stream_five_mebibytes(Wrapped):
    async def handle_stream(self, envelope):
        yield frame("x" * (5 << 20))
        yield frame("", True)

class stream_endless_fast(Wrapped):
    async def handle_stream(self, envelope):
        while True: yield frame("x")

class stream_endless_slow(Wrapped):
    async def handle_stream(self, envelope):
        while True:
            await asyncio.sleep(0.02)
            yield frame("x")

class stream_endless_and_large(Wrapped):
    async def handle_stream(self, envelope):
        for number in itertools.count():
            yield frame("x" * 900_000)

class stream_raises_midway(Wrapped):
    async def handle_stream(self, envelope):
        async for each in self.inner.handle_stream(envelope):
            yield each
            raise RuntimeError("midway")

class stream_interrupts_midway(Wrapped):
    async def handle_stream(self, envelope):
        async for each in self.inner.handle_stream(envelope):
            yield each
            raise KeyboardInterrupt

class stream_is_a_list(Wrapped):
    def handle_stream(self, envelope): return [frame("x", True)]

class stream_is_none(Wrapped):
    async def handle_stream(self, envelope): return None

class stream_of_objects(Wrapped):
    async def handle_stream(self, envelope): yield object()

class stream_hangs_on_close(Wrapped):
    async def handle_stream(self, envelope):
        try:
            while True: yield frame("x")
        finally:
            await asyncio.sleep(1000)

@before("llm.complete")
def background_task_exits(adapter, envelope):
    async def die(): raise SystemExit(1)
    adapter.task = asyncio.get_running_loop().create_task(die())

@before("llm.complete")
async def stops_the_loop(adapter, envelope):
    asyncio.get_running_loop().stop()
    await asyncio.sleep(0.01)
'''

ENDLESS = ("stream_endless_fast", "stream_endless_slow", "stream_endless_and_large", "stream_hangs_on_close")
"""Streams that are cut off while they still go on: nobody knows whether they would have ended."""

UNARY = {
    "hangs": "COM-WIRE-2", "will_not_be_cancelled": "COM-WIRE-2", "blocks_the_loop": "COM-WIRE-2",
    "keyboard_interrupt": "COM-WIRE-1", "system_exit": "COM-WIRE-1", "a_list": "COM-WIRE-3", "none": "COM-WIRE-3",
    "text": "COM-WIRE-3", "an_object": "COM-WIRE-3", "contains_itself": "COM-WIRE-3", "a_set": "COM-WIRE-3",
    "nan": "COM-NUM-2", "five_mebibytes": "LLM-COMPLETE-1 COM-WIRE-2", "lone_surrogate": "LLM-COMPLETE-2",
}  # fmt: skip

STREAMS = {
    "stream_five_mebibytes": "COM-STREAM-5",
    "stream_raises_midway": "COM-WIRE-1",
    "stream_interrupts_midway": "COM-WIRE-1",
    "stream_is_a_list": "COM-WIRE-3",
    "stream_is_none": "COM-WIRE-3",
    "stream_of_objects": "COM-WIRE-3",
}

EVERYTHING = {"hangs_everywhere": "COM-WIRE-2", "raises_everywhere": "COM-WIRE-1", "not_a_coroutine": "COM-WIRE-3"}

LOOPS = ("background_task_exits", "stops_the_loop")

FEWER = "--corpus-requirement=COM-STREAM-[67],COM-CAP-2,LLM-COMPLETE-1,LLM-TOKENS-1"

FEW = "--corpus-requirement=COM-WIRE-[123],COM-NUM-2,COM-STREAM-[1567],COM-CAP-2,LLM-COMPLETE-[12],LLM-TOKENS-1"


def run(project: Project, name: str, few: str = FEW, *, apart: bool = False) -> pytest.RunResult:
    """A run of a few requirements on a hostile adapter; what never ends is given up after a second."""
    project.adapter(HOSTILE, name="hostile")
    timeout = 1 if name in ENDLESS or "hang" in name or "block" in name else 10
    options = (f"--corpus-adapter=hostile:{name}", f"-ocorpus_call_timeout={timeout}", "--corpus-report=r.json", few)
    return project.run_apart(*options) if apart else project.run(*options)


def assert_survived(result: pytest.RunResult) -> None:
    """The run came to its end and blames the adapter."""
    assert result.ret == 1, said(result)
    assert "INTERNALERROR" not in said(result)
    assert "fault of pytest-corpus" not in said(result)
    assert "corpus conformance" in said(result)


@pytest.mark.parametrize(("name", "broken"), thin_out_rows((UNARY | STREAMS).items(), 2))
def test_one_hostile_operation(project: Project, name: str, broken: str) -> None:
    """The requirement that it breaks is named, it is the only one, and other tests still pass."""
    result = run(project, name)
    assert_survived(result)
    assert violated(project.report()) & set(broken.split())
    assert len(violated(project.report())) <= 2, violated(project.report())
    assert result.parseoutcomes()["passed"] >= 2


def test_a_stream_that_sends_for_ever_never_ends(project: Project) -> None:
    """Frames beyond what any request can ask for violate COM-WIRE-2, and the run is red."""
    result = run(project, "stream_endless_fast", FEWER.replace("COM-CAP-2", "COM-CAP-2,COM-WIRE-2"))
    assert_survived(result)
    assert violated(project.report()) == {"COM-WIRE-2"}


STEADY = """
class Steady(Wrapped):
    numbers = itertools.count()

    async def refusal(self, envelope):
        return {**await self.inner.handle({**envelope, "op": "llm.none"}), "error": "NotSupported"}

    async def handle(self, envelope):
        if op_of(envelope) == "llm.complete" and FRAMES(0, envelope["args"]) == "refused":
            return await self.refusal(envelope)
        return await self.inner.handle(envelope)

    async def handle_stream(self, envelope):
        length = FRAMES(next(self.numbers), envelope["args"])
        if length == "refused":
            yield await self.refusal(envelope)
            return
        for number in itertools.count():
            await asyncio.sleep(0.05)
            yield frame("x", number == length)
            if number == length: return
"""


@pytest.mark.parametrize(
    ("frames", "status"),
    [
        ("lambda number, args: None", "violated"),
        ("lambda number, args: 8 if number else 200", "satisfied"),
        ("lambda number, args: 'refused' if 'max_tokens' in args else 200", "not_assessed"),
        ("lambda number, args: 2", "satisfied"),
    ],
    ids=["endless", "long", "no short one", "short"],
)
def test_a_stream_that_sends_slowly_for_ever(project: Project, frames: str, status: str) -> None:
    """It never ends if a short request does not end either; a long answer may take long."""
    project.adapter(HOSTILE + f"FRAMES = {frames}\n" + STEADY, name="hostile")
    few = "--corpus-requirement=COM-WIRE-2,COM-STREAM-6"
    result = project.run("--corpus-adapter=hostile:Steady", "-ocorpus_call_timeout=1", "--corpus-report=r.json", few)
    assert "fault of pytest-corpus" not in said(result)
    assert statuses(project.report())["llm", "COM-WIRE-2"] == status, said(result)
    assert violated(project.report()) == ({"COM-WIRE-2"} if status == "violated" else set())


@pytest.mark.slow
def test_a_stream_that_sends_slowly_for_ever_over_the_wire(project: Project) -> None:
    """It is found as in process."""
    project.adapter(HOSTILE + "FRAMES = lambda number, args: None\n" + STEADY, name="hostile")
    program = f"{Path(PYTHON).parent / 'pytest-corpus'} serve hostile:Steady --stdio"
    few = "--corpus-requirement=COM-WIRE-2,COM-STREAM-6"
    result = project.run_apart(
        f"--corpus-adapter=x=cmd:{program}", "-ocorpus_call_timeout=2", "--corpus-report=r.json", few
    )
    assert violated(project.report()) == {"COM-WIRE-2"}, said(result)


@pytest.mark.parametrize("name", thin_out(ENDLESS, 2))
def test_a_stream_that_is_cut_off_is_not_judged(project: Project, name: str) -> None:
    """If a stream goes on and on, what rests on its end is never satisfied, and the run comes to its own."""
    result = run(project, name, FEWER)
    assert "INTERNALERROR" not in said(result)
    assert "fault of pytest-corpus" not in said(result)
    assert violated(project.report()) <= {"COM-WIRE-2", "COM-STREAM-6"}
    found = statuses(project.report())
    assert found["llm", "COM-STREAM-6"] in ("not_assessed", "violated")
    assert found["llm", "COM-STREAM-7"] == "not_assessed"
    assert result.parseoutcomes()["passed"] >= 2


@pytest.mark.parametrize(("name", "broken"), thin_out_rows(EVERYTHING.items(), 3, 1))
def test_every_operation_hostile(project: Project, name: str, broken: str) -> None:
    """If nothing works at all, that one cause is the one finding, and the run ends soon."""
    result = run(project, name, "--corpus-requirement=*")
    assert_survived(result)
    assert violated(project.report()) == {broken}
    assert project.report()["verdict"] == "nonconformant"
    assert result.duration < 60


@pytest.mark.parametrize("name", LOOPS)
def test_hostile_to_the_event_loop(project: Project, name: str) -> None:
    """An adapter that ends the event loop is found out, and tests of other operations still run."""
    few = "--corpus-requirement=COM-WIRE-[12],COM-CAP-2,LLM-TOKENS-1,COM-HEALTH-1"
    result = run(project, name, few, apart=True)
    assert_survived(result)
    assert violated(project.report()) <= {"COM-WIRE-1", "COM-WIRE-2"}
    assert result.parseoutcomes()["passed"] >= 2


def test_a_hanging_operation_is_not_called_for_ever(project: Project) -> None:
    """After a few time-outs an operation is left alone: a whole run takes seconds, not minutes."""
    result = run(project, "hangs", "--corpus-requirement=*")
    assert_survived(result)
    assert violated(project.report()) == {"COM-WIRE-2"}
    assert "blocks" in said(result)
    assert result.duration < 60


@pytest.mark.parametrize(
    "source",
    [
        """
from types import MappingProxyType
class Odd(Wrapped):
    async def handle(self, envelope): return MappingProxyType(await self.inner.handle(envelope))
""",
        """
class Odd(Wrapped):
    def __getattribute__(self, name):
        if name in ("aclose", "close"): raise AttributeError(name)
        return super().__getattribute__(name)
    def __bool__(self): return False
    def __eq__(self, other): raise RuntimeError
    __hash__ = None
""",
    ],
    ids=["other_mapping", "falsy"],
)
def test_odd_but_legal(project: Project, source: str) -> None:
    """An unusual way to be a wire handler is not a finding."""
    project.adapter(source)
    result, report = project.judged("mine:Odd", FEW)
    assert result.ret == 0, said(result)
    assert violated(report) == set()


@pytest.mark.parametrize("hooks", ["metrics", "provider"])
def test_misuse_of_a_hook(project: Project, monkeypatch: pytest.MonkeyPatch, hooks: str) -> None:
    """A hook that is called the wrong way is the adapter's finding, not a crash of ours."""
    monkeypatch.setattr(late_reports, "LATEST_S", 0.1)
    misuse = {
        "metrics": "self.metrics.observe(1, 2, object(), surprise={})\n        self.metrics.counter()",
        "provider": "await self.provider.reached(object(), chunk='x', items=None)",
    }[hooks]
    project.adapter(
        "class Misusing:\n"
        f"    def __init__(self, {hooks}): self.{hooks}, self.inner = {hooks}, llm()\n"
        "    async def handle(self, envelope):\n"
        f"        {misuse}\n"
        "        return await self.inner.handle(envelope)\n"
        "    def handle_stream(self, envelope): return self.inner.handle_stream(envelope)\n"
    )
    result, report = project.judged("mine:Misusing", "COM-OBS-*,COM-FAULT-*")
    text = said(result)
    assert "INTERNALERROR" not in text
    assert "fault of pytest-corpus" not in text
    assert ("COM-OBS-12" in violated(report)) == (hooks == "metrics")
