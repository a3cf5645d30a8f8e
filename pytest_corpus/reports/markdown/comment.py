"""A comment on a pull request: the verdict, and the new and fixed violations since the base branch."""

import hashlib
from collections.abc import Mapping
from typing import Any

from pytest_corpus.reports import view
from pytest_corpus.reports.difference import KINDS
from pytest_corpus.reports.markdown.report import fill
from pytest_corpus.spec.components import TITLES

MOST = 20  # requirements of one kind that are listed
SILENT = ("changed", "added", "gone")
"""The kinds of changes that are only counted."""


def render(document: view.Document, changes: Mapping[str, Any] | None) -> str:
    """Render the comment. Its first line is a mark that a later run finds, to replace the comment.

    Args:
        changes: the result of `difference.build`; None without a report of the base branch.
    """
    name = str(document["adapter"]["name"])
    musts = {component: next(iter(view.numbers(document, component))) for component in view.components(document)}
    return fill(
        "comment.md",
        document=document,
        mark=hashlib.sha256(name.encode("utf-8", "backslashreplace")).hexdigest()[:12],
        tone=view.tone(document),
        numbers=[f"{TITLES[name]} {must.satisfied} / {must.applicable} MUST" for name, must in musts.items()],
        changes=changes,
        KINDS=KINDS,
        SILENT=SILENT,
        MOST=MOST,
    )
