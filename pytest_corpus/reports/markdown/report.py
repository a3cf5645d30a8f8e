"""The report as Markdown: the attestation of BEHAVIORAL_CONFORMANCE 12, with all foreign text escaped."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from pytest_corpus.reports import bundle_view, view
from pytest_corpus.reports.finding_text import evidence_lines
from pytest_corpus.reports.text import VERDICT_WORDS, count, printable, received_sentence
from pytest_corpus.spec.components import TITLES
from pytest_corpus.spec.obstacles import with_remedy
from pytest_corpus.verdict.finding import Finding

_LINKED = re.compile(r"@|#\d|://|www\.|mailto:|xmpp:|:[\w+-]+:|[0-9a-f]{7}", re.IGNORECASE)
"""Text that GitHub turns into a link, a mention or a picture even without Markdown around it."""

_PLAIN = re.compile(r"[A-Za-z ](?:[A-Za-z0-9 ,.:;/'()-]|(?<=[A-Za-z0-9])_(?=[A-Za-z0-9]))*")
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_TICKS = re.compile(r"`+")


def code(text: object) -> str:
    """Foreign text as a code span outside of tables, without Markdown in effect."""
    plain = printable(str(text)).strip(" ")
    if not plain:
        return "(empty)"
    fence = "`" * (max((len(run) for run in _TICKS.findall(plain)), default=0) + 1)
    room = " " if plain.startswith("`") or plain.endswith("`") else ""
    return f"{fence}{room}{plain}{room}{fence}"


def cell(text: object) -> str:
    """Foreign text as a code span in a table; bars that would end the cell are escaped."""
    return code(str(text).replace("|", "\\x7c"))


def sentence(text: str) -> str:
    """Return a sentence in which backticks mark code, as in the catalogue."""
    parts = printable(text).strip(" ").split("`")
    if len(parts) % 2 == 0 or _LINKED.search("".join(parts[::2])):
        return code(text)
    return "".join(code(part) if number % 2 and part.strip() else _escape(part) for number, part in enumerate(parts))


def _escape(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else _PUNCTUATION.sub(r"\\\1", text)


MOST_CASES = 50  # cases that are listed of a bundle


def bundles(document: Mapping[str, Any]) -> str:
    """Return the section on bundles; empty without bundles."""
    found = bundle_view.sections(document)
    return "\n".join(("### Behaviour bundles", "", *_bundle_table(found), *_bundle_details(found))) if found else ""


def _bundle_table(found: list[bundle_view.Section]) -> Iterator[str]:
    yield "| Bundle | Provider | Verdict | Cases | Calls |"
    yield "|---|---|---|---|---|"
    for each in found:
        named = f"{each['name']} {each.get('version', '')}".strip()
        said = bundle_view.WORDS[each["verdict"]]
        yield f"| {cell(named)} | {cell(each['provider'])} | {said} | {bundle_view.cases(each)} | {each['calls']} |"


def _bundle_details(found: list[bundle_view.Section]) -> Iterator[str]:
    for each in found:
        lines = [f"- threshold {code(bundle_view.threshold(entry))}" for entry in each["thresholds"]]
        lines += [f"- {name}: {number}" for name, number in bundle_view.numbers(each)]
        lines += [f"- {kind} since the baseline: {code(what)}" for kind, what in bundle_view.baseline(each)]
        for failure in each["failures"][:MOST_CASES]:
            first = failure["reasons"][0].partition("\n")[0] if failure["reasons"] else ""
            lines.append(f"- {failure['status']} {code(failure['case'])}: {code(first)}")
        if lines:
            yield from ("", f"{code(each['name'])} with {code(each['provider'])}:", "", *lines)


SIGNS = {"good": "✅", "caution": "⚠️", "bad": "❌", "none": "⬜"}

HEADLINES = {
    "conformant": "Behavioral Conformant",
    "conformant_with_deviations": "Behavioral Conformant with deviations",
}
"""The words of the template of BEHAVIORAL_CONFORMANCE 12 for verdicts."""

COLUMNS = "Component | Verdict | Level | Satisfied / applicable | Violated | Deviated | Not assessed | Not applicable"
FOOT = ("Started", "Took", "Catalogue", "Schema versions met", "Counts from", "Writes show", "Seed", "sha256")
FIRST = 5  # the most requirements named as what to fix first
LONGEST = 200  # requirements of one kind that are listed; a job summary has an end


def render(document: view.Document, evidence: Sequence[Finding] = ()) -> str:
    """Return the attestation: headline, components, commit, CI run, notes, numbers, findings and open requirements."""
    violated = view.fix_first(document)
    left = [entry for entry in view.of_status(document, "not_assessed") if document["complete"] or entry["tests"]]
    summary = f"<details>\n<summary>{count(len(left), 'requirement')} not assessed</summary>"
    unassessed = _section(summary, map(_unassessed_text, left))
    parts = (
        _head(document),
        _table(document),
        _section("### Fix first", _first_repairs(document, violated)),
        *(
            _section(f"### {view.by_level(entries)} violated", (_finding(document, each, evidence) for each in entries))
            for _, each in groupby(violated, key=itemgetter("level"))
            if (entries := list(each))
        ),
        _section("### Deviations", map(_deviation, view.of_status(document, "deviated"))),
        bundles(document),
        unassessed and f"{unassessed}\n\n</details>",
        "\n".join(f"- {label}: {code(value)}" for label, value in view.facts(document) if label in FOOT),
    )
    return "\n\n".join(filter(None, parts)) + "\n"


def _head(document: view.Document) -> str:
    said = view.words(document)
    whole = not view.is_altered(document)
    headline = HEADLINES.get(document["verdict"], said) if whole else said
    tone, title = str(view.tone(document)), "Corpus Protocol (v1.0)"
    if (alone := bundle_view.headline(document)) and whole:
        tone, headline, title = *alone, "Behaviour bundles"
    lines = [
        f"## {SIGNS[tone]} {title} — {headline}",
        "",
        f"- **Components:** {view.titles(document)}",
        f"- **Adapter:** {code(document['adapter']['name'])}",
    ]
    if server := dict(view.facts(document)).get("Server"):
        lines.append(f"- **Server:** {code(server)}")
    lines.append(f"- **Commit:** {code(document['commit']) if 'commit' in document else 'unknown'}")
    lines.append(f"- **CI Run:** {_run(document)}")
    lines.append("- **Notes:**")
    lines += [f"  - {sentence(note)}" for note in view.notes(document)]
    return "\n".join(lines)


def _run(document: view.Document) -> str:
    ci = document.get("ci")
    if ci is None:
        return "none"
    named = " ".join(part for part in (ci["name"], ci.get("id", "")) if part)
    url = ci.get("url", "")
    safe = url.isascii() and url.isprintable() and not any(char in url for char in "<> \\")
    return f"{code(named)} <{url}>" if url and safe else code(named)


def _table(document: view.Document) -> str:
    lines = [f"| {COLUMNS} |", "|" + "---|" * len(COLUMNS.split(" | "))]
    lost = view.is_altered(document)
    for component in view.components(document):
        verdict = document["components"][component]["verdict"]
        said = "altered" if lost else VERDICT_WORDS[verdict]
        for row in view.numbers(document, component):
            lines.append(
                f"| {TITLES[component]} | {said} | {row.level} | {row.satisfied} / {row.applicable} | {row.violated} "
                f"| {row.deviated} | {row.not_assessed} | {row.not_applicable} |"
            )
    return "\n".join(lines)


def _first_repairs(document: view.Document, violated: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the MUSTs to repair first; empty if there is only one."""
    blocks = view.blocked_counts(document)
    musts = [entry for entry in violated if entry["level"] == "MUST"]
    for number, entry in enumerate(musts[:FIRST] if len(musts) > 1 else (), 1):
        others = blocks[entry["component"], entry["id"]]
        why = f" blocks {count(others, 'other')}" if others else ""
        yield f"{number}. **{entry['id']}** ({TITLES[entry['component']]}){why}: {sentence(entry['text'])}"


