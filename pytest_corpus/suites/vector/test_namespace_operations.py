"""Namespaces (SPECIFICATION 4.2.6, 9.1 to 9.3; ERRORS 6.3; R12, R22, R45)."""

from functools import partial
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import cached, remembered
from pytest_corpus.kit.fixtures import core, rules
from pytest_corpus.kit.outcomes import NotApplicable, NotAssessed
from pytest_corpus.kit.reply import Reply
from pytest_corpus.kit.vocabulary import FIRST_SIMILAR, distribute_words, similar_names
from pytest_corpus.redaction import describe_word
from pytest_corpus.spec.capabilities import DEFAULT_METRIC
from pytest_corpus.spec.errors import PERMANENT
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.vector.support.answers import id_of, matches_of
from pytest_corpus.suites.vector.support.component import Vector, vector
from pytest_corpus.suites.vector.support.geometry import (
    METRICS,
    POLAR,
    SEEN_FROM,
    canonical_metric,
    direction,
    ids_best_first,
)
from pytest_corpus.suites.vector.support.sandbox import VectorSandbox, expect_stored
from pytest_corpus.suites.vector.support.scenarios.checks import (
    expect_exactly,
    expect_metadata,
    offer_sandboxes_in_turn,
    upsert_and_query,
)
from pytest_corpus.suites.vector.support.shared import Item

ODD_NAMES = 4
"""The number of namespaces in a run that have unusual words in their names."""


def sandbox_with_unusual_name(vector: Vector, turn: int, *items: Item) -> VectorSandbox:
    """Return a new namespace with these vectors. Its name has several unusual words, if accepted (R138)."""
    name = f"{vector.new_name('n')}{distribute_words(ODD_NAMES)[turn]}"
    return (vector.offer_sandbox(name, *items) if vector.has_namespaces else None) or vector.sandbox(*items)


@core("VEC-NS-1")
def test_a_namespace_that_was_created_can_be_used(vector: Vector) -> None:
    """A new namespace accepts vectors, and queries find them."""
    vector.features.require_namespaces()
    args = vector.namespace_args()
    expect.success(vector.call("create_namespace", args), "a namespace")
    sandbox, item = VectorSandbox(vector, args["namespace"], args["dimensions"], vector.metric, {}), vector.item(70)
    written = sandbox.upsert(item)
    if not written.is_a("BadRequest"):
        expect_stored(written, [item])
    expect.check(written.is_success, "an upsert into the namespace that was created", str(written))
    read = sandbox.ask(item["vector"], 1)
    expect.check(not read.is_a("BadRequest"), "a query on the namespace that was created", str(read))


@pytest.mark.requirement("VEC-NS-1")
def test_a_namespace_that_was_deleted_can_be_created_again(vector: Vector) -> None:
    """A name can be used again after its namespace was deleted."""
    vector.features.require_namespaces()
    sandbox = sandbox_with_unusual_name(vector, 0)
    expect.success(vector.call("delete_namespace", {"namespace": sandbox.name}), "the deletion")
    again, item = vector.sandbox(name=sandbox.name), vector.item(120)
    again.put(item)
    expect.check(item["id"] in again.contents(), "the vector in the new namespace", "no match of the vector")


@core("VEC-NS-2")
def test_one_namespace_is_not_found_in_another(vector: Vector) -> None:
    """Each namespace returns only its own vectors, even if vectors and names of other namespaces are similar."""
    vector.features.require_namespaces("query")
    kinds = ("long", *FIRST_SIMILAR, "trailing_blank", "longer", "colon")
    name, long, *similar = similar_names(vector.new_name("n"), len(kinds), kinds)
    items = [[vector.item(degrees) for degrees in (20, 100)] for _ in range(2)]
    sandboxes = [vector.sandbox(*items[0], name=name)]
    sandboxes.append(vector.offer_sandbox(long, *items[1]) or vector.sandbox(*items[1]))
    for places in offer_sandboxes_in_turn(vector, [(each, None, vector.item(20)) for each in similar]):
        for other, item in places[:1]:  # writing to the second one could change others
            expect_exactly(other, item, claim="only the vector of a namespace with a similar name")
        expect_exactly(
            sandboxes[0], *items[0], claim="only the vectors of the namespace, although others have similar names"
        )
    for sandbox, own in zip(sandboxes, items, strict=True):
        for operation in ("query", *(["batch_query"] if vector.works("batch_query") else [])):
            found = set(sandbox.ids(own[0]["vector"], by=operation))
            is_right = found <= {item["id"] for item in own}
            expect.check(is_right, "vectors of the namespace only", "vectors of another namespace")
        expect_exactly(sandbox, *own)


