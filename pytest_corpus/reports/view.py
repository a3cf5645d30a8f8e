"""Facts about a report that all formats share; they depend on the JSON report only."""

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Any, Literal, NamedTuple

from pytest_corpus.reports.json_report import compute_digest
from pytest_corpus.reports.text import VERDICT_WORDS, count_in_words, printable
from pytest_corpus.spec.components import TITLES, WIRE
from pytest_corpus.spec.requirements import chapter_titles
from pytest_corpus.verdict.finding import Finding
from pytest_corpus.verdict.verdict import counting_levels

Document = Mapping[str, Any]
Tone = Literal["good", "caution", "bad", "none"]

TONES: Mapping[str, Tone] = {
    "conformant": "good",
    "conformant_with_deviations": "caution",
    "incomplete": "caution",
    "nonconformant": "bad",
    "partial": "none",
}
"""The tone of each verdict, which determines the colour. Only "conformant" is good."""


class LevelNumbers(NamedTuple):
    """The numbers of requirements of one level of a component, by status. `applicable` is the sum of all
    statuses except not_applicable.
    """

    level: str
    satisfied: int
    applicable: int
    violated: int
    deviated: int
    not_assessed: int
    not_applicable: int


def is_altered(document: Document) -> bool:
    """True if the document does not match its `sha256`."""
    return bool(document.get("sha256") != compute_digest(document))


def tone_of(document: Document) -> Tone:
    """Return the tone of a report's verdict; "none" if the report was altered."""
    return "none" if is_altered(document) else TONES[document["verdict"]]


def verdict_words(document: Document) -> str:
    """Return the verdict in words, with the number of violated, deviating or unassessed requirements."""
    if is_altered(document):
        return "altered"
    return f"{_words(document)}, on recorded answers" if document.get("provider") else _words(document)


def _words(document: Document) -> str:
    verdict, said = document["verdict"], VERDICT_WORDS[document["verdict"]]
    if verdict == "conformant_with_deviations":
        return f"conformant with {count_in_words(len(requirements_of_status(document, 'deviated')), 'deviation')}"
    if verdict == "incomplete":
        left = [entry for entry in requirements_of_status(document, "not_assessed") if entry["level"] == "MUST"]
        return f"{said}, {len(left)} MUST not assessed" if left else said
    if verdict == "nonconformant":
        return f"{said}, {count_by_level(binding_violations(document))} violated"
    return said


def count_by_level(entries: Iterable[Mapping[str, Any]]) -> str:
    """Return the number of requirements of each level as text: ``20 MUST and 11 SHOULD``."""
    numbers = Counter(entry["level"] for entry in entries)
    return " and ".join(f"{number} {level}" for level, number in sorted(numbers.items()))


def components(document: Document) -> list[str]:
    """Return the tested components, in the order of the protocol."""
    return [component for component in TITLES if component in document["components"]]


def component_titles(document: Document) -> str:
    """Return the names of the tested components, with commas."""
    return ", ".join(TITLES[component] for component in components(document)) or "none"


def level_numbers(document: Document, component: str) -> Iterator[LevelNumbers]:
    """Yield the numbers of requirements for each level of a component."""
    for level, totals in sorted(document["components"][component]["totals"].items()):
        yield LevelNumbers(level.upper(), applicable=count_applicable(totals), **totals)


def count_applicable(totals: Mapping[str, int]) -> int:
    """Return the number of requirements that apply, from numbers by status."""
    return sum(totals.values()) - totals.get("not_applicable", 0)


def satisfied_ratio(totals: Mapping[str, int]) -> str:
    """Return the numbers of satisfied and of applicable requirements as text: ``3 / 4``."""
    return f"{totals.get('satisfied', 0)} / {count_applicable(totals)}"


def requirements_of_status(document: Document, status: str) -> list[dict[str, Any]]:
    """Return the requirements that have a status."""
    return [entry for entry in document["requirements"] if entry["status"] == status]


def binding_violations(document: Document) -> list[dict[str, Any]]:
    """Return the violations that influence the verdict."""
    levels = counting_levels(document["level"])
    return [entry for entry in requirements_of_status(document, "violated") if entry["level"] in levels]


def chapter_title(requirement: str) -> str:
    """Return the title of a requirement's chapter; if the catalogue does not know it, the id without its number."""
    return chapter_titles().get(requirement) or requirement.rpartition("-")[0]


def blocked_counts(document: Document) -> Counter[tuple[str, str]]:
    """Return the number of requirements that each requirement blocks, by component and id."""
    return Counter(
        (entry["component"], blocker) for entry in document["requirements"] for blocker in entry.get("blocked_by", ())
    )


def order_violations(document: Document) -> list[dict[str, Any]]:
    """Return the violations in the order of repair: MUSTs first, then those that block the most requirements."""
    blocks = blocked_counts(document)
    return sorted(
        requirements_of_status(document, "violated"),
        key=lambda entry: (entry["level"] != "MUST", -blocks[entry["component"], entry["id"]]),
    )


def rerun_command(document: Document, requirement: str) -> str:
    """Return the command that runs one requirement again, with the options of the run."""
    chosen = f"--corpus-requirement={shlex.quote(printable(requirement))}"
    if command := _command(document):
        seed = f" --corpus-seed={int(document['seed'])}" if document["seed"] else ""
        return f"{command} {chosen}{seed}"
    name = printable(str(document["adapter"]["name"]))
    plain = all(char.isalnum() or char in "_.:=/-" for char in name) and ":" in name
    option = "--corpus-client" if WIRE[0] in document["components"] else "--corpus-adapter"
    return f"pytest {option}={name if plain else '...'} {chosen}"


