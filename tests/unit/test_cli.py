"""The console script `pytest-corpus`."""

import json
from collections.abc import Callable
from importlib.metadata import entry_points

import pytest
from cli_runs import called

from pytest_corpus import __version__, cli, resources
from pytest_corpus.spec.requirements import Requirement, catalogue


@pytest.mark.parametrize("given", ["LLM-STREAM-2", "llm-stream-2", " LLM-STREAM-2 "])
def test_explain_shows_one_requirement(given: str) -> None:
    """`explain` prints the sentence, level, sources and needs of one id, in any case."""
    shown, entry = called("explain", given).out, catalogue()["LLM-STREAM-2"]
    assert shown.startswith(f"{entry.id} ({entry.level})\n")
    for said in (entry.text, *entry.source, *entry.needs, *entry.components):
        assert said in " ".join(shown.split())


@pytest.mark.parametrize(("given", "chosen"), [
    ([], lambda entry: True),
    (["vec-score-*"], lambda entry: entry.id.startswith("VEC-SCORE-")),
    (["VEC-*", "LLM-*"], lambda entry: entry.id.startswith(("VEC-", "LLM-"))),
    (["--component", "graph"], lambda entry: "graph" in entry.components),
    (["--level", "should"], lambda entry: entry.level == "SHOULD"),
    (["VEC-*", "--level", "MUST"], lambda entry: entry.id.startswith("VEC-") and entry.level == "MUST"),
])  # fmt: skip
def test_list_chooses(given: list[str], chosen: Callable[[Requirement], bool]) -> None:
    """`list` prints id, level and sentence of what globs, a component and a level choose, and how many there are."""
    wanted = [entry for entry in catalogue().values() if chosen(entry)]
    *lines, total = called("list", *given).out.splitlines()
    assert [line.split(maxsplit=2) for line in lines] == [[entry.id, entry.level, entry.text] for entry in wanted]
    assert total == f"{len(wanted)} requirements"
    found = json.loads(called("list", *given, "--format", "json").out)["requirements"]
    assert [entry["id"] for entry in found] == [entry.id for entry in wanted]


def test_explain_gives_the_ruling_and_an_example() -> None:
    """The rulings that a requirement rests on stand there in full, with a request and the answer that is asked for."""
    flat = " ".join(called("explain", "VEC-DIM-1").out.split())
    assert "R12 How precise an error must be" in flat
    assert "Four answers are demanded exactly" in flat
    assert '"op": "vector.upsert"' in flat
    assert '"code": "DIMENSION_MISMATCH"' in flat


def test_explain_as_json() -> None:
    """As JSON there is the same: the entry, its rulings, its examples; of a ruling the requirements that name it."""
    found = json.loads(called("explain", "LLM-STREAM-1", "--format", "json").out)
    assert found["id"] == "LLM-STREAM-1"
    assert {ruling["id"] for ruling in found["rulings"]} <= set(found["source"])
    request, answer = found["examples"]
    assert request["messages"][0]["op"] == "llm.stream"
    assert answer["messages"][-1]["chunk"]["is_final"] is True
    assert "COM-OBS-6" in json.loads(called("explain", "R20", "--format", "json").out)["requirements"]


@pytest.mark.parametrize(("given", "said"), [
    (["explain", "R200"], "there is no ruling 'R200'; did you mean R20"),
    (["explain", "LLM-STREM-2"], "there is no requirement 'LLM-STREM-2'; did you mean LLM-STREAM-"),
    (["explain", "???"], "there is no requirement '???'; the list shows them all"),
    (["explain", "\x1b[2J\nLLM"], "there is no requirement "),
    (["list", "VEX-SCORE-1"], "there is no requirement 'VEX-SCORE-1'; did you mean VEC-SCORE-1"),
    (["list", "VEC-*", "--component", "llm"], "no requirement is of that id, component and level at once"),
])  # fmt: skip
def test_an_unknown_id(given: list[str], said: str) -> None:
    """It is refused in one line with the nearest ids, if any is near; control characters are escaped."""
    ended = called(*given)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert said in ended.err
    assert "\x1b" not in ended.err


@pytest.mark.parametrize("given", ["R20", " r20 "])
def test_explain_shows_a_ruling(given: str) -> None:
    """A ruling is explained with its title, its text, and the requirements that rest on it."""
    shown = called("explain", given).out
    assert shown.startswith("R20 Labels (Observability)\n")
    assert "`deadline_bucket` has to be there exactly when the call had a" in shown
    assert "COM-OBS-6" in shown


def test_golden_show() -> None:
    """`golden show` prints a golden as it lies there, whatever way it is named; a slip is answered with the nearest."""
    text = (resources.folder("golden") / "llm" / "llm_stream.ndjson").read_text("utf-8")
    for name in ("llm_stream", "llm_stream.ndjson", "golden/llm/llm_stream.ndjson"):
        assert called("golden", "show", name) == (0, text, "")
    found = json.loads(called("golden", "show", "llm_stream", "--format", "json").out)
    assert (found["file"], found["text"]) == ("llm/llm_stream.ndjson", text)
    ended = called("golden", "show", "llm_streem")
    assert (ended.code, "did you mean llm_stream.ndjson?" in ended.err) == (2, True)


def test_explain_knows_every_requirement() -> None:
    """There is no entry that cannot be explained, and each says how to run it."""
    for wanted in catalogue():
        shown = called("explain", wanted).out
        assert shown.startswith(f"{wanted} (")
        assert shown.endswith(f" --corpus-requirement={wanted}\n")


HALF: list[list[str]] = [[], ["schema"], ["stream"]]  # command lines that lack a command


@pytest.mark.parametrize(
    "given", [*HALF, ["no-such-command"], ["explain"], ["list", "--level", "none"], ["--no-such-option"]]
)
def test_a_wrong_command_line_is_a_usage_error(given: list[str]) -> None:
    """A command line that cannot be understood ends with 2 and the usage on stderr; half of one shows what there is."""
    ended = called(*given)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("usage: " + " ".join(["pytest-corpus", *(given if given in HALF else ())]))
    assert given not in HALF or "-h, --help" in ended.err


def test_version() -> None:
    """`--version` names the package and its version."""
    assert called("--version") == (0, f"pytest-corpus {__version__}\n", "")


def test_the_installed_script_is_this_function() -> None:
    """The distribution's console script is `main`."""
    (script,) = entry_points(group="console_scripts", name="pytest-corpus")
    assert script.load() is cli.main
