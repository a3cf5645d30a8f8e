"""The findings of a check of a tree of files, sorted by file: each file has a test."""

from collections.abc import Callable, Iterable, Mapping

import pytest

from pytest_corpus.authoring.tree import LintFinding


def by_file(check: Callable[[], Iterable[LintFinding]]) -> dict[str, list[str]]:
    """The findings of a check by file; under no name what holds for all files."""
    found: dict[str, list[str]] = {}
    try:
        for finding in check():
            found.setdefault(finding.file, []).append(str(finding))
    except OSError as fault:
        return {"": [str(fault)]}
    return found


def list_files(files: Callable[[], tuple[str, ...]], folder: str) -> tuple[str, ...]:
    """Every file of a table and of its folder; where there is no folder its name, and its test says so."""
    try:
        return files()
    except OSError:
        return (folder,)


def assert_none(found: Mapping[str, list[str]], file: str) -> None:
    """Fail where something was found in a file, or in the whole tree."""
    if wrong := found.get("") or found.get(file):
        pytest.fail("\n".join(wrong), pytrace=False)
