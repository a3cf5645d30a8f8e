"""Editions of the requirements. An edition fixes which requirements count, and their levels.

An edition is a file of `spec/editions/`. After its release it only gets errata. A requirement that is not in an edition
is a *preview*: it is tested and reported, but does not influence the verdict.
"""

import hashlib
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from pytest_corpus import resources
from pytest_corpus.spec.requirements import Requirement, catalogue
from pytest_corpus.text.problems import PlainError

FOLDER = resources.package("spec/editions")

PREVIEW = "PREVIEW"
"""The level of a requirement that an edition does not have."""


class EditionError(PlainError, ValueError):
    """An unknown edition."""


@dataclass(frozen=True, slots=True)
class Erratum:
    """A correction of a released edition: a wrong test or an unclear sentence."""

    requirement: str
    date: str
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Edition:
    """One edition of the requirements: their levels, and digests of their sentences.

    Attributes:
        released: the date of its release; empty if it can still change.
        levels: the level of each requirement by id.
        digests: the digest of each sentence by id.
    """

    name: str
    released: str
    levels: Mapping[str, str]
    digests: Mapping[str, str]
    errata: tuple[Erratum, ...] = ()

    def with_level(self, entry: Requirement) -> Requirement:
        """Return a requirement with its level in this edition."""
        level: Any = self.levels.get(entry.id, PREVIEW)
        return entry if level == entry.level else replace(entry, level=level)

    @property
    def state(self) -> str:
        """The state of the edition's release, as a part of a sentence."""
        return f"released {self.released}" if self.released else "not released"

    def document(self) -> dict[str, Any]:
        """Return the edition in the form of reports: its name, its date, and the requirements with errata."""
        errata = [{"requirement": each.requirement, "date": each.date} for each in self.errata]
        return {"name": self.name, **({"released": self.released} if self.released else {}), "errata": errata}


def names() -> list[str]:
    """Return the names of all editions, oldest first."""
    found = [path.stem for path in FOLDER.glob("*.toml")]
    return sorted(found, key=lambda name: [int(part) for part in name.split(".")])


@cache
def edition(name: str) -> Edition:
    """Return the edition with a name. Raises EditionError if it is unknown."""
    if name not in names():
        raise EditionError(f"there is no edition {name!r}; use {' or '.join(names())}")
    document = tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))
    given = {key: value.split() for key, value in document["requirements"].items()}
    return Edition(
        name,
        document["released"],
        {key: level for key, (level, _) in given.items()},
        {key: digest for key, (_, digest) in given.items()},
        tuple(Erratum(**each) for each in document.get("errata", ())),
    )


def current_edition() -> Edition:
    """Return the newest released edition; if none is released, the newest edition."""
    every = [edition(name) for name in names()]
    return next((each for each in reversed(every) if each.released), every[-1])


def digest_of(entry: Requirement) -> str:
    """Return the digest of a requirement's sentence."""
    return hashlib.sha256(entry.text.encode()).hexdigest()[:16]


def current_edition_table() -> str:
    """Return an edition as TOML: the ids of the catalogue with their present levels and digests."""
    return "".join(f'{entry.id} = "{entry.level} {digest_of(entry)}"\n' for entry in catalogue().values())


def changes(old: Edition, new: Edition) -> Iterator[tuple[str, str, str]]:
    """Yield the changes from one edition to another: kind, id, and the old and new value."""
    for name in dict.fromkeys((*old.levels, *new.levels)):
        was, now = old.levels.get(name), new.levels.get(name)
        if was is None or now is None:
            yield ("added", name, str(now)) if was is None else ("removed", name, was)
            continue
        if was != now:
            yield "level", name, f"{was} -> {now}"
        if old.digests[name] != new.digests[name]:
            yield "sentence", name, now
