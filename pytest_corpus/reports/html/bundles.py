"""Behaviour bundles in the HTML page: runs side by side, cases to filter and sort, plots."""

import difflib
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Any

from pytest_corpus.reports import bundle_view
from pytest_corpus.reports.text import printable

BINS = 32

LABELS = {"output": "Answer", "expected": "Expected", "system": "System prompt", "prompt": "Prompt"}
SIGNS = {"passed": "✓", "failed": "✗", "error": "!", "not_judged": "○", "not_asked": "○"}
CASE_TONES = {"passed": "good", "failed": "bad", "error": "caution", "not_asked": "none"}
MOST_STATIC = 200
"""The largest number of rows of a table that are visible without JavaScript."""

LONGEST_DIFF = 400
"""The largest number of lines or words in texts that are compared; longer texts are only shown."""

Section = bundle_view.Section
Contents = Mapping[tuple[str, str, str], Sequence[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class ShownFact:
    """A fact of a run for the page: its value, the kind of display, and for a threshold the numbers of its plot."""

    value: Any
    kind: str = "text"
    drawing: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class CaseTable:
    """The table of the cases of a bundle.

    Attributes:
        names: the ids of the cases.
        heads: the titles of the columns.
        columns: the titles of the columns with numbers.
        statuses: the choices of the filter.
        static: the rows that are visible without JavaScript: name, statuses, first reason.
        data: all rows as JSON.
    """

    names: Sequence[str]
    heads: Sequence[str] = ()
    columns: Sequence[str] = ()
    statuses: Sequence[tuple[str, str]] = ()
    static: Sequence[Mapping[str, Any]] = ()
    data: str = ""


@dataclass(frozen=True, slots=True)
class BundleRuns:
    """The runs of a bundle: their labels, their facts (for each name one value per run), their cases."""

    name: str
    labels: Sequence[str]
    facts: Mapping[str, Sequence[ShownFact]]
    cases: CaseTable


def iterate_bundles(document: Mapping[str, Any], evidence: Sequence[Mapping[str, Any]]) -> Iterator[BundleRuns]:
    """Yield each bundle with its runs. `evidence` are the prompts and answers of cases."""
    by_file: dict[str, list[Section]] = defaultdict(list)
    for each in bundle_view.sections(document):
        by_file[each["file"]].append(each)
    contents: dict[tuple[str, str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for entry in evidence:
        contents[entry["bundle"], entry["run"], entry["case"]].append(entry)
    for runs in by_file.values():
        yield BundleRuns(
            runs[0]["name"], [bundle_view.label_of(run) for run in runs], _fact_rows(runs), _case_table(runs, contents)
        )


def _fact_rows(runs: Sequence[Section]) -> dict[str, list[ShownFact]]:
    """Return the facts by name, with one value per run; facts that no run has are left out."""
    times = [bundle_view.all_latencies(run) for run in runs]
    longest = max((each for run in times for each in run), default=0.0)
    columns = [dict(_facts(run, own, longest)) for run, own in zip(runs, times, strict=True)]
    names = dict.fromkeys(name for column in columns for name in column if len(runs) == 1 or name != "Provider")
    rows = {name: [column.get(name, ShownFact("")) for column in columns] for name in names}
    return {name: row for name, row in rows.items() if any(fact.value for fact in row)}


def _facts(run: Section, times: Sequence[float], longest: float) -> Iterator[tuple[str, ShownFact]]:
    yield "Verdict", ShownFact(run["verdict"], "verdict")
    yield "Provider", ShownFact(run["provider"])
    yield "Version", ShownFact(run.get("version", ""))
    yield "Cases", ShownFact(bundle_view.case_counts(run))
    for entry in run["thresholds"]:
        ends = entry.get("interval") or run.get("intervals", {}).get(split_threshold(entry)[0])
        yield f"Gate {entry['threshold']}", ShownFact(entry, "gate", plot_threshold(entry, ends))
    for each in run.get("compared", ()):
        yield f"Against {each['with']}", ShownFact(each, "compared")
    yield from ((f"Baseline, {kind}", ShownFact(what)) for kind, what in bundle_view.baseline_changes(run))
    yield "Latency", ShownFact(plot_latencies(times, longest), "latency")
    currency = run.get("currency", "")
    for name, number in bundle_view.metric_texts(run):
        yield name, ShownFact(f"{number} {currency}" if name == "cost" else number)
    yield "Calls", ShownFact(str(run["calls"]))
    yield "Calls of scorers", ShownFact(bundle_view.describe_scorer_calls(run))
    yield "Saved", ShownFact("{answers} of {of} answers".format(**run["saved"]) if "saved" in run else "")


def plot_threshold(entry: Mapping[str, Any], interval: Sequence[float] | None) -> dict[str, Any] | None:
    """Return the numbers for the plot of a threshold: the metric with its interval, and the required value."""
    actual = entry["actual"]
    if actual is None:
        return None
    metric, wanted = split_threshold(entry)
    low, high = interval or (actual, actual)
    is_share = "rate" in metric or metric.startswith(("pass_at", "score_", "agreement_"))
    most = 1.0 if is_share and max(high, wanted, actual) <= 1 else 1.15 * max(high, wanted, actual, 1e-9)
    low, high, actual, wanted = (round(100 * min(max(each / most, 0), 1), 2) for each in (low, high, actual, wanted))
    return {
        "tone": "caution" if entry.get("undecided") else "good" if entry["holds"] else "bad",
        "low": low,
        "width": max(round(high - low, 2), 0.8),
        "point": max(actual - 0.6, 0),
        "line": max(wanted - 0.3, 0),
    }


def split_threshold(entry: Mapping[str, Any]) -> tuple[str, float]:
    """Return the metric and the required value of a threshold."""
    metric, _, number = re.split("([<>=]+)", entry["threshold"])
    return metric, float(number)


def plot_latencies(times: Sequence[float], longest: float) -> dict[str, Any] | None:
    """Return a histogram of latencies in milliseconds, on one axis for all runs of a bundle; None without data."""
    if not times:
        return None
    counts = [0] * BINS
    for each in times:
        counts[min(int(each / longest * BINS) if longest else 0, BINS - 1)] += 1
    heights = [(at, round(40 * count / max(counts), 2)) for at, count in enumerate(counts) if count]
    ordered = sorted(times)
    middle, late = (ordered[min(int(part * len(ordered)), len(ordered) - 1)] for part in (0.5, 0.95))
    return {
        "width": 3 * BINS,
        "bars": [(3 * at, f"{40 - high:g}", f"{high:g}") for at, high in heights],
        "said": f"median {middle:,.0f} ms, 95 % within {late:,.0f} ms, axis to {longest:,.0f} ms",
    }


def _case_table(runs: Sequence[Section], contents: Contents) -> CaseTable:
    """Return the table of cases. A script in the page creates its rows from JSON."""
    results = [bundle_view.results_by_case(run) for run in runs]
    names = list(dict.fromkeys(name for found in results for name in found))
    if not names:
        return CaseTable(())
    alone = len(runs) == 1
    columns = _number_columns(results[0]) if alone else {}
    rows: list[list[Any]] = []
    for name in names:
        found = [each.get(name) for each in results]
        statuses = [each["status"] if each else "" for each in found]
        numbers = [value(found[0]) for value in columns.values()] if alone and found[0] else []
        said = [
            _details(run, each, contents.get((run["file"], bundle_view.label_of(run), name), ()))
            for run, each in zip(runs, found, strict=True)
            if each
        ]
        rows.append([_to_plain(name), statuses, numbers, said])
    open_rows = [row for row in rows if set(row[1]) - {"passed"}][:MOST_STATIC]
    data = json.dumps({"signs": SIGNS, "tones": CASE_TONES, "rows": rows}, separators=(",", ":"))
    return CaseTable(
        names=names,
        heads=["Case", *(["Status"] if alone else map(bundle_view.label_of, runs)), *columns, "Details"],
        columns=list(columns),
        statuses=[(each, each.replace("_", " ")) for each in CASE_TONES],
        static=[
            {"name": row[0], "statuses": row[1], "first": next((part[2] for part in row[3] if part[2]), "")}
            for row in open_rows
        ],
        data=data.replace("<", "\\u003c"),
    )


def _number_columns(results: Mapping[str, Mapping[str, Any]]) -> dict[str, Callable[[Mapping[str, Any]], Any]]:
    """Return the titles of the numeric columns. Each title has a function that returns the number for a case."""
    scores = sorted({name for each in results.values() for name in each["scores"]})
    found = {"Latency, ms": itemgetter("latency"), "Tokens": itemgetter("tokens"), "Cost": itemgetter("cost")}
    found = {name: value for name, value in found.items() if any(value(each) is not None for each in results.values())}
    return {**found, **{name: partial(_score_of, name) for name in scores}}


def _score_of(name: str, result: Mapping[str, Any]) -> Any:
    return result["scores"].get(name)


def _details(run: Section, result: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return the details of a case in a run: label, status, first reason, and labelled texts or compared texts."""
    reasons = [_to_plain(reason) for reason in result["reasons"]]
    rows: list[tuple[str, Any]] = []
    for entry in entries:
        rows += [("Reason", _to_plain(reason)) for reason in entry["reasons"]]
        rows += [("Judged", _to_plain(remark)) for remark in entry["remarks"]]
        named = {
            key: _to_plain(entry[key]) for key in ("output", "expected", "system", "prompt") if entry[key] is not None
        }
        changes = compare_texts(named["expected"], named["output"]) if named.keys() >= {"expected", "output"} else None
        rows += [("Expected and answered", changes)] if changes else []
        rows += [(LABELS[key], given) for key, given in named.items() if key != "expected" or not changes]
    first = reasons[0].partition("\n")[0] if reasons else ""
    rows = rows or ([("Reason", reason) for reason in reasons] if reasons != [first] else [])
    return [_to_plain(bundle_view.label_of(run)), result["status"], first, rows]


def _to_plain(value: str) -> str:
    return "\n".join(map(printable, value.split("\n")))


def compare_texts(expected: str, output: str) -> list[tuple[str, str]] | None:
    """Compare the answer with the expected one; return parts that are equal, only expected (-) or only answered (+).

    The result is None if the texts are equal or too long. JSON is compared by the lines of its canonical form, other
    text by lines or words.
    """
    values = [parsed for each in (expected, output) if isinstance(parsed := _parse_json(each), dict | list)]
    old, new = expected.strip(), output.strip()
    if len(values) == 2:
        lines = (json.dumps(each, indent=2, ensure_ascii=False, sort_keys=True) for each in values)
        old, new = (re.sub(",$", "", each, flags=re.MULTILINE) for each in lines)  # a new key changes one line
    unit = r".*\n?" if "\n" in old + new else r"\s+|\S+"
    one, other = re.findall(unit, old), re.findall(unit, new)
    if old == new or max(len(one), len(other)) > LONGEST_DIFF:
        return None
    found = []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        parts = (("", one[a:b]),) if kind == "equal" else (("-", one[a:b]), ("+", other[c:d]))
        found += [(sign, "".join(part)) for sign, part in parts if part]
    return found


def _parse_json(value: str) -> Any:
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None
