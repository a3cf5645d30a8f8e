"""Ids are link targets, and wherever one is named, a link leads to it.

Requirements (`LLM-STREAM-3`), rulings (`R20`) and sections of documents (`SPECIFICATION 4.2.1`) stand in the pages as
plain words. The heading or the row that an id belongs to gets the id as its anchor, as it is written; a name that has
no such place is a warning.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.logging import getLogger

from pytest_corpus.spec.documents import SECTIONS
from pytest_corpus.spec.requirements import catalogue

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

logger = getLogger(__name__)

REQUIREMENT = r"(?:COM|LLM|VEC|EMB|GRA|WIR|TRA)-[A-Z]+-\d+"
NAMED = re.compile(rf"\b(?:{REQUIREMENT}|R\d+(?!\d)|(?:{'|'.join(SECTIONS)}) (?:\d+|[A-G])(?:\.(?:\d+|[A-E]))*)\b")
RULING = re.compile(r"(R\d+) ")

PLACES = "corpus_places"
"""Where the environment of Sphinx keeps the page of each anchor that was met."""

EXAMPLES = {"contributing"}
"""Pages that name ids which nothing has."""


def name_sections(app: Sphinx, doctree: nodes.document) -> None:
    """Give each section and row the anchor that belongs to it, and remember its page."""
    page = app.env.docname
    places: dict[str, str] = app.env.__dict__.setdefault(PLACES, {})
    for anchor, node in anchors(page, doctree):
        node["ids"].append(anchor)
        if page != "requirements":
            places[anchor] = page


def anchors(page: str, doctree: nodes.document) -> Iterator[tuple[str, nodes.Element]]:
    """What is named on a page: the anchor and the node that gets it."""
    document = ""
    for section in doctree.findall(nodes.section):
        title = section[0].astext()
        if page.startswith("requirements/") and title in catalogue():
            yield title, section
        elif page == "rulings" and (ruling := RULING.match(title)):
            yield ruling[1], section
        elif page == "documents/sections":
            document = title if title in SECTIONS else document
            number = title.partition(" ")[0]
            if number in SECTIONS.get(document, ()):
                yield f"{document}-{number}", section
    if page == "requirements":
        for row in doctree.findall(nodes.row):
            if (name := row[0].astext()) in catalogue():
                yield name, row


def forget(_: Sphinx, env: BuildEnvironment, page: str) -> None:
    """A page is read anew."""
    places: dict[str, str] = env.__dict__.setdefault(PLACES, {})
    for anchor in [anchor for anchor, where in places.items() if where == page]:
        del places[anchor]


def gather(_: Sphinx, env: BuildEnvironment, pages: Iterable[str], other: BuildEnvironment) -> None:
    """Take over what another process has read."""
    met: dict[str, str] = other.__dict__.get(PLACES, {})
    read = set(pages)
    env.__dict__.setdefault(PLACES, {}).update({anchor: page for anchor, page in met.items() if page in read})


def all_there(_: Sphinx, env: BuildEnvironment) -> None:
    """Every requirement and section has a place."""
    sections = {f"{document}-{number}" for document, numbers in SECTIONS.items() for number in numbers}
    for anchor in sorted({*catalogue(), *sections} - set(env.__dict__.get(PLACES, ()))):
        logger.warning("no page has the anchor %s", anchor)


class IdLinks(SphinxPostTransform):
    """Makes links of the ids in running text and in code words."""

    default_priority = 500

    def run(self, **_: Any) -> None:
        """Replace the texts that name an id."""
        for text in list(self.document.findall(nodes.Text)):
            if not _in_code_or_link(text) and (parts := list(self.parts(text.astext()))):
                holder = text.parent
                if isinstance(holder, nodes.literal):
                    if len(parts) == 1 and isinstance(parts[0], nodes.reference):
                        parts[0][:] = [holder.deepcopy()]
                        holder.replace_self(parts)
                else:
                    holder.replace(text, parts)

    def parts(self, text: str) -> Iterator[nodes.Node]:
        """A text as words and links; nothing where it names no id."""
        end = 0
        for found in NAMED.finditer(text):
            if uri := self.uri(found[0]):
                if found.start() > end:
                    yield nodes.Text(text[end : found.start()])
                yield nodes.reference("", found[0], internal=True, refuri=uri)
                end = found.end()
        if 0 < end < len(text):
            yield nodes.Text(text[end:])

    def uri(self, name: str) -> str:
        """Where an id leads to; empty where it has no place, or is named at it."""
        anchor = name.replace(" ", "-")
        page = self.env.__dict__[PLACES].get(anchor)
        here = self.env.docname
        if page is None:
            if here not in EXAMPLES:
                logger.warning("%s names %s, which no page has", here, name)
            return ""
        return f"{self.app.builder.get_relative_uri(here, page)}#{anchor}"


def _in_code_or_link(node: nodes.Node) -> bool:
    unchanged = (nodes.title, nodes.reference, nodes.literal_block, nodes.raw, nodes.comment)
    while node := node.parent:
        if isinstance(node, unchanged):
            return True
    return False


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to Sphinx."""
    app.connect("doctree-read", name_sections)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", gather)
    app.connect("env-check-consistency", all_there)
    app.add_post_transform(IdLinks)
    return {"parallel_read_safe": True, "parallel_write_safe": True, "env_version": 1}
