"""A comment on a pull request: the verdict, and the new and fixed violations since the base branch."""

import hashlib
from collections.abc import Mapping
from typing import Any

from pytest_corpus.reports import view
from pytest_corpus.reports.difference import KINDS
from pytest_corpus.reports.markdown.report import render_template
from pytest_corpus.spec.components import TITLES

MOST = 20  # the most requirements in a list
SILENT = ("changed", "added", "gone")
"""The kinds of changes that are counted instead of listed."""


def render(document: view.Document, changes: Mapping[str, Any] | None) -> str:
    """Return the comment. Its first line is a mark by which a later run finds the comment to replace it.

    Args:
        changes: the result of `difference.compare_reports`; None without a report of the base branch.
    """
    name = str(document["adapter"]["name"])
    musts = {component: next(iter(view.level_numbers(document, component))) for component in view.components(document)}
    return render_template(
        "comment.md",
        document=document,
        mark=hashlib.sha256(name.encode("utf-8", "backslashreplace")).hexdigest()[:12],
        tone=view.tone_of(document),
        numbers=[f"{TITLES[name]} {must.satisfied} / {must.applicable} MUST" for name, must in musts.items()],
        changes=changes,
        KINDS=KINDS,
        SILENT=SILENT,
        MOST=MOST,
    )
