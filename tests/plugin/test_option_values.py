"""Values of options, settings of the connection: invalid ones end in one sentence; the ini file means the same."""

from pathlib import Path
from typing import Any

import pytest
from inner_runs import PLUGIN, REFERENCE, Project, error_lines, options, refusal, said, usage_error, violated
from tables import read_json_rows

from pytest_corpus.integration.options import files

INVALID = dict(read_json_rows(Path(__file__).with_name("invalid_options.txt")))


@pytest.mark.parametrize("given", INVALID)
def test_an_invalid_value_is_one_sentence(project: Project, given: str) -> None:
    """It names the option and says what to write."""
    first, *others = f"--corpus-{given}".split()
    said = refusal(project, first, *others)
    assert said.startswith(first.partition("=")[0])
    assert INVALID[given] in said


@pytest.mark.parametrize("given", ["seed=abc", "requirement=LLM-STREEM-1"])
def test_an_invalid_value_ends_the_run(project: Project, given: str) -> None:
    """The run ends with this line alone, and exit code 4."""
    line = usage_error(project.run(REFERENCE, f"--corpus-{given}"))
    assert line.startswith(f"ERROR: --corpus-{given.partition('=')[0]}")


SETTINGS = {
    "adapter": ("one=a:b", ("one=a:b",), "adapters"),
    "client": ("a:b", ("a:b",), "clients"),
    "components": ("llm,llm", ("llm",), "components"),
    "requirement": ("LLM-TOKENS-1", ("LLM-TOKENS-1",), "globs"),
    "level": ("should", "should", "level"),
    "strict": ("true", True, "strict"),
    "evidence": ("shape", "shape", "on_terminal"),
    "seed": ("5", 5, "seed"),
    "schema-version": ("1.0.0", "1.0.0", "edition"),
    "write-delay": ("0.5", 0.5, "write_delay"),
    "max-namespaces": ("20", 20, "max_namespaces"),
    "profile": ("quick", "quick", "profile.name"),
    "repeat": ("3", 3, "repeat"),
    "budget": ("calls=60", {"calls": 60}, "budget.limits"),
    "shard": ("2/5", "2/5", "shard"),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_means_what_its_option_means(project: Project, name: str) -> None:
    """Both have the same effect, and without them there is another value."""
    text, expected, path = SETTINGS[name]

    def value(*given: str) -> Any:
        found: Any = options(project, *given)
        for part in path.split("."):
            found = getattr(found, part)
        return str(found) if name == "shard" else found

    assert value() != expected
    assert value(f"--corpus-{name}" + ("" if name == "strict" else f"={text}")) == expected
    project.pytester.makeini(f"[pytest]\ncorpus_{name.replace('-', '_')} = {text}\n")
    assert value() == expected


def test_files_in_settings(project: Project) -> None:
    """Reports and the file of deviations may be named in settings too; an adapter on several lines is several."""
    (project.path / "ours.toml").write_text("")
    project.pytester.makeini(
        "[pytest]\ncorpus_deviations = ours.toml\ncorpus_report = r.json\ncorpus_adapter =\n  one=a:b\n  two=a:b\n"
    )
    found = options(project)
    assert (found.reports, found.deviations_path) == ((project.path / "r.json",), project.path / "ours.toml")
    assert found.adapters == ("one=a:b", "two=a:b")


def test_the_option_overrides_the_setting(project: Project) -> None:
    """The command line replaces what the ini file says, a list as a whole."""
    project.pytester.makeini("[pytest]\ncorpus_seed = 5\ncorpus_adapter = nowhere:at_all\n")
    found = options(project, "--corpus-seed=7", "--corpus-adapter=a:b")
    assert (found.seed, found.adapters) == (7, ("a:b",))


@pytest.mark.parametrize(("given", "hint"), [
    ("--corpus-adpater=mine:x", "--corpus-adpater: there is no such option; did you mean --corpus-adapter?"),
    ("--corpus-zzz", "--corpus-zzz: there is no such option; pytest --help lists them all"),
])  # fmt: skip
def test_did_you_mean(project: Project, given: str, hint: str) -> None:
    """A misspelt option or value ends in one sentence with a near one."""
    result = project.run(REFERENCE, given)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert [line for line in error_lines(result) if hint in line], said(result)


def test_an_option_of_somebody_else(project: Project) -> None:
    """An option of a conftest that begins as ours do is let through."""
    (project.path / "conftest.py").write_text("def pytest_addoption(parser): parser.addoption('--corpus-mine')\n")
    assert project.run(REFERENCE, "--corpus-mine=1", "--corpus-requirement=COM-CAP-1").ret == 0


SLOW = """
import asyncio
seconds = 3
@before("llm.complete")
async def Slow(adapter, envelope):
    await asyncio.sleep(seconds)
"""
FEW = "--corpus-requirement=LLM-COMPLETE-1,COM-WIRE-2"
ADDRESS = "--corpus-adapter=http://127.0.0.1:1/"


@pytest.mark.parametrize("place", ["option", "-o", "ini", "table"])
def test_gives_up(project: Project, place: str) -> None:
    """A call that takes longer is abandoned, which is the violation."""
    project.adapter(SLOW)
    if place == "ini":
        project.pytester.makeini("[pytest]\ncorpus_call_timeout = 1\n")
    elif place == "table":
        project.pytester.makepyprojecttoml("[tool.pytest-corpus]\ncall-timeout = 1\n")
    options = {"-o": ["-ocorpus_call_timeout=1"], "option": ["--corpus-call-timeout=1"]}.get(place, [])
    result, report = project.judged("mine:Slow", FEW, *options)
    assert result.ret == 1
    assert violated(report) == {"COM-WIRE-2"}
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
        ("header = 3", "[tool.pytest-corpus] header: write a table of names and values"),
        ('header = {A = "hunter2\\u0001"}', "[tool.pytest-corpus] header: A: the value contains a control character"),
        ('header = {A = "${NOWHERE}"}', "[tool.pytest-corpus] header: A: the environment variable NOWHERE is not set"),
    ],
)
def test_a_wrong_table(project: Project, table: str, fault: str) -> None:
    """A mistake in the table is one sentence that names the key, without the value of a header."""
    project.pytester.makepyprojecttoml(f"[tool.pytest-corpus]\n{table}\n")
    assert refusal(project, ADDRESS) == fault


