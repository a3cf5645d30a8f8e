"""The changes between two reports of one adapter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_corpus.reports import view
from pytest_corpus.reports.text import STATUS_WORDS, count_in_words
from pytest_corpus.spec.components import TITLES
from pytest_corpus.verdict.verdict import VERDICTS, counting_levels

KINDS = {
    "newly_violated": "newly violated",
    "fixed": "fixed",
    "no_longer_satisfied": "no longer satisfied, though not violated",
    "changed": "changed otherwise",
    "added": "added",
    "gone": "gone",
}
"""The kinds of changes of a requirement between two reports, with words for each."""


@dataclass(frozen=True, slots=True)
class EarlierReport:
    """An earlier report to compare with: its name, and the status of each requirement by component and id."""

    label: str
    statuses: Mapping[tuple[str, str], str]

    @classmethod
    def of(cls, document: view.Document) -> EarlierReport:
        """Return the name and the statuses of a report."""
        when = str(document["started_at"])[:16].replace("T", " ")
        return cls(f"the run of {when} UTC", {key: entry["status"] for key, entry in _entries_by_key(document).items()})

    def change_of(self, entry: Mapping[str, Any]) -> str:
        """Return the change of a requirement since the earlier report, a key of `CHANGES`; empty if there is none."""
        was = self.statuses.get((entry["component"], entry["id"]))
        if entry["status"] == "violated":
            return "same" if was == "violated" else "new"
        return "fixed" if was == "violated" and entry["status"] == "satisfied" else ""


def summarize_changes(document: view.Document, earlier: EarlierReport) -> str:
    """Return a summary of the changes since an earlier report: ``12 fixed, 1 newly violated, 3 still violated``."""
    found = Counter(earlier.change_of(entry) for entry in document["requirements"])
    said = [f"{found[change]} {words}" for change, words in reversed(CHANGES.items()) if found[change]]
    return ", ".join(said) or "nothing changed"


CHANGES = {"same": "still violated", "new": "newly violated", "fixed": "fixed"}
"""The changes of a requirement since an earlier run, with words for each."""


def compare_reports(old: view.Document, new: view.Document, level: str = "") -> dict[str, Any]:
    """Return the changes and their judgement: `{"regression", "why", "verdict", "edition", <kind>: [...]}`.

    A regression is a newly violated requirement of `level` or above (by default the level of the new run), a worse
    verdict, or a component that is no longer tested. A change is `{component, id, level, text, old, new}`.
    """
    changes, why = compare_requirements(old, new, level)
    said = {"old": _verdict(old), "new": _verdict(new)}
    edition = {"old": old["spec"]["edition"]["name"], "new": new["spec"]["edition"]["name"]}
    return {"regression": bool(why), "why": why, "verdict": said, "edition": edition, **changes}


def compare_requirements(
    old: view.Document, new: view.Document, level: str = ""
) -> tuple[dict[str, list[dict[str, Any]]], list[str]]:
    """Return the changes of requirements by kind, and the reasons why they are a regression."""
    changes: dict[str, list[dict[str, Any]]] = {kind: [] for kind in KINDS}
    before, after = _entries_by_key(old), _entries_by_key(new)
    for key in (*after, *(key for key in before if key not in after)):
        was, now = before.get(key), after.get(key)
        entry = now or was or {}
        change = {each: entry[each] for each in ("component", "id", "level", "text")}
        for kind in _kinds_of_change(was, now):
            changes[kind].append({**change, "old": was and was["status"], "new": now and now["status"]})
    return changes, list(_regression_reasons(old, new, changes, level or str(new["level"])))


def describe_changes(difference: Mapping[str, Any]) -> str:
    """Return the changes as lines of text, and the conclusion in the last line."""
    said = difference["verdict"]
    lines = [f"verdict: {said['old']}" if said["old"] == said["new"] else f"verdict: {said['old']} -> {said['new']}"]
    if (was := difference["edition"]["old"]) != (now := difference["edition"]["new"]):
        lines.append(f"edition: {was} -> {now}")
    for kind, title in KINDS.items():
        if difference[kind]:
            lines.append(f"{title}: {len(difference[kind])}")
            for change in difference[kind]:
                now = STATUS_WORDS.get(change["new"], "not in the new report")
                was = STATUS_WORDS.get(change["old"], "not in the old report")
                lines.append(f"  {change['id']} ({change['level']}, {TITLES[change['component']]}): {was} -> {now}")
    conclusion = f"regression: {'; '.join(difference['why'])}" if difference["regression"] else "no regression"
    return "\n".join([*lines, conclusion]) + "\n"


def _entries_by_key(document: view.Document) -> dict[tuple[str, str], dict[str, Any]]:
    return {(entry["component"], entry["id"]): entry for entry in document["requirements"]}


def _kinds_of_change(old: dict[str, Any] | None, new: dict[str, Any] | None) -> Iterator[str]:
    was, now = old and old["status"], new and new["status"]
    if old is None:
        yield "added"
    if new is None:
        yield "gone"
    if now == "violated" and was != "violated":
        yield "newly_violated"
    elif old is None or new is None or was == now:
        return
    elif was == "violated" and now == "satisfied":
        yield "fixed"
    else:
        yield "no_longer_satisfied" if was == "satisfied" else "changed"


def _verdict(document: view.Document) -> str:
    return "altered" if view.is_altered(document) else str(document["verdict"])


def _regression_reasons(
    old: view.Document, new: view.Document, changes: Mapping[str, list[dict[str, Any]]], level: str
) -> Iterator[str]:
    if violated := sum(change["level"] in counting_levels(level) for change in changes["newly_violated"]):
        yield f"{count_in_words(violated, 'requirement')} newly violated"
    if old["complete"] and VERDICTS.index(new["verdict"]) > VERDICTS.index(old["verdict"]):
        yield f"the verdict is {new['verdict']} and was {old['verdict']}"
    if lost := [TITLES[name] for name in view.components(old) if name not in new["components"]]:
        yield f"{', '.join(lost)} no longer tested"