# The first characters of the options that a run writes into its command, besides -c and -o.
_OPTIONS = ("--corpus-", "--rootdir=")


def _command(document: Document) -> str:
    """Return the command of the run. It is empty if no run writes such a command: the report may be forged."""
    try:
        first, *words = shlex.split(printable(document.get("command", "")))
    except ValueError:
        return ""
    is_ours = all(not word.startswith("-") or word.startswith(_OPTIONS) or word in ("-c", "-o") for word in words)
    return shlex.join([first, *words]) if first == "pytest" and is_ours else ""


def evidence_of(evidence: Iterable[Finding], entry: Mapping[str, Any], finding: Mapping[str, str]) -> Finding | None:
    """Return the evidence of a finding, preferably from a test of the same requirement; None if there is none."""
    key = (entry["component"], entry["id"], finding["expected"], finding["got"], finding["path"])
    found = [each for each in evidence if (each.component, each.requirement, each.expected, each.got, each.path) == key]
    own = {test["test"] for test in entry["tests"]}
    return min(found, key=lambda each: each.test not in own, default=None)


def warnings_before_verdict(document: Document) -> list[str]:
    """Return the warnings that a reader must see before the verdict."""
    lines = []
    if is_altered(document):
        lines.append("The sha256 of this report does not match its content: it was changed after it was written.")
    if not document["complete"]:
        lines.append("Only a part of the suite ran, so there is no verdict.")
    return lines


def attestation_notes(document: Document) -> list[str]:
    """Return the notes of the attestation: gaps, deviations, profile, and the notes of the run."""
    lines = [*warnings_before_verdict(document), *(f"Not complete: {gap}." for gap in document["gaps"])]
    if document["complete"]:
        lines.append("All suites ran unmodified and whole.")
    if number := len(requirements_of_status(document, "deviated")):
        lines.append(f"{count_in_words(number, 'deviation')} declared.")
    if profile := document.get("profile"):
        lines.append(f"Profile {profile}.")
    return [*lines, *document.get("notes", ())]


def run_facts(document: Document) -> list[tuple[str, str]]:
    """Return the facts of the run, pairs of a label and a text; the texts come from the adapter or its machine."""
    adapter, spec = document["adapter"], document["spec"]
    server = " ".join(str(adapter[key]) for key in ("server", "version") if key in adapter)
    ci = document.get("ci", {})
    editions = ", ".join(spec["schema_versions_met"]) or "none"
    pinned = f" (pinned to {spec['pinned_schema_version']})" if spec["pinned_schema_version"] else ""
    late = sorted((name, seconds) for name, seconds in document.get("settle_s", {}).items() if seconds)
    rows = [
        ("Adapter", str(adapter["name"])),
        ("Server", server),
        ("Commit", document.get("commit", "")),
        ("CI run", " ".join(part for part in (ci.get("name", ""), ci.get("id", "")) if part)),
        ("Started", document["started_at"].replace("T", " ").replace("+00:00", " UTC")),
        ("Took", f"{document['duration_s']} s"),
        ("Calls", usage_text(document["components"].values())),
        ("Catalogue", str(spec["catalogue"])),
        ("Schema versions met", editions + pinned),
        ("Counts from", str(document["level"]).upper()),
        ("Writes show", ", ".join(f"{TITLES.get(name, name)} after {seconds:g} s" for name, seconds in late)),
        ("Provider lacks, as its author states", ", ".join(document.get("provider_lacks", ()))),
        ("Provider", "; ".join(document.get("provider", ()))),
        ("Run", ", ".join(document.get("runs", ()))),
        ("Seed", str(document["seed"])),
        ("sha256", document["sha256"]),
    ]
    return [(label, value) for label, value in rows if value]


class OperationTimes(NamedTuple):
    """The durations of the successful calls of an operation.

    Attributes:
        heights: the columns of a histogram, from 0 to 1: below 1 ms, below 2 ms, below 4 ms, and so on.
        half: the time within which half of the calls ended.
        every: the time within which all calls ended.
        end: the upper end of the last column.
    """

    op: str
    calls: int
    heights: list[float]
    half: str
    every: str
    end: str


def operation_times(document: Document) -> list[OperationTimes]:
    """Return the durations of each operation; the histograms of all operations have the same columns."""
    every: dict[str, Counter[int]] = {}
    for component in components(document):
        for op, took in sorted(document["components"][component].get("took_ms", {}).items()):
            every[f"{component}.{op}"] = Counter({int(ms).bit_length() - 1: number for ms, number in took.items()})
    last = max((max(found) for found in every.values()), default=0)
    return [_make_operation_times(op, found, last) for op, found in every.items()]


def _make_operation_times(op: str, found: Counter[int], last: int) -> OperationTimes:
    calls, tallest = found.total(), max(found.values())
    before = list(accumulate(found[column] for column in range(last + 1)))
    half = next(column for column, number in enumerate(before) if number * 2 >= calls)
    heights = [round(found[column] / tallest, 3) for column in range(last + 1)]
    return OperationTimes(op, calls, heights, _time_text(half), _time_text(max(found)), _time_text(last))


def _time_text(column: int) -> str:
    return f"{1 << column} ms" if column < 10 else f"{(1 << column) / 1000:.3g} s"


def usage_text(parts: Iterable[Mapping[str, Any]]) -> str:
    """Return the number of calls, and of the tokens that the adapter reported; empty without calls."""
    every = list(parts)
    calls, tokens = (sum(part.get(key, 0) for part in every) for key in ("calls", "tokens"))
    return (count_in_words(calls, "call") + (f", {count_in_words(tokens, 'token')}" if tokens else "")) if calls else ""
