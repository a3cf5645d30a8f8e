"""`pytest-corpus docs [TOPIC]`: the documentation of the installed version, without network."""

import argparse
import pydoc
import sys
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import partial
from importlib.util import find_spec

from pytest_corpus import resources
from pytest_corpus.commands import FINDINGS, FINE, CommandError
from pytest_corpus.commands import _console as console
from pytest_corpus.reports.catalogue import explain
from pytest_corpus.reports.pages import components
from pytest_corpus.reports.pages.plain import to_plain_text
from pytest_corpus.spec.components import COMPONENTS, ROWS
from pytest_corpus.spec.operations import BY_OP
from pytest_corpus.text.values import CLOSE

Page = Callable[[], str]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the topic and the search."""
    topic = "a page, a component, an operation, a requirement or a ruling: start, llm, llm.complete, EMB-TRUNC-2, R20"
    parser.add_argument("topic", nargs="?", metavar="TOPIC", help=f"{topic}; without it the list of pages")
    parser.add_argument("--search", metavar="WORDS", help="list the lines of all pages that have these words")


def run(given: argparse.Namespace) -> int:
    """Show a page, the list of pages, or the lines that match a search."""
    try:
        pages: dict[str, Page] = {path.stem: partial(path.read_text, "utf-8") for path in resources.documents()}
    except FileNotFoundError as error:
        raise CommandError(str(error)) from None
    pages |= {row.name: partial(components.render_page, row) for row in ROWS}
    if given.search is not None:
        return _print_matches(pages, given.search)
    if given.topic is None:
        titles = {
            name: next((line.lstrip("# ") for line in page().splitlines() if line.startswith("# ")), "")
            for name, page in pages.items()
            if name not in COMPONENTS
        }
        titles |= {row.name: f"The {row.title} component" for row in ROWS}
        rows: list[tuple[str, ...]] = [(name, title) for name, title in titles.items() if title]
        console.say("pytest-corpus docs TOPIC shows one of these pages:", "", *console.align_columns(rows))
        return FINE
    _show(_find_topic(pages, given.topic.strip()))
    return FINE


def _find_topic(pages: Mapping[str, Page], topic: str) -> str:
    """Return the text of a topic as Markdown. Raises CommandError if the topic is unknown."""
    name = topic.removesuffix(".md").lower()
    if name in pages:
        return pages[name]()
    if topic in BY_OP:
        return components.render_operation(topic)
    text = explain(topic)
    if text is not None:
        return f"```\n{text}\n```"
    near = get_close_matches(name, [*pages, *BY_OP], n=3, cutoff=CLOSE)
    hint = f"did you mean {' or '.join(near)}?" if near else "without a topic the command lists all pages"
    raise CommandError(f"there is no page {topic!r}; {hint}")


def _print_matches(pages: Mapping[str, Page], words: str) -> int:
    wanted = words.lower().split()
    found = [
        f"{name}:{number}: {line.strip()}"
        for name, page in pages.items()
        for number, line in enumerate(to_plain_text(page()).splitlines(), 1)
        if wanted and all(word in line.lower() for word in wanted)
    ]
    console.say(*(found or [f"no line has all of these words: {words}"]))
    return FINE if found else FINDINGS


def _show(markdown: str) -> None:
    """Write a page to stdout. A terminal shows it in a pager, formatted by rich if it is installed."""
    if not sys.stdout.isatty():
        console.say(*to_plain_text(markdown).splitlines())
    elif find_spec("rich") is not None:
        from rich.console import Console
        from rich.markdown import Markdown

        screen = Console()
        with screen.pager(styles=True):
            screen.print(Markdown(markdown))
    else:
        pydoc.pager(to_plain_text(markdown))
