"""Problems of a bundle, with file and line, found before any call; a missing optional library is also a problem."""

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from pytest_corpus.redaction import printable
from pytest_corpus.text.problems import PlainError
from pytest_corpus.text.values import most_similar


@dataclass(frozen=True, slots=True)
class BundleProblem:
    """A problem in a file of a bundle. `line` counts from 1; None if the problem concerns the whole file."""

    file: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return printable(f"{place}: {self.message}")


class BundleError(PlainError):
    """A bundle that cannot be run, with all its problems."""

    def __init__(self, problems: BundleProblem | Iterable[BundleProblem]) -> None:
        self.problems = (problems,) if isinstance(problems, BundleProblem) else tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return the end of an error message: the known name that is most similar, or the list of all known names."""
    every = sorted(known)
    near = most_similar(name, every)
    return f"did you mean {near!r}?" if near else f"use {', '.join(every)}"


LIBRARIES = {
    "yaml": ("PyYAML", "bundles"),
    "regex": ("regex", "bundles"),
    "scipy": ("scipy", "bundles"),
    "openai": ("openai", "openai"),
    "anthropic": ("anthropic", "anthropic"),
}
"""For each optional module, its distribution, and the extra of pytest-corpus that installs it."""


def import_library(module: str, file: str) -> Any:
    """Import a module of an optional library that `file` needs. Raises BundleError if it is not installed."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != module:
            raise
        distribution, extra = LIBRARIES[module]
        said = f"{distribution} is needed and not installed; pip install 'pytest-corpus[{extra}]'"
        raise BundleError(BundleProblem(file, said)) from None
