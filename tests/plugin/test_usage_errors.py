"""A declaration that cannot be tested ends in one clear line before any test runs."""

from pathlib import Path

import pytest
from inner_runs import Project, error_lines, said
from tables import read_json_rows

BROKEN = """
import asyncio

class Empty: pass

class Sleepy:
    handle = "not callable"

text = "an adapter?"

def raises(): raise ValueError("no key\\nfor you")
def exits(): raise SystemExit(3)
def interrupts(): raise KeyboardInterrupt
async def hangs(): await asyncio.sleep(1000)
def none(): return None
def needs(endpoint): return None
def empty_generator():
    return
    yield
def refuses():
    class Refusing(Wrapped):
        async def handle(self, envelope):
            return refused("NOT_SUPPORTED", "NotSupported")
    return Refusing()
"""

DECLARATIONS = read_json_rows(Path(__file__).with_name("unusable_declarations.txt"))


@pytest.fixture
def broken(project: Project) -> Project:
    project.adapter(BROKEN)
    project.pytester.makepyfile(
        raising="raise RuntimeError('cannot\\nconnect')",
        quitting="raise SystemExit('bye')",
        relative="from .other import factory",
        misspelt="import nosuchmodule_either",
        unfinished="import os\n\ndef factory(:\n    ...",
        test_own="def test_own(): pass",
    )
    return project


def assert_usage_error(result: pytest.RunResult, *fragments: str) -> None:
    """Exit code 4, one line that has all fragments, no test run, no traceback."""
    text = said(result)
    assert result.ret == pytest.ExitCode.USAGE_ERROR, text
    lines = error_lines(result)
    assert len(lines) == 1, text
    for fragment in fragments:
        assert fragment in lines[0]
    assert "Traceback" not in text
    assert "INTERNALERROR" not in text
    assert not {"passed", "failed", "skipped"} & set(result.parseoutcomes() if "==" in text else ())


@pytest.mark.parametrize(("declared", "fault"), DECLARATIONS, ids=[each for each, _ in DECLARATIONS])
def test_declared_by_option(broken: Project, declared: str, fault: str) -> None:
    """A broken declaration is one line that names it and its fault, with exit code 4, and runs nothing."""
    result = broken.run(f"--corpus-adapter={declared}", "-ocorpus_call_timeout=2", "--corpus-report=r.json")
    assert_usage_error(result, repr(declared), fault)
    assert not (broken.path / "r.json").exists()


@pytest.mark.parametrize("declared", ["mine:Empty", "mine:none", "mine:raises", "nosuchmodule:factory"])
@pytest.mark.parametrize("way", ["conftest.py", "test_suites.py"])
def test_declared_in_a_file(broken: Project, declared: str, way: str) -> None:
    """A broken factory of a conftest or of a suite is the same usage error, and names the place or the spec."""
    sources = {
        "conftest.py": f"def pytest_corpus_adapter(config): return {declared!r}",
        "test_suites.py": f"import pytest_corpus\ntest_ours = pytest_corpus.suite({declared!r})\n",
    }
    (broken.path / way).write_text(sources[way])
    assert_usage_error(broken.run(), declared if declared.startswith("nosuch") else way)


def refused_on_workers(project: Project, spec: str, way: str, *more: str) -> str:
    """The output of a distributed run that ends with exit code 4 and without a traceback; no conformance test runs."""
    (project.path / "test_own.py").unlink()
    if way == "suite":
        project.pytester.makepyfile(test_suites=f"import pytest_corpus\ntest_ours = pytest_corpus.suite({spec!r})\n")
    options = [f"--corpus-adapter={spec}"] if way == "option" else []
    result = project.run("-n", "2", *options, *more, plugins=("xdist",))
    text = said(result)
    assert result.ret == pytest.ExitCode.USAGE_ERROR, text
    assert not any(word in text for word in ("Traceback", "INTERNALERROR", " passed")), text
    return text


@pytest.mark.parametrize("way", ["option", "suite"])
def test_in_a_distributed_run(broken: Project, way: str) -> None:
    """Under xdist, too, it is one clear line, exit code 4, and no conformance test runs."""
    assert "which is not an adapter" in refused_on_workers(broken, "mine:Empty", way)


@pytest.mark.parametrize(("body", "fault"), [
    ("raise ValueError('no adapter today')", "ValueError: no adapter today"),
    ("return object()", "is not a factory"),
])  # fmt: skip
def test_a_hook_that_gives_no_factory(broken: Project, body: str, fault: str) -> None:
    """A conftest's hook that raises, or returns an adapter instead of a factory, is a usage error that says so."""
    broken.pytester.makeconftest(f"def pytest_corpus_adapter(config): {body}")
    assert_usage_error(broken.run(), "conftest.py", fault)


