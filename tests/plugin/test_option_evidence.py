"""`--corpus-evidence`: what a finding shows of requests, answers and exceptions."""

import time

import pytest
from inner_runs import Project, said, violated

from pytest_corpus import cli
from pytest_corpus.kit import retries

SECRET = "env-value-4711"
RAISES = """
import logging, os

def inner(envelope):
    raise ValueError("no route for " + str(envelope["args"]) + os.environ.get("ACME_API_KEY", ""))

@before("llm.complete")
def Raises(adapter, envelope):
    print("on my way", os.environ.get("ACME_API_KEY", ""))
    inner(envelope)

class Leaks(Wrapped):
    async def handle(self, envelope):
        answer = await self.inner.handle(envelope)
        if op_of(envelope) == "llm.complete" and answer["ok"]:
            answer["result"]["finish_reason"] = answer["result"]["text"] = str(envelope)
        return answer

@changes("llm.count_tokens")
def Logs(answer):
    logging.getLogger("mine").error("cannot count, the key is %s", os.environ["ACME_API_KEY"])
    answer["result"] = -1

@changes("llm.complete")
def Incomplete(answer):
    answer["result"]["usage"] = {"prompt_tokens": -1, "completion_tokens": "x", "total_tokens": 1}

class Blind(Wrapped):
    async def handle(self, envelope):
        answer = await self.inner.handle(envelope)
        if not answer["ok"] and answer["error"] == "ResourceExhausted":
            answer |= {"error": "Unavailable", "code": "UNAVAILABLE"}
        return answer

@before("llm.complete")
def Twice(adapter, envelope):
    adapter.metrics.observe(component="llm", op="llm.complete", ms=1.0, ok=True)

def broken():
    raise ConnectionError("refused by host " + os.environ.get("ACME_API_KEY", ""))
"""
FILES = ("r.json", "r.md", "r.html", "r.junit.xml", "r.intoto.json", "r.svg", "r.badge.json")
EVERY_FILE = tuple(f"--corpus-report={name}" for name in FILES)
PROMPT = "no route for {"


