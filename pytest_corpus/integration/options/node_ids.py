"""Node ids on the command line that begin with `corpus` and do not belong to a file."""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import pytest

ROOT = "corpus"
_REPETITION = re.compile(r"(?P<more>-)?(?(more)|\[)run(?P<number>\d+)of\d+\]$")
_ID = re.compile(r"corpus(?:\[(?P<label>.+?)\](?=/|$))?(?:/(?P<test>.*))?")


@dataclass(frozen=True, slots=True)
class NodeId:
    """A named chapter, class or test: of every adapter, or of the adapter with a label."""

    given: str
    label: str
    test: str

    def names(self, label: str, test: str) -> bool:
        """True if the id names a test, whose name is given without its root."""
        beginnings = tuple(f"{self.test}{end}" for end in ("::", "[", "/"))
        below = self.test in ("", test) or test.startswith(beginnings)
        return below and self.label in ("", label)


def strip_repetition(name: str) -> str:
    """The name of a test without the number of its repetition."""
    return _REPETITION.sub(lambda found: "]" if found["more"] else "", name)


def repetition_in(name: str) -> int:
    """The number of a test's repetition, from 1; 0 if tests are not repeated."""
    found = _REPETITION.search(name)
    return int(found["number"]) if found else 0


def take(config: pytest.Config) -> tuple[NodeId, ...]:
    """Remove the ids from the arguments of a run, because pytest would look for files with these names."""
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        return ()
    found = {arg: each for arg in config.args if (each := _read(arg, config))}
    config.args[:] = [arg for arg in config.args if arg not in found]
    return tuple(found.values())


def check(asked: Iterable[NodeId], known: Iterable[tuple[str, str]]) -> str:
    """The fault of the first id that does not match a known label and test, or an empty text."""
    every = list(known)
    for each in asked:
        if any(each.names(label, test) for label, test in every):
            continue
        labels = sorted({label for label, _ in every})
        if each.label and each.label not in labels:
            near = get_close_matches(each.label, labels, n=1) or labels
            return f"{each.given}: no adapter has the label {each.label!r}; did you mean {' or '.join(near)}?"
        near = get_close_matches(each.test, {test for _, test in every}, n=1, cutoff=0.4)
        hint = f"did you mean {ROOT}/{near[0]}?" if near else "--collect-only -q lists them all"
        return f"{each.given}: the suite has no such test; {hint}"
    return ""


def _read(arg: str, config: pytest.Config) -> NodeId | None:
    path, colons, rest = arg.partition("::")
    if Path(config.invocation_params.dir, path).exists():
        return None
    if os.path.isabs(path):
        path = os.path.relpath(path, config.rootpath)
    path = os.path.normpath(path).replace(os.sep, "/") if path else path
    read = _ID.fullmatch(f"{path}{colons}{rest}")
    return NodeId(arg, read["label"] or "", strip_repetition(read["test"] or "")) if read else None
