"""`--corpus-deviations` and `--corpus-update-deviations` (BEHAVIORAL_CONFORMANCE 10)."""

import pytest
from inner_runs import REFERENCE, Project, error_lines, said, statuses, usage_error

FEW = "--corpus-requirement=LLM-TOKENS-1"

ENTRY = """
[[deviation]]
requirement = "LLM-TOKENS-1"
reason = "the tokenizer is away"
removal_plan = "it comes back in release 2"
expires = {}
"""


@pytest.fixture
def wrong(project: Project) -> Project:
    """A folder with an adapter that breaks one requirement."""
    project.adapter()
    return project


@pytest.mark.parametrize("plugins", [(), ("xdist",)], ids=["one_process", "a_worker"])
def test_a_declared_deviation_fails_nothing(wrong: Project, plugins: tuple[str, ...]) -> None:
    """A declared violation is shown as deviated everywhere, and the exit code is 0."""
    (wrong.path / "corpus-deviations.toml").write_text(ENTRY.format("2999-12-31"))
    spread = ("-n", "1") if plugins else ()
    result, report = wrong.judged("mine:Miscounting", FEW, "-v", *spread, plugins=plugins)
    assert result.ret == 0, said(result)
    assert "DEVIATED" in said(result)
    assert "deviated  LLM-TOKENS-1 (MUST)" in said(result)
    assert "until 2999-12-31" in said(result)
    assert statuses(report)["llm", "LLM-TOKENS-1"] == "deviated"
    (entry,) = (each for each in report["requirements"] if each["id"] == "LLM-TOKENS-1")
    assert entry["deviation"]["reason"] == "the tokenizer is away"
    assert entry["findings"]


def test_an_expired_deviation(wrong: Project) -> None:
    """From the day after, the requirement is violated and a line says since when."""
    (wrong.path / "corpus-deviations.toml").write_text(ENTRY.format("2020-01-31"))
    result = wrong.run("--corpus-adapter=mine:Miscounting", FEW)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "failed: the deviation of LLM-TOKENS-1 expired on 2020-01-31: renew or remove it" in said(result)


def test_an_expired_deviation_of_a_requirement_that_is_kept(project: Project) -> None:
    """An expired entry fails the run although no test does."""
    (project.path / "corpus-deviations.toml").write_text(ENTRY.format("2020-01-31"))
    result = project.run(REFERENCE, FEW)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "failed" not in result.parseoutcomes()


@pytest.mark.parametrize(("text", "given", "wanted"), [
    ("[[deviation", (), "corpus-deviations.toml: it is not TOML"),
    ("", ("--corpus-deviations=none.toml",), "--corpus-deviations=none.toml: there is no such file"),
], ids=["no_toml", "missing_file"])  # fmt: skip
def test_a_file_that_cannot_be_used(project: Project, text: str, given: tuple[str, ...], wanted: str) -> None:
    """A wrong file is one clear line before any test runs."""
    (project.path / "corpus-deviations.toml").write_text(text)
    line = usage_error(project.run(REFERENCE, FEW, *given))
    assert wanted in line


def test_drafting(wrong: Project) -> None:
    """Violated requirements are drafted; the draft is refused until it is completed, and then counts."""
    drafting = wrong.run("--corpus-adapter=mine:Miscounting", FEW, "--corpus-update-deviations")
    assert drafting.ret == pytest.ExitCode.TESTS_FAILED
    assert "deviations: 1 drafted in" in said(drafting)
    again = wrong.run("--corpus-adapter=mine:Miscounting", FEW, "--corpus-update-deviations")
    assert "deviations: nothing new to draft" in said(again)
    refused = wrong.run("--corpus-adapter=mine:Miscounting", FEW)
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    assert "still to be written" in error_lines(refused)[0]
    path = wrong.path / "corpus-deviations.toml"
    path.write_text(path.read_text().replace("TODO: ", ""))
    assert wrong.run("--corpus-adapter=mine:Miscounting", FEW).ret == 0
