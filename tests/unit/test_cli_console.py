"""The console script `pytest-corpus`, and what all commands share: pipes, terminals, a full stdout, start-up."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from cli_runs import COMMAND, Ended, call_command, environment, refusal_of, run_command

from pytest_corpus import __version__, cli, resources
from pytest_corpus.commands import COMMANDS
from pytest_corpus.commands._console import align_columns, size_text
from pytest_corpus.reports.catalogue import explain
from pytest_corpus.spec.requirements import Requirement, catalogue

GOLDEN = resources.folder("golden")
HEAVY = ("pytest", "_pytest", "pluggy", "jsonschema", "jsonschema_rs", "referencing", "hypothesis")
posix = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX terminal or shell")


def test_help_names_every_command() -> None:
    """`--help` has a line for each command, in order, and loads nothing heavy."""
    ended = call_command("--help")
    shown = [line.split()[0] for line in ended.out.splitlines() if re.match(r" {4}\w", line)]
    assert (ended.code, shown) == (0, list(COMMANDS))
    for name in COMMANDS:
        assert call_command(name, "--help").code == 0


LIGHT = ("--help", "list", "explain R20", "schema list", "schema stats", "verify --help", "stream check --help")


def test_light_commands_load_nothing_heavy() -> None:
    """Commands that only print start without pytest, hypothesis, a schema library or a suite."""
    code = (
        "import sys\nfrom pytest_corpus.cli import main\nfor argv in sys.argv[1:]:\n"
        "    try: main(argv.split())\n    except SystemExit: pass\nprint(*sys.modules, file=sys.stderr)"
    )
    loaded = set(run_command(*LIGHT, command=(sys.executable, "-c", code)).err.split())
    assert "pytest_corpus.cli" in loaded
    assert not loaded.intersection(HEAVY)
    assert not [name for name in loaded if name.startswith("pytest_corpus.suites")]


def test_the_catalogue_as_json() -> None:
    """`list` and `explain` give machines each entry with all of its parts."""
    shown = json.loads(call_command("list", "--format", "json").out)["requirements"]
    assert [entry["id"] for entry in shown] == list(catalogue())
    for entry in shown[:5]:
        explained = json.loads(call_command("explain", entry["id"].lower(), "--format", "json").out)
        assert explained.items() >= entry.items()
        assert explained.keys() - entry.keys() == {"rulings", "examples"}
        wanted = catalogue()[entry["id"]]
        assert (entry["level"], entry["text"], entry["source"]) == (wanted.level, wanted.text, list(wanted.source))


@posix
@pytest.mark.parametrize("argv", ["schema check -", "stream check - --component llm"])
def test_a_stdin_that_is_closed(argv: str) -> None:
    """A command that is to read from a closed stdin says so in one line."""
    script = f'"$0" -c "import sys; from pytest_corpus.cli import main; sys.exit(main())" {argv} <&-'
    ended = run_command(command=("/bin/sh", "-c", script, sys.executable))
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert "stdin: is closed" in ended.err


@posix
@pytest.mark.parametrize("argv", [["list"], ["schema", "list", "--format", "json"]])
def test_a_reader_that_leaves(argv: list[str]) -> None:
    """If the reader of a pipe goes away, the command ends with 141 and says nothing."""
    with subprocess.Popen(
        [*COMMAND, *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
        process.wait(timeout=30)
    assert (process.returncode, said) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_disk_that_is_full() -> None:
    """Output that cannot be written is one line and 2, never a result that looks whole."""
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*COMMAND, "list"], stdout=full, stderr=subprocess.PIPE, env=environment(), timeout=60, check=False
        )
    assert done.returncode == 2
    assert done.stderr == b"pytest-corpus: the output cannot be written: No space left on device\n"


def test_an_encoding_that_lacks_letters() -> None:
    """A terminal in ASCII gets escapes instead of a traceback."""
    ended = run_command("stream", "check", "--component", "llm", "gr\u00fcn.ndjson", PYTHONIOENCODING="ascii")
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert "gr\\xfcn.ndjson: there is no such file" in ended.err
    assert run_command("list", PYTHONIOENCODING="ascii").code == 0


def on_a_terminal(*argv: object, **env: str) -> tuple[int, str]:
    """A command with a terminal of 80 columns for stdout and stderr: its exit code and what came."""
    ours, theirs = pytest.importorskip("pty").openpty()
    with subprocess.Popen(
        [*COMMAND, *map(str, argv)], stdin=theirs, stdout=theirs, stderr=theirs, env=environment(**env)
    ) as process:
        os.close(theirs)
        came = b""
        while True:
            try:
                data = os.read(ours, 65536)
            except OSError:  # Linux: nobody holds the other end any more
                break
            if not data:
                break
            came += data
    os.close(ours)
    return process.returncode, came.decode()


@posix
@pytest.mark.parametrize(
    "argv", [["schema", "check", GOLDEN], ["stream", "check", "--component", "llm", GOLDEN / "llm/llm_stream.ndjson"]]
)
def test_progress_is_for_terminals(argv: list[object]) -> None:
    """On a terminal a line says how far it is, and is gone in the end; in a pipe there is none."""
    code, came = on_a_terminal(*argv, COLUMNS="80")
    assert code == 0
    progress, _, result = came.rpartition("\r ")[2].partition("\r")
    assert " of " in came
    assert "%)" in came
    assert progress.strip() == ""
    assert result.endswith("\r\n")
    assert all(len(line) < 80 for line in came.rpartition("\r ")[0].split("\r"))
    piped = run_command(*argv)
    assert (piped.code, piped.err) == (0, "")
    assert "\r" not in piped.out


@posix
def test_colours_are_for_terminals() -> None:
    """The word that counts is coloured on a terminal, unless NO_COLOR or a dumb terminal says otherwise."""
    argv = ("schema", "check", GOLDEN / "llm/llm_complete_request.json")
    assert "\x1b[32mvalid\x1b[0m" in on_a_terminal(*argv, TERM="xterm")[1]
    assert "\x1b" not in on_a_terminal(*argv, TERM="xterm", NO_COLOR="1")[1]
    assert "\x1b" not in on_a_terminal(*argv, TERM="dumb")[1]
    assert "\x1b" not in run_command(*argv, TERM="xterm").out


def test_tables_and_sizes() -> None:
    """Columns are aligned, numbers to the right, and no line ends in blanks; sizes are in binary units."""
    assert align_columns([("a", "bb", ""), ("ccc", "d", "e")], right=(1,)) == ["a    bb", "ccc   d  e"]
    assert [size_text(number) for number in (1, 1024, 3 << 20, 5 << 30)] == ["1 bytes", "1.0 KiB", "3.0 MiB", "5.0 GiB"]


REQUEST = GOLDEN / "llm/llm_complete_request.json"
STREAM = GOLDEN / "llm/llm_stream.ndjson"


def module(name: str, *argv: object) -> Ended:
    return run_command(*argv, command=(sys.executable, "-W", "error", "-m", f"pytest_corpus.{name}"))


@pytest.mark.parametrize("action", ["list", "stats"])
def test_list_and_stats(action: str) -> None:
    """`--list` and `--stats` print what the commands print, and no warning of a module that runs twice."""
    assert module("schema_registry", f"--{action}") == call_command("schema", action)


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
        cli.run_schema_registry()
    shown = capsys.readouterr()
    assert (ended.value.code, shown.out) == (2, "")
    assert shown.err.startswith("usage: python -m pytest_corpus.schema_registry --list | --stats | SCHEMA FILE...")


def test_a_stream() -> None:
    """The arguments of SCHEMA 9.1's example, as options."""
    schema = "https://corpusos.com/schemas/llm/llm.envelope.success.json"
    argv = (STREAM, "--schema", schema, "--component", "llm", "--mode", "strict")
    ended = module("stream_validator", *argv)
    assert ended == call_command("stream", "check", *argv)
    assert (ended.code, ended.err) == (0, "")


