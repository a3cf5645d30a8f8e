"""The report section of one bundle with one provider: numbers, ids and reasons, without content."""

import os
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

from pytest_corpus.bundles import metrics
from pytest_corpus.bundles.loading.bundle import Bundle
from pytest_corpus.bundles.metrics import Threshold
from pytest_corpus.bundles.reporting import comparison
from pytest_corpus.bundles.results import ERROR, FAILED, NOT_ASKED, PASSED, CaseResult, Usage
from pytest_corpus.redaction import mask_secrets, printable, secret_values, shorten
from pytest_corpus.text.values import to_json_value

LONGEST = 2_000
"""The largest number of characters that are shown of a prompt or an answer."""


def failure_message(file: str, provider: str, result: CaseResult, *, full: bool, option: str = "") -> str:
    """Return the failure message of a case; `option` is the command-line option that shows content."""
    lines = list(_failure_lines(file, provider, result, full=full))
    if option and not full:
        lines.append(f"  ({option} shows the prompt and the answer)")
    return make_text_safe("\n".join(lines))


def make_text_safe(text: str, secrets: Sequence[str] | None = None) -> str:
    """Make a text safe to show: mask secrets (by default those of the environment) and escape control characters."""
    hidden = secret_values(os.environ) if secrets is None else secrets
    return "\n".join(map(printable, mask_secrets(text, hidden).split("\n")))


def _failure_lines(file: str, provider: str, result: CaseResult, *, full: bool) -> Iterator[str]:
    yield f"{file}: case {result.case}, provider {provider}: {result.status}"
    for reason in result.every_reason:
        yield "  " + (reason.full if full and reason.full else reason.shape).replace("\n", "\n  ")
    for number, sample in enumerate(result.samples, 1):
        if sample.status == PASSED:
            continue
        which = f" of sample {number}" if len(result.samples) > 1 else ""
        facts = [f"finish_reason {sample.finish_reason}"] if sample.finish_reason else []
        facts += [f"{sample.latency_ms:.0f} ms"] if sample.latency_ms is not None else []
        facts += [f"{sample.total_tokens} tokens"] if sample.total_tokens is not None else []
        if facts:
            yield f"  answer{which}: {', '.join(facts)}"
        yield from (f"  note: {note}" for note in sample.notes)
        if full and sample.content is not None:
            sent = (("system prompt", sample.content.system), ("prompt", sample.content.prompt))
            for name, text in (*sent, ("answer", sample.content.output)):
                if text is not None:
                    yield f"  {name}{which}:"
                    yield "    | " + shorten(text, LONGEST).rstrip("\n").replace("\n", "\n    | ")
            break


MOST_LISTED = 200
CONFIDENCE = 0.95
"""The confidence level of intervals in reports."""


@dataclass(frozen=True)
class Head:
    """The facts of a bundle's run that are known before the run starts."""

    file: str
    name: str
    version: str
    provider: str
    adapter: str
    cases: tuple[str, ...]
    selected: int
    thresholds: tuple[Threshold, ...]
    metrics: tuple[str, ...]
    cassettes: str = "off"
    samples: int = 1
    currency: str = ""
    variant: str = ""
    reference: str = ""
    """The label of the run to compare with; empty if there is none."""

    @property
    def label(self) -> str:
        """The name of the variant, if any, and of the provider."""
        return f"{self.variant} {self.provider}".lstrip()

    @property
    def is_whole(self) -> bool:
        """True if all cases of the bundle were selected."""
        return self.selected == len(self.cases)


def metrics_to_show(bundle: Bundle) -> tuple[str, ...]:
    """Return the names of the metrics that reports show for a bundle."""
    several = metrics.metric_names(bundle.at_least, ())
    every = [*several, *bundle.extra_metrics]
    kept = {each.metric for each in bundle.thresholds}
    return tuple(
        name
        for name in every
        if not name.startswith("pass_at_")
        or name in kept
        or (bundle.at_least > 1 and name in ("pass_at_1", several[-1]))
    )


