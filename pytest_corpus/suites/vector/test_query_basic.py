"""Reading vectors (SPECIFICATION 4.2.6, 9.2 to 9.5, 11.5; SCHEMA 4.2.2; ERRORS 6.3; R10, R12, R30, R32)."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import pytest

from pytest_corpus.adapter.facts import to_whole_number
from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import cached, remembered
from pytest_corpus.kit.component import expect_audited
from pytest_corpus.kit.fixtures import core, rules
from pytest_corpus.kit.outcomes import Blocked, NotApplicable
from pytest_corpus.kit.reply import Reply
from pytest_corpus.kit.store.results import next_cursor
from pytest_corpus.suites.vector.support.answers import id_of, matches_of, metadata_of, vector_of
from pytest_corpus.suites.vector.support.component import Vector, vector
from pytest_corpus.suites.vector.support.geometry import (
    SINGLE,
    TOLERANCE,
    are_alike,
    are_parallel,
    canonical_metric,
    direction,
    ids_best_first,
)
from pytest_corpus.suites.vector.support.pages import next_page
from pytest_corpus.suites.vector.support.requests import HOME
from pytest_corpus.suites.vector.support.sandbox import VectorSandbox
from pytest_corpus.suites.vector.support.scenarios.checks import expect_metadata, five_directions
from pytest_corpus.suites.vector.support.shared import Item

RECALL = 0.9
"""The share of the stored vectors that an approximate search should find (R113)."""

MOST_WRITTEN = 1_000
"""The suite never writes more vectors than this to one namespace. Replaced and deleted vectors count too."""

MOST_PAGES = 20
MOST_SHOWN = 120
"""An adapter that claims pages must use them if there are more matches than this."""


@core("VEC-QUERY-1")
@pytest.mark.parametrize("more", [{}, {"include_vectors": True}, {"include_metadata": False}], ids=str)
def test_a_query_is_answered_with_matches(vector: Vector, more: dict[str, Any]) -> None:
    """The result of a plain query fits the schema, with any options for its content."""
    vector.require("query")
    reply = vector.call("query", {**vector.requests.minimal("query"), **more})
    expect_audited("VEC-QUERY-1", reply, vector, claim="a query result")


@pytest.mark.core
@rules("at_most VEC-QUERY-2, all_of_them VEC-QUERY-3, total VEC-QUERY-5")
def test_there_are_top_k_matches(vector: Vector, requirement: str) -> None:
    """A query returns `top_k` matches, or all five vectors, each once; `total_matches` is plausible."""
    sandbox, items = five_directions(vector)
    for top_k in (1, 2, 3, 4, 5, 9):
        if requirement == "VEC-QUERY-3" and vector.limits.is_approximate:
            lost = [item for item in items if item["id"] not in sandbox.ids(item["vector"], top_k)]
            expect.check(
                not lost,
                "each vector to be found by a query with this vector",
                f"{len(lost)} of 5 not found",
                "result.matches",
            )
            continue
        reply = cached(vector, ("top_k", top_k), partial(sandbox.ask, None, top_k))
        found = [
            id_of(match) for match in sandbox.expect_own(matches_of(expect.success(reply, "an answer to the query")))
        ]
        if requirement == "VEC-QUERY-2":
            expect.check(len(found) <= top_k, f"at most {top_k} matches", f"{len(found)}", "result.matches")
        elif requirement == "VEC-QUERY-3":
            wanted, different = min(vector.limits.cap_matches(top_k), len(items)), len(set(found))
            expect.check(different >= wanted, f"{wanted} different matches", f"{different}", "result.matches")
        else:
            expect_audited("VEC-QUERY-5", reply, vector)
            if (total := to_whole_number(reply.result.get("total_matches"))) is None:
                raise Blocked("VEC-QUERY-1", "a query is answered without total_matches")
            true = not vector.has_namespaces or total <= MOST_WRITTEN
            expect.check(
                true, "at most the number of vectors written to the namespace", found=total, path="result.total_matches"
            )


@pytest.mark.requirement("VEC-QUERY-3")
def test_an_id_is_in_the_matches_once(vector: Vector) -> None:
    """A query returns an id once, although two upserts contain it, one of them twice."""
    first = vector.item(40)
    sandbox = vector.sandbox()
    for batch in ((first, {**first, "metadata": {"kind": "last"}})[: vector.limits.most_in_batch or 2], (first,)):
        sandbox.upsert(*batch)
        found = sandbox.ids(first["vector"], 5)
        expect.check(found.count(first["id"]) < 2, "the id once", f"{found.count(first['id'])} times", "result.matches")


@pytest.mark.requirement("VEC-QUERY-19")
@pytest.mark.parametrize(("many", "deleted"), [(30, 0), (200, 100)], ids=["all_there", "half_deleted"])
def test_an_approximate_search_finds_nearly_all(vector: Vector, many: int, deleted: int) -> None:
    """Many plain queries find nine tenths of the ten best vectors, even after half of the vectors were deleted."""
    expect.applicable(vector.limits.is_approximate, "capabilities state no approximate search")
    vector.features.require_direction()
    vector.require("query", *(["delete"] if deleted else []))
    metric, top_k = canonical_metric(vector.metric) or "cosine", vector.limits.cap_matches(10)
    items = [vector.item(3 + 174 * number / many) for number in range(many)]
    sandbox = vector.sandbox(*items)
    gone = [item["id"] for item in items[1::2][:deleted]]
    sandbox.remove(*gone)
    vectors = {item["id"]: item["vector"] for item in items if item["id"] not in gone}
    asked, found = items[:: many // 30], 0
    for item in asked:
        found += len({*ids_best_first(metric, item["vector"], vectors)[:top_k]} & {*sandbox.ids(item["vector"], top_k)})
    recall = found / (top_k * len(asked))
    expect.check(recall >= RECALL, f"a recall of {RECALL} or more", f"{recall:.2f}", "result.matches")


@core("VEC-QUERY-4")
@pytest.mark.parametrize("count", [5, 20])
def test_the_matches_are_the_best_of_all(vector: Vector, count: int) -> None:
    """The best vectors are found, whatever the order of writing."""
    metric = canonical_metric(vector.metric) or "cosine"
    vector.features.require_direction(metric)
    if count == len(HOME):
        sandbox, items = five_directions(vector)
    else:
        items = [vector.item(5 + 170 * part / count) for part in range(count)]
        sandbox = vector.sandbox(*items)
    vectors = {str(item["id"]): item["vector"] for item in items}
    for number, degrees in enumerate((0, 21, 38, 59, 118, 180)):
        query, top_k = direction(degrees, vector.dimensions), 1 + number % 3
        wanted, found = ids_best_first(metric, query, vectors), sandbox.ids(query, top_k)
        if vector.limits.is_approximate:
            wanted = [name for name in wanted if name in found]
        wanted = wanted[: vector.limits.cap_matches(top_k)]
        expect.check(found == wanted, f"the best {len(wanted)}, best first", "other vectors, or another order")


@rules("result VEC-QUERY-6, match VEC-QUERY-18")
def test_an_answer_names_the_namespace_that_was_asked(vector: Vector, requirement: str) -> None:
    """A result names the namespace of the request, and so does each match that names a namespace."""
    vector.features.require_namespaces()
    places = [five_directions(vector)[0], cached(vector, "another namespace", lambda: vector.sandbox(vector.item()))]
    for number, sandbox in enumerate(places):
        result = expect.success(cached(vector, ("the namespace", number), sandbox.ask))
        if requirement == "VEC-QUERY-6":
            named = {result.get("namespace")}
        else:
            named = {vector_of(match).get("namespace") for match in matches_of(result)} - {None}
        expect.applicable(named, "no match names a namespace")
        expect.check(named == {sandbox.name}, "the namespace of the request", "another namespace", "result.namespace")


@pytest.mark.core
@rules("there VEC-QUERY-7, left_out VEC-QUERY-16")
def test_metadata_are_in_the_matches(vector: Vector, requirement: str) -> None:
    """Each match has the metadata of its id, with or without a filter. `include_metadata` false leaves them out."""
    sandbox, items = five_directions(vector)
    asked: list[dict[str, Any]] = [{}, {"include_metadata": True}, {"include_vectors": True}]
    for more in asked if requirement == "VEC-QUERY-7" else [{"include_metadata": False}]:
        found = find_all(sandbox, **more)
        expect_all_found(vector, found, items)
        if requirement == "VEC-QUERY-16":
            path = "result.matches.vector.metadata"
            expect.check(not any(map(metadata_of, found.values())), "no metadata", "metadata", path)
        else:
            expect_metadata(found, items)
    if requirement == "VEC-QUERY-7" and vector.features.filters_work():
        filtered = {id_of(match): match for match in sandbox.matches(items[0]["vector"], 3, filter={"part": 0})}
        with expect.resting_on("VEC-FILTER-1"):
            expect.check(filtered, "the match of the filter", "no match", "result.matches")
        expect_metadata(filtered, items)


def find_all(sandbox: VectorSandbox, **args: Any) -> dict[str, Mapping[str, Any]]:
    """Query for five vectors and return the matches by id. An approximate search gets a query for each vector."""
    if sandbox.vector.limits.is_approximate:
        return sandbox.contents(**args)
    return {id_of(match): match for match in sandbox.matches(None, 5, **args)}


def expect_all_found(vector: Vector, found: Iterable[str], items: Sequence[Item]) -> None:
    """Check that all of these vectors are found, or as many as one query may return."""
    missing = vector.limits.cap_matches(len(items)) - len({item["id"] for item in items} & set(found))
    with expect.resting_on("VEC-QUERY-3"):
        expect.check(missing <= 0, f"{len(items)} different matches", f"{missing} fewer", "result.matches")


@core("VEC-QUERY-8")
def test_vectors_are_in_the_matches_when_asked_for(vector: Vector) -> None:
    """Each match has the vector that was stored under its id: all components, with a precision of at least 32 bits."""
    items = [vector.item(angle) for angle in HOME]
    for number, item in enumerate(items):
        if vector.dimensions > 2:
            item["vector"][-1] = round(0.1234567 + number / 10, 7)
    sandbox = vector.sandbox(*items)
    fits = are_alike if canonical_metric(sandbox.metric) in ("euclidean", "dot") else are_parallel
    for metadata in (True, False):
        found = find_all(sandbox, include_vectors=True, include_metadata=metadata)
        expect_all_found(vector, found, items)
        for item in items:
            if item["id"] in found:
                held = vector_of(found[item["id"]]).get("vector")
                fit = fits(held, item["vector"], TOLERANCE if vector.limits.is_coarse else SINGLE)
                expect.check(fit, "the vector that was stored", "another vector", "result.matches.vector")


@pytest.mark.requirement("VEC-QUERY-12")
@pytest.mark.parametrize("kind", ["whole", "negative", "small"])
def test_any_finite_number_is_a_component(vector: Vector, kind: str) -> None:
    """Integers, zeros, negative and small numbers can be stored and searched for."""
    rest = vector.dimensions - 1
    components: dict[str, list[float]] = {
        "whole": [1, *[0] * rest],
        "negative": [-0.5, *[-0.25] * rest],
        "small": [1e-3, *[-1e-3] * rest],
    }
    item, other = vector.item(), vector.item()
    item["vector"], other["vector"] = components[kind], [-component for component in components[kind]]
    sandbox = vector.sandbox()
    for batch in ((item,), (other,)) if vector.limits.most_in_batch == 1 else ((item, other),):
        expect.full_success(sandbox.upsert(*batch), "an upsert of such components")
    if canonical_metric(sandbox.metric) == "cosine" or vector.dimensions > 1:
        is_right = sandbox.ids(components[kind], 1) == [item["id"]]
        expect.check(is_right, "the vector itself", "another vector, or no match")


@pytest.mark.requirement("VEC-QUERY-13")
@pytest.mark.parametrize("emptied", [False, True], ids=["new", "emptied"])
def test_an_empty_namespace_has_no_matches(vector: Vector, emptied: bool) -> None:
    """A namespace without vectors, new or emptied, returns no matches or INDEX_NOT_READY."""
    vector.require("query", "delete")
    sandbox, reply = empty_sandbox(vector)
    if emptied:
        item = vector.item(30)
        sandbox = vector.sandbox(item)
        sandbox.remove(item["id"])
        reply = sandbox.ask()
    expect.either(reply, "Unavailable" if vector.is_empty_answer(reply) else "IndexNotReady")
    if reply.is_success:
        expect.check(not sandbox.expect_own(matches_of(reply.result)), "no matches", "matches", "result.matches")


@remembered
def empty_sandbox(vector: Vector) -> tuple[VectorSandbox, Reply]:
    """Return a sandbox without vectors, and the answer to a query of the sandbox."""
    sandbox = vector.sandbox()
    return sandbox, sandbox.ask()


@pytest.mark.requirement("VEC-QUERY-15")
def test_an_index_that_is_not_ready_says_when_to_retry(vector: Vector) -> None:
    """The error INDEX_NOT_READY has a `retry_after_ms`."""
    _, reply = empty_sandbox(vector)
    expect.applicable(reply.is_a("IndexNotReady"), "an empty namespace gives no matches")
    expect.check(reply.body.get("retry_after_ms") is not None, "a number", "no number", "retry_after_ms")


@pytest.mark.requirement("VEC-QUERY-14")
@pytest.mark.parametrize("top_k", [2, 5])
def test_pages_give_every_match_once(vector: Vector, top_k: int) -> None:
    """Following the tokens of pages gives every vector once, and ends with a last page."""
    sandbox, items = five_directions(vector)
    query = sandbox.args(vector=items[0]["vector"], top_k=vector.limits.cap_matches(top_k))
    send = partial(vector.call, "query")
    result = expect.success(vector.wait_for_index(partial(send, query), True))
    if not next_cursor(result):
        expect_page_token(vector, shown=len(matches_of(result)), stored=len(items))
        raise NotApplicable("no page token was given")
    seen = [id_of(match) for match in sandbox.expect_own(matches_of(result))]
    for _ in range(MOST_PAGES):
        if not next_cursor(result):
            break
        result = next_page(vector.shared, send, query, result)
        seen += [id_of(match) for match in sandbox.expect_own(matches_of(result))]
    expect.check(not next_cursor(result), "a last page", f"none after {MOST_PAGES}", "result.next_page_token")
    expect.check(len(set(seen)) == len(seen), "every match once", "one of them again", "result.matches")
    metric, vectors = canonical_metric(vector.metric) or "cosine", {str(item["id"]): item["vector"] for item in items}
    wanted = ids_best_first(metric, query["vector"], vectors)
    expect.check(set(seen) <= set(wanted), "vectors of the namespace", "vectors of another namespace", "result.matches")
    ends = {query["top_k"], vector.capabilities.limit("max_top_k"), len(wanted)}
    ends |= {len(seen)} if vector.limits.is_approximate else set()
    expect.check(len(seen) in ends, f"{query['top_k']} matches, or all {len(wanted)}", f"{len(seen)} in all")
    if vector.limits.is_approximate:
        wanted = [name for name in wanted if name in seen]
    if vector.dimensions > 1:
        is_right = seen == wanted[: len(seen)]
        expect.check(is_right, "each page to begin where the page before ended", "a gap before the next page")


def expect_page_token(vector: Vector, *, shown: int, stored: int) -> None:
    """If pages are claimed and `shown` is less than `stored`, check that a large answer has a page token (R67)."""
    if vector.capabilities.flag("supports_pagination") is not True or shown >= stored:
        return
    top_k = vector.limits.cap_matches(MOST_SHOWN)
    sandbox = vector.sandbox(*(vector.item(170 * number / top_k) for number in range(top_k + 1)))
    query = sandbox.args(vector=direction(45, vector.dimensions), top_k=top_k)
    result = expect.success(vector.wait_for_index(lambda: vector.call("query", query), True), "an answer to the query")
    if next_cursor(result):
        return
    expect.applicable(len(matches_of(result)) >= top_k, "an approximate search finds fewer matches than a page holds")
    expect.check(
        next_cursor(result), "a page token, because there are more matches", "no page token", "result.next_page_token"
    )


@pytest.mark.requirement("VEC-QUERY-17")
def test_the_query_vector_is_that_of_the_query(vector: Vector) -> None:
    """`query_vector`, if present, is the vector of the request, even after a query with a similar vector."""
    vector.require("query")
    args = vector.requests.minimal("query")
    for degrees in (15, 15.15):  # equal lengths: a store may keep only directions
        query = {**args, **vector.query_args(degrees)}
        given = expect.success(vector.call("query", query)).get("query_vector")
        expect.applicable(given, "no query_vector is given")
        expect.check(
            are_alike(given, query["vector"]), "the vector of the query", "another vector", "result.query_vector"
        )
