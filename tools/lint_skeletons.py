"""Checks what `pytest-corpus init` writes with ruff and mypy, as those who start from it would."""

import subprocess
import sys
import tempfile
from pathlib import Path

from pytest_corpus.cli import main
from pytest_corpus.spec.components import COMPONENTS


def lint(folder: Path) -> int:
    """The exit code of the first check that finds something, or 0."""
    for component in COMPONENTS:
        if code := main(["init", component, str(folder / component)]):
            return code
    packages = [str(folder / component / f"{component}_adapter") for component in COMPONENTS]
    checks = (["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy", "--strict", *packages])
    for check in checks:
        done = subprocess.run([sys.executable, "-m", *check], cwd=folder, check=False)  # noqa: S603
        if done.returncode:
            return done.returncode
    return 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        sys.exit(lint(Path(temporary)))
