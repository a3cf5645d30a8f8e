"""The console script `pytest-corpus`."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points

import pytest

from pytest_corpus import __version__, cli
from pytest_corpus.spec.requirements import catalogue


def test_list_has_one_line_a_requirement(capsys: pytest.CaptureFixture[str]) -> None:
    """`list` prints id, level and sentence of every requirement, and how many there are."""
    assert cli.main(["list"]) == 0
    *lines, total = capsys.readouterr().out.splitlines()
    assert [line.split(maxsplit=2) for line in lines] == [
        [entry.id, entry.level, entry.text] for entry in catalogue().values()
    ]
    assert total == f"{len(catalogue())} requirements"


@pytest.mark.parametrize("given", ["LLM-STREAM-2", "llm-stream-2", " LLM-STREAM-2 "])
def test_explain_shows_one_requirement(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`explain` prints the sentence, level, sources and needs of one id, in any case."""
    assert cli.main(["explain", given]) == 0
    shown, entry = capsys.readouterr().out, catalogue()["LLM-STREAM-2"]
    assert shown.startswith(f"{entry.id} ({entry.level})\n")
    for said in (entry.text, *entry.source, *entry.needs, *entry.components):
        assert said in " ".join(shown.split())


def test_explain_knows_every_requirement(capsys: pytest.CaptureFixture[str]) -> None:
    """There is no entry that cannot be explained, and each says how to run it."""
    for wanted in catalogue():
        assert cli.main(["explain", wanted]) == 0
        shown = capsys.readouterr().out
        assert shown.startswith(f"{wanted} (")
        assert shown.endswith(f" --corpus-requirement={wanted}\n")


def test_an_unknown_id_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    """An id with a slip is refused in one line that offers what may have been meant."""
    assert cli.main(["explain", "LLM-STREM-2"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert "'LLM-STREM-2'" in shown.err
    assert "LLM-STREAM-2" in shown.err


def test_an_unknown_id_unlike_any_other(capsys: pytest.CaptureFixture[str]) -> None:
    """Where no id is near, none is offered."""
    assert cli.main(["explain", "???"]) == 2
    said = capsys.readouterr().err
    assert "there is no requirement '???'" in said
    assert "did you mean" not in said


def test_an_unknown_id_moves_no_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    """Control characters of an argument are printed as their escapes."""
    assert cli.main(["explain", "\x1b[2J\nLLM"]) == 2
    said = capsys.readouterr().err
    assert "\x1b" not in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("given", [[], ["no-such-command"], ["explain"], ["list", "more"], ["--no-such-option"]])
def test_a_wrong_command_line_is_a_usage_error(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """What cannot be understood ends with 2 and the usage on stderr."""
    with pytest.raises(SystemExit) as ended:
        cli.main(given)
    assert ended.value.code == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("usage: pytest-corpus")


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    """`--version` names the package and its version."""
    with pytest.raises(SystemExit) as ended:
        cli.main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"pytest-corpus {__version__}\n"


def test_the_installed_script_is_this_function() -> None:
    """The distribution's console script is `main`."""
    (script,) = entry_points(group="console_scripts", name="pytest-corpus")
    assert script.load() is cli.main


def test_pytest_is_not_imported() -> None:
    """The script shows the catalogue without loading pytest, a schema library or hypothesis."""
    code = (
        "import sys; from pytest_corpus.cli import main; main(['list']);"
        "print(sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = run.stderr
    for heavy in ("pytest", "_pytest", "pluggy", "jsonschema", "jsonschema_rs", "referencing", "hypothesis"):
        assert f"'{heavy}'" not in loaded
    assert "'pytest_corpus'" in loaded
