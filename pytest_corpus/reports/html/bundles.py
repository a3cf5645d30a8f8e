"""Behaviour bundles on the HTML page: runs next to each other, cases to filter and sort, small drawings."""

import difflib
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from pytest_corpus.reports import bundle_view
from pytest_corpus.reports.bundle_view import threshold
from pytest_corpus.reports.html.page import choice, pill, text
from pytest_corpus.reports.text import printable

BINS = 32


def gate(entry: Mapping[str, Any], interval: Sequence[float] | None) -> str:
    """A gate: the metric as a point on its interval, and the number that it is held to as a line."""
    actual = entry["actual"]
    if actual is None:
        return ""
    metric, wanted = parts(entry)
    low, high = interval or (actual, actual)
    is_share = "rate" in metric or metric.startswith(("pass_at", "score_", "agreement_"))
    most = 1.0 if is_share and max(high, wanted, actual) <= 1 else 1.15 * max(high, wanted, actual, 1e-9)
    at = {name: round(100 * min(max(each / most, 0), 1), 2) for name, each in
          (("low", low), ("high", high), ("actual", actual), ("wanted", wanted))}  # fmt: skip
    tone = "caution" if entry.get("undecided") else "good" if entry["holds"] else "bad"
    return (
        f'<svg class="gate {tone}" viewBox="0 0 100 12" preserveAspectRatio="none" role="img" '
        f'aria-label="{text(threshold(entry))}"><rect class="axis" width="100" height="1" y="5.5"/>'
        f'<rect class="reach" x="{at["low"]}" y="3" width="{max(round(at["high"] - at["low"], 2), 0.8)}" height="6"/>'
        f'<rect class="point" x="{max(at["actual"] - 0.6, 0)}" y="1" width="1.2" height="10"/>'
        f'<rect class="wanted" x="{max(at["wanted"] - 0.3, 0)}" width="0.6" height="12"/></svg>'
    )


def parts(entry: Mapping[str, Any]) -> tuple[str, float]:
    """The metric and the number of a threshold."""
    metric, _, number = re.split("([<>=]+)", entry["threshold"])
    return metric, float(number)


def latencies(times: Sequence[float], longest: float) -> str:
    """A histogram of milliseconds, on an axis that all runs of a bundle share."""
    if not times:
        return ""
    counts = [0] * BINS
    for each in times:
        counts[min(int(each / longest * BINS) if longest else 0, BINS - 1)] += 1
    tallest = max(counts)
    heights = [(at, round(40 * count / tallest, 2)) for at, count in enumerate(counts) if count]
    bars = "".join(f'<rect x="{3 * at}" y="{40 - high:g}" width="2.4" height="{high:g}"/>' for at, high in heights)
    ordered = sorted(times)
    middle, late = (ordered[min(int(part * len(ordered)), len(ordered) - 1)] for part in (0.5, 0.95))
    said = f"median {middle:,.0f} ms, 95 % within {late:,.0f} ms, axis to {longest:,.0f} ms"
    axis = f'<rect class="axis" y="39.5" width="{3 * BINS}" height="0.5"/>'
    return (
        f'<svg class="latency" viewBox="0 0 {3 * BINS} 40" preserveAspectRatio="none" role="img" '
        f'aria-label="latency: {text(said)}">{axis}{bars}</svg>'
        f'<span class="small muted">{text(said)}</span>'
    )


LABELS = {"output": "Answer", "expected": "Expected", "system": "System prompt", "prompt": "Prompt"}
SIGNS = {"passed": "✓", "failed": "✗", "error": "!", "not_judged": "○", "not_asked": "○"}
CASE_TONES = {"passed": "good", "failed": "bad", "error": "caution", "not_asked": "none"}
COMPARED = {"better": ("good", "▲"), "worse": ("bad", "▼"), "cannot_tell": ("none", "○")}
MOST_STATIC = 200
"""Rows of a table without JavaScript."""

LONGEST_DIFF = 400
"""Lines or words; longer texts are shown one after the other."""

Section = bundle_view.Section
Contents = Mapping[tuple[str, str, str], Sequence[Mapping[str, Any]]]


