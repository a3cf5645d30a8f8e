"""The requirement catalogue: every sentence of the documents that the suite tests.

Each sentence is an entry of three lines; each chapter is a module. The tests for `graph/crud_basic.py` are in
`suites/graph/test_crud_basic.py` and in modules that continue it, such as `test_crud_basic_edges.py`. Shared
requirements are in `common/`. `model.read` describes the form of an entry. Ids are stable: a retired id is never used
again.
"""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType

from pytest_corpus.spec.components import CLIENT, COMMON_CHAPTERS, COMPONENTS, ROWS, TITLES, TRANSPORT_CHAPTERS
from pytest_corpus.spec.requirements.model import HOOKS, LOGS, Level, Requirement, read

__all__ = [
    "CATALOGUE_VERSION",
    "HOOKS",
    "LOGS",
    "Level",
    "Requirement",
    "applicable",
    "catalogue",
    "chapter_titles",
    "nearest_ids",
]

CATALOGUE_VERSION = "1.0"

FOLDERS = {
    "common": COMMON_CHAPTERS,
    **{row.name: row.chapters for row in (*ROWS, CLIENT)},
    "transport": TRANSPORT_CHAPTERS,
}
"""The chapters that may have a module, by folder, in the order of the catalogue."""


@cache
def catalogue() -> MappingProxyType[str, Requirement]:
    """Return every requirement by id, in catalogue order. Raises ValueError if the tables are inconsistent."""
    entries = [entry for _, requirements in _chapters() for entry in requirements]
    by_id = {entry.id: entry for entry in entries}
    if len(by_id) != len(entries):
        raise ValueError("the requirement catalogue gives an id twice")
    return MappingProxyType(by_id)


@cache
def chapter_titles() -> MappingProxyType[str, str]:
    """Return the title of the chapter of each requirement, by id: ``Streaming semantics``."""
    return MappingProxyType({entry.id: title(name) for name, requirements in _chapters() for entry in requirements})


def title(chapter: str) -> str:
    """Return the readable title of a chapter's name."""
    words = " ".join(SPELLINGS.get(word, word) for word in chapter.split("_"))
    return words[0].upper() + words[1:] if chapter.partition("_")[0] not in SPELLINGS else words


SPELLINGS = {"siem": "SIEM", "http": "HTTP", "grpc": "gRPC"}  # words that are not written in small letters


@cache
def _chapters() -> tuple[tuple[str, tuple[Requirement, ...]], ...]:
    """Return each chapter with its requirements; chapters without requirements are left out."""
    found = []
    for folder, chapters in FOLDERS.items():
        package = import_module(f"{__name__}.{folder}")
        own = {module.name for module in iter_modules(package.__path__)}
        if strays := own.difference(chapters):
            raise ValueError(f"spec/components.py does not name the chapters {sorted(strays)} of {folder}")
        components = (folder,) if folder in TITLES else COMPONENTS
        for chapter in (name for name in chapters if name in own):
            module = import_module(f"{package.__name__}.{chapter}")
            found.append((chapter, tuple(read(module.REQUIREMENTS, module.__name__, components))))
    return tuple(found)


@cache
def applicable_requirements(component: str) -> tuple[Requirement, ...]:
    """Return the requirements that apply to a component."""
    return tuple(entry for entry in catalogue().values() if component in entry.components)


def nearest_ids(wrong: str) -> list[str]:
    """Return up to three ids that are most similar to a wrong id, for messages."""
    from difflib import get_close_matches

    return get_close_matches(wrong.upper(), catalogue(), n=3, cutoff=0.4)
