"""Pages of bundles as the browser is to show them: a matrix of variants, and one with many cases."""

import random
from typing import Any

from pytest_corpus.bundles.metrics import Threshold
from pytest_corpus.bundles.reporting import comparison, section
from pytest_corpus.bundles.results import CaseContent, CaseResult, Reason, Sample
from pytest_corpus.reports import formats, json_report
from pytest_corpus.verdict.ledger import Ledger
from pytest_corpus.verdict.verdict import decide

HOSTILE = "</script><script>document.title = 'taken'</script>"
NAMES = ("pass_rate", "avg_latency_ms", "cost", "score_kind")
GATES = (Threshold("pass_rate", ">=", 0.9, 0.95), Threshold("avg_latency_ms", "<=", 900.0))


def _result(number: int, rate: float, draw: random.Random) -> CaseResult:
    passed = draw.random() < rate
    answer = '{"answer": "Paris", "sure": true}' if passed else f"Lyon {HOSTILE}"
    content = CaseContent(f"Capital {number}?", "Be brief.", answer, '{"answer": "Paris"}', ("kind 0.8: short",))
    reasons = () if passed else (Reason("expected", "the answer is not as expected", "got: Lyon"),)
    sample = Sample(
        "passed" if passed else "failed", reasons, latency_ms=round(draw.lognormvariate(6, 0.5), 1), total_tokens=120,
        scores={"kind": round(draw.random(), 2)}, cost=0.0002, content=content,
    )  # fmt: skip
    return CaseResult(f"case-{number}", sample.status, (sample,), calls=1)


def page(variants: dict[str, float], cases: int) -> str:
    """The page of a bundle whose variants have these pass rates, with all prompts and answers."""
    draw, runs = random.Random(7), []
    ids = tuple(f"case-{number}" for number in range(cases))
    for name, rate in variants.items():
        head = section.Head(
            "b/bundle.yaml", "capitals", "1", "mock", "", ids, cases, GATES, NAMES, variant=name, currency="EUR"
        )
        runs.append((head, [_result(number, rate, draw) for number in range(cases)]))
    built: list[dict[str, Any]] = []
    for head, results in runs:
        built.append({**section.build_section(head, results), "results": [each.numbers for each in results]})
        if len(built) > 1:
            found = comparison.compare_runs(comparison.make_outcome(runs[0][1]), comparison.make_outcome(results))
            built[-1]["compared"] = [{"with": runs[0][0].label, **found}]
    ledger = Ledger("no adapter")
    ledger.mark_partial("only behaviour bundles ran")
    run = json_report.RunFacts("2026-01-01T00:00:00+00:00", 5.0, 0, "must", None, bundles=tuple(built))
    contents = [each for head, results in runs for each in section.collect_contents(head, results)]
    return formats.render(json_report.build_report(ledger, decide(ledger), run), ".html", contents=contents)
