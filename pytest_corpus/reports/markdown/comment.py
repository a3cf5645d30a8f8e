"""A comment on a pull request: the verdict, and the new and fixed violations since the base branch."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from pytest_corpus.reports import view
from pytest_corpus.reports.difference import KINDS
from pytest_corpus.reports.markdown.report import SIGNS, code, sentence
from pytest_corpus.reports.text import STATUS_WORDS, VERDICT_WORDS, count
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
    lines = [
        f"<!-- pytest-corpus {hashlib.sha256(name.encode('utf-8', 'backslashreplace')).hexdigest()[:12]} -->",
        f"## {SIGNS[str(view.tone(document))]} Corpus Protocol: {view.words(document)}",
        "",
        f"{code(name)}: {', '.join(_numbers(document)) or 'no component'}",
        "",
        *(_changes(changes) if changes else ["There is no report of the base branch to compare with."]),
    ]
    return "\n".join(lines) + "\n"


def _numbers(document: view.Document) -> Iterator[str]:
    for component in view.components(document):
        must = next(iter(view.numbers(document, component)))
        yield f"{TITLES[component]} {must.satisfied} / {must.applicable} MUST"


def _changes(changes: Mapping[str, Any]) -> Iterator[str]:
    was, now = (VERDICT_WORDS.get(changes["verdict"][each], "altered") for each in ("old", "new"))
    if was != now:
        yield from (f"The verdict was *{was}* and is *{now}*.", "")
    for kind, title in KINDS.items():
        found = changes[kind]
        if not found:
            continue
        yield f"**{count(len(found), 'requirement')} {title}**"
        if kind not in SILENT:
            yield ""
            yield from (_line(change) for change in found[:MOST])
            if len(found) > MOST:
                yield f"- and {len(found) - MOST} more"
        yield ""
    if not any(changes[kind] for kind in KINDS):
        yield from ("Nothing changed since the base branch.", "")
    yield f"❌ Regression: {sentence('; '.join(changes['why']))}." if changes["regression"] else "No regression."


def _line(change: Mapping[str, Any]) -> str:
    was = STATUS_WORDS.get(change["old"], "not tested")
    named = f"**{change['id']}** ({change['level']}, {TITLES[change['component']]})"
    return f"- {named}: {sentence(change['text'])} It was {was}."
