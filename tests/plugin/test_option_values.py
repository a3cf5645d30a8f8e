"""Values of options: invalid or misspelt ones end in one sentence; settings of the ini file mean the same."""

import sys
from pathlib import Path
from typing import Any

import pytest
from inner_runs import PYTHON, REFERENCE, Project, error_lines, options, refusal, said
from tables import documents

INVALID = dict(documents(Path(__file__).with_name("invalid_options.txt")))


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
    result = project.run(REFERENCE, f"--corpus-{given}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = error_lines(result)
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


def test_a_run_leaves_no_folder_of_hypothesis(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """What hypothesis keeps does not lie in the user's folder afterwards; his own tests keep it there as ever."""
    monkeypatch.setattr(sys, "executable", PYTHON)  # hypothesis says at its import where it is
    project.run_apart(
        "--corpus-adapter=pytest_corpus.reference:vector", "--corpus-requirement=VEC-STATE-*", "--corpus-profile=quick"
    )
    project.run_apart(REFERENCE, "--corpus-requirement=LLM-SAMPLING-*,LLM-TOKENS-*")
    assert not (project.path / ".hypothesis").exists()
    project.pytester.makepyfile(
        test_own="from hypothesis import given, strategies\n"
        "@given(strategies.integers())\ndef test_own(number): assert number < 100\n"
    )
    project.run_apart(REFERENCE, "--corpus-requirement=LLM-SAMPLING-*,LLM-TOKENS-*", "test_own.py")
    assert (project.path / ".hypothesis").exists()
