"""`pytest-corpus bundle`: init, validate, run."""

import json
import sys
from pathlib import Path

import pytest
from samples import bundle, echo, write

from pytest_corpus.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples" / "bundles"


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.chdir(tmp_path)


def test_a_new_bundle_passes(capsys: pytest.CaptureFixture[str]) -> None:
    """What init writes is sound and passes with mock."""
    assert main(["bundle", "init", "qa"]) == 0
    assert main(["bundle", "validate", "qa"]) == 0
    assert main(["bundle", "run", "qa"]) == 0
    out = capsys.readouterr().out
    assert "qa: sound, 2 cases" in out
    assert "qa (mock): passed; 2/2 cases passed" in out
    assert main(["bundle", "init", "qa"]) == 2


def test_validate_tells_everything(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every problem is a line; JSON for machines."""
    write(tmp_path / "b", {"bundle.yaml": "name: x\nprompt: y\n"})
    assert main(["bundle", "validate", "b", "--format", "json"]) == 1
    [found] = json.loads(capsys.readouterr().out)["bundles"]
    assert len(found["problems"]) == 3
    assert main(["bundle", "validate", "none"]) == 2


def test_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A bundle whose gate does not hold is exit code 1; at shape nothing of it is shown."""
    bundle(tmp_path / "b", [echo(0), {"id": "b", "input": {"q": "private"}}])
    assert main(["bundle", "run", "b", "--evidence", "shape"]) == 1
    out = capsys.readouterr().out
    assert "error  b: the provider answers NotSupported" in out
    assert "private" not in out
    assert main(["bundle", "run", "b", "--format", "json", "--limit", "1"]) == 0
    [section] = json.loads(capsys.readouterr().out)["bundles"]
    assert section["verdict"] == "not_judged"


@pytest.mark.parametrize("name", ["123", "true", "null"])
def test_a_new_bundle_may_have_any_name(name: str) -> None:
    """A folder whose name YAML reads as something else than text."""
    assert main(["bundle", "init", name]) == 0
    assert main(["bundle", "validate", name]) == 0


def test_validate_reads_the_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is wrong with the script of mock is found as well."""
    bundle(
        tmp_path / "b", [echo(0)], "provider: {name: mock, script: s.jsonl}\n", s_jsonl='{"id": "x", "outputt": 1}\n'
    )
    assert main(["bundle", "validate", "b"]) == 1
    assert "s.jsonl:1: unknown key 'outputt'; did you mean 'output'?" in capsys.readouterr().out


def test_a_part_that_fails_is_red(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With a limit the gate is not judged, and a failing case is an ordinary failure, as in pytest."""
    gate = "thresholds:\n  - {metric: pass_rate, operator: '>=', value: 0.5}\nprovider: {name: mock}\n"
    bundle(tmp_path / "b", [{"id": "b", "input": {"q": 1}}, echo(0), echo(1)], gate)
    assert main(["bundle", "run", "b"]) == 0
    assert main(["bundle", "run", "b", "--limit", "1"]) == 1
    assert "not judged" in capsys.readouterr().out


def test_run_with_a_plugin(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Providers and scorers come from a module."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    bundle(tmp_path / "b", [echo(0)], "provider: {name: mine}\n")
    (tmp_path / "own_provider.py").write_text(
        "def pytest_corpus_bundle_providers(config):\n    return {'mine': lambda r: 'yes'}\n"
    )
    assert main(["bundle", "run", "b", "--plugin", "own_provider"]) == 0
    assert main(["bundle", "run", "b"]) == 2
    assert "the provider 'mine' is not known" in capsys.readouterr().err


def test_run_with_the_reference_adapter(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An adapter answers for the provider corpus."""
    bundle(tmp_path / "b", [{"id": "one", "input": {"q": 1}}], "")
    assert main(["bundle", "run", "b", "--adapter", "ref=pytest_corpus.reference:llm"]) == 0
    assert "qa (corpus:ref): passed; 1/1 cases passed" in capsys.readouterr().out


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.iterdir()))
def test_the_examples(name: str) -> None:
    """The examples of the repository are sound and pass."""
    assert main(["bundle", "validate", str(EXAMPLES / name)]) == 0
    assert main(["bundle", "run", str(EXAMPLES / name), "--provider", "mock"]) == 0
