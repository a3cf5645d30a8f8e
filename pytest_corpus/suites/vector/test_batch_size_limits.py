"""Batches and limits: the maximum, and one more (BEHAVIORAL_CONFORMANCE 6.7; SPECIFICATION 9.3, 17.2; R15)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.kit import expect, vocabulary
from pytest_corpus.kit.answer_cache import remembered
from pytest_corpus.kit.component import expect_audited
from pytest_corpus.kit.fixtures import core, rules
from pytest_corpus.kit.judgement import look_at, reading_separately
from pytest_corpus.kit.reply import Reply
from pytest_corpus.redaction import describe_word
from pytest_corpus.spec.errors import PERMANENT
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.vector.support.answers import id_of, matches_of, metadata_of, results_of, vector_of
from pytest_corpus.suites.vector.support.component import Vector, vector
from pytest_corpus.suites.vector.support.geometry import METRICS, is_number
from pytest_corpus.suites.vector.support.sandbox import VectorSandbox
from pytest_corpus.suites.vector.support.scenarios.checks import expect_count, expect_exactly, five_directions, rankings
from pytest_corpus.suites.vector.support.shared import Item

MOST_VECTORS = 5_000
"""A batch with more vectors than this is not sent, even if the stated limit is higher."""

MOST_NUMBERS = 2_000_000
"""The largest total number of components of the vectors in a batch. Larger batches are not sent."""

MANY = 12
"""The number of queries in a long batch: more than ten, so that sorting the indexes as texts changes their order."""

ORDERS = ((0, 1, 2, 3, 4, 4, 3, 2, 1, 0, 2, 3), (2, 0, 1), (4, 3, 2, 1, 0), (1, 1, 3))
"""The vectors that the queries of a batch look for."""


def largest_batch(vector: Vector) -> int:
    """Return the stated maximum of vectors in an upsert. Raises Undecided without a usable maximum."""
    return vector.limits.require_limit("max_batch_size", min(MOST_VECTORS, MOST_NUMBERS // vector.dimensions))


def make_batch(vector: Vector, count: int) -> list[dict[str, Any]]:
    """Return vectors of different directions."""
    return [vector.item(5 + 170 * part / count, {"part": part}) for part in range(count)]


@pytest.mark.requirement("VEC-LIMIT-1")
def test_the_largest_batch_is_stored(vector: Vector) -> None:
    """A batch of exactly `max_batch_size` vectors is accepted and stored completely."""
    is_right = vector.limits.most_in_batch == vector.capabilities.limit("max_batch_size")
    expect.applicable(is_right, "batch operations are denied, or max_batch_ops is smaller")
    filters = vector.features.accepts_filters
    most = largest_batch(vector)
    sandbox, items = vector.sandbox(), make_batch(vector, most)
    expect_count(expect.full_success(sandbox.upsert(*items), f"an upsert of {most}"), most)
    for item in {0: items[0], most // 2: items[most // 2], most - 1: items[-1]}.values():
        if filters or (vector.limits.cap_matches(5) == 5 and vector.dimensions > 1):
            narrowed = {"filter": {"part": item["metadata"]["part"]}} if filters else {}
            found = sandbox.ids(item["vector"], 5, **narrowed)
            expect.check(
                item["id"] in found, "each vector of the batch", "the first, the middle or the last vector is missing"
            )
    if vector.limits.cap_matches(most + 3) == most + 3:
        expect_exactly(sandbox, *items)


@pytest.mark.core
@rules("refused VEC-LIMIT-2, stores_nothing VEC-LIMIT-3, limit VEC-LIMIT-6, reduction VEC-LIMIT-7")
def test_a_batch_that_is_too_large_is_refused(vector: Vector, requirement: str) -> None:
    """A batch above `max_batch_size` is refused and stores nothing; `details` give the limit and a reduction."""
    most, denied = largest_batch(vector), vector.capabilities.flag("supports_batch_operations") is False
    held, replies, found, shown_by = send_too_large(vector, most)
    for reply in replies:
        if requirement == "VEC-LIMIT-2":
            expect.refusal(reply, "BadRequest", *(["NotSupported"] if denied else []))
            continue
        expect.readable(reply)
        with expect.resting_on("VEC-LIMIT-2"):
            expect.check(reply.is_error, "a refusal of a batch that is too large", str(reply))
        if requirement == "VEC-LIMIT-3":
            look_at(*shown_by)
            expect.check({*found} == {held["id"]}, "no vector of a refused batch", f"{len(found)} vectors")
        elif requirement == "VEC-LIMIT-6":
            given = reply.details.get("max_batch_size")
            expect.check(given == most, f"{most}", found=given, path="details.max_batch_size")
        else:
            given = reply.details.get("suggested_batch_reduction")
            fits = is_number(given) and 0 <= given <= 100
            expect.check(fits, "a percentage", found=given, path="details.suggested_batch_reduction")


@remembered
def send_too_large(vector: Vector, most: int) -> tuple[Item, list[Reply], dict[str, Mapping[str, Any]], list[Exchange]]:
    """Send too large batches; return a stored vector, the answers, the content, and the queries that show it."""
    held = vector.item(90)
    sandbox = vector.sandbox(held)
    replies = [sandbox.upsert(*make_batch(vector, most + more)) for more in (1, 7)]
    with reading_separately() as shown_by:
        found = sandbox.contents()
    return held, replies, found, shown_by


@pytest.mark.requirement("VEC-LIMIT-4")
@pytest.mark.parametrize("operation", ["query", "batch_query"])
def test_the_most_matches_can_be_asked_for(vector: Vector, operation: str) -> None:
    """`top_k` of exactly `max_top_k` is served."""
    vector.require("query", operation)
    query = {**vector.requests.minimal("query"), "top_k": vector.limits.require_limit("max_top_k")}
    reply = vector.call(operation, vector.requests.query_arguments(operation, query))
    expect.success(reply, f"top_k of {query['top_k']}")


@core("VEC-LIMIT-5")
@pytest.mark.parametrize("operation", ["query", "batch_query"])
@pytest.mark.parametrize("more", [1, 1000])
def test_more_matches_than_the_most_are_refused(vector: Vector, operation: str, more: int) -> None:
    """`top_k` beyond `max_top_k` is a bad request, also in the last query of a batch."""
    vector.require("query", operation)
    good = vector.requests.minimal("query")
    query = {**good, "top_k": vector.limits.require_limit("max_top_k") + more}
    queries = [good, query] if (vector.limits.most_in_batch or 2) > 1 else [query]
    expect.refusal(vector.call(operation, vector.requests.query_arguments(operation, *queries)), "BadRequest")


@pytest.mark.requirement("VEC-LIMIT-9")
def test_the_refusal_of_too_many_matches_gives_the_limit(vector: Vector) -> None:
    """`details.max_top_k` gives the limit."""
    vector.require("query")
    most = vector.limits.require_limit("max_top_k")
    reply = vector.call("query", {**vector.requests.minimal("query"), "top_k": most + 1})
    with expect.resting_on("VEC-LIMIT-5"):
        expect.refusal(reply, "BadRequest")
    given = reply.details.get("max_top_k")
    expect.check(given == most, f"{most}", describe_word(given), "details.max_top_k")


@rules("refused_or_stored VEC-LIMIT-8, not_stored VEC-LIMIT-14")
def test_a_batch_where_batches_are_denied(vector: Vector, requirement: str) -> None:
    """If batches are denied, a request with two vectors should be refused, but may store both."""
    expect.applicable(vector.capabilities.flag("supports_batch_operations") is False, "batch operations are not denied")
    vector.require("upsert")
    items = [vector.item(20), vector.item(110)]
    sandbox = vector.sandbox()
    reply = sandbox.upsert(*items)
    if requirement == "VEC-LIMIT-14":
        expect.readable(reply)
        stored = reply.is_success and all(item["id"] in sandbox.contents() for item in items)
        expect.check(not stored, "no stored batch, because capabilities deny batch operations", "both vectors stored")
        return
    expect.either(reply, "NotSupported", "BadRequest")
    if reply.is_error:
        expect_exactly(sandbox, claim="no vector of a refused batch")
    elif not reply.failed_items:
        expect_exactly(sandbox, *items)


SHORTER = (5, 3)
"""The numbers of queries in a batch, if longer batches are refused. No key for a maximum of queries is documented."""


@core("VEC-MULTI-1")
@pytest.mark.parametrize("count", [1, 2, MANY])
def test_a_batch_has_a_result_for_each_query(vector: Vector, count: int) -> None:
    """A batch has as many results as queries, each valid under the schema."""
    vector.require("query", "batch_query")
    if count == MANY:
        is_right = vector.limits.most_in_batch is None or vector.limits.most_in_batch >= MANY
        expect.applicable(is_right, f"a batch holds at most {vector.limits.most_in_batch} queries")
        expect.applicable(takes_batch_of(vector, MANY), f"a batch of {MANY} queries is refused")
        expect_audited("VEC-MULTI-1", expect_results(send_plain_batch(vector, MANY), MANY), vector)
        return
    query = vector.requests.minimal("query")
    expect_audited(
        "VEC-MULTI-1", send_batch(vector, *[query] * min(count, vector.limits.most_in_batch or count)), vector
    )


def takes_batch_of(vector: Vector, count: int) -> bool:
    """True if no stated limit forbids a batch of this many queries, and it is not refused permanently."""
    return (vector.limits.most_in_batch or count) >= count and not send_plain_batch(vector, count).is_a(*PERMANENT)


def long_batch_size(vector: Vector) -> int:
    """Return the number of queries for a long batch that the adapter accepts, or else the smallest useful number."""
    accepted = (count for count in (MANY, *SHORTER) if takes_batch_of(vector, count))
    return next(accepted, min(2, vector.limits.most_in_batch or 2))


@remembered
def send_plain_batch(vector: Vector, count: int) -> Reply:
    """Send a batch of this many plain queries and return the answer."""
    return vector.call(
        "batch_query", vector.requests.query_arguments("batch_query", *[vector.requests.minimal("query")] * count)
    )


def send_batch(vector: Vector, *queries: dict[str, Any]) -> Reply:
    """Send a batch and return the answer, which must have as many results as queries."""
    reply = vector.call("batch_query", vector.requests.query_arguments("batch_query", *queries))
    return expect_results(reply, len(queries))


def expect_results(reply: Reply, count: int) -> Reply:
    """Check that an answer to a batch has one result for each of this number of queries."""
    results = results_of(expect.success(reply, "an answer to the batch"))
    expect.check(len(results) == count, f"{count} results", f"{len(results)}", "result")
    return reply


@pytest.mark.requirement("VEC-MULTI-1")
def test_a_query_without_matches_has_a_result(vector: Vector) -> None:
    """A query of a batch that finds nothing has a result too."""
    vector.require("query", "batch_query")
    vector.features.require_filters()
    vector.limits.require_batch_of()
    query = vector.requests.minimal("query")
    send_batch(vector, {**query, "filter": {"kind": "none"}}, query)


@core("VEC-MULTI-2")
def test_results_stand_in_the_order_of_the_queries(vector: Vector) -> None:
    """Each query of a batch finds its own vector first, in any order of the queries."""
    vector.require("query", "batch_query")
    vector.features.require_direction()
    sandbox, items = five_directions(vector)
    for whole in ORDERS:
        order = whole[: long_batch_size(vector)]
        sizes = [vector.limits.cap_matches(3 - number % 3) for number in range(len(order))]
        asked = [{"vector": items[at]["vector"], "top_k": top_k} for at, top_k in zip(order, sizes, strict=True)]
        firsts = [id_of(matches[0]) if matches else "" for matches in sandbox.batch(*asked)]
        wanted = [items[at]["id"] for at in order]
        at = next((at for at, (own, first) in enumerate(zip(wanted, firsts, strict=False)) if own != first), 0)
        expect.check(
            firsts == wanted,
            "each result at the index of its query",
            "the result of another query",
            f"result.results.{at}",
        )


@pytest.mark.requirement("VEC-MULTI-3")
def test_each_query_is_answered_as_it_is_alone(vector: Vector) -> None:
    """The options of one query of a batch do not change the answer to another query."""
    vector.require("query", "batch_query")
    vector.limits.require_batch_of()
    sandbox, items = five_directions(vector)
    plain: dict[str, Any] = {"vector": items[2]["vector"], "top_k": vector.limits.cap_matches(3)}
    others: dict[str, Any] = {
        "top_k": 1,
        "vector": items[4]["vector"],
        "include_metadata": False,
        "include_vectors": True,
        **({"filter": {"part": 0}} if vector.features.filters_work() else {}),
    }
    asked = [plain, *({**plain, key: value} for key, value in others.items())]
    alone = [summary_of(sandbox.matches(**query)) for query in asked]
    if vector.features.filters_work():
        expect_filters_in_a_batch(vector, sandbox, plain)
    for number, key in enumerate(others, start=1):
        pair = (0, number) if number % 2 else (number, 0)
        found = [*map(summary_of, sandbox.batch(*(asked[each] for each in pair)))]
        wanted = [alone[each] for each in pair]
        expect.check(
            found == wanted,
            f"the answer that each query gets outside the batch (the queries differ in {key})",
            "other matches",
        )


def expect_filters_in_a_batch(vector: Vector, sandbox: VectorSandbox, plain: Mapping[str, Any]) -> None:
    """Check that filters select the same vectors in a batch as alone, or are refused (R31, R138).

    One filter has an operator, the other an unusual word. The query with the word is in a batch with queries for other
    unusual words, which find nothing. If this batch is refused, a batch of the one query is sent.
    """
    [word] = vocabulary.fill_in(vocabulary.choose(vocabulary.INJECTIONS, 1, ["condition"]), "w").values()
    others = [{"sort": several} for several in vocabulary.distribute_words(long_batch_size(vector) - 1, "w")]
    for term, behind in (({"part": {"gt": 2}}, []), ({"sort": word}, others)):
        query = {**plain, "filter": term}
        alone = sandbox.ask(**query)
        if not expect.either(alone, *PERMANENT):
            continue
        for queries in ([query, *({**plain, "filter": each} for each in behind)], [query])[: len(behind) + 1]:
            batch = sandbox.args(queries=[sandbox.args(**each) for each in queries])
            if expect.either(vector.call("batch_query", batch, sandbox.ctx), *PERMANENT):
                first, *rest = sandbox.batch(*queries)
                same = summary_of(first) == summary_of(matches_of(alone.result))
                expect.check(
                    same,
                    "the answer that the query gets outside the batch (the queries differ in the filter)",
                    "other matches",
                )
                expect.check(not any(rest), "no match for a value that no vector has", "matches")
                break


def summary_of(matches: list[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    """Return the content of matches without their numbers, in an order that does not depend on ties."""
    return sorted((id_of(match), bool(metadata_of(match)), bool(vector_of(match).get("vector"))) for match in matches)


@pytest.mark.requirement("VEC-MULTI-3")
@pytest.mark.parametrize("metric", METRICS)
def test_a_batch_ranks_by_the_metric(vector: Vector, metric: str) -> None:
    """Each query of a batch has as many matches as outside a batch, in the order of the namespace's metric."""
    vector.require("query", "batch_query")
    found = [ranking for ranking in rankings(vector, metric) if ranking.batched]
    expect.applicable(found, "no query of a batch has matches")
    for ranking in found:
        with expect.resting_on(f"VEC-SCORE-{METRICS.index(metric) + 1}"):
            ranking.expect_order()
        strange = any(id_of(match) not in ranking.truth for match in ranking.batched)
        expect.assessable(not strange, Obstacle.FOREIGN_MATCHES)
        alone, batched = len(ranking.matches), len(ranking.batched)
        expect.check(batched == alone or ranking.is_approximate, f"{alone} matches, as outside a batch", f"{batched}")
        replace(ranking, matches=ranking.batched).expect_order()


