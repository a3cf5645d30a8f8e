"""Every shape of factory is opened as it is meant to be, and closed in every case."""

import pytest
from inner_runs import Project, said

SHAPES = '''
import contextlib

def note(word):
    with open("life.txt", "a") as file:
        file.write(word + "\\n")

class Closing(Wrapped):
    """Opened and closed, and breaks LLM-COMPLETE-2 where `broken.txt` lies beside it."""

    def __init__(self, metrics=None, provider=None):
        super().__init__(metrics, provider)
        note("open")

    async def handle(self, envelope):
        answer = await self.inner.handle(envelope)
        import os
        if os.path.exists("broken.txt") and op_of(envelope) == "llm.complete" and answer["ok"]:
            answer["result"]["finish_reason"] = "because"
        return answer

class with_close(Closing):
    def close(self): note("close")

class with_aclose(Closing):
    async def aclose(self): note("close")
    def close(self): note("wrong")

def function(): return with_close()

async def coroutine_function(): return with_aclose()

def generator():
    yield Closing()
    note("close")

async def async_generator():
    yield Closing()
    note("close")

def guarded_generator():
    try:
        yield Closing()
    finally:
        note("close")

@contextlib.contextmanager
def context_manager():
    yield Closing()
    note("close")

@contextlib.asynccontextmanager
async def async_context_manager():
    yield Closing()
    note("close")

class entered(Closing):
    def __enter__(self): return self
    def __exit__(self, *args): note("close")

class async_entered(Closing):
    async def __aenter__(self): return None
    async def __aexit__(self, *args): note("close")

def mapping(): return {"llm": with_aclose()}

async def async_mapping(): return {"llm": with_close()}

def keyword_component(component):
    assert component == "llm"
    return with_close()

async def keyword_all(*, metrics, provider, component):
    assert component == "llm"
    return with_close(metrics, provider)

def defaults(metrics=None, endpoint="local", *rest, **options): return with_close(metrics)

class Factories:
    @staticmethod
    def static(): return with_close()
    @classmethod
    def by_class(cls): return with_close()

import functools
partial = functools.partial(with_close, metrics=None)
'''

NAMES = [
    "with_close", "with_aclose", "function", "coroutine_function", "generator", "async_generator", "guarded_generator",
    "context_manager", "async_context_manager", "entered", "async_entered", "mapping", "async_mapping",
    "keyword_component", "keyword_all", "defaults", "partial", "Factories.static", "Factories.by_class",
]  # fmt: skip

FEW = "--corpus-requirement=LLM-COMPLETE-2,COM-CAP-2"


@pytest.fixture
def shapes(project: Project) -> Project:
    project.adapter(SHAPES, name="shapes")
    return project


def life(project: Project) -> list[str]:
    path = project.path / "life.txt"
    return path.read_text().split() if path.exists() else []


@pytest.mark.parametrize("name", NAMES)
def test_opened_and_closed(shapes: Project, name: str) -> None:
    """The adapter of this shape is opened once, passes, and is closed once."""
    result = shapes.run(f"--corpus-adapter=shapes:{name}", FEW)
    assert result.ret == 0, said(result)
    assert result.parseoutcomes()["passed"] >= 2
    assert life(shapes) == ["open", "close"]


@pytest.mark.parametrize("name", ["generator", "with_aclose", "context_manager", "async_entered"])
def test_closed_after_failures(shapes: Project, name: str) -> None:
    """It is closed after failures, too."""
    (shapes.path / "broken.txt").touch()
    result = shapes.run(f"--corpus-adapter=shapes:{name}", FEW, "-x")
    assert result.ret == 1, said(result)
    assert life(shapes) == ["open", "close"]


@pytest.mark.parametrize("name", ["generator", "with_aclose"])
def test_closed_after_ctrl_c(shapes: Project, name: str) -> None:
    """It is closed when a test of the user's is interrupted."""
    shapes.pytester.makepyfile(test_own="def test_own(): raise KeyboardInterrupt")
    result = shapes.run_apart(f"--corpus-adapter=shapes:{name}", FEW, "--corpus-report=r.json")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert life(shapes) == ["open", "close"]
    assert shapes.report()["verdict"] == "partial"


def test_closed_after_a_collection_error(shapes: Project) -> None:
    """It is closed where a module of the user's cannot be collected."""
    shapes.pytester.makepyfile(test_own="raise RuntimeError")
    assert shapes.run("--corpus-adapter=shapes:generator", FEW).ret == pytest.ExitCode.INTERRUPTED
    assert life(shapes) == ["open", "close"]


def test_closed_after_an_internal_error(shapes: Project) -> None:
    """It is closed where a hook of the user's breaks pytest itself."""
    shapes.pytester.makeconftest("def pytest_collection_finish(session): raise RuntimeError('broken')")
    assert shapes.run("--corpus-adapter=shapes:generator", FEW).ret == pytest.ExitCode.INTERNAL_ERROR
    assert life(shapes) == ["open", "close"]