@core("VEC-NS-3")
def test_the_same_id_in_two_namespaces_is_two_vectors(vector: Vector) -> None:
    """Writing or deleting an id in one namespace does not change the vector with this id in another."""
    vector.features.require_namespaces()
    one = vector.item(20, {"kind": "one"})
    other = {**one, "vector": direction(110, vector.dimensions), "metadata": {"kind": "other"}}
    first, second = sandbox_with_unusual_name(vector, 1, one), sandbox_with_unusual_name(vector, 2, other)
    for sandbox, item in ((first, one), (second, other)):
        expect_metadata(expect_exactly(sandbox, item), [item], "the metadata of this namespace")
    deletes: list[dict[str, Any]] = [{"filter": one["metadata"]}] if vector.features.deletes_by_filter else []
    for args in (None, *deletes, {"ids": [one["id"]]}):
        second.put({**other, "metadata": one["metadata"]})
        if args:
            with expect.resting_on("VEC-DELETE-1" if "ids" in args else "VEC-DELETE-5"):
                expect.success(second.delete(**args), "a delete to be carried out")
        expect_metadata(expect_exactly(first, one, claim="the vector of the other namespace"), [one])


@core("VEC-NS-4")
def test_a_deleted_namespace_holds_nothing(vector: Vector) -> None:
    """A query on a deleted namespace fails or finds nothing. If its name is used again, only new vectors are found."""
    vector.features.require_namespaces("delete_namespace")
    items = [vector.item(20), vector.item(110)]
    sandbox, asked = sandbox_with_unusual_name(vector, 3, *items), items[0]["vector"]
    before = expect.success(sandbox.ask(asked, 3), "an answer to the query")
    expect.check(matches_of(before), "the vectors before the deletion", "no matches")
    expect.success(vector.call("delete_namespace", {"namespace": sandbox.name}), "the deletion")
    sandbox.held.clear()
    expect_no_matches(sandbox.ask(asked, 3))
    again, new = vector.sandbox(name=sandbox.name), vector.item(20)
    expect_no_matches(again.ask(asked, 2))
    again.put(new)
    expect_exactly(again, new)
    is_right = new["id"] in again.ids(asked, 3)
    expect.check(is_right, "the vector of the new namespace", "no match of the vector", "result.matches")


@core("VEC-NS-5")
def test_deleting_a_namespace_leaves_the_others(vector: Vector) -> None:
    """Other namespaces keep their vectors, even if their names begin with the deleted name or resemble it."""
    vector.features.require_namespaces("delete_namespace")
    item = vector.item(20)
    (name, *similar) = similar_names(
        vector.new_name("n"), vector.features.count_namespaces_to_try(), ["composed", "decomposed"]
    )
    doomed, *kept = (vector.sandbox(item, name=each) for each in (name, f"{name}x"))
    others = [other for each in similar if (other := vector.offer_sandbox(each, item)) is not None]
    for each in [doomed, *others[:1]]:
        expect.success(vector.call("delete_namespace", {"namespace": each.name}), "the deletion")
    kept += others[1:]
    for sandbox in kept:
        expect_exactly(sandbox, item, claim="the vectors of the other namespace")


@pytest.mark.core
@rules("refused VEC-NS-6, as_not_found VEC-NS-11")
def test_a_query_on_an_unknown_namespace_is_refused(vector: Vector, requirement: str) -> None:
    """A query on a namespace that was never created is refused, even if its name resembles a known one."""
    vector.features.require_namespaces("query")
    family = "BadRequest" if requirement == "VEC-NS-6" else "NamespaceNotFound"
    for number, name in enumerate((vector.new_name("none"), f"{vector.requests.main_namespace}x")):
        query = partial(vector.call, "query", {**vector.query_args(), "namespace": name})
        expect.refusal(cached(vector, ("unknown", number), query), family)


