"""The data that a run wrote into an adapter's store and has not deleted, in memory and in a file.

Every name that the suite makes contains `corpusrunRUN` and the mark of a process. The protocol has no operation
that lists namespaces, so a run appends each name to the file before the write, and removes the file when nothing is
left. After a SIGKILL, `pytest-corpus sweep` deletes the names in the file.
"""

import json
import os
import secrets
import sys
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast, get_args

from pytest_corpus.adapter.inputs import DIGITS, digits_of
from pytest_corpus.redaction import PREFIX
from pytest_corpus.text import bounded

FOLDER = ".corpus"
"""The folder of the files, below the one in which pytest was started."""

EARLIEST, AHEAD_S = 1_767_225_600.0, 86_400.0
"""The earliest start of a run in seconds since 1970; and the seconds that another machine's clock may be ahead."""

RANDOM_DIGITS, TIME_DIGITS = 4, 6

TIDY_S = 20.0
"""The seconds that cleaning up a component may take. Data that is left after this time is reported."""

MOST_BYTES, MOST_NAMES = 64 * 2**20, 1_000_000
"""The largest number of bytes, and of values such as names, in the file of a run."""

Kind = Literal["namespace", "vector", "node", "edge"]

Place = tuple[str, "str | None", "str | None", Kind]
"""A component, a tenant or None, a namespace or None, and the kind of the things there."""

DELETES: dict[Kind, tuple[str, str]] = {
    "edge": ("graph.delete_edges", "ids"),
    "node": ("graph.delete_nodes", "ids"),
    "vector": ("vector.delete", "ids"),
    "namespace": ("vector.delete_namespace", "namespace"),
}
"""The operation that deletes things of a kind, and the argument with their names; edges go before their nodes."""


def deletion_request(place: Place, names: Sequence[str]) -> dict[str, Any]:
    """Return the request that deletes things of one place. A namespace has its own request."""
    _, tenant, namespace, kind = place
    op, key = DELETES[kind]
    args = {} if namespace is None else {"namespace": namespace}
    named = {**args, key: names[0] if kind == "namespace" else [*names]}
    return {"op": op, "ctx": {} if tenant is None else {"tenant": tenant}, "args": named}


def new_run() -> str:
    """Return the id of a new run: random digits, then the second in which the run began, in base 36."""
    return "".join(secrets.choice(DIGITS) for _ in range(RANDOM_DIGITS)) + digits_of(int(time.time()), TIME_DIGITS)


def began_at(run: str) -> float | None:
    """Return the start of a run in seconds since 1970; None if the text is not the id of a run."""
    if len(run) != RANDOM_DIGITS + TIME_DIGITS or not set(run) <= set(DIGITS):
        return None
    return float(int(run[RANDOM_DIGITS:], len(DIGITS)))


def run_of(name: str) -> str | None:
    """Return the run that made a thing with this name, in any letter case; None if the suite did not make it."""
    for rest in name.lower().split(PREFIX)[1:]:  # some ids have other characters before the prefix
        run = rest[: RANDOM_DIGITS + TIME_DIGITS]  # the mark of a process follows
        began = began_at(run)
        if began is not None and EARLIEST < began < time.time() + AHEAD_S:
            return run
    return None


