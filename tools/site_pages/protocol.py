"""The documents of the protocol by their sections, each with the requirements that rest on it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from pytest_corpus.spec.documents import SECTIONS
from pytest_corpus.spec.requirements import catalogue
from site_pages.markdown import GENERATED, paragraph


def pages() -> dict[str, str]:
    """The page by its path below docs/."""
    return {"protocol.md": "\n".join(_page())}


def _page() -> Iterator[str]:
    yield "# The documents of the protocol\n"
    yield paragraph(
        "What a requirement rests on is named by document and section. These are the documents with the titles of "
        "their sections, and under each the requirements that cite it. [Coverage](coverage.md) goes through them "
        "sentence by sentence, and [Rulings](rulings.md) tell what was decided where they disagree or are silent. "
        "In the site a section is a link target: `protocol.html#SPECIFICATION-4.2.1`."
    )
    citing = defaultdict(list)
    for entry in catalogue().values():
        for source in entry.source:
            citing[source].append(entry.id)
    for document, sections in SECTIONS.items():
        yield f"## {document}\n"
        for number, title in sections.items():
            yield f"{'#' * (3 + number.count('.'))} {number} {title}\n"
            if ids := citing[f"{document} {number}"]:
                yield paragraph(", ".join(ids) + ".")
    yield GENERATED
