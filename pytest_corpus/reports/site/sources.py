"""Finds files that may be attestations: below a folder, and in the git history of the folder."""

import os
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import IO, cast

from pytest_corpus.redaction import printable
from pytest_corpus.reports import formats
from pytest_corpus.reports.reading import read_contents
from pytest_corpus.text.bounded import LARGEST, describe_size_limit
from pytest_corpus.text.problems import PlainError


class SourceError(PlainError):
    """A folder that cannot be read, or a history that cannot be listed."""


@dataclass(frozen=True, slots=True)
class ReportSource:
    """A file, or a version of a file in a git history.

    Attributes:
        name: the path below the folder, for a reader.
        path: the file; for a version, the folder.
        blob: the id of the version in git; empty for a file.
        refusal: the reason not to read the version; empty if there is none.
    """

    name: str
    path: Path
    blob: str = ""
    refusal: str = ""


def find_files(folder: Path, without: Path) -> list[ReportSource]:
    """Return the files below a folder, at any depth, except hidden files and files below `without`.

    Raises:
        SourceError: a folder cannot be read.
    """

    def refuse(error: OSError) -> None:
        raise SourceError(f"{printable(str(error.filename))} cannot be read: {error.strerror}")

    found = sorted(path for path in _walk_files(folder, without, refuse) if _is_wanted(path.name))
    return [ReportSource(printable(path.relative_to(folder).as_posix()), path) for path in found]


def find_statements(folder: Path, without: Path, suffix: str) -> list[Path]:
    """Return the signed statements below a folder, at any depth, except hidden files and files below `without`."""
    return sorted(path for path in _walk_files(folder, without) if path.name.endswith(suffix))


def _walk_files(folder: Path, without: Path, refuse: Callable[[OSError], None] | None = None) -> Iterator[Path]:
    """Yield the visible files below a folder."""
    for place, below, names in os.walk(folder, onerror=refuse):
        here = Path(place)
        below[:] = [name for name in below if _is_visible(name) and (here / name).resolve() != without]
        yield from (here / name for name in names if _is_visible(name))


def find_versions(folder: Path) -> list[ReportSource]:
    """Return every version of the files below a folder, in the history of the current branch.

    Raises:
        SourceError: git is missing, or the folder is not in a repository with commits.
    """
    above = os.fsdecode(_run_git(folder, "rev-parse", "--show-prefix")).rstrip("\n")
    listed = _run_git(folder, "rev-list", "--objects", "--full-history", "HEAD", "--", ".")
    found = {}
    for line in os.fsdecode(listed).split("\n"):
        blob, _, path = line.partition(" ")
        name = path.removeprefix(above)
        if all(map(_is_visible, name.split("/"))) and _is_wanted(name):
            found[blob] = f"{printable(name)} (version {blob[:10]})"
    known = _run_git(folder, "cat-file", "--batch-check", given="".join(f"{blob}\n" for blob in found))
    sources = []
    for blob, kind, *size in (line.split() for line in known.decode().splitlines()):
        if kind == "missing":
            sources.append(ReportSource(found[blob], folder, blob, "git does not have it"))
        elif kind == "blob":  # the name may also be that of a folder
            refusal = describe_size_limit(LARGEST) if int(size[0]) > LARGEST else ""
            sources.append(ReportSource(found[blob], folder, blob, refusal))
    return sorted(sources, key=lambda source: (source.name, source.blob))


def is_shallow(folder: Path) -> bool:
    """True if the git clone lacks a part of the history."""
    return _run_git(folder, "rev-parse", "--is-shallow-repository").strip() == b"true"


def read_sources(sources: Iterable[ReportSource]) -> Iterator[tuple[ReportSource, bytes]]:
    """Yield each source with its bytes.

    Raises:
        ReportError: a file cannot be read.
        SourceError: git does not answer.
    """
    for folder, group in groupby(sources, key=lambda source: source.path if source.blob else None):
        if folder is None:
            yield from ((source, read_contents(source.path)) for source in group)
        else:
            yield from _read_versions(folder, list(group))


def _read_versions(folder: Path, sources: Sequence[ReportSource]) -> Iterator[tuple[ReportSource, bytes]]:
    """Yield each version with its bytes, one at a time."""
    command = ["git", "-C", str(folder), "cat-file", "--batch"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as git:  # noqa: S603
        asked, answered = cast("IO[bytes]", git.stdin), cast("IO[bytes]", git.stdout)
        for source in sources:
            asked.write(f"{source.blob}\n".encode())
            asked.flush()
            *_, size = answered.readline().split() or [b"0"]
            data = answered.read(int(size) + 1)
            if len(data) != int(size) + 1:
                raise SourceError(f"{source.name} cannot be read: git ended")
            yield source, data[:-1]


def _is_wanted(name: str) -> bool:
    name = name.rpartition("/")[2].lower()
    return (
        _is_visible(name) and formats.suffix_of(name) == ".json" and not name.endswith((".dsse.json", ".sigstore.json"))
    )


def _is_visible(name: str) -> bool:
    return name[:1] != "."


def _run_git(folder: Path, *arguments: str, given: str = "") -> bytes:
    command, environment = ["git", "-C", str(folder), *arguments], {**os.environ, "LC_ALL": "C"}
    try:
        done = subprocess.run(command, input=given.encode(), capture_output=True, check=False, env=environment)  # noqa: S603
    except FileNotFoundError:
        raise SourceError("git is not installed, and --history needs it") from None
    if done.returncode:
        said = printable(done.stderr.decode(errors="replace").strip().partition("\n")[0])
        where = printable(str(folder))
        if "not a git repository" in said:
            raise SourceError(f"{where} is not in a git repository; leave --history out")
        raise SourceError(f"the history of {where} cannot be read; git says: {said}")
    return done.stdout
