"""Dimensions of vectors and namespaces (SPECIFICATION 9.3, 17.2; ERRORS 6.3; BEHAVIORAL_CONFORMANCE 6.7; R12, R14)."""

from functools import partial
from itertools import product
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import cached
from pytest_corpus.kit.fixtures import core, rules
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.suites.vector.support.answers import failed_count
from pytest_corpus.suites.vector.support.component import Vector, vector
from pytest_corpus.suites.vector.support.geometry import direction
from pytest_corpus.suites.vector.support.sandbox import VectorSandbox
from pytest_corpus.suites.vector.support.scenarios import checks
from pytest_corpus.suites.vector.support.shared import Item

MISMATCH = "DimensionMismatch"

MOST_DIMENSIONS = 20_000
"""Vectors with more dimensions than this are not sent, because that would be expensive."""


def wrong_lengths(vector: Vector, degrees: float = 45) -> list[list[float]]:
    """Return vectors with more and with fewer components than plain vectors."""
    plain = direction(degrees, vector.dimensions)
    return [[*plain, 0.5], plain[:-1] if len(plain) > 1 else [*plain, *plain]]


@core("VEC-DIM-1")
def test_an_upsert_of_another_dimension_is_a_mismatch(vector: Vector) -> None:
    """Longer and shorter vectors are refused or reported, in an empty, a filled and an emptied namespace."""
    held, sandbox = vector.item(30), vector.sandbox()

    def expect_mismatch(item: Item) -> None:
        for wrong in wrong_lengths(vector):
            checks.expect_refused_or_reported(sandbox.upsert({**item, "vector": wrong}), MISMATCH)

    if vector.has_namespaces or vector.limits.fixed_dimensions:
        expect_mismatch(vector.item())
    sandbox.put(held)
    expect_mismatch(vector.item())
    expect_mismatch(held)
    if (vector.has_namespaces or vector.limits.fixed_dimensions) and vector.works("delete"):
        sandbox.remove(held["id"])
        expect_mismatch(vector.item())


@pytest.mark.requirement("VEC-DIM-1")
def test_the_default_namespace_has_its_dimensions_too(vector: Vector) -> None:
    """If the default namespace has a vector, a vector of another length is refused there, or reported as failed."""
    expect.applicable(vector.has_namespaces, "there is only one namespace, and other tests cover it")
    vector.require("upsert")
    first = vector.call("upsert", {"vectors": [vector.item(30)]})
    expect.readable(first)
    if not first.is_carried_out:
        raise NotApplicable("there is no default namespace for vectors of these dimensions")
    for wrong in wrong_lengths(vector):
        checks.expect_refused_or_reported(
            vector.call("upsert", {"vectors": [{**vector.item(), "vector": wrong}]}), MISMATCH
        )


@pytest.mark.core
@rules("query VEC-DIM-2, batch VEC-DIM-3")
def test_a_query_of_another_dimension_is_a_mismatch(vector: Vector, requirement: str) -> None:
    """A query with a longer or shorter vector is refused, also as the first or the last query of a batch."""
    operation, good = "query" if requirement == "VEC-DIM-2" else "batch_query", vector.requests.minimal("query")
    vector.require("query", operation)
    filtered = [{**good, "filter": {"kind": "home"}}] if operation == "query" and vector.features.filters_work() else []
    several = operation == "batch_query" and (vector.limits.most_in_batch or 2) > 1
    for query, wrong in product((good, *filtered), wrong_lengths(vector)):
        bad = {**query, "vector": wrong}
        for queries in ((bad, good), (good, bad)) if several else ((bad,),):
            expect.refusal(vector.call(operation, vector.requests.query_arguments(operation, *queries)), MISMATCH)


@pytest.mark.requirement("VEC-DIM-4")
def test_a_vector_of_another_dimension_is_not_stored(vector: Vector) -> None:
    """A vector of wrong length is not stored, not even cut or padded. A known id keeps its components and metadata."""
    held = vector.item(30, {"kind": "kept"})
    sandbox = vector.sandbox(held)
    for wrong in wrong_lengths(vector, 120):
        for item in (vector.item(), held):
            sandbox.upsert({**item, "vector": wrong, "metadata": {"kind": "wrong"}})
        checks.expect_metadata(checks.expect_exactly(sandbox, held, claim="only the vector from before"), [held])
    if vector.dimensions > 1:
        expect.check(sandbox.ids(held["vector"], 1) == [held["id"]], "the vector as before", "another vector")