@pytest.mark.parametrize("given", ["LLM-STREAM-2", "llm-stream-2", " LLM-STREAM-2 "])
def test_explain_shows_one_requirement(given: str) -> None:
    """`explain` prints the sentence, level, sources and needs of one id, in any case."""
    shown, entry = call_command("explain", given).out, catalogue()["LLM-STREAM-2"]
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
    *lines, total = call_command("list", *given).out.splitlines()
    assert [line.split(maxsplit=2) for line in lines] == [[entry.id, entry.level, entry.text] for entry in wanted]
    assert total == f"{len(wanted)} requirements"
    found = json.loads(call_command("list", *given, "--format", "json").out)["requirements"]
    assert [entry["id"] for entry in found] == [entry.id for entry in wanted]


def test_explain_gives_the_ruling_and_an_example() -> None:
    """The rulings that a requirement rests on stand there in full, with a request and the answer that is asked for."""
    flat = " ".join(call_command("explain", "VEC-DIM-1").out.split())
    assert "R12 How precise an error must be" in flat
    assert "Four answers are demanded exactly" in flat
    assert '"op": "vector.upsert"' in flat
    assert '"code": "DIMENSION_MISMATCH"' in flat


def test_explain_as_json() -> None:
    """As JSON there is the same: the entry, its rulings, its examples; of a ruling the requirements that name it."""
    found = json.loads(call_command("explain", "LLM-STREAM-1", "--format", "json").out)
    assert found["id"] == "LLM-STREAM-1"
    assert {ruling["id"] for ruling in found["rulings"]} <= set(found["source"])
    request, answer = found["examples"]
    assert request["messages"][0]["op"] == "llm.stream"
    assert answer["messages"][-1]["chunk"]["is_final"] is True
    assert "COM-OBS-6" in json.loads(call_command("explain", "R20", "--format", "json").out)["requirements"]


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
    assert said in refusal_of(*given)