def _finding(document: view.Document, entry: dict[str, Any], evidence: Sequence[Finding]) -> str:
    lines = [_name(entry)]
    for finding in entry.get("findings", ()):
        got, path = received_sentence(finding["got"], finding["path"])
        lines.append(
            f"  - expected {code(finding['expected'])}, got {code(got)}" + (f" (at {code(path)})" if path else "")
        )
        seen = view.evidence_of(evidence, entry, finding)
        lines += [f"    - {label}: {code(text)}" for label, text in (evidence_lines(seen) if seen else ())]
    if hint := entry.get("hint"):
        lines.append(f"  - hint: {sentence(hint)}")
    lines.append(f"  - rerun: {code(view.rerun(document, entry['id']))}")
    return "\n".join(lines)


def _deviation(entry: dict[str, Any]) -> str:
    deviation = entry["deviation"]
    shown = {key: code(deviation[key]) for key in ("reason", "removal_plan", "issue") if deviation.get(key)}
    shown["expires"] = deviation["expires"]
    return "\n".join([_name(entry), *(f"  - {key.replace('_', ' ')}: {value}" for key, value in shown.items())])


def _unassessed_text(entry: dict[str, Any]) -> str:
    blocked = f" Blocked by {', '.join(entry['blocked_by'])}." if entry.get("blocked_by") else ""
    keyword = f" The factory keyword {code(entry['keyword'])} would help." if entry.get("keyword") else ""
    reason = f": {code(with_remedy(entry['reason']))}." if entry.get("reason") else "."
    return f"- **{entry['id']}** ({entry['level']}, {TITLES[entry['component']]}){reason}{keyword}{blocked}"


def _name(entry: dict[str, Any]) -> str:
    where = ", ".join(sentence(source) for source in entry["source"])
    return (
        f"- **{entry['id']}** ({entry['level']}, {TITLES[entry['component']]}): {sentence(entry['text'])} "
        f"Source: {where}."
    )


def _section(title: str, items: Iterable[str]) -> str:
    lines = list(items)
    if not lines:
        return ""
    more = [f"- and {len(lines) - LONGEST} more, in the JSON report"] if len(lines) > LONGEST else []
    text = "\n".join([*lines[:LONGEST], *more])
    return f"{title}\n\n{text}"
