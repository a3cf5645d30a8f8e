"""Runs `pytest-corpus` as a user does: in another process, or in this one."""

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import forks

from pytest_corpus import cli

ROOT = Path(__file__).resolve().parents[1]
CODE = "import sys; from pytest_corpus.cli import main; sys.exit(main())"
COMMAND = (sys.executable, "-c", CODE)

MUTANTS_TOO = os.pathsep.join(map(str, (ROOT, ROOT / "tests")))
"""The path on which mutants are found."""


class Ended(NamedTuple):
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str


def run_process(*command: object, code: int | None = 0, **how: Any) -> subprocess.CompletedProcess[str]:
    """Run a command in another process and return its result; fail unless the exit code is `code` (None: any)."""
    given = {"text": True, "capture_output": True, "timeout": 300, **how}
    done: subprocess.CompletedProcess[str] = subprocess.run(list(map(str, command)), check=False, **given)
    assert code is None or done.returncode == code, f"{done.stdout}{done.stderr}"
    return done


def call_command(*argv: object) -> Ended:
    """Run the command line in this process; return its exit code and output, also if argparse refuses an argument."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = cli.main([str(part) for part in argv])
        except SystemExit as ended:
            code = int(ended.code or 0)
    return Ended(code, out.getvalue(), err.getvalue())


def refusal_of(*argv: object) -> str:
    """Run a command line that is refused: exit code 2, nothing on stdout, and one line on stderr; return the line."""
    ended = call_command(*argv)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1), ended
    assert "\x1b" not in ended.err
    return ended.err


def environment(**more: str) -> dict[str, str]:
    """Return environment variables with which a command finds this checkout from any folder."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
    return {**os.environ, "PYTHONPATH": path, **more}


def run_command(*argv: object, command: tuple[str, ...] = (), stdin: bytes = b"", cwd: Any = None, **env: str) -> Ended:
    """Run the command line, or another command, in a forked process; return its exit code and output."""
    words = (*(command or (forks.forking_python(), "-c", CODE)), *argv)
    done = run_process(*words, code=None, input=stdin, text=False, cwd=cwd, env=environment(**env))
    return Ended(done.returncode, *(each.decode() for each in (done.stdout, done.stderr)))  # type: ignore[attr-defined]


def run_suite(folder: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run the suite in a folder, in a forked process unless something else must be imported first."""
    python = forks.forking_python() if more.get("PYTHONPATH", MUTANTS_TOO) == MUTANTS_TOO else sys.executable
    inherited = {name: value for name, value in environment(**more).items() if name not in ("PYTEST_ADDOPTS", "CI")}
    plain = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:asyncio")
    env = {**inherited, "CORPUS_TEST_ENV": "local"}
    return run_process(python, *plain, *arguments, code=None, cwd=folder, env=env, timeout=600)


def read_statuses(path: Path) -> dict[tuple[str, str], str]:
    """Return the status of each requirement in a report, by component and id."""
    entries = json.loads(path.read_text("utf-8"))["requirements"]
    return {(entry["component"], entry["id"]): entry["status"] for entry in entries}