@pytest.mark.requirement("VEC-NS-8")
def test_each_namespace_keeps_its_own_metric(vector: Vector) -> None:
    """Namespaces of different metrics rank the same vectors by their own metric, even if created again."""
    vector.features.require_namespaces()
    is_right = len({canonical_metric(metric) for metric in vector.limits.metrics}) >= 2
    expect.applicable(is_right, "fewer than two metrics are listed")
    expect.applicable(vector.dimensions != 1, "in one dimension the metrics do not differ")
    items = [vector.item(metadata=None, vector=direction(angle, vector.dimensions, size)) for angle, size in POLAR]
    first, *others = vector.limits.metrics
    upsert_and_query = vector.sandbox(metric=first)
    with expect.resting_on("VEC-NS-4"):
        expect.success(vector.call("delete_namespace", {"namespace": upsert_and_query.name}), "the deletion")
    sandboxes = [vector.sandbox(*items, metric=metric) for metric in (first, *others[1:])]
    sandboxes.append(vector.sandbox(*items, metric=others[0], name=upsert_and_query.name))
    query = direction(SEEN_FROM[0], vector.dimensions, SEEN_FROM[1])
    rankings = {str(sandbox.protocol_metric): sandbox.ids(query, len(items)) for sandbox in sandboxes}
    vectors = {item["id"]: item["vector"] for item in items}
    for metric, ranking in rankings.items():
        orders = {
            other: [name for name in ids_best_first(other, query, vectors) if name in ranking] for other in rankings
        }
        orders = (
            orders
            if vector.limits.is_approximate
            else {name: ids_best_first(name, query, vectors)[: len(ranking)] for name in rankings}
        )
        own, others = orders[metric], [other for other, order in orders.items() if ranking == order]
        expect.check(ranking == own or not others, f"the ranking of {metric}", f"the ranking of {' or '.join(others)}")


@pytest.mark.requirement("VEC-NS-9")
def test_without_a_namespace_the_default_one_is_meant(vector: Vector) -> None:
    """Upserts, queries and deletes without a namespace use the namespace `default`, and no other."""
    item = vector.item(70)
    if not vector.has_namespaces:
        sandbox = vector.sandbox(item)
        expect.check(sandbox.ids(item["vector"], 1) == [item["id"]], "the vector", "another match, or none")
        return
    other = vector.sandbox(vector.item(20))
    reply = vector.call("upsert", {"vectors": [item]})
    expect.readable(reply)
    if reply.is_a("ResourceExhausted"):
        raise NotAssessed(Obstacle.DEFAULT_UPSERT, reply=reply)
    expect.either(reply, "BadRequest", "NotSupported")
    if not reply.is_carried_out:
        named = vector.call("upsert", {"vectors": [item], "namespace": "default"})
        expect.check(
            not named.is_carried_out,
            "an upsert without a namespace to be accepted, like an upsert into `default`",
            "a refusal of the upsert without a namespace",
        )
        raise NotApplicable("there is no default namespace for vectors of these dimensions")
    query = {"vector": item["vector"], "top_k": 1}
    for where in ({}, {"namespace": "default"}):
        answer = expect.success(vector.wait_for_index(partial(vector.call, "query", {**query, **where}), True))
        found = [id_of(match) for match in matches_of(answer)]
        expect.check(item["id"] in found, "the vector of the default namespace", "no match of the vector")
    expect.check(item["id"] not in other.contents(), "no such vector in another namespace", "the vector")
    expect.success(vector.call("delete", {"ids": [item["id"]]}), "a delete without a namespace")
    left = vector.call("query", {**query, "namespace": "default"})
    gone = left.is_error or item["id"] not in [id_of(match) for match in matches_of(left.result)]
    expect.check(gone, "the vector gone from the default namespace", "a match of the deleted vector")