@pytest.mark.requirement("VEC-MULTI-3")
def test_a_batch_sees_what_was_written_since(vector: Vector) -> None:
    """The same batch, sent before and after a write and a delete, shows the current content each time."""
    vector.require("query", "batch_query", "delete")
    old, new = vector.item(20), vector.item(110)
    sandbox = vector.sandbox(old)
    query: dict[str, Any] = {"vector": new["vector"], "top_k": 2, "by": "batch_query"}
    sandbox.ids(**query)
    sandbox.put(new)
    sandbox.require_distinguishable(query["top_k"])
    expect.check(new["id"] in sandbox.ids(**query), "the vector that was upserted", "no such match")
    sandbox.remove(new["id"])
    expect.check(new["id"] not in sandbox.ids(**query), "the vector gone", "a match of the deleted vector")


@pytest.mark.requirement("VEC-MULTI-5")
def test_a_batch_on_an_unknown_namespace_is_refused(vector: Vector) -> None:
    """A batch of queries on a namespace that was never created is an error."""
    vector.features.require_namespaces("query", "batch_query")
    where = {"namespace": vector.new_name("none")}
    expect.refusal(vector.call("batch_query", {"queries": [{**vector.query_args(), **where}], **where}), "BadRequest")


@pytest.mark.requirement("VEC-MULTI-6")
def test_the_namespace_of_a_batch_is_that_of_its_queries(vector: Vector) -> None:
    """Queries without a namespace are answered from the namespace of the batch."""
    vector.features.require_namespaces("query", "batch_query")
    query = {**vector.query_args(), "top_k": 1}
    reply = vector.call("batch_query", vector.requests.query_arguments("batch_query", query))
    [result] = results_of(expect.success(reply, "an answer to the batch"))[:1] or [{}]
    found = set(map(id_of, matches_of(result, "VEC-MULTI-1")))
    expect.check(set(vector.main_sandbox().known) & found, "a vector of the namespace of the batch", "no such match")


@pytest.mark.requirement("VEC-MULTI-7")
def test_a_query_of_another_namespace_is_not_answered_from_that_of_the_batch(vector: Vector) -> None:
    """A query of another namespace is refused, or answered from the namespace that the query names."""
    vector.features.require_namespaces("query", "batch_query")
    item = vector.item(40)
    other = vector.sandbox(item)
    query = other.args(vector=item["vector"], top_k=vector.limits.cap_matches(3))
    reply = vector.call("batch_query", vector.requests.query_arguments("batch_query", query))
    expect.either(reply, "BadRequest", "NotSupported")
    if reply.is_success:
        found = {id_of(match) for result in results_of(reply.result) for match in matches_of(result)}
        expect.check(found <= set(other.known), "vectors of the namespace of the query", "vectors of another namespace")
