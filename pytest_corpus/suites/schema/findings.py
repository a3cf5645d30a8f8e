"""The findings of a check of a tree of files, sorted by file. Each file has a test."""

from collections.abc import Callable, Iterable, Mapping

import pytest

from pytest_corpus.authoring.tree import LintFinding


def group_by_file(check: Callable[[], Iterable[LintFinding]]) -> dict[str, list[str]]:
    """Return the findings of a check by file; findings about all files have an empty name."""
    found: dict[str, list[str]] = {}
    try:
        for finding in check():
            found.setdefault(finding.file, []).append(str(finding))
    except OSError as fault:
        return {"": [str(fault)]}
    return found


def list_files(files: Callable[[], tuple[str, ...]], folder: str) -> tuple[str, ...]:
    """Return all listed files and all files of the folder. A missing folder is named instead, so that a test fails."""
    try:
        return files()
    except OSError:
        return (folder,)


def assert_no_findings(found: Mapping[str, list[str]], file: str) -> None:
    """Fail if a file, or the whole tree, has findings."""
    if wrong := found.get("") or found.get(file):
        pytest.fail("\n".join(wrong), pytrace=False)