@pytest.mark.requirement("VEC-DIM-5")
def test_only_items_of_another_dimension_fail(vector: Vector) -> None:
    """If a batch is applied item by item, the failures name exactly the wrong items, and the others are stored."""
    vector.limits.require_batch_of(4)
    sandbox = vector.sandbox(vector.item(5))
    items: list[dict[str, Any]] = [vector.item(degrees, {"part": degrees}) for degrees in (30, 70, 110, 150)]
    wrong = {number: items[number] for number in (1, 3)}
    for number in wrong:
        items[number]["vector"] = [*items[number]["vector"], 0.5]
    reply = sandbox.upsert(*items)
    if not reply.is_success:
        expect.refusal(reply, MISMATCH)
        raise NotApplicable("the whole batch is refused if one item is bad")
    expect.check(
        failed_count(reply.result) == 2, "2 failed items", f"{failed_count(reply.result)}", "result.failed_count"
    )
    points = checks.names_wrong_items(reply, wrong, vector.settings.edition)
    expect.check(points, "failures of the items 1 and 3", f"{len(reply.failed_items)} others", "result.failures")
    found = sandbox.contents()
    stored = all(items[number]["id"] in found for number in (0, 2))
    expect.check(stored, "the other items stored", "not all of the items")


@rules("used VEC-DIM-6, refused VEC-DIM-7")
def test_the_most_dimensions_can_be_used(vector: Vector, requirement: str) -> None:
    """A namespace of `max_dimensions` accepts and returns vectors; a namespace of one dimension more is refused."""
    vector.features.require_namespaces("create_namespace")
    most = vector.limits.require_limit("max_dimensions", MOST_DIMENSIONS if requirement == "VEC-DIM-6" else None)
    expect.applicable(vector.limits.fixed_dimensions in (None, most), "the dimensions are fixed")
    if requirement == "VEC-DIM-6":
        args = vector.namespace_args(dimensions=most)
        checks.upsert_and_query(vector, args, f"{most} dimensions")
        if most > 2 and not vector.limits.is_approximate:
            first, second = ({**vector.item(), "vector": [0.1] * (most - 1) + [last]} for last in (1.0, -1.0))
            sandbox = VectorSandbox(vector, args["namespace"], most, args.get("distance_metric"), {})
            sandbox.put(first, second)
            for item in (first, second):
                is_right = sandbox.ids(item["vector"], 1) == [item["id"]]
                expect.check(is_right, "a rank by all dimensions", "a rank by fewer dimensions")
        return
    for more in (1, 1000):
        expect.refusal(vector.call("create_namespace", vector.namespace_args(dimensions=most + more)), "BadRequest")


@pytest.mark.requirement("VEC-DIM-9")
def test_each_namespace_keeps_its_own_dimensions(vector: Vector) -> None:
    """Two namespaces of different dimensions accept only vectors of their own dimensions, even if created again."""
    vector.features.require_namespaces()
    expect.applicable(
        vector.dimensions > 1 and not vector.limits.fixed_dimensions, "all namespaces have the same dimensions"
    )
    sizes = (vector.dimensions, vector.dimensions - 1)
    sandboxes = [vector.sandbox(dimensions=size) for size in sizes]
    items: list[dict[str, Any]] = [{"id": vector.new_name(), "vector": direction(40, size)} for size in sizes]
    for sandbox, item in zip(sandboxes, items, strict=True):
        expect_accepted(sandbox, item)
    for sandbox, own, other in zip(sandboxes, items, items[::-1], strict=True):
        checks.expect_exactly(sandbox, own)
        checks.expect_refused_or_reported(sandbox.upsert({**other, "id": vector.new_name()}), "BadRequest")
        expect.refusal(sandbox.ask(other["vector"], 1), "BadRequest")
    if vector.works("delete_namespace"):
        expect.success(vector.call("delete_namespace", {"namespace": sandboxes[0].name}), "the deletion")
        expect_accepted(vector.sandbox(name=sandboxes[0].name, dimensions=sizes[1]), items[1])


def expect_accepted(sandbox: VectorSandbox, item: Item) -> None:
    """Check that a sandbox accepts a vector."""
    expect.full_success(sandbox.upsert(item), "an upsert of a vector with the dimensions of the namespace")


@rules("dimensions VEC-DIM-11, namespace VEC-DIM-12")
@pytest.mark.parametrize("operation", ["query", "upsert"])
def test_a_mismatch_gives_both_dimensions(vector: Vector, requirement: str, operation: str) -> None:
    """The `details` of a dimension error state the expected and the provided dimensions, and the namespace."""
    vector.require("query", "upsert")
    wrong = wrong_lengths(vector)[0]
    query = {**vector.requests.minimal("query"), "vector": wrong}
    upsert = {"vectors": [{**vector.item(), "vector": wrong}], **vector.requests.main_namespace_arg}
    ask = partial(vector.call, operation, query if operation == "query" else upsert)
    reply = cached(vector, ("mismatch", operation), ask)
    if operation == "upsert" and reply.is_success and reply.failed_items:
        raise NotApplicable("the wrong item is reported as failed, and failed items have no details")
    with expect.resting_on("VEC-DIM-2" if operation == "query" else "VEC-DIM-1"):
        expect.refusal(reply, MISMATCH)
    if requirement == "VEC-DIM-12":
        vector.features.require_namespaces()
        named = reply.details.get("namespace") == query["namespace"]
        expect.check(named, "the namespace that was asked for", "another namespace, or none", "details.namespace")
        return
    for key, value in (("expected", vector.dimensions), ("provided", len(wrong))):
        given = reply.details.get(key)
        expect.check(given == value, f"{value}", found=given, path=f"details.{key}")
