"""Deleting vectors (SPECIFICATION 4.2.6, 9.2, 9.3; SCHEMA 4.2.2; R26, R31)."""

from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.component import holds
from pytest_corpus.kit.outcomes import NotApplicable, NotAssessed
from pytest_corpus.suites.vector.support.answers import failed, id_of, processed
from pytest_corpus.suites.vector.support.component import Vector, vector
from pytest_corpus.suites.vector.support.geometry import direction
from pytest_corpus.suites.vector.support.sandbox import Sandbox
from pytest_corpus.suites.vector.support.scenarios.checks import described_by, exactly, present

WRONG_DELETES: tuple[tuple[str, Any], ...] = (
    ("ids", "x"),
    ("ids", 7),
    ("ids", {"a": 1}),
    ("ids", [7]),
    ("ids", [None]),
    ("ids", [["a"]]),
    ("namespace", 7),
)

NOTHING: dict[str, dict[str, Any]] = {
    "nothing": {},
    "ids_null": {"ids": None},
    "both_null": {"ids": None, "filter": None},
}
"""Arguments of a delete that name no vectors."""

NO_FILTERS: tuple[Any, ...] = ("x", 7, ["kind"])

STRANGE = {"kind": {"$no_such_operator": "a"}}
"""A filter with an operator that no document knows."""


def filled(vector: Vector) -> tuple[Sandbox, list[dict[str, Any]]]:
    """A place with four vectors, two of either kind."""
    items = [
        vector.item(degrees, {"kind": kind, "part": number})
        for number, (degrees, kind) in enumerate(((15, "a"), (60, "b"), (105, "a"), (150, "b")))
    ]
    return vector.sandbox(*items), items


@pytest.mark.core
@pytest.mark.requirement("VEC-DELETE-1")
def test_a_delete_is_answered_with_its_counts(vector: Vector) -> None:
    """The result of a plain delete fits the schema."""
    vector.require("upsert")
    reply = vector.call("delete")
    expect.success(reply, "a delete")
    holds("VEC-DELETE-1", reply, vector)


@pytest.mark.core
@pytest.mark.requirement("VEC-DELETE-2")
@pytest.mark.parametrize("which", [0, 1, 3], ids=["first", "second", "last"])
def test_a_deleted_vector_is_not_found(vector: Vector, which: int) -> None:
    """It is gone as soon as its deletion is answered, even for a query for its own components."""
    sandbox, items = filled(vector)
    present(sandbox, *items)
    expect.success(sandbox.delete(ids=[items[which]["id"]]), "the deletion")
    found = sandbox.ids(items[which]["vector"], 5)
    expect.that(items[which]["id"] not in found, "the vector gone", "it is there")


@pytest.mark.requirement("VEC-DELETE-2")
def test_a_deleted_vector_is_not_found_by_a_query_asked_before(vector: Vector) -> None:
    """The same query before and after a delete tells what is there each time."""
    sandbox, items = filled(vector)
    query: dict[str, Any] = {"vector": items[1]["vector"], "top_k": 2}
    sandbox.tell_apart(query["top_k"])
    expect.that(items[1]["id"] in sandbox.ids(**query), "the vector before", "none")
    expect.success(sandbox.delete(ids=[items[1]["id"]]), "the deletion")
    expect.that(items[1]["id"] not in sandbox.ids(**query), "the vector gone", "it is there")


@pytest.mark.requirement("VEC-DELETE-2")
@pytest.mark.parametrize("then", ["delete", "delete_again", "delete_by_filter", "upsert", "update"])
def test_a_deleted_vector_stays_deleted(vector: Vector, then: str) -> None:
    """Another write, of any kind, does not bring it back."""
    if then == "delete_by_filter" and not vector.deletes_by_filter:
        raise NotApplicable("deletes do not take filters")
    sandbox, items = filled(vector)
    gone, other = items[0], items[1]
    sandbox.remove(gone["id"])
    changes = {
        "delete": lambda: sandbox.delete(ids=[other["id"]]),
        "delete_again": lambda: sandbox.delete(ids=[gone["id"]]),
        "delete_by_filter": lambda: sandbox.delete(filter={"part": 1}),
        "upsert": lambda: sandbox.upsert(vector.item(80, {"kind": "c", "part": 9})),
        "update": lambda: sandbox.upsert({**other, "metadata": {"kind": "c", "part": 9}}),
    }
    changes[then]()
    expect.that(gone["id"] not in sandbox.contents(), "the deleted vector gone", "it is there again")