def uuid_of(run: str) -> str:
    """Return the UUID that a run uses as an id, for an adapter that accepts only UUIDs."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{PREFIX}-{run}"))


@dataclass(slots=True)
class Leftovers:
    """The names of things that may be in a store, by place.

    Attributes:
        run: the id of the run.
        adapter: the declaration of the adapter.
        factory: the adapter's factory as `module:attribute`; empty if the factory has no such name.
        names: the names, each with True if an answer confirmed the write, False if all answers were errors, and None
            if no answer came.
    """

    run: str = ""
    adapter: str = ""
    factory: str = ""
    names: dict[Place, dict[str, bool | None]] = field(default_factory=dict)

    def add(self, place: Place, names: Iterable[str]) -> None:
        """Record that things of these names may now be in the store."""
        held = self.names.setdefault(place, {})
        for name in names:
            held.setdefault(name)

    def note_outcome(self, place: Place, names: Iterable[str], *, is_success: bool) -> None:
        """Record the outcome of a write of these names, if the names were added before."""
        held = self.names.get(place, {})
        for name in held.keys() & set(names):
            held[name] = is_success or bool(held[name])

    def remove(self, place: Place, names: Iterable[str]) -> None:
        """Record that things of these names are deleted."""
        held = self.names.get(place, {})
        for name in names:
            held.pop(name, None)
        if not held:
            self.names.pop(place, None)

    def names_by_kind(self) -> Iterator[tuple[Kind, list[str]]]:
        """Yield the names of each kind. A name is left out if all answers to its writes were errors."""
        for kind in ("namespace", "vector", "node", "edge"):
            held = (names.items() for place, names in self.names.items() if place[3] == kind)
            found = [name for names in held for name, is_there in names if is_there is not False]
            if found:
                yield kind, found


class Journal(Leftovers):
    """Leftovers that are also in a file, until `close` finds that nothing is left.

    `failed` is a sentence if the file could not be written.
    """

    def __init__(self, path: Path | None = None, run: str = "", adapter: str = "", factory: str = "") -> None:
        super().__init__(run, adapter, factory)
        self._path, self._file = path, -1
        self.failed = ""

    def add(self, place: Place, names: Iterable[str]) -> None:
        fresh = [name for name in names if name not in self.names.get(place, {})]
        if fresh:
            super().add(place, fresh)
            self._write_names("+", place, fresh)

    def remove(self, place: Place, names: Iterable[str]) -> None:
        known = [name for name in names if name in self.names.get(place, {})]
        if known:
            super().remove(place, known)
            self._write_names("-", place, known)

    def close(self) -> None:
        """Close the file, and remove it if nothing is left."""
        if self._file < 0 or self._path is None:
            return
        os.close(self._file)
        self._file, path, self._path = -1, self._path, None
        if not self.names:
            remove_file(path)

    def _write_names(self, sign: str, place: Place, names: list[str]) -> None:
        if self._path is None:
            return
        if self._file < 0:
            try:
                self._path.parent.mkdir(exist_ok=True)
                self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            except OSError:  # without the file, nothing can be swept after a SIGKILL
                self._path = None
                return
            _lock(self._file)
            self._write_line({"run": self.run, "adapter": self.adapter, "factory": self.factory})
        if self._path is not None:
            self._write_line([sign, *place, names])

    def _write_line(self, value: object) -> None:
        try:
            os.write(self._file, (json.dumps(value) + "\n").encode())
        except OSError as error:  # a disk that is full
            self.failed = f"{self._path} could not be written: {error.strerror}"
            os.close(self._file)
            self._file, self._path = -1, None


def read_file(path: Path) -> Leftovers | None:
    """Return the leftovers in the file of a run, without cut-off lines; None for another file. Raises FileRefused."""
    found: Leftovers | None = None
    held = 0
    for number, line in enumerate(bounded.read_lines(path, MOST_BYTES)):
        held += bounded.count_values(line)
        if held > MOST_NAMES:
            raise bounded.FileRefused(path, f"has more than {MOST_NAMES:,} names, the limit for such a file")
        try:
            value = bounded.parse_value(line)
        except ValueError:
            continue
        if number == 0 and isinstance(value, dict) and began_at(str(value.get("run"))) is not None:
            run, adapter, factory = (str(value.get(key, "")) for key in ("run", "adapter", "factory"))
            found = Leftovers(run, adapter, factory)
        elif found is not None and _is_change(value):
            sign, *place, names = value
            (found.add if sign == "+" else found.remove)(cast("Place", tuple(place)), names)
    return found


def _is_change(value: Any) -> bool:
    """True if a line of a journal adds names to a place or removes names."""
    if not isinstance(value, list) or len(value) != 6:
        return False
    _, component, tenant, namespace, kind, names = value
    texts = isinstance(component, str) and all(isinstance(each, str | None) for each in (tenant, namespace))
    named = isinstance(names, list) and all(isinstance(each, str) for each in names)
    return texts and named and kind in get_args(Kind)


def is_in_use(path: Path) -> bool:
    """True if the run that writes a file is still active."""
    file = os.open(path, os.O_RDONLY)
    try:
        return not _lock(file)
    finally:
        os.close(file)


def _lock(file: int) -> bool:
    """Lock a file for this process, as long as the file is open; return False if another process has the lock."""
    if sys.platform == "win32":
        return True
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def remove_file(path: Path) -> None:
    """Remove the file of a run, and also its folder if no other file is left there."""
    path.unlink(missing_ok=True)
    try:
        path.parent.rmdir()
    except OSError:  # the folder has more files
        return
