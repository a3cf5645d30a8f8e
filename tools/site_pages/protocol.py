"""The sections of the protocol's documents, each with the requirements that cite it."""

from collections import defaultdict
from collections.abc import Iterator

from pytest_corpus.spec.documents import SECTIONS
from pytest_corpus.spec.requirements import catalogue
from site_pages.markdown import paragraph


def pages() -> dict[str, str]:
    """The page by its path below docs/."""
    return {"documents/sections.md": "\n".join(_page())}


def _page() -> Iterator[str]:
    yield "# The documents of the protocol\n"
    yield paragraph(
        "The sections of the four documents, each with the requirements that cite it. [Coverage](coverage.md) lists "
        "their sentences, and [Rulings](../rulings.md) say how the suite decides where the documents disagree or are "
        "silent. Each section is a link target: `documents/sections.html#SPECIFICATION-4.2.1`."
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
