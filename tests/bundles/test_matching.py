"""Comparing with `expected_output` (R44, R82), and the numbers of a bundle (R83)."""

import re
from pathlib import Path
from typing import Any

import pytest
from tables import read_json_rows

from pytest_corpus.bundles.evaluation.values import search_pattern
from pytest_corpus.bundles.matching import find_differences, parse_json
from pytest_corpus.bundles.metrics import Threshold, compute_metrics, judge_threshold
from pytest_corpus.bundles.results import CaseResult, Sample


@pytest.mark.parametrize(
    ("expected", "raw", "how", "same"), read_json_rows(Path(__file__).with_name("expected_outputs.txt"))
)
def test_what_is_as_expected(expected: Any, raw: str, how: str, same: bool) -> None:
    """Objects as a subset, lists exactly, text stripped; no fences; a boolean is not a number."""
    assert (find_differences(expected, raw, how) == []) is same


@pytest.mark.parametrize(
    "text", ["NaN", "Infinity", "{'a': 1}", "[1,]", "```{}```", '"\\ud800"', "[" * 500 + "]" * 500]
)
def test_what_is_no_json_stays_text(text: str) -> None:
    """RFC 8259 and nothing else; what cannot be held safely is text."""
    assert parse_json(text) is text


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(?:cat){e<=1}", "cbt"),
        ("(?:cat){e<=1}", "cat{e<=1}"),
        ('^{"a"', '{"a": 1}'),
        (r"^a{2}\{b{,3}c{1,}[{]$", "aa{bbcc{"),
        (r"\N{DIGIT ONE}\\{i}", "1\\{i}"),
    ],
)
def test_regular_expressions_mean_what_re_says(pattern: str, text: str) -> None:
    """A brace that repeats nothing is a character, as in `re`, and asks for no fuzzy match."""
    assert search_pattern(pattern, text) == bool(re.search(pattern, text))


def test_regular_expressions_have_a_time_limit() -> None:
    """A pattern that would search for ever is a difference."""
    [found] = find_differences("(a+)+$", "a" * 5000 + "b", "regex")
    assert "longer than 1 s" in found.kind


def result(case: str, status: str, **facts: Any) -> CaseResult:
    return CaseResult(case, status, (Sample(status, **facts),), calls=1)


RESULTS = [
    result("a", "passed", schema_valid=True, expected_met=True, latency_ms=10.0, total_tokens=5),
    result("b", "failed", schema_valid=False, latency_ms=30.0, total_tokens=7),
    result("c", "error"),
]


def test_metrics() -> None:
    """Rates over what they speak of; latency and tokens of answers alone."""
    rates = ("pass_rate", "error_rate", "schema_valid_rate", "expected_match_rate")
    names = (*rates, "avg_latency_ms", "p95_latency_ms", "total_tokens")
    found = compute_metrics(RESULTS, 4, names)
    assert found == {
        "pass_rate": 0.25, "error_rate": 0.5, "schema_valid_rate": 0.5, "expected_match_rate": 1.0,
        "avg_latency_ms": 20.0, "p95_latency_ms": 30.0, "total_tokens": 12.0,
    }  # fmt: skip


def test_a_metric_without_data_fails_its_threshold() -> None:
    """Latency without an answer is no 0 (the older package said so)."""
    results = [result("c", "error")]
    found = compute_metrics(results, 1, ["max_latency_ms", "schema_valid_rate"])
    assert found == {"max_latency_ms": None, "schema_valid_rate": None}
    assert not judge_threshold(Threshold("max_latency_ms", "<=", 100), results, 1).holds


def test_equal_is_exact() -> None:
    """`==` has no tolerance (the older package allowed 1e-4)."""
    results = [result(f"c{number}", "passed") for number in range(20_000)]
    assert not judge_threshold(Threshold("pass_rate", "==", 1), results, 20_001).holds
    assert judge_threshold(Threshold("pass_rate", "==", 1), results, 20_000).holds


def test_pass_at_k() -> None:
    """The unbiased estimate; samples of a cache do not count, and with too few there is no data."""
    passed, failed, cached = Sample("passed"), Sample("failed"), Sample("passed", from_cache=True)
    case = CaseResult("a", "passed", (passed, failed))
    assert compute_metrics([case], 1, ["pass_at_1", "pass_at_2"]) == {"pass_at_1": 0.5, "pass_at_2": 1.0}
    assert compute_metrics([CaseResult("a", "failed", (passed, cached))], 1, ["pass_at_2"]) == {"pass_at_2": None}
    broken = CaseResult("b", "error", (Sample("error"),))
    assert compute_metrics([case, broken], 2, ["pass_at_1", "pass_at_2"]) == {"pass_at_1": 0.25, "pass_at_2": 0.5}
