"""`python -m pytest_corpus.schema_registry` and `python -m pytest_corpus.stream_validator` (SCHEMA 9.1, 12.E)."""

import sys
from pathlib import Path

import pytest
from cli_runs import Ended, called, ran

from pytest_corpus import cli, resources

GOLDEN = resources.folder("golden")
REQUEST = GOLDEN / "llm/llm_complete_request.json"
STREAM = GOLDEN / "llm/llm_stream.ndjson"


def module(name: str, *argv: object) -> Ended:
    return ran(*argv, command=(sys.executable, "-W", "error", "-m", f"pytest_corpus.{name}"))


@pytest.mark.parametrize("action", ["list", "stats"])
def test_list_and_stats(action: str) -> None:
    """`--list` and `--stats` print what the commands print, and no warning of a module that runs twice."""
    assert module("schema_registry", f"--{action}") == called("schema", action)


def test_a_message_against_a_schema(tmp_path: Path) -> None:
    """`llm.envelope.request.json sample_request.json` is valid or not, and `--verbose` is understood."""
    ended = module("schema_registry", "llm.envelope.request.json", REQUEST)
    assert (ended.code, ended.err) == (0, "")
    assert "valid llm.envelope.request" in ended.out
    bad = tmp_path / "bad.json"
    bad.write_text('{"op": "graph.query", "ctx": {}, "args": {}}')
    ended = module("schema_registry", "llm.envelope.request.json", REQUEST, bad, "--verbose")
    assert ended.code == 1
    assert f"{REQUEST}: valid" in ended.out
    assert f"{bad}: not a valid llm.envelope.request" in ended.out


@pytest.mark.parametrize("argv", [[], ["llm.envelope.request.json"], ["--list", "--stats"], ["--list", "x"], ["--lst"]])
def test_arguments_that_make_no_sense(
    argv: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Half a command line is a usage error that shows how it is meant."""
    monkeypatch.setattr(sys, "argv", ["schema_registry", *argv])
    with pytest.raises(SystemExit) as ended:
        cli.schema_registry()
    shown = capsys.readouterr()
    assert (ended.value.code, shown.out) == (2, "")
    assert shown.err.startswith("usage: python -m pytest_corpus.schema_registry --list | --stats | SCHEMA FILE...")


def test_a_stream() -> None:
    """The arguments of SCHEMA 9.1's example, as options."""
    schema = "https://corpusos.com/schemas/llm/llm.envelope.success.json"
    argv = (STREAM, "--schema", schema, "--component", "llm", "--mode", "strict")
    ended = module("stream_validator", *argv)
    assert ended == called("stream", "check", *argv)
    assert (ended.code, ended.err) == (0, "")