def bundles(document: Mapping[str, Any], evidence: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A section for each bundle; nothing if there are none."""
    by_file: dict[str, list[Section]] = defaultdict(list)
    for each in bundle_view.sections(document):
        by_file[each["file"]].append(each)
    contents: dict[tuple[str, str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for entry in evidence:
        contents[entry["bundle"], entry["run"], entry["case"]].append(entry)
    for number, runs in enumerate(by_file.values()):
        title = f'<h2 id="bundle-{number}">Behaviour bundle {text(runs[0]["name"])}</h2>'
        yield f'<section aria-labelledby="bundle-{number}">{title}'
        yield from _runs(runs, number)
        yield from _cases(runs, number, contents)
        yield "</section>"


def _runs(runs: Sequence[Section], number: int) -> Iterator[str]:
    """A column for each run, a row for each fact that one of them has."""
    times = [bundle_view.latencies(run) for run in runs]
    longest = max((each for run in times for each in run), default=0.0)
    columns = [dict(_facts(run, own, longest)) for run, own in zip(runs, times, strict=True)]
    if len(runs) > 1:
        columns = [{**column, "Provider": ""} for column in columns]
    yield f'<div class="scroll" tabindex="0" role="region" aria-labelledby="bundle-{number}"><table class="runs">'
    if len(runs) > 1:
        labels = "".join(f'<th scope="col">{text(bundle_view.label(run))}</th>' for run in runs)
        yield f'<thead><tr><th scope="col">Run</th>{labels}</tr></thead>'
    yield "<tbody>"
    for name in dict.fromkeys(name for column in columns for name in column):
        if any(column.get(name) for column in columns):
            cells = "".join(f"<td>{column.get(name, '')}</td>" for column in columns)
            yield f'<tr><th scope="row">{text(name)}</th>{cells}</tr>'
    yield "</tbody></table></div>"


def _facts(run: Section, times: Sequence[float], longest: float) -> Iterator[tuple[str, str]]:
    verdict = run["verdict"]
    yield "Verdict", pill(bundle_view.TONES[verdict], SIGNS[verdict], bundle_view.WORDS[verdict])
    yield "Provider", text(run["provider"])
    yield "Version", text(run.get("version", ""))
    yield "Cases", text(bundle_view.cases(run))
    for entry in run["thresholds"]:
        ends = entry.get("interval") or run.get("intervals", {}).get(parts(entry)[0])
        yield f"Gate {entry['threshold']}", f"{gate(entry, ends)}<span>{text(bundle_view.outcome(entry))}</span>"
    for each in run.get("compared", ()):
        yield f"Against {each['with']}", _compared(each)
    yield from ((f"Baseline, {kind}", text(what)) for kind, what in bundle_view.baseline(run))
    yield "Latency", latencies(times, longest)
    currency = run.get("currency", "")
    for name, number in bundle_view.numbers(run):
        yield name, text(f"{number} {currency}" if name == "cost" else number)
    yield "Calls", text(run["calls"])
    yield "Calls of scorers", text(bundle_view.judging(run))
    yield "Saved", text("{answers} of {of} answers".format(**run["saved"])) if "saved" in run else ""


def _compared(found: Mapping[str, Any]) -> str:
    listed = "".join(f"<li>{text(bundle_view.difference(each))}</li>" for each in found["differences"])
    tone, sign = COMPARED[found["verdict"]]
    changes = ((kind, found.get(kind, ())) for kind in ("newly_failing", "fixed", "added", "gone"))
    changed = "".join(
        f"<li>{kind.replace('_', ' ')}: {text(', '.join(cases[:20]))}{' ...' if len(cases) > 20 else ''}</li>"
        for kind, cases in changes
        if cases
    )
    said = pill(tone, sign, found["verdict"].replace("_", " "))
    return f'{said} <span class="small muted">{found["cases"]} cases</span><ul class="small">{listed}{changed}</ul>'


def _cases(runs: Sequence[Section], number: int, contents: Contents) -> Iterator[str]:
    """The table of cases. The page's script makes its rows from JSON, as far as they are looked at."""
    results = [bundle_view.results(run) for run in runs]
    names = list(dict.fromkeys(name for found in results for name in found))
    if not names:
        return
    alone = len(runs) == 1
    columns = _columns(results[0]) if alone else {}
    heads = ["Case", *(["Status"] if alone else map(bundle_view.label, runs)), *columns, "Details"]
    yield f'<h3 class="cases-head">Cases</h3><form class="filters case-filters" data-table="cases-{number}" hidden>'
    yield '<label class="search">Search<input type="search" name="search" autocomplete="off"></label>'
    yield choice("Status", "status", [(each, each.replace("_", " ")) for each in CASE_TONES])
    if not alone:
        yield '<label class="check"><input type="checkbox" name="differ" value="1">Only where they differ</label>'
    yield '<button type="reset">Reset</button></form><p class="count muted small"><output role="status"></output></p>'
    yield f'<table class="cases" id="cases-{number}"><thead><tr>'
    yield "".join(f'<th scope="col"><button type="button" class="sort">{text(head)}</button></th>' for head in heads)
    yield "</tr></thead><tbody>"
    rows: list[list[Any]] = []
    for name in names:
        found = [each.get(name) for each in results]
        statuses = [each["status"] if each else "" for each in found]
        numbers = [value(found[0]) for value in columns.values()] if alone and found[0] else []
        said = [
            _said(run, each, contents.get((run["file"], bundle_view.label(run), name), ()))
            for run, each in zip(runs, found, strict=True)
            if each
        ]
        rows.append([_plain(name), statuses, numbers, said])
    for row in [row for row in rows if set(row[1]) - {"passed"}][:MOST_STATIC]:
        first = next((part[2] for part in row[3] if part[2]), "")
        words = "".join(f"<td>{each.replace('_', ' ')}</td>" for each in row[1]) + "<td></td>" * len(columns)
        yield f'<tr><th scope="row">{text(row[0])}</th>{words}<td>{text(first)}</td></tr>'
    yield '</tbody></table><button type="button" class="more" hidden>Show more</button>'
    yield "<noscript><p>Without JavaScript only cases that did not pass are listed.</p></noscript>"
    data = json.dumps({"signs": SIGNS, "tones": CASE_TONES, "rows": rows}, separators=(",", ":")).replace(
        "<", "\\u003c"
    )
    yield f'<script type="application/json" id="cases-{number}-data">{data}</script>'


def _columns(results: Mapping[str, Mapping[str, Any]]) -> dict[str, Callable[[Mapping[str, Any]], Any]]:
    """The columns of numbers that a run has, each with the number of a case."""
    scores = sorted({name for each in results.values() for name in each["scores"]})
    found = {"Latency, ms": itemgetter("latency"), "Tokens": itemgetter("tokens"), "Cost": itemgetter("cost")}
    found = {name: value for name, value in found.items() if any(value(each) is not None for each in results.values())}
    return {**found, **{name: partial(_score, name) for name in scores}}


def _score(name: str, result: Mapping[str, Any]) -> Any:
    return result["scores"].get(name)


def _said(run: Section, result: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]) -> list[Any]:
    """The details of a case in a run: label, status, first reason, and labelled texts, or parts of a difference."""
    reasons = [_plain(reason) for reason in result["reasons"]]
    rows: list[tuple[str, Any]] = []
    for entry in entries:
        rows += [("Reason", _plain(reason)) for reason in entry["reasons"]]
        rows += [("Judged", _plain(remark)) for remark in entry["remarks"]]
        named = {
            key: _plain(entry[key]) for key in ("output", "expected", "system", "prompt") if entry[key] is not None
        }
        changes = difference(named["expected"], named["output"]) if named.keys() >= {"expected", "output"} else None
        rows += [("Expected and answered", changes)] if changes else []
        rows += [(LABELS[key], given) for key, given in named.items() if key != "expected" or not changes]
    first = reasons[0].partition("\n")[0] if reasons else ""
    rows = rows or ([("Reason", reason) for reason in reasons] if reasons != [first] else [])
    return [_plain(bundle_view.label(run)), result["status"], first, rows]


def _plain(value: str) -> str:
    return "\n".join(map(printable, value.split("\n")))


def difference(expected: str, output: str) -> list[tuple[str, str]] | None:
    """The answer against the expectation as parts that are kept, expected (-) or answered (+); None if equal or long.

    JSON is compared by lines of its canonical form, text by lines or words.
    """
    values = [parsed for each in (expected, output) if isinstance(parsed := _json(each), dict | list)]
    old, new = expected.strip(), output.strip()
    if len(values) == 2:
        lines = (json.dumps(each, indent=2, ensure_ascii=False, sort_keys=True) for each in values)
        old, new = (re.sub(",$", "", each, flags=re.MULTILINE) for each in lines)  # one more key is one line more
    unit = r".*\n?" if "\n" in old + new else r"\s+|\S+"
    one, other = re.findall(unit, old), re.findall(unit, new)
    if old == new or max(len(one), len(other)) > LONGEST_DIFF:
        return None
    found = []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        parts = (("", one[a:b]),) if kind == "equal" else (("-", one[a:b]), ("+", other[c:d]))
        found += [(sign, "".join(part)) for sign, part in parts if part]
    return found


def _json(value: str) -> Any:
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None