def test_closed_when_it_answers_for_nothing(shapes: Project) -> None:
    """It is closed where it turns out to serve no component."""
    shapes.adapter(
        SHAPES + "class refusing(with_close):\n"
        "    async def handle(self, envelope):\n"
        "        return {'ok': False, 'code': 'NOT_SUPPORTED', 'error': 'NotSupported', 'message': 'no', 'ms': 0}\n",
        name="shapes",
    )
    assert shapes.run("--corpus-adapter=shapes:refusing", FEW).ret == pytest.ExitCode.USAGE_ERROR
    assert life(shapes) == ["open", "close"]


def test_closed_in_every_worker(shapes: Project) -> None:
    """Under xdist each process that opened it closes it."""
    result = shapes.run("--corpus-adapter=shapes:generator", FEW, "-n", "2", plugins=("xdist",))
    assert result.ret == 0, said(result)
    assert sorted(life(shapes)) == ["close"] * 3 + ["open"] * 3


@pytest.mark.parametrize(("body", "complaint"), [
    ("raise ValueError('stuck')", "closing raised ValueError: stuck"),
    ("raise ValueError('no way out with sk_live_51H8xAbCdEf')", "closing raised ValueError: no way out with ***"),
    ("raise KeyboardInterrupt", "closing raised KeyboardInterrupt"),
    ("raise SystemExit(3)", "closing raised SystemExit: 3"),
], ids=["exception", "secret", "interrupt", "exit"])  # fmt: skip
def test_closing_that_raises(shapes: Project, body: str, complaint: str) -> None:
    """An exception of closing is a warning; the report is written and the verdict stays."""
    shapes.adapter(SHAPES + f"class clumsy(Closing):\n    def close(self): {body}\n", name="shapes")
    result, report = shapes.judged("shapes:clumsy", FEW)
    assert result.ret == 0, said(result)
    assert complaint in said(result)
    assert report["requirements"]


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_a_factory_that_yields_twice(shapes: Project, kind: str) -> None:
    """A generator that goes on after its adapter is told to yield once; the verdict stays."""
    body = f"{kind} twice():\n    yield Closing()\n    yield Closing()\n    note('wrong')\n"
    shapes.adapter(SHAPES + body, name="shapes")
    result, report = shapes.judged("shapes:twice", FEW)
    assert result.ret == 0, said(result)
    assert "closing raised ValueError: the factory yields a second time; it must yield its adapter once" in said(result)
    assert report["requirements"]


def test_a_warning_that_is_an_error_hides_no_verdict(shapes: Project) -> None:
    """If warnings are errors, the run reports the error of closing beside the verdict, and writes the report."""
    shapes.adapter(SHAPES + "class clumsy(Closing):\n    def close(self): raise ValueError\n", name="shapes")
    result, report = shapes.judged("shapes:clumsy", FEW, "-W", "error")
    assert result.ret == 0, said(result)
    assert "corpus warning: adapter shapes:clumsy: closing raised ValueError" in said(result)
    assert report["requirements"]


def test_fresh_instances_are_closed(shapes: Project) -> None:
    """The instances that tests make for themselves are closed as well."""
    result = shapes.run("--corpus-adapter=shapes:keyword_all", "--corpus-requirement=COM-FAULT-1")
    assert result.ret == 0, said(result)
    seen = life(shapes)
    assert seen.count("open") == seen.count("close") > 1


def test_each_instance_closes_what_it_opened(shapes: Project) -> None:
    """Two adapters in one run are both closed."""
    shapes.run("--corpus-adapter=a=shapes:generator", "--corpus-adapter=b=shapes:with_aclose", FEW)
    assert sorted(life(shapes)) == ["close", "close", "open", "open"]


def test_one_loop_for_its_whole_life(shapes: Project) -> None:
    """Factory, calls and closing run in one event loop, to which clients may bind."""
    shapes.adapter(
        "import asyncio\n"
        "class Bound(Wrapped):\n"
        "    def note(self):\n"
        "        with open('life.txt', 'a') as file: file.write(f'{id(asyncio.get_running_loop())}\\n')\n"
        "    async def handle(self, envelope):\n"
        "        self.note()\n"
        "        return await self.inner.handle(envelope)\n"
        "    async def aclose(self): self.note()\n"
        "async def factory():\n"
        "    bound = Bound()\n"
        "    bound.note()\n"
        "    return bound\n",
        name="bound",
    )
    assert shapes.run("--corpus-adapter=bound:factory", FEW).ret == 0
    assert len(life(shapes)) > 5
    assert len(set(life(shapes))) == 1
