"""The file names of reports of several adapters."""

from collections.abc import Sequence
from pathlib import Path

from pytest_corpus.reports.formats import FORMATS, suffix_of


def report_paths(asked: Path, labels: Sequence[str]) -> list[Path]:
    """The path of each adapter's report: with its label if there are several, and a number if labels look alike."""
    if len(labels) < 2:
        return [asked]
    end = len(suffix_of(asked.name, tuple(FORMATS)) or asked.suffix)
    names = [plain(label) for label in labels]
    numbered = [
        f"{name}.{again + 1}" if (again := names[:number].count(name)) else name for number, name in enumerate(names)
    ]
    return [asked.with_name(f"{asked.name[:-end]}.{name}{asked.name[-end:]}") for name in numbered]


def plain(label: str) -> str:
    """A label as a part of a file name."""
    return "".join(char if char.isalnum() or char in "._-" else "_" for char in label)
