"""Running `pytest-corpus` as a user does, in a process of its own, and in this one."""

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


def process(*command: object, code: int | None = 0, **how: Any) -> subprocess.CompletedProcess[str]:
    """A process that has ended, with this code unless any will do."""
    given = {"text": True, "capture_output": True, "timeout": 300, **how}
    done: subprocess.CompletedProcess[str] = subprocess.run(list(map(str, command)), check=False, **given)
    assert code is None or done.returncode == code, f"{done.stdout}{done.stderr}"
    return done


def called(*argv: object) -> Ended:
    """The command in this process; an argument that argparse refuses ends it too."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = cli.main([str(part) for part in argv])
        except SystemExit as ended:
            code = int(ended.code or 0)
    return Ended(code, out.getvalue(), err.getvalue())


def environment(**more: str) -> dict[str, str]:
    """The environment of a command, which finds this checkout wherever it runs."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
    return {**os.environ, "PYTHONPATH": path, **more}


def ran(*argv: object, command: tuple[str, ...] = (), stdin: bytes = b"", cwd: Any = None, **env: str) -> Ended:
    """The command, or another, in a process of its own: a fork, and what it starts are forks."""
    words = (*(command or (forks.python(), "-c", CODE)), *argv)
    done = process(*words, code=None, input=stdin, text=False, cwd=cwd, env=environment(**env))
    return Ended(done.returncode, *(each.decode() for each in (done.stdout, done.stderr)))  # type: ignore[attr-defined]


def conformance(folder: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """The suite in a folder, in a process of its own: a fork, unless it is to import something else first."""
    python = forks.python() if more.get("PYTHONPATH", MUTANTS_TOO) == MUTANTS_TOO else sys.executable
    inherited = {name: value for name, value in environment(**more).items() if name not in ("PYTEST_ADDOPTS", "CI")}
    plain = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:asyncio")
    env = {**inherited, "CORPUS_TEST_ENV": "local"}
    return process(python, *plain, *arguments, code=None, cwd=folder, env=env, timeout=600)


def statuses(path: Path) -> dict[tuple[str, str], str]:
    """Each requirement's status in a report, by component and id."""
    entries = json.loads(path.read_text("utf-8"))["requirements"]
    return {(entry["component"], entry["id"]): entry["status"] for entry in entries}
