"""Every command that a page shows is one that there is: it is run, or its arguments are read."""

import contextlib
import io
import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from importlib.metadata import metadata
from pathlib import Path

import forks
import pytest
from blocks import ROOT, Command, commands, sample
from cli_runs import run_process

from pytest_corpus import cli
from pytest_corpus.adapter.opening import address

COMMANDS = commands()

NOT_RUN = {
    "curl": "it asks a server that is not there",
    "tox": "it makes environments, which takes minutes",
    ".ci/run": "it runs these tests",
    "sha256sum": "it prints a digest; tests/reports/test_json_report.py compares it",
    "cd": "it is the shell's own",
    "openssl": "it makes keys; tests/reports/test_signing.py makes its own",
}
"""What is not run by these tests, and why."""


def starting_with(*first: str) -> list[Command]:
    """The commands of some programs with arguments, each once; tests/unit/test_cli_init.py runs the bare `pytest`."""
    found = {command.words: command for command in COMMANDS if command.words[0] in first and len(command.words) > 1}
    return list(found.values())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the commands of the pages speak of."""
    folder = tmp_path_factory.mktemp("user")
    (folder / "mypkg.py").write_text(
        f"{sample()}\n\nclass Client:\n    def build_complete_request(self): ...\n", "utf-8"
    )
    llm, graph = ROOT / "golden" / "llm", ROOT / "golden" / "graph"
    for name in ("request.json", "sample_request.json", "captured/one.json"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(llm / "llm_complete_request.json", folder / name)
    text = json.dumps(json.loads((llm / "llm_complete_request.json").read_text("utf-8")))
    (folder / "other.ndjson").write_text(f"{text}\n", "utf-8")
    for name in ("captured.ndjson", "stream.ndjson"):
        shutil.copy(llm / "llm_stream.ndjson", folder / name)
    shutil.copy(graph / "graph_stream.ndjson", folder / "x.ndjson")
    shutil.copytree(ROOT / "schemas", folder / "my" / "schemas")
    return folder


@pytest.fixture(scope="module")
def reports(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Such a folder with the reports of a short run, for commands that write."""
    folder = Path(shutil.copytree(folder, tmp_path_factory.mktemp("written") / "user"))
    options = ("-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:asyncio", "--corpus-requirement=COM-CAP-1")
    paths = ("attestation.json", "main.json", ".tox/acme.json", ".tox/globex.json")
    (folder / ".tox").mkdir()
    written = [f"--corpus-report={path}" for path in paths]
    output(folder, "-m", "pytest", *options, "--corpus-adapter=pytest_corpus.reference:llm", *written)
    return folder


def output(folder: Path, *argv: str, given: str = "") -> str:
    return run_process(forks.forking_python(), *argv, input=given, cwd=folder, env=environment()).stdout