def build_section(head: Head, results: Sequence[CaseResult], *, stopped: bool = False) -> dict[str, Any]:
    """Return the report section, a JSON value.

    Args:
        results: the results of the finished cases.
        stopped: True if the run did not finish, so that thresholds are not judged.
    """
    judges = head.is_whole and not stopped
    by_status = Counter(result.status for result in results)
    results = [result for result in results if result.status != NOT_ASKED]
    asked = len(head.cases) - by_status[NOT_ASKED]
    total = asked if judges else len(results)
    found = metrics.compute_metrics(results, total, head.metrics)
    judged = [metrics.judge_threshold(each, results, total) for each in head.thresholds] if judges else []
    bad = [result for result in results if result.status != PASSED]
    missing = asked - len(results) if judges else 0
    passed = all(each.holds for each in judged) if head.thresholds else not bad and not missing
    tolerated = bool(head.thresholds) and judges and passed
    unjudged = "not_judged" if head.thresholds or not bad else "failed"
    section: dict[str, Any] = {
        "name": head.name,
        "file": head.file,
        "provider": head.provider,
        "verdict": ("passed" if passed else "failed") if judges else unjudged,
        "cases": {
            "total": len(head.cases),
            "selected": head.selected,
            PASSED: by_status[PASSED],
            FAILED: by_status[FAILED],
            ERROR: by_status[ERROR] + missing,
            "tolerated": len(bad) + missing if tolerated else 0,
        },
        "metrics": {name: _round(number) for name, number in found.items()},
        "intervals": {
            name: [_round(end) for end in interval]
            for name in head.metrics
            if (interval := metrics.metric_interval(name, results, total, CONFIDENCE)) is not None
        },
        "thresholds": [_threshold_entry(each) for each in judged],
        "calls": sum(result.calls for result in results),
        "failures": [_failure_entry(result, tolerated=tolerated) for result in bad[:MOST_LISTED]],
    }
    section |= {key: given for key in ("version", "variant", "adapter", "currency") if (given := getattr(head, key))}
    judging = [sample.judging for result in results for sample in result.samples if sample.judging is not None]
    if judging:
        usage = reduce(Usage.plus, judging, Usage())
        section["judging"] = {"calls": usage.calls, **to_json_value(usage)}
    spared = [head.samples - len(each.samples) for each in results if each.status != ERROR]
    if saved := sum(spared) + by_status[NOT_ASKED] * head.samples:
        section["saved"] = {"answers": saved, "of": head.selected * head.samples}
    if by_status[NOT_ASKED]:
        section["cases"][NOT_ASKED] = by_status[NOT_ASKED]
    if head.cassettes != "off":
        used = Counter(result.cassette for result in results)
        section["cassettes"] = {"mode": head.cassettes, **{how: used[how] for how in ("replayed", "recorded")}}
    notes = [(result.case, note) for result in results for sample in result.samples for note in sample.notes]
    if notes:
        section["notes"] = [f"{case}: {note}" for case, note in dict.fromkeys(notes)][:MOST_LISTED]
    return section


def build_sections(
    runs: Mapping[str, tuple[Head, Sequence[CaseResult]]], judged: Container[str]
) -> dict[str, dict[str, Any]]:
    """Return the sections by key, ``bundle | label``, each compared with its reference run if it has one.

    Args:
        judged: the keys of the runs to which thresholds apply.
    """
    found = {key: build_section(head, results, stopped=key not in judged) for key, (head, results) in runs.items()}
    for key, (head, results) in runs.items():
        other, before = runs.get(f"{key.removesuffix(head.label)}{head.reference}", (head, ()))
        if head.reference and len(results) == head.selected and len(before) == other.selected:
            compared = comparison.compare_runs(comparison.make_outcome(before), comparison.make_outcome(results))
            found[key]["compared"] = [{"with": head.reference, **compared}]
    return found


def _threshold_entry(judged: metrics.ThresholdOutcome) -> dict[str, Any]:
    entry: dict[str, Any] = {"threshold": str(judged.threshold), "actual": _round(judged.actual), "holds": judged.holds}
    if judged.interval is not None:
        entry["interval"] = [_round(end) for end in judged.interval]
    if judged.threshold.confidence is not None:
        entry |= {"confidence": judged.threshold.confidence, "undecided": judged.undecided}
    return entry


def _round(number: float | None) -> float | None:
    return None if number is None else round(number, 6)