@pytest.fixture
def faulty(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A folder of adapters with a mistake each, and a secret in the environment."""
    project.adapter(RAISES)
    monkeypatch.setenv("ACME_API_KEY", SECRET)
    return project


def run(project: Project, name: str, few: str, *options: str) -> str:
    return said(project.run(f"--corpus-adapter=mine:{name}", f"--corpus-requirement={few}", *options))


@pytest.mark.parametrize("plugins", [(), ("xdist",)], ids=["alone", "xdist"])
def test_an_exception_is_told_with_its_place(faulty: Project, plugins: tuple[str, ...]) -> None:
    """At `full`, the usual level, an exception has its message and the lines of the adapter's own code."""
    options = ("-n", "1") if plugins else ()
    text = said(
        faulty.run("--corpus-adapter=mine:Raises", "--corpus-requirement=COM-WIRE-1", *options, plugins=plugins)
    )
    line = next(number for number, line in enumerate((faulty.path / "mine.py").read_text().splitlines(), 1)
                if "raise ValueError" in line)  # fmt: skip
    assert f"got:      the exception ValueError at mine.py:{line}" in text
    assert f"raised:   ValueError: {PROMPT}" in text
    assert f"mine.py:{line} in inner: raise ValueError(" in text
    assert "in Raises: inner(envelope)" in text
    assert "transports" not in text
    assert "on my way ***" in text
    assert SECRET not in text


@pytest.mark.parametrize("how", ["option", "ci"])
def test_shape_has_no_content(faulty: Project, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    """At `shape`, the level of CI, type and place are told, and nothing that the exception says."""
    if how == "ci":
        monkeypatch.setenv("CI", "1")
    text = run(faulty, "Raises", "COM-WIRE-1", *(("--corpus-evidence=shape",) if how == "option" else ()))
    assert "the exception ValueError at mine.py:" in text
    assert PROMPT not in text
    assert "on my way" not in text
    assert 'handle {"op": "llm.complete", "ctx": {}, "args": {' in text
    assert '"content": "hi"' in text


COUNTED = """
@changes("llm.complete")
def Told(answer):
    answer["result"]["text"] = "a tale of two cities and a whale"
    del answer["result"]["usage"]

class Echo(Told):
    async def handle(self, envelope):
        answer = await super().handle(envelope)
        return {**answer, "result": -1} if "whale" in envelope["args"].get("text", "") else answer
"""


def test_a_text_of_the_adapter_in_a_request_is_content(project: Project) -> None:
    """At `shape` a completion whose tokens are counted stands by its length."""
    project.adapter(COUNTED)
    few = "--corpus-requirement=LLM-COMPLETE-4,LLM-STREAM-3"
    for level in ("shape", "full"):
        text = said(project.run("--corpus-adapter=mine:Echo", few, "-v", f"--corpus-evidence={level}"))
        assert ('"args": {"text": "<' in text, "two cities" in text) == (level == "shape", level == "full")


@pytest.mark.parametrize("level", ["shape", "full", None])
def test_files(faulty: Project, level: str | None) -> None:
    """Files hold content where `full` was asked for by name, and an attestation never; a secret is in none."""
    run(faulty, "Raises", "COM-WIRE-1", *((f"--corpus-evidence={level}",) if level else ()), *EVERY_FILE)
    for name in FILES:
        text = (faulty.path / name).read_text("utf-8").replace("&#x27;", "'")
        assert SECRET not in text
        assert (PROMPT in text) == (level == "full" and name in ("r.md", "r.html", "r.junit.xml")), name


@pytest.mark.parametrize("level", ["shape", "full"])
def test_what_was_logged_during_the_call(faulty: Project, level: str) -> None:
    """At `full` a finding shows what was logged during its call, also where an earlier test made that call."""
    text = run(faulty, "Logs", "LLM-TOKENS-1", f"--corpus-evidence={level}")
    assert ("logged during the call:\n    cannot count, the key is ***" in text) == (level == "full")
    assert SECRET not in text


@pytest.mark.parametrize("level", ["shape", "full"])
def test_a_factory_that_raises(faulty: Project, level: str) -> None:
    """The place in its code is told at either level, its message at `full`."""
    text = run(faulty, "broken", "COM-WIRE-1", f"--corpus-evidence={level}")
    assert ("ConnectionError: refused by host ***" in text) == (level == "full")
    assert "ConnectionError at mine.py:" in text or "in broken)" in text
    assert SECRET not in text
    assert "Traceback" not in text


def test_planted_secrets_are_masked(faulty: Project) -> None:
    """A canary that an adapter repeats in its answer is stars, on the terminal and in every file."""
    text = run(faulty, "Leaks", "COM-LEAK-*,LLM-COMPLETE-2", "--corpus-evidence=full", "-v", *EVERY_FILE)
    assert "answer:" in text
    assert "a canary of" not in text
    for name in FILES:
        assert "tenant-" not in (faulty.path / name).read_text("utf-8").replace("tenant-***", "")


def test_every_problem_of_an_answer(faulty: Project) -> None:
    """An answer that breaks a schema in several places is reported with all of them, and with the numbers."""
    text = run(faulty, "Incomplete", "LLM-COMPLETE-*")
    assert "problems:" in text
    assert "prompt_tokens must be" in text
    assert "completion_tokens must be" in text
    assert "found -1" in text


def test_a_count_says_what_it_is(faulty: Project) -> None:
    """A negative count of tokens is shown."""
    assert (
        "-1"
        in run(faulty, "Miscounting", "LLM-TOKENS-1", "--corpus-evidence=shape").partition("got:")[2].splitlines()[0]
    )


def test_the_fault_that_struck(faulty: Project) -> None:
    """A finding about the provider's faults names the one that the provider was made to fail with."""
    assert "fault:    rate_limited (HTTP 429)" in run(faulty, "Blind", "COM-FAULT-1")


def test_what_was_observed_instead(faulty: Project) -> None:
    """A finding about observations tells those that were made."""
    text = run(faulty, "Twice", "COM-OBS-1")
    assert "observed: component=llm, op=llm.complete, ms=1.0, ok=true, code=OK; component=llm" in text


TAKES_ALL = """
class TakesAll(Wrapped):
    async def handle(self, envelope):
        answer = await self.inner.handle(envelope)
        if not answer["ok"]:
            counts = op_of(envelope) == "llm.count_tokens"
            answer = await self.inner.handle({"op": "llm.complete", "ctx": {}, "args": PLAIN})
            return {**answer, "result": 5} if counts else answer
        return answer
    async def handle_stream(self, envelope):
        frames = [frame async for frame in self.inner.handle_stream(envelope)]
        if not frames[-1]["ok"]:
            frames = [each async for each in self.inner.handle_stream({"op": "llm.stream", "ctx": {}, "args": PLAIN})]
        for frame in frames:
            yield frame

PLAIN = {"messages": [{"role": "user", "content": "hi"}]}
"""


def test_an_adapter_that_never_refuses_is_one_finding(project: Project) -> None:
    """If the plainest bad requests are accepted, the others are blocked by that."""
    project.adapter(TAKES_ALL)
    few = "--corpus-requirement=COM-WIRE-[4-9],COM-ERR-[1-9],LLM-MSG-*,LLM-SAMPLING-*,LLM-TOKENS-6,COM-STREAM-8"
    _, report = project.judged("mine:TakesAll", few, "--corpus-components=llm")
    assert {name for name in violated(report) if not name.startswith("COM-OBS")} == {"COM-WIRE-7"}
    blocked = {entry["id"] for entry in report["requirements"] if "COM-WIRE-7" in entry.get("blocked_by", ())}
    assert blocked >= {"COM-WIRE-6", "COM-WIRE-8", "LLM-MSG-1", "LLM-SAMPLING-1", "LLM-TOKENS-6", "COM-STREAM-8"}


SWALLOWS = """
import logging, traceback

class Swallows(Wrapped):
    def tell(self, error, envelope):
        pass

    async def handle(self, envelope):
        if op_of(envelope) != "llm.complete":
            return await self.inner.handle(envelope)
        try:
            return self.missing
        except AttributeError as error:
            self.tell(error, envelope)
            return refused("UNAVAILABLE", "Unavailable", details={"suggested_backoff_ms": 50})

class Excepts(Swallows):
    def tell(self, error, envelope):
        logging.getLogger("mine").exception("no answer")

class Prints(Swallows):
    def tell(self, error, envelope):
        traceback.print_exc()

class Lines(Swallows):
    def tell(self, error, envelope):
        logging.getLogger("mine").error("unknown %s at %s:%d", type(error).__name__, "mine.py", 4711)

class Secret(Swallows):
    def tell(self, error, envelope):
        logging.getLogger("mine").error("KeyError at %s.py:4711", os.environ["ACME_API_KEY"])
"""
PLACE = "AttributeError at mine.py:{line}  (logged)"


@pytest.mark.parametrize("level", ["shape", "full"])
@pytest.mark.parametrize(("name", "raised"), [
    ("Swallows", "not known: log the exception to see its place"),
    ("Excepts", PLACE), ("Prints", PLACE), ("Lines", PLACE.replace("{line}", "4711")),
    ("Secret", ""),
])  # fmt: skip
def test_an_exception_that_became_an_error_is_told_from_the_log(
    faulty: Project, monkeypatch: pytest.MonkeyPatch, level: str, name: str, raised: str
) -> None:
    """Its class and place at either level, however it is logged; nothing else that the record holds."""
    monkeypatch.setattr(retries, "UNKNOWN_S", 0.1)
    if not raised.startswith("Attr"):
        monkeypatch.setattr(retries, "CALL_S", 0.2)
    faulty.adapter("import os\n" + SWALLOWS)
    line = next(number for number, line in enumerate((faulty.path / "mine.py").read_text().splitlines(), 1)
                if "return self.missing" in line)  # fmt: skip
    begun = time.monotonic()
    text = run(faulty, name, "LLM-COMPLETE-1", f"--corpus-evidence={level}")
    assert time.monotonic() - begun < 12, "a mistake in code was waited for"
    assert "got:      the error Unavailable / UNAVAILABLE" in text
    assert [each.strip() for each in text.splitlines() if each.startswith("  raised:")][:1] == (
        [f"raised:   {raised.format(line=line)}"] if raised else []
    )
    assert SECRET not in text


@pytest.mark.parametrize("level", ["shape", "full"])
def test_a_broken_method_of_the_skeleton_is_told_with_its_place(
    project: Project, monkeypatch: pytest.MonkeyPatch, level: str
) -> None:
    """The adapter that `init` writes answers UNAVAILABLE, and logs the class and the place."""
    monkeypatch.setattr(retries, "UNKNOWN_S", 0.1)
    assert cli.main(["init", "vector", str(project.path / "made")]) == 0
    monkeypatch.chdir(project.path / "made")
    provider = project.path / "made" / "vector_adapter" / "provider.py"
    first = 'await self.reached("create_namespace")\n'
    source = provider.read_text()
    assert first in source
    provider.write_text(source.replace(first, f"{first}        self.stores.clear()\n"))
    line = provider.read_text().splitlines().index("        self.stores.clear()") + 1
    text = said(project.run("--corpus-requirement=VEC-NS-1", f"--corpus-evidence={level}", "--rootdir=."))
    assert f"raised:   AttributeError at provider.py:{line}  (logged)" in text
    assert ("unknown AttributeError" in text) == (level == "full")
