"""Capabilities and their truth (SPECIFICATION 6.2, 9.4; BEHAVIORAL_CONFORMANCE 5.4; R22, R23)."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.fixtures import subject
from pytest_corpus.kit.judgement import look_at_capabilities
from pytest_corpus.kit.outcomes import Undecided, Violation, describe
from pytest_corpus.spec.capabilities import SECTIONS
from pytest_corpus.suites.shared.claims.capabilities import TestCapabilities, TestConsistency
from pytest_corpus.suites.vector.support.component import Vector, vector
from pytest_corpus.suites.vector.support.geometry import canonical_metric, is_number
from pytest_corpus.suites.vector.support.scenarios.checks import rankings, upsert_and_query

LIMITS = ("dimension", "max_dimensions", "max_batch_size", "max_top_k", "max_filter_terms")


@pytest.mark.requirement("VEC-CAP-1")
def test_metrics_are_advertised(vector: Vector) -> None:
    """Capabilities name at least one metric of the protocol under a key for metrics."""
    look_at_capabilities(vector.capabilities)
    stated = list(metrics_of(vector.capabilities.document))
    is_right = any(map(canonical_metric, stated))
    expect.check(is_right, "cosine, euclidean or dot", "other metrics, or none", "result.supported_metrics")


@pytest.mark.requirement("VEC-CAP-2")
def test_every_metric_that_is_listed_can_be_used(vector: Vector) -> None:
    """A namespace of each listed metric accepts a vector, and a query finds it."""
    vector.require("query")
    vector.features.require_namespaces()
    listed = vector.capabilities.names("metrics")
    expect.applicable(listed, "no metric is listed")
    for metric in listed:
        if not is_ranked(vector, metric):
            upsert_and_query(vector, vector.namespace_args(metric=metric), describe(metric))


def is_ranked(vector: Vector, metric: str) -> bool:
    """True if a namespace of a metric could be created, filled and queried for the tests of ranking."""
    known = canonical_metric(metric)
    try:
        ranked = known is not None and vector.features.spell_metric(known) == metric and bool(rankings(vector, known))
    except (Undecided, Violation):  # using the metric shows the same fault
        return False
    if ranked:
        expect.check(ranked, "matches in a namespace of the metric", "no matches")
    return ranked


@pytest.mark.requirement("VEC-CAP-3")
def test_the_most_matches_are_published(vector: Vector) -> None:
    """`max_top_k` is stated."""
    look_at_capabilities(vector.capabilities)
    expect.check(vector.capabilities.limit("max_top_k"), "a number", "no number", "result.max_top_k")


@pytest.mark.requirement("VEC-CAP-4")
@pytest.mark.parametrize("name", LIMITS)
def test_a_stated_limit_is_a_positive_whole_number(vector: Vector, name: str) -> None:
    """A stated limit is a positive integer."""
    look_at_capabilities(vector.capabilities)
    stated = [(path, value) for path, value in vector.capabilities.stated_places(name) if is_number(value)]
    expect.applicable(stated, f"no {name} is stated")
    for path, value in stated:
        if math.isfinite(value):
            is_right = value == int(value) and value > 0
            expect.check(is_right, "a positive whole number", found=value, path=f"result.{path}")


def metrics_of(document: Mapping[str, Any]) -> Iterator[str]:
    """Return every word in capabilities under a key that contains `metric`."""
    for section in ("", *SECTIONS, "extensions"):
        holder = document.get(section) if section else document
        for key, value in holder.items() if isinstance(holder, Mapping) else ():
            if "metric" in str(key):
                words = value if isinstance(value, (list, Mapping)) else [value]
                yield from (word for word in words if isinstance(word, str))
