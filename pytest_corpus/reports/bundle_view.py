"""Texts about behaviour bundles that all report formats share; they depend on the JSON report only."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

Section = Mapping[str, Any]

WORDS = {"passed": "passed", "failed": "failed", "not_judged": "not judged"}
TONES = {"passed": "good", "failed": "bad", "not_judged": "none"}


def sections(document: Mapping[str, Any]) -> list[Section]:
    """Return the bundle sections of a report."""
    return list(document.get("bundles", ()))


def metric_texts(section: Section) -> list[tuple[str, str]]:
    """Return the name and the text of each metric that has data."""
    ends = section.get("intervals", {})
    known = sorted((name, number) for name, number in section["metrics"].items() if number is not None)
    return [(name, _number_text(number, ends.get(name))) for name, number in known]


def _number_text(number: float | None, ends: Sequence[float] | None = None) -> str:
    if number is None:
        return "no data"
    return f"{number:.6g}" + (f" ({ends[0]:.4g} to {ends[1]:.4g})" if ends else "")


def case_counts(section: Section) -> str:
    """Return the number of cases by outcome, as text."""
    found = section["cases"]
    words = [
        f"{found['passed']} / {found['total']} passed",
        f"{found['failed']} failed",
        f"{found['error']} without an answer",
    ]
    if found["tolerated"]:
        words.append(f"{found['tolerated']} tolerated")
    if found["selected"] < found["total"]:
        words.append(f"{found['selected']} selected")
    if found.get("not_asked"):
        words.append(f"{found['not_asked']} not asked")
    return ", ".join(words)


def describe_threshold(entry: Mapping[str, Any]) -> str:
    """Describe a threshold: its rule, the measured number and the outcome."""
    return f"{entry['threshold']}: {describe_outcome(entry)}"


def describe_outcome(entry: Mapping[str, Any]) -> str:
    """Describe the outcome of a threshold: the measured number, and "holds", "does not hold" or "is undecided"."""
    word = "is undecided" if entry.get("undecided") else "holds" if entry["holds"] else "does not hold"
    return f"{_number_text(entry['actual'], entry.get('interval'))}, {word}"


def describe_difference(entry: Mapping[str, Any]) -> str:
    """Describe the difference of one metric between two runs."""
    if "difference" not in entry:
        return f"{entry['metric']}: no case has it in both"
    sign = "+" if entry["difference"] > 0 else ""
    said = f"{sign}{_number_text(entry['difference'], entry.get('interval'))}, {entry['verdict'].replace('_', ' ')}"
    return f"{entry['metric']} {_number_text(entry['before'])} -> {_number_text(entry['now'])}: {said}"


def label_of(section: Section) -> str:
    """Return the label of a bundle's run: the name of the variant (if there is one) and the name of the provider."""
    return f"{section.get('variant', '')} {section['provider']}".lstrip()


def headline(document: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the tone and the words for a report that contains only bundles; None for other reports."""
    found = sections(document)
    if document["components"] or not found:
        return None
    verdicts = [each["verdict"] for each in found]
    worst = next(each for each in ("failed", "not_judged", "passed") if each in verdicts)
    if len(found) == 1:
        return TONES[worst], f"bundle {found[0]['name']} {WORDS[worst]}"
    many = f"{verdicts.count(worst)} of {len(found)}" if worst != "passed" else f"all {len(found)}"
    return TONES[worst], f"{many} runs of bundles {WORDS[worst]}"


def results_by_case(section: Section) -> dict[str, dict[str, Any]]:
    """Return for each case its status, latency, tokens, cost, scores and reasons. Older reports only have failures."""
    if "results" not in section:
        empty: dict[str, Any] = {"latency": None, "tokens": None, "cost": None, "scores": {}}
        return {
            each["case"]: {**empty, "status": each["status"], "reasons": each["reasons"]}
            for each in section["failures"]
        }
    return {each["case"]: _case_result(each) for each in section["results"]}


def _case_result(result: Mapping[str, Any]) -> dict[str, Any]:
    samples = result.get("samples", ())
    reasons = [*result.get("reasons", ()), *(reason for sample in samples for reason in sample.get("reasons", ()))]
    scores = {name for sample in samples for name in sample.get("scores", ())}
    times = [sample["latency_ms"] for sample in samples if "latency_ms" in sample]
    return {
        "status": result["status"],
        "latency": fmean(times) if times else None,
        "tokens": _sum(samples, "total_tokens"),
        "cost": _sum(samples, "cost"),
        "scores": {name: fmean([s["scores"][name] for s in samples if name in s.get("scores", ())]) for name in scores},
        "reasons": list(dict.fromkeys(reason["shape"] for reason in reasons)),
    }


def _sum(samples: Sequence[Mapping[str, Any]], key: str) -> Any:
    given = [sample[key] for sample in samples if key in sample]
    return sum(given) if given else None


def all_latencies(section: Section) -> list[float]:
    """Return the latencies of all answers, in milliseconds."""
    samples = (sample for result in section.get("results", ()) for sample in result.get("samples", ()))
    return [sample["latency_ms"] for sample in samples if "latency_ms" in sample]


def describe_scorer_calls(section: Section) -> str:
    """Describe the calls, tokens and cost of the scorers; empty if there were none."""
    used = section.get("judging", {})
    parts = [f"{used[key]:,} {key}" for key in ("calls", "tokens") if key in used]
    return ", ".join(
        parts + ([f"cost {used['cost']:.6g} {section.get('currency', '')}".rstrip()] if "cost" in used else [])
    )


def baseline_changes(section: Section) -> list[tuple[str, str]]:
    """Return the changes since the baseline: pairs of a kind and a list of cases or metrics, as text."""
    return [(kind.replace("_", " "), ", ".join(what)) for kind, what in sorted(section.get("baseline", {}).items())]
