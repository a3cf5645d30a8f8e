"""The sources of requirements, on the page itself: sections of the documents by title, and rulings."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from pytest_corpus.reports.catalogue.rulings import rulings
from pytest_corpus.reports.html.page import sentence, text
from pytest_corpus.reports.view import Document
from pytest_corpus.spec.documents import SECTIONS


def sources(entry: dict[str, Any]) -> str:
    """The passages of one requirement, each a link into the appendix."""
    return ", ".join(f'<a href="#{_anchor(source)}">{text(source)}</a>' for source in entry["source"])


def appendix(document: Document) -> Iterator[str]:
    """Every passage that a requirement of the report rests on, with those requirements."""
    resting: dict[str, dict[str, str]] = defaultdict(dict)
    for entry in document["requirements"]:
        for source in entry["source"]:
            resting[source][entry["id"]] = f"{entry['component']}-{entry['id']}"
    yield '<section aria-labelledby="sources"><h2 id="sources">Sources</h2>'
    for name, passages in _by_document(resting).items():
        yield f'<details class="plain"><summary>{text(name)}</summary><ul class="passages">'
        for source in passages:
            links = ", ".join(
                f'<a class="id" href="#{text(anchor)}">{text(requirement)}</a>'
                for requirement, anchor in resting[source].items()
            )
            yield f'<li id="{_anchor(source)}"><strong>{text(source)}</strong> {_about(source)} {links}</li>'
        yield "</ul></details>"
    yield "</section>"


def _by_document(resting: dict[str, Any]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {name: [] for name in SECTIONS}
    for source in resting:
        document, section, _ = (*source.split(" ", 1), "", "")[:3]
        found.setdefault(document if section else "Rulings", []).append(source)

    def place(source: str) -> list[tuple[int, str]]:
        section = source.rpartition(" ")[2].lstrip("R")
        return [(int(part) if part.isdigit() else 0, part) for part in section.split(".")]

    return {name: sorted(passages, key=place) for name, passages in found.items() if passages}


def _about(source: str) -> str:
    """The title of a section, or a ruling in full."""
    if ruling := rulings().get(source):
        said = "".join(f"<p>{sentence(paragraph)}</p>" for paragraph in ruling.paragraphs)
        return f"{sentence(ruling.title)}{said}"
    document, _, section = source.partition(" ")
    title = SECTIONS.get(document, {}).get(section, "")
    return f"{sentence(title)}:" if title else ""


def _anchor(source: str) -> str:
    return text("source-" + source.replace(" ", "-"))