@pytest.mark.requirement("VEC-DELETE-2")
def test_a_deleted_vector_is_not_found_by_a_filter_or_in_a_batch(vector: Vector) -> None:
    """No way of reading finds it."""
    sandbox, items = filled(vector)
    gone = items[2]
    expect.success(sandbox.delete(ids=[gone["id"]]), "the deletion")
    if vector.filters:
        expect.that(gone["id"] not in sandbox.ids(filter={"part": 2}), "no match of the filter", "the vector")
    if vector.works("batch_query"):
        results = vector.multiple([sandbox.args(vector=gone["vector"], top_k=vector.at_most(4))], sandbox.args())
        expect.that(gone["id"] not in map(id_of, results[0]), "no match in a batch", "the vector")


@pytest.mark.core
@pytest.mark.requirement("VEC-DELETE-3")
@pytest.mark.parametrize("count", [2, 4])
def test_every_id_of_a_list_is_deleted(vector: Vector, count: int) -> None:
    """All vectors of a list are gone, from the first to the last."""
    vector.several(count)
    sandbox, items = filled(vector)
    expect.success(sandbox.delete(ids=[item["id"] for item in items[-count:]]), "the deletion")
    found = sandbox.contents()
    left = sum(item["id"] in found for item in items[-count:])
    expect.that(not left, "all of them gone", f"{left} of {count} are there")


@pytest.mark.core
@pytest.mark.requirement("VEC-DELETE-4")
@pytest.mark.parametrize("which", [0, 3], ids=["first", "last"])
def test_a_delete_leaves_all_others(vector: Vector, which: int) -> None:
    """The other vectors are found with what they had."""
    sandbox, items = filled(vector)
    sandbox.remove(items[which]["id"])
    found = present(sandbox, *(item for number, item in enumerate(items) if number != which))
    for item in items:
        if item is not items[which]:
            expect.that(described_by(found[item["id"]], item["metadata"]), "the metadata as before", "others")


@pytest.mark.requirement("VEC-DELETE-4")
def test_a_delete_leaves_ids_that_resemble_its_own(vector: Vector) -> None:
    """An id that begins with the deleted one, or differs in letter case, stays."""
    stem, sandbox = vector.name("d"), vector.sandbox()
    ends = ("", "-1", "x")
    items = [{**vector.item(20 + 40 * number), "id": stem + end} for number, end in enumerate(ends)]
    items.append({**vector.item(160), "id": stem.upper()})
    for item in items:
        sandbox.put(item)
    if len(sandbox.contents()) < len(items):
        raise NotAssessed("the ids are not told apart")
    sandbox.remove(items[0]["id"])
    present(sandbox, *items[1:])


@pytest.mark.core
@pytest.mark.requirement("VEC-DELETE-5")
def test_a_delete_by_filter_removes_what_meets_it(vector: Vector) -> None:
    """Every vector whose metadata equal the filter is gone."""
    vector.need_filter_deletes()
    sandbox, items = filled(vector)
    expect.success(sandbox.delete(filter={"kind": "a"}), "a delete by filter")
    found = sandbox.contents()
    left = sum(item["id"] in found for item in items if item["metadata"]["kind"] == "a")
    expect.that(not left, "all of them gone", f"{left} of 2 are there")


@pytest.mark.requirement("VEC-DELETE-5")
def test_a_delete_by_filter_reaches_beyond_the_best_matches(vector: Vector) -> None:
    """Many vectors that meet a filter are all removed, however many they are."""
    vector.need_filter_deletes()
    items = [vector.item(5 + 6 * number, {"kind": "a", "part": number}) for number in range(25)]
    kept = vector.item(170, {"kind": "b"})
    sandbox = vector.sandbox(*items, kept)
    expect.success(sandbox.delete(filter={"kind": "a"}), "a delete by filter")
    left = sandbox.ids(items[0]["vector"], 5, filter={"kind": "a"})
    expect.that(not left, "all of them gone", f"at least {len(left)} of {len(items)} are there")