@pytest.mark.parametrize("spec", ["a=mine:Wrapped", "mine:Wrapped"])
def test_a_name_that_is_taken(broken: Project, spec: str) -> None:
    """Two adapters of one name, given or not, are refused with the way to tell their results apart."""
    result = broken.run(f"--corpus-adapter={spec}", f"--corpus-adapter={spec}")
    assert_usage_error(result, f"the name {spec.partition('=')[0]!r} is taken", "label=module:factory")


def test_what_was_opened_is_closed(broken: Project) -> None:
    """The first adapter is closed when the second declaration turns out to be broken."""
    broken.adapter(
        "class Closing(Wrapped):\n    def close(self): open('closed.txt', 'w').close()\ndef none(): return None\n",
        name="closing",
    )
    result = broken.run("--corpus-adapter=closing:Closing", "--corpus-adapter=closing:none")
    assert_usage_error(result, "returns None")
    assert (broken.path / "closed.txt").exists()


def test_no_terminal_codes_from_an_adapter(broken: Project) -> None:
    """The text of an exception cannot move the cursor."""
    broken.adapter("def nasty(): raise ValueError('\\x1b[2Jgone')", name="nasty")
    result = broken.run("--corpus-adapter=nasty:nasty")
    assert_usage_error(result, r"\x1b[2Jgone")
    assert "\x1b[2J" not in said(result)


IN_VAIN = [
    (("--corpus-report=r.json", "--corpus-strict"), "--corpus-report and --corpus-strict do nothing in this run"),
    (("--corpus-report", "r.json"), "--corpus-report does nothing in this run"),
    (("--corpus-components=llm", "--collect-only"), "--corpus-components does nothing in this run"),
    (("--corpus-bundle-limit=3",), "--corpus-bundle-limit does nothing in this run"),
    (("--corpus-adapter=mine:Wrapped", "--corpus-bundle-cassettes=off"), "no behaviour bundle is collected"),
]


@pytest.mark.parametrize(("given", "fault"), IN_VAIN, ids=[" ".join(given) for given, _ in IN_VAIN])
def test_options_in_vain(broken: Project, given: tuple[str, ...], fault: str) -> None:
    """An option that nothing in the run heeds is refused: a green run would look like a conformant adapter."""
    assert_usage_error(broken.run(*given), fault)
    assert not (broken.path / "r.json").exists()


def test_options_in_vain_in_a_distributed_run(broken: Project) -> None:
    """Under xdist, where workers collect, the run ends with the same sentence and exit code."""
    result = broken.run("-n", "1", "--corpus-strict", plugins=("xdist",))
    assert result.ret == pytest.ExitCode.USAGE_ERROR, said(result)
    assert "--corpus-strict does nothing in this run: no adapter, client library" in error_lines(result)[0]


@pytest.mark.parametrize("way", ["settings", "environment", "--fixtures", "--markers", "--version", "--help"])
def test_options_for_other_runs(broken: Project, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of a project are for the runs that use them, and a run that only shows something runs nothing."""
    if way == "settings":
        broken.pytester.makeini("[pytest]\naddopts = --corpus-strict\ncorpus_report = r.json\n")
    if way == "environment":
        monkeypatch.setenv("PYTEST_ADDOPTS", "--corpus-strict")
    given = ("--corpus-strict", way) if way.startswith("--") else ()
    assert broken.run(*given).ret == 0


def test_options_and_a_module_that_cannot_be_collected(broken: Project) -> None:
    """An error in a module, which may hold the suite, is reported first."""
    broken.pytester.makepyfile(test_suites="import nosuchmodule")
    result = broken.run("--corpus-strict")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert "No module named 'nosuchmodule'" in said(result)


LOCKED = """
import fcntl

class Locked(Wrapped):
    def __init__(self):
        super().__init__()
        self.file = open("store.db", "w")
        fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def close(self):
        self.file.close()
"""


@pytest.mark.parametrize("way", ["option", "suite"])
def test_a_file_that_one_process_locks(broken: Project, way: str) -> None:
    """A factory that fails in one worker, not in the others, is one sentence and exit code 4."""
    broken.adapter(LOCKED, name="locked")
    few = ("--corpus-requirement=COM-CAP-1", "--corpus-report=r.json")
    text = refused_on_workers(broken, "locked:Locked", way, *few)
    assert "the factory raises BlockingIOError" in text
    assert "run without -n if only one process may open it" in text
    assert "Different tests were collected" not in text
    assert not (broken.path / "r.json").exists()