def _failure_entry(result: CaseResult, *, tolerated: bool) -> dict[str, Any]:
    said = [reason.shape for reason in result.every_reason][:10]
    return {"case": result.case, "status": result.status, "tolerated": tolerated, "reasons": said}


def collect_contents(head: Head, results: Iterable[CaseResult]) -> list[dict[str, Any]]:
    """Return the number, the prompts and the answer of each recorded sample, with secrets masked."""
    shown = partial(make_text_safe, secrets=secret_values(os.environ))
    return [
        {
            "bundle": head.file,
            "run": head.label,
            "case": result.case,
            "sample": number,
            "status": sample.status,
            "reasons": [shown(reason.full or reason.shape) for reason in (*result.reasons, *sample.reasons)],
            "remarks": [shown(remark) for remark in sample.content.remarks],
            **{
                name: None if (given := getattr(sample.content, name)) is None else shown(given)
                for name in ("prompt", "system", "output", "expected")
            },
        }
        for result in results
        for number, sample in enumerate(result.samples, 1)
        if sample.content is not None
    ]


def describe_section(section: Mapping[str, Any]) -> str:
    """Describe the result of a bundle in one line."""
    cases = section["cases"]
    said = section["verdict"].replace("_", " ")
    parts = [f"{cases['passed']}/{cases['total']} cases passed"]
    errors = "error" if cases["error"] == 1 else "errors"
    parts += [f"{cases[key]} {word}" for key, word in (("failed", "failed"), ("error", errors)) if cases[key]]
    if unasked := cases["selected"] - cases["passed"] - cases["failed"] - cases["error"]:
        parts.append(f"{unasked} never asked")
    if cases["selected"] < cases["total"]:
        parts.append(f"{cases['selected']} selected")
    if NOT_ASKED in cases:
        parts.append(f"{cases[NOT_ASKED]} not asked")
    label = f"{section.get('variant', '')} {section['provider']}".lstrip()
    return f"{section['name']} ({label}): {said}; {', '.join(parts)}; {section['calls']} calls"


def usage_text(usage: Mapping[str, Any], currency: str) -> str:
    """Describe the calls, tokens and cost of the scorers in one line."""
    parts = [f"{usage['calls']} calls"]
    parts += [f"{usage['tokens']} tokens"] if "tokens" in usage else []
    parts += [f"cost {usage['cost']:.6g} {currency}".rstrip()] if "cost" in usage else []
    return ", ".join(parts)


def section_lines(section: Mapping[str, Any]) -> list[str]:
    """Return the lines of the terminal that show the result of a bundle."""
    found = [describe_section(section)]
    for each in section["thresholds"]:
        word = "UNDECIDED" if each.get("undecided") else "holds" if each["holds"] else "FAILS"
        found.append(f"  {word}  {each['threshold']}  ({metrics.metric_text(each['actual'], each.get('interval'))})")
    known = [
        f"{name} {metrics.metric_text(number, section.get('intervals', {}).get(name))}"
        for name, number in section["metrics"].items()
        if number is not None
    ]
    found.append(f"  {', '.join(known) or 'no metric has data'}")
    if judging := section.get("judging"):
        found.append(f"  scorers asked: {usage_text(judging, section.get('currency', ''))}")
    if saved := section.get("saved"):
        found.append(f"  saved {saved['answers']} of {saved['of']} answers")
    for failure in section["failures"][:20]:
        word = f"{failure['status']}{', tolerated' if failure['tolerated'] else ''}"
        first = failure["reasons"][0].partition("\n")[0] if failure["reasons"] else ""
        found.append(f"  {word}  {failure['case']}: {first}")
    if len(section["failures"]) > 20:
        found.append(f"  and {len(section['failures']) - 20} more")
    found += [f"  note  {note}" for note in section.get("notes", ())[:10]]
    if tape := section.get("cassettes"):
        found.append(f"  cassettes {tape['mode']}: {tape['replayed']} replayed, {tape['recorded']} recorded")
        found += [f"  cassette unused: {name}" for name in tape.get("unused", ())]
    for kind, what in section.get("baseline", {}).items():
        found.append(f"  baseline, {kind.replace('_', ' ')}: {', '.join(what[:20])}")
    for each in section.get("compared", ()):
        found += comparison.comparison_lines(each, each["with"])
    return found
