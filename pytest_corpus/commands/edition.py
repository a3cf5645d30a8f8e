"""`pytest-corpus edition`: the editions of the requirements, and the changes between two editions."""

import argparse
from collections import Counter
from dataclasses import asdict
from typing import Any

from pytest_corpus.commands import FINE
from pytest_corpus.commands import _console as console
from pytest_corpus.reports.text import count_in_words
from pytest_corpus.spec.requirements import catalogue
from pytest_corpus.verdict import editions
from pytest_corpus.verdict.editions import Edition


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions, each with its own arguments."""
    action = console.add_actions(parser)
    listing = action("list", "every edition, with its errata", _list)
    diff = action("diff", "the requirements that one edition changes of another", _diff)
    diff.add_argument("old", metavar="OLD", help="the earlier edition, such as 1.0")
    diff.add_argument("new", metavar="NEW", help="the later edition")
    for each in (listing, diff):
        console.add_format_argument(each)


def _list(given: argparse.Namespace) -> int:
    every = [editions.edition(name) for name in editions.names()]
    console.print_result(given, {"editions": [_edition_facts(each) for each in every]}, *map(_edition_line, every))
    return FINE


def _edition_facts(edition: Edition) -> dict[str, Any]:
    """Return the facts of an edition as JSON. `preview` lists requirements that are not yet part of the edition."""
    preview = [entry.id for entry in catalogue().values() if edition.with_level(entry).level == editions.PREVIEW]
    return {
        "name": edition.name,
        "released": edition.released or None,
        "current": edition.name == editions.current_edition().name,
        "requirements": dict(Counter(edition.levels.values())),
        "errata": [asdict(each) for each in edition.errata],
        "preview": preview,
    }


def _edition_line(edition: Edition) -> str:
    facts = _edition_facts(edition)
    levels = ", ".join(f"{number} {level}" for level, number in facts["requirements"].items())
    preview = f"{len(facts['preview'])} more in preview"
    words = [edition.state, levels, count_in_words(len(edition.errata), "erratum", "errata"), preview]
    lines = [f"{edition.name}  {'; '.join(words)}"]
    return "\n".join([*lines, *(f"  {each.date}  {each.requirement}: {each.reason}" for each in edition.errata)])


def _diff(given: argparse.Namespace) -> int:
    old, new = editions.edition(given.old), editions.edition(given.new)
    found = list(editions.changes(old, new))
    texts = {name: entry.text for name, entry in catalogue().items()}
    lines = [f"{kind:<8}  {name} ({said})  {texts.get(name, '')}".rstrip() for kind, name, said in found]
    listed = [dict(zip(("kind", "id", "change"), each, strict=True)) for each in found]
    document = {"old": old.name, "new": new.name, "changes": listed}
    console.print_result(given, document, *(lines or [f"{old.name} and {new.name} have the same requirements"]))
    return FINE