@pytest.mark.core
@pytest.mark.requirement("VEC-DELETE-6")
@pytest.mark.parametrize("wanted", [{"kind": "a"}, {"kind": "nothing"}], ids=["some", "none"])
def test_a_delete_by_filter_leaves_what_does_not_meet_it(vector: Vector, wanted: dict[str, Any]) -> None:
    """Vectors with other values, or without the key, stay."""
    vector.need_filter_deletes()
    sandbox, items = filled(vector)
    bare = vector.item(80)
    sandbox.put(bare)
    expect.success(sandbox.delete(filter=wanted), "a delete by filter")
    present(sandbox, bare, *(item for item in items if item["metadata"]["kind"] != wanted["kind"]))


@pytest.mark.requirement("VEC-DELETE-6")
def test_all_terms_of_a_delete_by_filter_must_hold(vector: Vector) -> None:
    """Of vectors that meet one of two terms only, none is removed."""
    vector.need_filter_deletes()
    if (vector.capabilities.limit("max_filter_terms") or 2) < 2:
        raise NotApplicable("a filter has at most one term")
    sandbox, items = filled(vector)
    expect.success(sandbox.delete(filter={"kind": "a", "part": 0}), "a delete by filter")
    present(sandbox, *items[1:])


@pytest.mark.requirement("VEC-DELETE-7")
@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_count_of_a_delete_is_true(vector: Vector, count: int) -> None:
    """As many vectors are counted as were removed."""
    vector.several(count)
    sandbox, items = filled(vector)
    result = expect.success(sandbox.delete(ids=[item["id"] for item in items[:count]]), "the deletion")
    expect.that(processed(result) == count, f"{count} processed", f"{processed(result)}", "result")


@pytest.mark.requirement("VEC-DELETE-7")
@pytest.mark.parametrize("at", [0, 1, 2], ids=["first", "middle", "last"])
def test_the_count_of_a_delete_is_that_of_what_is_gone(vector: Vector, at: int) -> None:
    """With an unknown id in the list, what is counted is gone: the unknown one may count for nothing, or fail."""
    vector.several(3)
    sandbox, items = filled(vector)
    ids = [item["id"] for item in items[:2]]
    ids.insert(at, vector.name("unknown"))
    reply = sandbox.delete(ids=ids)
    expect.readable(reply)
    found = sandbox.contents()
    gone = sum(item["id"] not in found for item in items)
    if reply.is_error:
        expect.that(not gone, "nothing gone by a delete that is refused", f"{gone} gone")
        return
    counted = processed(reply.result)
    known = counted == gone == 2 or (not failed(reply.result) and (gone, counted) == (2, 3))
    expect.that(known, "2 gone, and as many counted", f"{gone} gone, {counted} counted", "result")


@pytest.mark.requirement("VEC-DELETE-8")
@pytest.mark.parametrize("args", NOTHING.values(), ids=list(NOTHING))
def test_a_delete_of_nothing_in_particular_removes_nothing(vector: Vector, args: dict[str, Any]) -> None:
    """Without `ids` and without `filter`, or with null in their place, nothing is removed."""
    sandbox, items = filled(vector)
    expect.readable(sandbox.delete(**args))
    present(sandbox, *items)


@pytest.mark.requirement("VEC-DELETE-15")
@pytest.mark.parametrize("args", NOTHING.values(), ids=list(NOTHING))
def test_a_delete_of_nothing_in_particular_is_refused(vector: Vector, args: dict[str, Any]) -> None:
    """Without `ids` and without `filter`, or with null in their place, a delete is a bad request."""
    vector.require("delete")
    expect.refusal(vector.call("delete", {**vector.requests.in_scratch, **args}), "BadRequest")


@pytest.mark.requirement("VEC-DELETE-9")
@pytest.mark.parametrize(("key", "value"), WRONG_DELETES, ids=str)
def test_a_delete_with_a_wrong_type_is_refused(vector: Vector, key: str, value: Any) -> None:
    """`ids` is a list of strings, `namespace` a string, and nothing is removed where they are not."""
    sandbox, items = filled(vector)
    request = sandbox.args(ids=[items[0]["id"]])
    expect.refusal(vector.call("delete", {**request, key: value}), "BadRequest")
    present(sandbox, *items)


@pytest.mark.requirement("VEC-DELETE-9")
@pytest.mark.parametrize("at", [0, 1], ids=["before", "after"])
def test_a_delete_with_one_wrong_id_removes_nothing(vector: Vector, at: int) -> None:
    """A list of ids with one that is not a string is refused as a whole."""
    sandbox, items = filled(vector)
    ids: list[Any] = [items[0]["id"]]
    ids.insert(at, 7)
    expect.refusal(sandbox.delete(ids=ids), "BadRequest")
    present(sandbox, *items)


