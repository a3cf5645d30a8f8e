"""Ranking and scores (SPECIFICATION 9.4, 4.1; SCHEMA 4.2.2; R30, R121)."""

from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import remembered
from pytest_corpus.kit.component import expect_audited
from pytest_corpus.kit.fixtures import rules
from pytest_corpus.kit.reply import Reply, error_names, failed_items
from pytest_corpus.spec.errors import PERMANENT, is_a
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.vector.support.answers import id_of, matches_of
from pytest_corpus.suites.vector.support.component import Vector, vector
from pytest_corpus.suites.vector.support.geometry import METRICS, direction, is_near
from pytest_corpus.suites.vector.support.scenarios.checks import Ranking, five_directions, rankings

HUGE = 1e200
"""A component whose square exceeds the range of a double."""


@pytest.mark.core
@rules("cosine VEC-SCORE-1, euclidean VEC-SCORE-2, dot VEC-SCORE-3")
def test_the_best_match_comes_first(vector: Vector, requirement: str) -> None:
    """Matches have the order of the namespace's metric, also for vectors that other metrics rank differently."""
    for ranking in rankings(vector, METRICS[int(requirement[-1]) - 1]):
        ranking.expect_order()


@pytest.mark.core
@rules("score VEC-SCORE-4, distance VEC-SCORE-5")
@pytest.mark.parametrize("metric", METRICS)
def test_a_number_tells_the_better_match(vector: Vector, requirement: str, metric: str) -> None:
    """A better match has a higher `score` and a lower `distance`."""
    found = [ranking for ranking in rankings(vector, metric) if len(ranking.matches) > 1]
    expect.applicable(found, "a query may ask for at most one match")
    for ranking in found:
        if requirement == "VEC-SCORE-4":
            ranking.expect_monotonic("score", 1)
        else:
            ranking.expect_monotonic("distance", -1)


@rules("cosine VEC-SCORE-6, euclidean VEC-SCORE-7, dot VEC-SCORE-8")
def test_the_numbers_are_those_of_the_textbook(vector: Vector, requirement: str) -> None:
    """Score or distance equals the value that the suite computes by the metric's formula."""
    metric = METRICS[int(requirement[-1]) - 6]
    for ranking in rankings(vector, metric):
        expect_textbook_numbers(ranking, metric)


def expect_textbook_numbers(ranking: Ranking, metric: str) -> None:
    """Check that each number equals the metric's value, or is normalized to [0, 1]."""
    key = "distance" if metric == "euclidean" else "score"
    given = [match.get(key) for match in ranking.matches]
    true = [-value if metric == "euclidean" else value for value in ranking.goodness]
    scale = max(1.0, *map(abs, ranking.truth.values()))
    native = all(is_near(number, value, scale) for number, value in zip(given, true, strict=True))
    halved = metric == "cosine" and all(
        is_near(number, (1 + value) / 2) for number, value in zip(given, true, strict=True)
    )
    squeezed = metric == "dot" and all(isinstance(number, (int, float)) and 0 <= number <= 1 for number in given)
    expect.check(native or halved or squeezed, f"the {metric} {key}", "another number", f"result.matches.{key}")


@rules("zeros VEC-SCORE-9, extremes COM-NUM-2")
@pytest.mark.parametrize("metric", METRICS)
def test_a_vector_of_zeros_is_a_vector(vector: Vector, requirement: str, metric: str) -> None:
    """A vector of zeros is stored and found under each metric, or refused permanently; answers have no NaN."""
    spelled = vector.features.spell_metric(metric)
    zero, reply, *queries = upsert_extremes(vector, spelled)[0]
    if requirement == "COM-NUM-2":
        for answer in (*queries, *upsert_extremes(vector, spelled)[1][2:]):
            expect.readable(answer)
            expect_audited("COM-NUM-2", answer, vector)
        return
    expect_success_or_class(reply, f"a vector of zeros to be stored under {metric}", *PERMANENT)
    stored = reply.is_carried_out
    for families, answer in zip((PERMANENT, ()), queries, strict=True):
        expect_success_or_class(answer, f"a query to be answered under {metric}", *families)
    if stored and queries[0].is_success and metric == "euclidean":
        matches = {id_of(match): match for match in matches_of(queries[0].result)}
        given = matches.get(zero, {"distance": 1}).get("distance", 0)
        expect.check(is_near(given, 0.0), "a distance of 0", "another distance, or no match", "result.matches.distance")


@remembered
def upsert_extremes(vector: Vector, metric: str) -> list[tuple[Any, ...]]:
    """Upsert a vector of zeros and a huge one; return for each: id, reply to the upsert, replies to two queries."""
    other, found = vector.item(20), list[tuple[Any, ...]]()
    sandbox = vector.sandbox(other, metric=metric)
    for component in (0.0, HUGE):
        item = {**vector.item(), "vector": [component] * vector.dimensions}
        written = sandbox.upsert(item)
        found.append((item["id"], written, *(sandbox.ask(each["vector"], 2) for each in (item, other))))
    return found


def expect_success_or_class(reply: Reply, claim: str, *families: str) -> None:
    """Check that an answer succeeds, or that its error or its failed items have one of these classes."""
    expect.readable(reply)
    if reply.is_error and families:
        expect.refusal(reply, *families, claim=f"{claim}, or an error of class {' or '.join(families)}")
        return
    failures = failed_items(expect.success(reply, claim))
    fits = all(any(is_a(name, each) for each in families) for failure in failures for name in error_names(failure))
    expect.check(not failures or (families and fits), claim, "a failed item", "result.failures")


@pytest.mark.requirement("COM-CONC-1")
def test_queries_at_the_same_time_get_their_own_answers(vector: Vector) -> None:
    """If different queries are sent concurrently, each of them finds its own vector."""
    expect.assessable(vector.dimensions >= 2, Obstacle.ON_A_LINE)
    sandbox, items = five_directions(vector)
    sandbox.ids(direction(30, vector.dimensions), 2)
    items = items[: max(2, min(len(items), vector.capabilities.limit("concurrency") or len(items)))]
    requests = [vector.envelope("query", sandbox.args(vector=item["vector"], top_k=1)) for item in items]
    exchanges = vector.send_all(requests)
    expect.assessable(any(Reply(exchange).is_success for exchange in exchanges), Obstacle.QUERIES_REFUSED)
    for item, reply in zip(items, map(Reply, exchanges), strict=True):
        if reply.is_success:
            found = [id_of(match) for match in sandbox.expect_own(matches_of(reply.result))]
            expect.check(found == [item["id"]], "the vector that the query looks for", "another match, or none")
