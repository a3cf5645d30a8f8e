"""The rulings of docs/rulings.md, which is shipped in the package, on what the documents leave open or contradict."""

import re
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from pytest_corpus import resources
from pytest_corpus.spec.requirements import Requirement, catalogue

RULING_ID = re.compile(r"R[0-9]+")


@dataclass(frozen=True, slots=True)
class Ruling:
    """One ruling: its id, e.g. ``R20``, its title, the section that it stands in, and its paragraphs as Markdown."""

    id: str
    title: str
    section: str
    paragraphs: tuple[str, ...]


@cache
def rulings() -> MappingProxyType[str, Ruling]:
    """Every ruling by id, in the order of the page. Raises FileNotFoundError if the installation carries no rulings."""
    found: dict[str, Ruling] = {}
    page = resources.document("rulings.md").read_text("utf-8")
    for part in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        section, *entries = re.split(r"^### ", part, flags=re.MULTILINE)
        for entry in entries:
            head, _, body = entry.partition("\n")
            name, _, title = head.partition(" ")
            paragraphs = [" ".join(text.split()) for text in body.split("\n\n")]
            found[name] = Ruling(name, title, section.splitlines()[0], tuple(filter(None, paragraphs)))
    return MappingProxyType(found)


def rulings_of(entry: Requirement) -> tuple[Ruling, ...]:
    """The rulings that a requirement names as its source."""
    return tuple(rulings()[source] for source in entry.source if RULING_ID.fullmatch(source))


def resting_on(ruling: Ruling) -> tuple[str, ...]:
    """The ids of the requirements that name a ruling as their source."""
    return tuple(entry.id for entry in catalogue().values() if ruling.id in entry.source)
