"""Settings of the connection to an adapter: `[tool.pytest-corpus]`, the ini file, `-o`."""

import pytest
from inner_runs import PLUGIN, Project, refusal, said, violated

from pytest_corpus.integration.options import connection

SLOW = """
import asyncio
seconds = 3
class Slow(Wrapped):
    async def handle(self, envelope):
        if op_of(envelope) == "llm.complete":
            await asyncio.sleep(seconds)
        return await self.inner.handle(envelope)
"""
FEW = "--corpus-requirement=LLM-COMPLETE-1,COM-WIRE-2"
ADDRESS = "--corpus-adapter=http://127.0.0.1:1/"


@pytest.mark.parametrize("place", ["-o", "ini", "table"])
def test_gives_up(project: Project, place: str) -> None:
    """A call that takes longer is abandoned, which is the violation."""
    project.adapter(SLOW)
    if place == "ini":
        project.pytester.makeini("[pytest]\ncorpus_call_timeout = 1\n")
    elif place == "table":
        project.pytester.makepyprojecttoml("[tool.pytest-corpus]\ncall-timeout = 1\n")
    options = ["-ocorpus_call_timeout=1"] if place == "-o" else []
    result = project.run("--corpus-adapter=mine:Slow", FEW, "--corpus-report=r.json", *options)
    assert result.ret == 1
    assert violated(project.report()) == {"COM-WIRE-2"}
    assert "no end after 1 s" in said(result)


def test_the_ini_file_wins(project: Project) -> None:
    """A longer limit in the ini file overrides the table, and lets a slow adapter pass."""
    project.adapter(SLOW.replace("seconds = 3", "seconds = 0.4"))
    project.pytester.makepyprojecttoml(
        "[tool.pytest-corpus]\ncall-timeout = 0.1\n[tool.pytest.ini_options]\ncorpus_call_timeout = 10\n"
    )
    assert project.run("--corpus-adapter=mine:Slow", "--corpus-requirement=LLM-COMPLETE-1").ret == 0


@pytest.mark.parametrize(
    ("table", "fault"),
    [
        ("conections = 3", "[tool.pytest-corpus] has no key 'conections'; did you mean connections?"),
        ("connections = 1.5", "[tool.pytest-corpus] connections=1.5: use a whole number from 1 to 10000"),
        *(
            (
                f'call-timeout = "{seconds}"',
                f"[tool.pytest-corpus] call-timeout={seconds}: use a number of seconds above 0",
            )
            for seconds in ("0", "-1", "abc", "nan", "inf")
        ),
        ('log = "nowhere.log"', "[tool.pytest-corpus] log=nowhere.log: there is no such file to read"),
        ("headers = 3", "[tool.pytest-corpus] headers: write a table of names and values"),
        ('headers = {A = "hunter2\\u0001"}', "[tool.pytest-corpus] headers: A: the value contains a control character"),
        (
            'headers = {A = "${NOWHERE}"}',
            "[tool.pytest-corpus] headers: A: the environment variable NOWHERE is not set",
        ),
    ],
)
def test_a_wrong_table(project: Project, table: str, fault: str) -> None:
    """A mistake in the table is one sentence that names the key, without the value of a header."""
    project.pytester.makepyprojecttoml(f"[tool.pytest-corpus]\n{table}\n")
    assert refusal(project, ADDRESS) == fault


@pytest.mark.parametrize(("given", "fault"), [
    ("headers=hunter2", ": write each header as NAME:VALUE"),
    ("headers=A:hunter2\x01", ": A: the value contains a control character"),
    ("headers=Accept:hunter2", ": Accept: the suite sets this header itself"),
    ("tls_verify=nowhere.pem", "=nowhere.pem: there is no such file; use yes, no or a CA bundle"),
    ("connections=0", "=0: use a whole number from 1 to 10000"),
    ("startup_timeout=-1", "=-1: use a number of seconds above 0, at most 600"),
    ("log=nowhere.log", "=nowhere.log: there is no such file to read"),
])  # fmt: skip
def test_a_wrong_setting(project: Project, given: str, fault: str) -> None:
    """A mistake in a setting is one sentence that names it, without the value of a header."""
    assert refusal(project, ADDRESS, f"-ocorpus_{given}") == f"corpus_{given.partition('=')[0]}{fault}"


def test_a_header_from_the_environment(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """The value of an environment variable is sent and not shown."""
    monkeypatch.setenv("ADAPTER_TOKEN", "hunter2")
    project.pytester.makepyprojecttoml('[tool.pytest-corpus]\nheaders = {Authorization = "Bearer ${ADAPTER_TOKEN}"}\n')
    found, _ = connection.read(project.pytester.parseconfig(*PLUGIN), 30.0)
    assert found.headers == {"Authorization": "Bearer hunter2"}
