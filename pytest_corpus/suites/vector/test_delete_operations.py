"""Deleting vectors (SPECIFICATION 4.2.6, 9.2, 9.3; SCHEMA 4.2.2; R26, R31)."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import cached, plain_call
from pytest_corpus.kit.component import expect_audited
from pytest_corpus.kit.fixtures import core, rules
from pytest_corpus.kit.reply import Reply
from pytest_corpus.kit.store.results import processed_count
from pytest_corpus.kit.vocabulary import CONTROLS, INJECTIONS, WORDS, choose, fill_in
from pytest_corpus.spec.errors import PERMANENT
from pytest_corpus.suites.vector.support.answers import failed_count, id_of, matches_of
from pytest_corpus.suites.vector.support.component import Vector, vector
from pytest_corpus.suites.vector.support.geometry import direction
from pytest_corpus.suites.vector.support.sandbox import VectorSandbox, offer_items, shared_sandboxes
from pytest_corpus.suites.vector.support.scenarios.checks import (
    expect_count,
    expect_exactly,
    expect_metadata,
    expect_present,
    items_with_ids,
    items_with_value,
)
from pytest_corpus.suites.vector.support.shared import Item

WRONG_DELETES: dict[str, dict[str, Any]] = {
    "ids_word": {"ids": "x"},
    "ids_number": {"ids": 7},
    "ids_object": {"ids": {"a": 1}},
    "id_null": {"ids": [None]},
    "id_list": {"ids": [["a"]]},
    "namespace_number": {"namespace": 7},
    "id_number_first": {"ids": [7, ...]},
    "id_number_last": {"ids": [..., 7]},
}
"""Arguments of a delete by ids. An argument or an id has a wrong type. `...` stands for an existing id."""

NOTHING: dict[str, dict[str, Any]] = {
    "nothing": {},
    "ids_null": {"ids": None},
    "both_null": {"ids": None, "filter": None},
    "empty_filter": {"filter": {}},
}
"""Arguments of a delete that name no vectors."""

NO_FILTERS: tuple[Any, ...] = ("x", ["kind"])

OPERATORS: tuple[tuple[dict[str, Any], set[int]], ...] = (
    ({"gt": 1}, {2, 3}),
    ({"$gt": 1}, {2, 3}),
    ({"$in": [0, 3]}, {0, 3}),
)
"""Terms of a filter on `part`, each with the values of `part` that satisfy the term."""

STRANGE: tuple[dict[str, Any], ...] = ({"kind": {"$no_such_operator": "a"}}, {"kind": None})
"""Filters with an unknown operator and with null. They match no vector whose `kind` is a word."""


def four_vectors(vector: Vector) -> tuple[VectorSandbox, list[dict[str, Any]]]:
    """Return a sandbox with four vectors, two of each kind."""
    items = four_items(vector)
    return vector.sandbox(*items), items


def four_items(vector: Vector) -> list[dict[str, Any]]:
    """Return four vectors, two of each kind."""
    return [
        vector.item(degrees, {"kind": kind, "part": number})
        for number, (degrees, kind) in enumerate(((15, "a"), (60, "b"), (105, "a"), (150, "b")))
    ]


def four_lasting_vectors(vector: Vector) -> tuple[VectorSandbox, list[dict[str, Any]]]:
    """Return a sandbox with four vectors, for tests whose deletes remove nothing."""
    items = cached(vector, "four that stay", lambda: four_items(vector))
    [sandbox] = shared_sandboxes(vector, "four that stay", lambda: [vector.sandbox(*items)])
    return sandbox, items


@core("VEC-DELETE-1")
def test_a_delete_is_answered_with_its_counts(vector: Vector) -> None:
    """The result of a plain delete fits the schema."""
    vector.require("upsert")
    reply = plain_call(vector, "delete")
    expect_audited("VEC-DELETE-1", reply, vector, claim="a delete")


@core("VEC-DELETE-2")
def test_a_deleted_vector_is_not_found(vector: Vector) -> None:
    """After the answer to a delete, no query finds the deleted vector, not even a query that found it before."""
    sandbox, items = four_vectors(vector)
    sandbox.require_distinguishable(5)
    batched: list[dict[str, Any]] = [{"by": "batch_query"}] if vector.works("batch_query") else []
    filtered: list[dict[str, Any]] = [{"filter": {"part": 1}}] if vector.features.filters_work() else []
    for item, ways in ((items[1], [{}, *batched, *filtered]), (items[0], [{}]), (items[3], [{}])):
        for way in ways:
            is_right = item["id"] in sandbox.ids(item["vector"], 5, **way)
            expect.check(is_right, "the vector, before its deletion", "no match of the vector")
        expect.success(sandbox.delete(ids=[item["id"]]), "the deletion")
        for way in ways:
            is_right = item["id"] not in sandbox.ids(item["vector"], 5, **way)
            expect.check(is_right, "the vector gone", "a match of the deleted vector")


@pytest.mark.requirement("VEC-DELETE-2")
def test_a_deleted_vector_stays_deleted(vector: Vector) -> None:
    """No other write brings a deleted vector back."""
    sandbox, items = four_vectors(vector)
    gone, other, updated = items[:3]
    sandbox.remove(gone["id"])
    changes: list[Callable[[], Reply]] = [
        lambda: sandbox.delete(ids=[gone["id"]]),  # first, because the other writes could hide its effect
        lambda: sandbox.delete(ids=[other["id"]]),
        lambda: sandbox.upsert(vector.item(80, {"kind": "c", "part": 9})),
        lambda: sandbox.upsert({**updated, "metadata": {"kind": "c", "part": 9}}),
    ]
    changes += [lambda: sandbox.delete(filter={"part": 9})] if vector.features.deletes_by_filter else []
    for change in changes:
        change()
    expect.check(gone["id"] not in sandbox.contents(), "the deleted vector gone", "a match of the deleted vector")


LONG = 40
"""The number of ids in a long list."""


@core("VEC-DELETE-3")
def test_every_id_of_a_list_is_deleted(vector: Vector) -> None:
    """A delete removes every vector of its list. Many unknown ids come first in the list, if they are accepted."""
    vector.limits.require_batch_of()
    items = [vector.item(10 + 14 * number) for number in range(12)]
    sandbox = vector.sandbox(*items)
    doomed = [item["id"] for item in items][-min(11, vector.limits.most_in_batch or 11) :]
    unknown = [vector.new_name("none") for _ in range(LONG - len(doomed))]
    reply = sandbox.delete(ids=[*unknown, *doomed])
    if reply.is_a("BadRequest", "NotSupported") or reply.failed_items:
        reply = sandbox.delete(ids=doomed)
    expect.success(reply, "the deletion")
    found = sandbox.contents()
    left = sum(name in found for name in doomed)
    expect.check(not left, "all deleted vectors to be gone", f"{left} of {len(doomed)} are still there")


@core("VEC-DELETE-4")
def test_a_delete_leaves_all_others(vector: Vector) -> None:
    """The other vectors keep their metadata, even if their ids begin with the deleted id or resemble it."""
    sandbox, items = four_vectors(vector)
    for number in (0, 3):
        sandbox.remove(items[number]["id"])
        kept = items[1:] if number == 0 else items[1:3]
        expect_metadata(expect_present(sandbox, *kept), kept)
    stem, sandbox = vector.new_name("d"), vector.sandbox()
    twins = [{**vector.item(20 + 40 * number), "id": f"{stem}{end}"} for number, end in enumerate(("", "x"))]
    sandbox.put(*twins)
    odd: dict[str, Item] = {
        "dash": {**vector.item(100), "id": f"{stem}-1"},
        "letter_case": {**vector.item(140), "id": stem.upper()},
    }
    odd |= items_with_ids(
        vector, {**INJECTIONS, **choose(WORDS, vector.features.count_words_to_try(8), ["composed", "decomposed"])}
    )
    others = offer_items(sandbox, odd)
    gone = [stem, *(others.pop(kind)["id"] for kind in (*INJECTIONS, "composed") if kind in others)]
    written = len(twins) + len(others) + len(gone) - 1
    if len(sandbox.contents()) == written:  # otherwise VEC-UPSERT-13 reports the ids
        sandbox.remove(*gone)
        never = {kind: word for kind, word in {**INJECTIONS, **WORDS}.items() if kind not in (*CONTROLS, "long")}
        unknown = [*fill_in(choose(never, vector.limits.most_in_batch or len(never)), stem).values()]
        expect.either(sandbox.delete(ids=unknown), *PERMANENT)
        found = expect_present(sandbox, twins[1], *others.values())
        with expect.resting_on("VEC-DELETE-3"):
            expect.check(not found.keys() & {*gone}, "every deleted vector to be gone", "some of the vectors")


@pytest.mark.core
@rules("removes VEC-DELETE-5, leaves VEC-DELETE-6")
def test_a_delete_by_filter_removes_what_meets_it(vector: Vector, requirement: str) -> None:
    """A filter deletes all matching vectors, even if there are many. Vectors with another value or no value stay."""
    vector.features.require_filter_deletes()
    kept = [vector.item(170, {"kind": "A"}), vector.item(175), vector.item(165, {"part": 1})]
    items = [vector.item(5 + 6 * number, {"kind": "a", "part": number}) for number in range(25)]
    sandbox = vector.sandbox(*items, *kept)
    if requirement == "VEC-DELETE-6":
        expect.success(sandbox.delete(filter={"kind": "nothing"}), "a delete by filter")
        expect_present(sandbox, items[0], *kept)
        expect.success(sandbox.delete(filter={"kind": "a"}), "a delete by filter")
        expect_present(sandbox, *kept)
        expect_delete_by_unusual_word(vector, sandbox, kept)
        return
    expect.success(sandbox.delete(filter={"kind": "a"}), "a delete by filter")
    found = sandbox.ids(items[0]["vector"], 5), sandbox.ids(items[0]["vector"], 5, filter={"kind": "a"})
    left = {item["id"] for item in items} & {*found[0], *found[1]}
    expect.check(not left, "all deleted vectors to be gone", f"at least {len(left)} of {len(items)} are still there")


def expect_delete_by_unusual_word(vector: Vector, sandbox: VectorSandbox, kept: Sequence[Item]) -> None:
    """Check that a delete by an unusual word removes only vectors with this value, or is refused permanently (R138)."""
    words = fill_in(choose(INJECTIONS, 2, ["expression", "condition"]), "w")
    items = items_with_value(vector, words, "kind")
    taken = offer_items(sandbox, items)
    for kind, item in items.items():
        wanted = item["metadata"]
        met = sandbox.ask(item["vector"], len(kept) + len(items), filter=wanted)  # the matches before the delete
        with expect.resting_on("VEC-FILTER-5"):
            expect.either(met, *PERMANENT)
            found = {id_of(match) for match in matches_of(met.result)} if met.is_success else set()
            expect.check(found <= {item["id"]}, "only the vector with the value, or a refusal", f"{len(found)} matches")
        if expect.either(sandbox.delete(filter=wanted), *PERMANENT):
            taken.pop(kind, None)
    expect_present(sandbox, *kept, *taken.values())


@pytest.mark.requirement("VEC-DELETE-6")
def test_what_meets_a_part_of_a_delete_stays(vector: Vector) -> None:
    """A delete with ids and a filter is refused, or removes only vectors that both of them select (R131)."""
    vector.features.require_filter_deletes()
    sandbox, items = four_vectors(vector)
    reply = sandbox.delete(ids=[items[0]["id"]], filter={"kind": "b"})
    expect.either(reply, "BadRequest", "NotSupported")
    expect_present(sandbox, *items)
    vector.limits.require_two_terms()
    reply = sandbox.delete(filter={"kind": "a", "part": 0})
    is_open = vector.capabilities.limit("max_filter_terms") is None
    expect.applicable(
        not (is_open and reply.is_a(*PERMANENT)), "a filter of two terms is refused, and no limit is stated"
    )
    expect.success(reply, "a delete by filter")
    expect_present(sandbox, *items[1:])


@rules("of_ids VEC-DELETE-7, of_a_filter VEC-DELETE-14")
def test_the_count_of_a_delete_is_true(vector: Vector, requirement: str) -> None:
    """The count of a delete equals the number of removed vectors."""
    if requirement == "VEC-DELETE-14":
        vector.features.require_filter_deletes()
        sandbox, _ = four_vectors(vector)
        wanted: list[tuple[dict[str, Any], int]] = [({"filter": {"kind": "a"}}, 2)]
    else:
        sandbox, items = four_vectors(vector)
        ids = [item["id"] for item in items]
        wanted = [({"ids": ids[:1]}, 1), *([] if vector.limits.most_in_batch == 1 else [({"ids": ids[1:3]}, 2)])]
    for args, count in wanted:
        result = expect.success(sandbox.delete(**args), "the deletion")
        expect_count(result, count)


@pytest.mark.requirement("VEC-DELETE-7")
@pytest.mark.parametrize("at", [0, 1], ids=["first", "middle"])
def test_the_count_of_a_delete_is_that_of_what_is_gone(vector: Vector, at: int) -> None:
    """With an unknown id in the list, the count is the number of deleted vectors; the unknown id may fail."""
    vector.limits.require_batch_of(3)
    sandbox, items = four_vectors(vector)
    ids = [item["id"] for item in items[:2]]
    ids.insert(at, vector.new_name("none"))
    reply = sandbox.delete(ids=ids)
    expect.readable(reply)
    found = sandbox.contents()
    gone = sum(item["id"] not in found for item in items)
    if reply.is_error:
        expect.check(not gone, "no vector deleted by a refused delete", f"{gone} deleted")
        return
    counted = processed_count(reply.result)
    known = counted == gone == 2 or (not failed_count(reply.result) and (gone, counted) == (2, 3))
    expect.check(known, "2 vectors deleted and counted", f"{gone} deleted, {counted} counted", "result")


@rules("nothing VEC-DELETE-8, no_ids VEC-DELETE-12, refused VEC-DELETE-15")
def test_a_delete_of_nothing_in_particular(vector: Vector, requirement: str) -> None:
    """A delete without ids and filter, or with null or an empty list for them, removes no vector and is refused."""
    if requirement == "VEC-DELETE-15":
        vector.require("delete")
    sandbox, items = four_lasting_vectors(vector)
    for args in NOTHING.values() if requirement != "VEC-DELETE-12" else [{"ids": []}]:
        reply = sandbox.delete(**args)
        expect.readable(reply)
        if requirement == "VEC-DELETE-15" and args.get("filter") is None:
            expect.refusal(reply, "BadRequest")
        elif requirement == "VEC-DELETE-12":
            expect.either(reply, "BadRequest")
    if requirement != "VEC-DELETE-15":
        expect_present(sandbox, *items)


@pytest.mark.requirement("VEC-DELETE-9")
def test_a_delete_with_a_wrong_type_is_refused(vector: Vector) -> None:
    """A delete with a wrong type in `ids`, `namespace` or `filter` is a bad request and removes nothing."""
    sandbox, items = four_lasting_vectors(vector)
    name = items[0]["id"]
    for args in WRONG_DELETES.values():
        ids = args.get("ids", [name])
        right = {"ids": [name if each is ... else each for each in ids] if isinstance(ids, list) else ids}
        expect.refusal(vector.call("delete", {**sandbox.args(), **args, **right}), "BadRequest")
    unsupported = [] if vector.features.deletes_by_filter else ["NotSupported"]
    for value, ids in zip(NO_FILTERS, ({}, {"ids": [name]}), strict=True):
        reply = vector.call("delete", {**sandbox.args(), **ids, "filter": value})
        expect.refusal(reply, "BadRequest", *unsupported)
    expect_present(sandbox, *items)


@pytest.mark.requirement("VEC-DELETE-10")
def test_a_deleted_id_can_be_upserted_again(vector: Vector) -> None:
    """A deleted id that is written again is found with its new components, and can be deleted again."""
    item = vector.item(20, {"round": 0})
    sandbox = vector.sandbox(item)
    for number in (1, 2):
        sandbox.remove(item["id"])
        again = {**item, "vector": direction(20 + 40 * number, vector.dimensions), "metadata": {"round": number}}
        sandbox.put(again)
        expect_metadata(expect_exactly(sandbox, again), [again])


@pytest.mark.requirement("VEC-DELETE-11")
def test_a_delete_by_a_filter_that_cannot_be_served_removes_nothing(vector: Vector) -> None:
    """A delete removes only vectors that match its filter, even if the filter is unusable or has an operator."""
    sandbox, items = four_vectors(vector)
    for strange in STRANGE:
        sandbox.delete(filter=strange)
    expect_present(sandbox, *items)
    if not vector.features.deletes_by_filter:
        reply = sandbox.delete(filter={"kind": "a"})
        expect.either(reply, "NotSupported", "BadRequest")
        expect_present(sandbox, *(item for item in items if item["metadata"]["kind"] == "b"))
        return
    is_changed = False
    for term, wanted in OPERATORS:
        if is_changed:
            sandbox.put(*items)
        reply = sandbox.delete(filter={"part": term})
        is_changed = expect.either(reply, "BadRequest", "NotSupported")
        expect_present(sandbox, *(item for item in items if item["metadata"]["part"] not in wanted))


@pytest.mark.requirement("VEC-DELETE-13")
def test_deleting_what_is_not_there_succeeds(vector: Vector) -> None:
    """An id that is unknown or already deleted is not an error and is not counted."""
    sandbox, items = four_vectors(vector)
    sandbox.remove(items[0]["id"])
    for name in (vector.new_name("none"), items[0]["id"]):
        result = expect.success(sandbox.delete(ids=[name]), "a success")
        expect_count(result, 0)
