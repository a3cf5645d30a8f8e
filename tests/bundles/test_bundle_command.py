"""`pytest-corpus bundle`: init, validate, run."""

import json
import sys
from pathlib import Path

import pytest
from cli_runs import call_command
from samples import bundle, echo, write

EXAMPLES = Path(__file__).parents[2] / "examples" / "bundles"


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.chdir(tmp_path)


def test_a_new_bundle_passes() -> None:
    """The bundle that init writes is sound and passes with mock."""
    assert call_command("bundle", "init", "qa").code == 0
    assert "qa: sound, 2 cases" in call_command("bundle", "check", "qa").out
    ended = call_command("bundle", "run", "qa")
    assert (ended.code, "qa (mock): passed; 2/2 cases passed" in ended.out) == (0, True)
    assert call_command("bundle", "init", "qa").code == 2


def test_validate_tells_everything(tmp_path: Path) -> None:
    """Every problem is a line; JSON for machines."""
    write(tmp_path / "b", {"bundle.yaml": "name: x\nprompt: y\n"})
    ended = call_command("bundle", "check", "b", "--format", "json")
    [found] = json.loads(ended.out)["bundles"]
    assert (ended.code, len(found["problems"])) == (1, 3)
    assert call_command("bundle", "check", "none").code == 2


def test_run(tmp_path: Path) -> None:
    """A bundle whose gate does not hold is exit code 1; at shape nothing of it is shown."""
    bundle(tmp_path / "b", [echo(0), {"id": "b", "input": {"q": "private"}}])
    ended = call_command("bundle", "run", "b", "--evidence", "shape")
    assert (ended.code, "error  b: the provider answers NotSupported" in ended.out) == (1, True)
    assert "private" not in ended.out
    [section] = json.loads(call_command("bundle", "run", "b", "--format", "json", "--limit", "1").out)["bundles"]
    assert section["verdict"] == "not_judged"


@pytest.mark.parametrize("name", ["123", "true", "null"])
def test_a_new_bundle_may_have_any_name(name: str) -> None:
    """A folder whose name YAML reads as something else than text."""
    assert call_command("bundle", "init", name).code == 0
    assert call_command("bundle", "check", name).code == 0


def test_validate_reads_the_script(tmp_path: Path) -> None:
    """A mistake in the script of mock is found as well."""
    script = '{"id": "x", "outputt": 1}\n'
    bundle(tmp_path / "b", [echo(0)], "provider: {name: mock, script: s.jsonl}\n", s_jsonl=script)
    ended = call_command("bundle", "check", "b")
    assert (ended.code, "s.jsonl:1: unknown key 'outputt'; did you mean 'output'?" in ended.out) == (1, True)


def test_a_part_that_fails_is_red(tmp_path: Path) -> None:
    """With a limit the gate is not judged, and a failing case is an ordinary failure, as in pytest."""
    gate = "thresholds:\n  - {metric: pass_rate, operator: '>=', value: 0.5}\nprovider: {name: mock}\n"
    bundle(tmp_path / "b", [{"id": "b", "input": {"q": 1}}, echo(0), echo(1)], gate)
    assert call_command("bundle", "run", "b").code == 0
    ended = call_command("bundle", "run", "b", "--limit", "1")
    assert (ended.code, "not judged" in ended.out) == (1, True)


def test_run_with_a_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Providers and scorers come from a module."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    bundle(tmp_path / "b", [echo(0)], "provider: {name: mine}\n")
    hook = "def pytest_corpus_bundle_providers(config):\n    return {'mine': lambda r: 'yes'}\n"
    (tmp_path / "own_provider.py").write_text(hook)
    assert call_command("bundle", "run", "b", "--plugin", "own_provider").code == 0
    ended = call_command("bundle", "run", "b")
    assert (ended.code, "the provider 'mine' is not known" in ended.err) == (2, True)


def test_run_with_the_reference_adapter(tmp_path: Path) -> None:
    """An adapter answers for the provider corpus."""
    bundle(tmp_path / "b", [{"id": "one", "input": {"q": 1}}], "")
    ended = call_command("bundle", "run", "b", "--adapter", "ref=pytest_corpus.reference:llm")
    assert (ended.code, "qa (corpus:ref): passed; 1/1 cases passed" in ended.out) == (0, True)


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.iterdir()))
def test_the_examples(name: str) -> None:
    """The examples of the repository are sound and pass."""
    assert call_command("bundle", "check", EXAMPLES / name).code == 0
    assert call_command("bundle", "run", EXAMPLES / name, "--provider", "mock").code == 0
