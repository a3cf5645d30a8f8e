"""Behaviour bundles in Markdown."""

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_corpus.reports import bundle_view
from pytest_corpus.reports.markdown.text import cell, code

LONGEST = 50  # cases that are listed of a bundle


def bundles(document: Mapping[str, Any]) -> str:
    """The section on bundles; empty if there are none."""
    found = bundle_view.sections(document)
    return "\n".join(("### Behaviour bundles", "", *_table(found), *_details(found))) if found else ""


def _table(found: list[bundle_view.Section]) -> Iterator[str]:
    yield "| Bundle | Provider | Verdict | Cases | Calls |"
    yield "|---|---|---|---|---|"
    for each in found:
        named = f"{each['name']} {each.get('version', '')}".strip()
        said = bundle_view.WORDS[each["verdict"]]
        yield f"| {cell(named)} | {cell(each['provider'])} | {said} | {bundle_view.cases(each)} | {each['calls']} |"


def _details(found: list[bundle_view.Section]) -> Iterator[str]:
    for each in found:
        lines = [f"- threshold {code(bundle_view.threshold(entry))}" for entry in each["thresholds"]]
        lines += [f"- {name}: {number}" for name, number in bundle_view.numbers(each)]
        lines += [f"- {kind} since the baseline: {code(what)}" for kind, what in bundle_view.baseline(each)]
        for failure in each["failures"][:LONGEST]:
            first = failure["reasons"][0].partition("\n")[0] if failure["reasons"] else ""
            lines.append(f"- {failure['status']} {code(failure['case'])}: {code(first)}")
        if lines:
            yield from ("", f"{code(each['name'])} with {code(each['provider'])}:", "", *lines)