@pytest.mark.requirement("VEC-DELETE-9")
@pytest.mark.parametrize("value", NO_FILTERS, ids=lambda value: type(value).__name__)
def test_a_delete_by_no_filter_is_refused(vector: Vector, value: Any) -> None:
    """A filter that is not an object is refused, and nothing is removed."""
    sandbox, items = filled(vector)
    expect.refusal(sandbox.delete(filter=value), "BadRequest", *([] if vector.deletes_by_filter else ["NotSupported"]))
    present(sandbox, *items)


@pytest.mark.requirement("VEC-DELETE-10")
@pytest.mark.parametrize("rounds", [1, 3], ids=["once", "again_and_again"])
def test_a_deleted_id_can_be_upserted_again(vector: Vector, rounds: int) -> None:
    """It is found again, with its new components, and can be deleted again."""
    item = vector.item(20, {"round": 0})
    sandbox = vector.sandbox(item)
    for number in range(1, rounds + 1):
        sandbox.remove(item["id"])
        again = {**item, "vector": direction(20 + 40 * number, vector.dimensions), "metadata": {"round": number}}
        sandbox.put(again)
        found = exactly(sandbox, again)
        expect.that(described_by(found[item["id"]], again["metadata"]), "the new metadata", "others")


@pytest.mark.requirement("VEC-DELETE-11")
def test_a_delete_by_a_filter_that_cannot_be_served_removes_nothing(vector: Vector) -> None:
    """A filter with an unknown operator, or any filter where deletes take none, is not taken for all vectors."""
    sandbox, items = filled(vector)
    sandbox.delete(filter=STRANGE)
    present(sandbox, *items)
    if not vector.deletes_by_filter:
        reply = sandbox.delete(filter={"kind": "a"})
        expect.either(reply, "NotSupported", "BadRequest")
        present(sandbox, *(item for item in items if item["metadata"]["kind"] == "b"))


@pytest.mark.requirement("VEC-DELETE-11")
@pytest.mark.parametrize(
    ("term", "wanted"), [({"gt": 1}, {2, 3}), ({"$gt": 1}, {2, 3}), ({"$in": [0, 3]}, {0, 3})], ids=["gt", "$gt", "$in"]
)
def test_an_operator_of_a_delete_is_applied_as_it_reads(vector: Vector, term: dict[str, Any], wanted: set[int]) -> None:
    """If a delete with an operator is not refused, only what meets it is removed."""
    vector.need_filter_deletes()
    sandbox, items = filled(vector)
    reply = sandbox.delete(filter={"part": term})
    expect.either(reply, "BadRequest", "NotSupported")
    present(sandbox, *(item for item in items if item["metadata"]["part"] not in wanted))


@pytest.mark.requirement("VEC-DELETE-12")
def test_a_delete_by_no_ids_removes_nothing(vector: Vector) -> None:
    """An empty `ids` is refused or does nothing."""
    sandbox, items = filled(vector)
    expect.either(sandbox.delete(ids=[]), "BadRequest")
    present(sandbox, *items)


@pytest.mark.requirement("VEC-DELETE-13")
@pytest.mark.parametrize("way", ["unknown", "twice"])
def test_deleting_what_is_not_there_succeeds(vector: Vector, way: str) -> None:
    """An unknown id, or one that was deleted before, is not an error and counts nothing."""
    sandbox, items = filled(vector)
    name = vector.name("unknown")
    if way == "twice":
        name = items[0]["id"]
        sandbox.remove(name)
    result = expect.success(sandbox.delete(ids=[name]), "a success")
    expect.that(processed(result) == 0, "0 processed", f"{processed(result)}", "result")


@pytest.mark.requirement("VEC-DELETE-14")
def test_the_count_of_a_delete_by_filter_is_true(vector: Vector) -> None:
    """As many vectors are counted as met the filter."""
    vector.need_filter_deletes()
    sandbox, _ = filled(vector)
    result = expect.success(sandbox.delete(filter={"kind": "a"}), "a delete by filter")
    expect.that(processed(result) == 2, "2 processed", f"{processed(result)}", "result")