@pytest.mark.parametrize("given", ["R20", " r20 "])
def test_explain_shows_a_ruling(given: str) -> None:
    """A ruling is explained with its title, its text, and the requirements that rest on it."""
    shown = call_command("explain", given).out
    assert shown.startswith("R20 Labels (Observability)\n")
    assert "`deadline_bucket` has to be there exactly when the call had a" in shown
    assert "COM-OBS-6" in shown


def test_golden_show() -> None:
    """`golden show` prints a golden as it lies there, whatever way it is named; a slip is answered with the nearest."""
    text = (resources.folder("golden") / "llm" / "llm_stream.ndjson").read_text("utf-8")
    for name in ("llm_stream", "llm_stream.ndjson", "golden/llm/llm_stream.ndjson"):
        assert call_command("golden", "show", name) == (0, text, "")
    found = json.loads(call_command("golden", "show", "llm_stream", "--format", "json").out)
    assert (found["file"], found["text"]) == ("llm/llm_stream.ndjson", text)
    ended = call_command("golden", "show", "llm_streem")
    assert (ended.code, "did you mean llm_stream.ndjson?" in ended.err) == (2, True)


def test_explain_knows_every_requirement() -> None:
    """There is no entry that cannot be explained, and each says how to run it."""
    for wanted in catalogue():
        shown = explain(wanted) or ""
        assert shown.startswith(f"{wanted} (")
        assert shown.endswith(f" --corpus-requirement={wanted}")
    assert call_command("explain", wanted).out == f"{explain(wanted)}\n"


HALF: list[list[str]] = [[], ["schema"], ["report"]]  # command lines that lack a command or an action


@pytest.mark.parametrize("given", [*HALF, ["explain"], ["list", "--level", "none"], ["--no-such-option"]])
def test_a_wrong_command_line_is_a_usage_error(given: list[str]) -> None:
    """A command line that cannot be understood ends with 2 and the usage on stderr; half of one shows what there is."""
    ended = call_command(*given)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("usage: " + " ".join(["pytest-corpus", *(given if given in HALF else ())]))
    assert given not in HALF or "-h, --help" in ended.err


@pytest.mark.parametrize(("given", "said"), [
    (["verfy"], "pytest-corpus: there is no command 'verfy'; did you mean verify?"),
    (["nope"], "pytest-corpus: there is no command 'nope'; use init, verify, watch,"),
    (["schema", "validate"], "pytest-corpus schema: there is no action 'validate'; use list, stats,"),
    (["report", "dif", "a.json"], "pytest-corpus report: there is no action 'dif'; did you mean diff?"),
    (["list", "--component", "vektor"], "pytest-corpus list: there is no component 'vektor'; did you mean vector?"),
])  # fmt: skip
def test_a_word_with_a_slip_is_one_line(given: list[str], said: str) -> None:
    """A command, an action or a component that there is not ends with 2 and the nearest, or with all that there are."""
    assert refusal_of(*given).startswith(said)


def test_version() -> None:
    """`--version` names the package and its version."""
    assert call_command("--version") == (0, f"pytest-corpus {__version__}\n", "")


def test_the_installed_script_is_this_function() -> None:
    """The distribution's console script is `main`."""
    (script,) = entry_points(group="console_scripts", name="pytest-corpus")
    assert script.load() is cli.main