@pytest.mark.parametrize(("given", "fault"), [
    ("header=hunter2", ": write each header as NAME:VALUE"),
    ("header=A:hunter2\x01", ": A: the value contains a control character"),
    ("header=Accept:hunter2", ": Accept: the suite sets this header itself"),
    ("tls_verify=nowhere.pem", "=nowhere.pem: there is no such file; use yes, no or a CA bundle"),
    ("connections=0", "=0: use a whole number from 1 to 10000"),
    ("startup_timeout=-1", "=-1: use a number of seconds above 0, at most 600"),
    ("log=nowhere.log", "=nowhere.log: there is no such file to read"),
])  # fmt: skip
def test_a_wrong_setting(project: Project, given: str, fault: str) -> None:
    """A mistake in a setting is one sentence that names it, without the value of a header."""
    assert refusal(project, ADDRESS, f"-ocorpus_{given}") == f"corpus_{given.partition('=')[0]}{fault}"


def test_headers_of_options_are_added(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--corpus-header` comes besides the headers of the settings, repeats, and its value is shown nowhere."""
    monkeypatch.setenv("ADAPTER_TOKEN", "hunter2")
    project.pytester.makeini("[pytest]\ncorpus_header = A: b\n")
    given = ("--corpus-header=Authorization: Bearer ${ADAPTER_TOKEN}", "--corpus-header=X:y")
    found, _ = files.read_connection(project.pytester.parseconfig(*PLUGIN, *given), 30.0)
    assert found.headers == {"A": "b", "Authorization": "Bearer hunter2", "X": "y"}
    assert refusal(project, ADDRESS, "--corpus-header=hunter2") == "--corpus-header: write each header as NAME:VALUE"
    wrong = "--corpus-call-timeout=0"
    assert refusal(project, ADDRESS, wrong) == f"{wrong}: use a number of seconds above 0"


def test_a_header_from_the_environment(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """The value of an environment variable is sent and not shown."""
    monkeypatch.setenv("ADAPTER_TOKEN", "hunter2")
    project.pytester.makepyprojecttoml('[tool.pytest-corpus]\nheader = {Authorization = "Bearer ${ADAPTER_TOKEN}"}\n')
    found, _ = files.read_connection(project.pytester.parseconfig(*PLUGIN), 30.0)
    assert found.headers == {"Authorization": "Bearer hunter2"}