@pytest.mark.requirement("VEC-NS-14")
@pytest.mark.parametrize("given", [{}, {"distance_metric": None}], ids=["missing", "null"])
def test_a_namespace_without_a_metric_can_be_used(vector: Vector, given: dict[str, Any]) -> None:
    """A namespace that was created without a metric accepts a vector, and a query finds it."""
    vector.features.require_namespaces("create_namespace", "query")
    args = {"namespace": vector.new_name("n"), "dimensions": vector.limits.usual_dimensions, **given}
    reply = vector.call("create_namespace", args)
    claimed = any(isinstance(value, str) for _, value in vector.capabilities.extensions(*DEFAULT_METRIC))
    if reply.is_a("BadRequest") and (given or not claimed):
        raise NotApplicable("a namespace needs a metric, and no default metric is claimed")
    found = upsert_and_query(vector, args, "the adapter's own metric", reply)
    expect.check(found, "the vector that was upserted", "no matches", "result.matches")


@pytest.mark.requirement("VEC-NS-10")
@pytest.mark.parametrize("name", ["create_namespace", "delete_namespace"])
def test_a_success_speaks_of_the_namespace_that_was_asked_for(vector: Vector, name: str) -> None:
    """The result is an object. It has neither `success: false` nor the name of another namespace."""
    vector.features.require_namespaces(name)
    args = vector.requests.minimal(name)
    with expect.resting_on("VEC-NS-1"):
        result = expect.success(vector.call(name, args), f"{name} to work")
    expect.check(isinstance(result, dict), "an object", describe_word(result), "result")
    expect.check(result.get("success") is not False, "true", "false", "result.success")
    named = result.get("namespace")
    is_right = named in (None, args["namespace"])
    expect.check(is_right, "the namespace of the request", "another namespace", "result.namespace")


@rules("refused VEC-NS-12, permanently VEC-NS-7")
def test_a_metric_that_is_not_offered(vector: Vector, requirement: str) -> None:
    """An unknown or unlisted metric is refused, and every refusal of it is permanent."""
    for reply in create_with_other_metrics(vector):
        (expect.refusal if requirement == "VEC-NS-12" else expect.either)(reply, *PERMANENT)


@pytest.mark.requirement("VEC-NS-6")
def test_a_namespace_whose_creation_was_refused_is_unknown(vector: Vector) -> None:
    """A namespace whose metric or dimension is refused does not exist, so a query on it is refused too (R14)."""
    vector.require("query")
    replies = [
        *create_with_other_metrics(vector),
        vector.call("create_namespace", {**vector.namespace_args(), "dimensions": -1}),
    ]
    refused = [reply for reply in replies if reply.is_a("BadRequest", "NotSupported")]
    expect.applicable(refused, "no creation is refused")
    for reply in refused:
        where = {"namespace": reply.exchange.request["args"]["namespace"]}
        expect.refusal(vector.call("query", {**vector.query_args(), **where}), "BadRequest")


@remembered
def create_with_other_metrics(vector: Vector) -> list[Reply]:
    """Create namespaces with metrics that are not offered; return the answers."""
    vector.features.require_namespaces("create_namespace")
    offered = {canonical_metric(metric) for metric in vector.limits.metrics}
    asked = ["no_such_metric", *(each for each in METRICS if offered and each not in offered)]
    return [vector.call("create_namespace", {**vector.namespace_args(), "distance_metric": metric}) for metric in asked]


@pytest.mark.requirement("VEC-NS-13")
def test_creating_a_namespace_anew_keeps_its_vectors(vector: Vector) -> None:
    """A namespace keeps its vectors if it is created again, or if a creation with other dimensions is refused."""
    vector.features.require_namespaces()
    item = vector.item(40)
    sandbox = vector.sandbox(item)
    vector.call("create_namespace", vector.namespace_args(sandbox.name))
    expect_exactly(sandbox, item)
    if vector.call(
        "create_namespace", vector.namespace_args(sandbox.name, dimensions=len(item["vector"]) + 1)
    ).is_error:
        expect_exactly(sandbox, item)


def expect_no_matches(reply: Reply) -> None:
    """Check that an answer has no matches, or is an error."""
    expect.readable(reply)
    empty = not reply.is_success or not matches_of(reply.result)
    expect.check(empty, "no matches, or an error", "matches", "result.matches")