def environment() -> dict[str, str]:
    """The environment of a user's command, which finds this checkout wherever it runs."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "CORPUS_"))}
    return {**kept, "PYTHONPATH": path, "CORPUS_TEST_ENV": "local"}


def test_every_command_is_looked_at() -> None:
    """A program that is not known here is a mistake of the page, or of this test."""
    looked_at = {"pip", "pytest", "pytest-corpus", "make", "python", "grep", *NOT_RUN}
    assert [str(command) for command in COMMANDS if program(command) not in looked_at] == []
    assert len(COMMANDS) > 50


def program(command: Command) -> str:
    """The program that a command runs, without the variables that stand before it."""
    return next((word for word in command.words if not re.match(r"\w+=", word)), "cd")


def test_pytest_takes_what_the_pages_give_it(folder: Path) -> None:
    """Each command line of pytest is accepted, and collects tests; tests/transports runs adapters at addresses."""
    shown = [command for command in starting_with("pytest") if not addresses(command)]
    assert len(shown) > 15
    given = json.dumps([command.words[1:] for command in shown])
    script = Path(__file__).with_name("collecting.py")
    ended = zip(shown, json.loads(output(folder, str(script), given=given)), strict=True)
    assert [f"{command}\n{said}" for command, (code, said) in ended if code] == []


def addresses(command: Command) -> list[tuple[str, str]]:
    """The adapters of a command line that are at an address, each as its label and the address."""
    option = "--corpus-adapter="
    found = [address.split_label(word[len(option) :]) for word in command.words if word.startswith(option)]
    return [each for each in found if each]


def test_addresses_are_spelt_as_the_pages_say() -> None:
    """Each address that a page gives to pytest is read as one."""
    shown = [each for command in starting_with("pytest") for each in addresses(command)]
    assert {address.parse(spec).scheme.prefix for _, spec in shown} >= {"http://", "cmd:"}


@pytest.mark.parametrize("command", starting_with("pytest-corpus"), ids=str)
def test_the_command_line_does_what_the_pages_say(
    command: Command, reports: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each command of `pytest-corpus` ends well; of a whole run of the suite the arguments are read."""
    monkeypatch.chdir(reports)
    argv = list(command.words[1:])
    if argv[0] == "verify":
        argv = ["verify", *argv[1 : argv.index("--") if "--" in argv else None], "--", "--version"]
    if argv[0] == "init":
        argv[2:] = [f"{argv[2]}-{argv[1]}"]
    if argv[:2] == ["golden", "generate"]:
        argv += [] if "--output" in argv else ["--output", "new"]
        argv = [str(reports / "out") if word == "/tmp/new" else word for word in argv]
    # Of a partial report there is no signature, and it is no shard; servers do not end; a transcript is not here.
    if {"--key", "--public-key", "combine", "serve", "replay", "judge", "audit"} & set(argv):
        assert cli._make_parsers(argv[0])[0].parse_args(argv)
        return
    if "-" in argv:
        with_sse = "".join(
            f"data: {line}\n\n" for line in (reports / "captured.ndjson").read_text("utf-8").splitlines()
        )
        answer = (ROOT / "golden" / "llm" / "llm_complete_success.json").read_text("utf-8")
        said = with_sse if "--sse" in argv else answer
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(said.encode()), "utf-8"))
    assert ended(lambda: cli.main(argv)) == (0, "")


def ended(call: Callable[[], int]) -> tuple[int, str]:
    """The exit code of a command and, where it is not 0, what it wrote."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        try:
            code = call()
        except SystemExit as exited:
            code = int(exited.code or 0)
    return code, out.getvalue()[-600:] if code else ""


@pytest.mark.parametrize("command", starting_with("python"), ids=str)
def test_modules_run_as_the_pages_say(command: Command, folder: Path) -> None:
    """`python -m` finds the module, and ends with 0."""
    output(folder, *command.words[1:])


def test_make_has_the_targets_that_the_pages_name() -> None:
    """`make -n` knows each of them."""
    targets = sorted({word for command in starting_with("make") for word in command.words[1:]})
    assert len(targets) > 5
    run_process("make", "-n", *targets, cwd=ROOT)


def test_pip_installs_what_there_is() -> None:
    """The pages install this package, the current folder, and extras that it has."""
    extras = set(metadata("pytest-corpus").get_all("Provides-Extra") or ())
    for command in starting_with("pip"):
        assert command.words[1] == "install"
        for name in command.words[2:]:
            found = re.fullmatch(r"\.|pytest-corpus(?:\[([\w,]+)\])?", name)
            assert found, str(command)
            assert set((found[1] or "").split(",")) - {""} <= extras


def test_the_digest_can_be_checked_by_a_shell(reports: Path) -> None:
    """The line that docs/reports.md gives leaves the document that the digest is of."""
    (command,) = starting_with("grep")
    done = run_process(*command.words, cwd=reports)
    assert '"verdict"' in done.stdout
    assert '\n  "sha256": ' not in done.stdout
