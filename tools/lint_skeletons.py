"""Checks the files that `pytest-corpus init` writes with ruff and mypy, as users would."""

import subprocess
import sys
import tempfile
from pathlib import Path

from pytest_corpus.cli import main
from pytest_corpus.spec.components import COMPONENTS


def lint(folder: Path) -> int:
    """Return the exit code of the first check that fails, or 0."""
    kinds = [(component, "code") for component in COMPONENTS] + [("llm", "http"), ("vector", "tcp")]
    for component, provider in kinds:
        if code := main(["init", component, str(folder / provider / component), f"--provider={provider}"]):
            return code
    packages: dict[str, list[str]] = {}
    for component, provider in kinds:  # packages of one name are checked one after the other
        packages.setdefault(provider, []).append(str(folder / provider / component / f"{component}_adapter"))
    typed = (["mypy", "--strict", *names] for names in packages.values())
    for check in (["ruff", "check", "."], ["ruff", "format", "--check", "."], *typed):
        done = subprocess.run([sys.executable, "-m", *check], cwd=folder, check=False)  # noqa: S603
        if done.returncode:
            return done.returncode
    return 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        sys.exit(lint(Path(temporary)))
