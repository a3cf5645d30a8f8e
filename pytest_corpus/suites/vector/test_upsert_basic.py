"""Writing vectors (SPECIFICATION 4.2.6, 9.2, 9.3, 12.5; SCHEMA 4.2.2; ERRORS 10; R8, R14, R24, R45)."""

import math
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import remembered
from pytest_corpus.kit.component import expect_audited
from pytest_corpus.kit.fixtures import core, rules, subject
from pytest_corpus.kit.generation.histories import (
    check_histories,
    is_convergent,
    is_linearizable,
    require_strong_consistency,
)
from pytest_corpus.kit.generation.stateful import run_sequences
from pytest_corpus.kit.reply import Reply, error_names, failed_items
from pytest_corpus.kit.store.results import blame_shared_tenants
from pytest_corpus.kit.vocabulary import INJECTIONS, RESERVED, WORDS, choose, fill_in
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.shared.claims.replays import TestEarlyReplays
from pytest_corpus.suites.shared.contexts import new_key_context, new_tenant_context
from pytest_corpus.suites.vector.support.answers import failed_count, id_of, metadata_of, vector_of
from pytest_corpus.suites.vector.support.component import Vector, vector
from pytest_corpus.suites.vector.support.geometry import are_alike, direction
from pytest_corpus.suites.vector.support.sandbox import (
    VectorSandbox,
    offer_items,
    sandbox_with_context,
    shared_sandboxes,
)
from pytest_corpus.suites.vector.support.scenarios.checks import (
    are_equal,
    expect_count,
    expect_exactly,
    expect_metadata,
    expect_present,
    expect_refused_or_reported,
    has_metadata,
    items_with_ids,
    items_with_words,
    mixed_batches,
    names_wrong_items,
)
from pytest_corpus.suites.vector.support.scenarios.concurrent_writes import history
from pytest_corpus.suites.vector.support.scenarios.state_machine import VectorContents, rules_of
from pytest_corpus.suites.vector.support.shared import Item

SCALARS: dict[str, Any] = {
    "word": " Gr\u00fc\u00dfe  e\u0301 \U0001f600 ",
    "empty": "",
    "whole": 7,
    "fraction": 0.25,
    "negative": -(2**53) - 1,
    "zero": 0,
    "yes": True,
    "no": False,
    "casing": "Aa",
    "large": 2**53 + 1,
    "long": "word " * 200 + "end",
    "digits": "007",
    "exponent": "1e5",
    "affirmative": "true",
    "nothing": "null",
    "moment": "2024-03-01T12:00:00Z",
    "endings": "one\r\ntwo\rthree\n",
}
"""Metadata of every scalar type except null, including very large numbers and long texts (R128)."""

DOUBLES = {"double": 0.1 + 0.2, "thousands": 123456.789012345, "tiny": 1.5e-9 / 7}
"""Numbers that need 64 bits and 16 or 17 digits."""

EXACT = ("large", "negative", *DOUBLES)
"""Values that must come back unchanged to the last digit."""

NULL_AND_LISTS: dict[str, Any] = {"null": None, "words": ["b", "a", "b"], "numbers": [2, 1, *range(12)], "none": []}
"""Null and lists, which the schema allows as metadata."""

TWINS = {
    "letter_case": ("a", "A"),
    "space": ("x", "x "),
    "prefix": ("p", "p1"),
    "leading_zero": ("1", "01"),
    "script": ("o", "\u043e"),
    "accent": ("u", "\u00fc"),
    "composition": ("\u00e9", "e\u0301"),
    "separator": ("a/b", "a:b"),
    "end_of_a_long_one": ("x" * 80 + "a", "x" * 80 + "b"),
}
"""By kind: the ends of two different ids that resemble each other."""

STEPS, SEQUENCES = 35, 2
"""The length and the number of the random sequences. If writes are visible late, there is only one sequence."""


@core("VEC-UPSERT-1")
def test_an_upsert_is_answered_with_its_counts(vector: Vector) -> None:
    """The result of a plain upsert fits the schema."""
    reply = vector.call("upsert")
    expect_audited("VEC-UPSERT-1", reply, vector, claim="an upsert")


@core("VEC-UPSERT-2")
def test_what_was_upserted_is_found(vector: Vector) -> None:
    """Every vector is found after the answer to its upsert; the first one also by a query with `top_k` 1."""
    sandbox = vector.sandbox()
    items = [vector.item(degrees, {"part": degrees}) for degrees in (80, 20, 100, 140)]
    for number, item in enumerate(items, start=1):
        sandbox.put(item)
        expect_exactly(sandbox, *items[:number])
        found = number > 1 or sandbox.ids(item["vector"], 1) == [item["id"]]
        expect.check(found, "the vector that was upserted", "other matches, or none")


@pytest.mark.requirement("VEC-UPSERT-2")
def test_what_was_upserted_is_found_by_a_query_asked_before(vector: Vector) -> None:
    """The same query, sent before and after an upsert and an overwrite, shows the current content each time."""
    old, new = vector.item(20, {"kind": "old"}), vector.item(70, {"kind": "old"})
    sandbox = vector.sandbox(old)
    query: dict[str, Any] = {"vector": new["vector"], "top_k": 2}
    before = sandbox.ids(**query)
    expect.check(
        before == [old["id"]] or (vector.limits.is_approximate and not before),
        "the only vector",
        "other matches, or none",
    )
    sandbox.put(new)
    sandbox.require_distinguishable(query["top_k"])
    expect.check(
        new["id"] in sandbox.ids(**query),
        "the vector that was upserted after the first query",
        "no match of the vector",
    )
    sandbox.put({**new, "metadata": {"kind": "new"}})
    found_by_id = {id_of(match): match for match in sandbox.matches(**query)}
    expect.check(
        new["id"] in found_by_id and has_metadata(found_by_id[new["id"]], {"kind": "new"}),
        "the new metadata",
        "other metadata",
    )


@core("VEC-UPSERT-3")
@pytest.mark.parametrize("count", [5, 24])
def test_every_vector_of_a_batch_is_stored(vector: Vector, count: int) -> None:
    """All vectors of a batch are found, each with its own metadata and components."""
    vector.limits.require_batch_of()
    count = min(count, vector.limits.most_in_batch or count)
    sandbox = vector.sandbox()
    items = [vector.item(5 + 170 * part / count, {"part": part}) for part in range(count)]
    sandbox.put(*items)
    expect_metadata(expect_exactly(sandbox, *items), items, "each vector with its own metadata")


@core("VEC-UPSERT-4")
def test_an_upsert_of_a_known_id_replaces_the_vector(vector: Vector) -> None:
    """An upsert of a known id, alone, in a batch or repeated, replaces the old vector in ranking and answers."""
    alone, batched, twice = firsts = [vector.item(degrees) for degrees in (10, 16, 22)]
    other = vector.item(100)
    sandbox = vector.sandbox(*firsts, other)
    moved = {
        each["id"]: {**each, "vector": direction(degrees, vector.dimensions)}
        for each, degrees in zip(firsts, (170, 164, 158), strict=True)
    }
    sandbox_with_context(sandbox, **new_key_context()).put(moved[alone["id"]])
    if vector.limits.most_in_batch != 1:
        more = vector.item(60)
        sandbox.put(more, moved[batched["id"]])
        sandbox.remove(more["id"])
    else:
        sandbox.put(moved[batched["id"]])
    sandbox_with_context(sandbox, **new_key_context()).put(moved[twice["id"]])
    sandbox.put({**twice, "vector": direction(150, vector.dimensions)})
    sandbox_with_context(sandbox, **new_key_context()).put(moved[twice["id"]])
    ids = sandbox.ids(moved[alone["id"]]["vector"], 9)
    times = max(ids.count(name) for name in moved)
    expect.check(times <= 1, "the id once", f"{times} times")
    found = expect_exactly(sandbox, *moved.values(), other, include_vectors=True)
    for name, item in moved.items():
        if held := vector_of(found[name]).get("vector"):
            is_right = are_alike(held, item["vector"])
            expect.check(is_right, "the new vector", "another vector", "result.matches.vector.vector")
    if vector.dimensions > 1:
        nearest = sandbox.ids(direction(10, vector.dimensions), 1)
        is_other = nearest == [other["id"]] or (vector.limits.is_approximate and not nearest)
        expect.check(is_other, "the ranking of the new vector", "the ranking of the old vector")


@rules("new VEC-UPSERT-5, old VEC-UPSERT-16")
def test_an_upsert_of_a_known_id_replaces_its_metadata(vector: Vector, requirement: str) -> None:
    """After metadata are replaced, answers and filters show only the new values, and no old key."""
    item, new, [sandbox] = (
        *replacement(vector),
        shared_sandboxes(vector, "replaced", lambda: [sandbox_with_replaced_metadata(vector)]),
    )
    found = expect_present(sandbox, item)[item["id"]]
    if requirement == "VEC-UPSERT-16":
        expect.check("old" not in metadata_of(found), "the new keys only", "a key of the old metadata")
        return
    expect.check(has_metadata(found, new), "the new values", "other values", "metadata")
    if vector.features.filters_work():
        by_kind = {kind: sandbox.ids(item["vector"], filter={"kind": kind}) for kind in ("old", "new")}
        expect.check(not by_kind["old"], "no match of the old value", "a match of the old value")
        expect.check(by_kind["new"] == [item["id"]], "the match of the new value", "no match of the new value")


@remembered
def replacement(vector: Vector) -> tuple[Item, dict[str, Any]]:
    """Return a vector with old metadata, and the new metadata."""
    return vector.item(30, {"kind": "old", "part": 1, "old": "a"}), {"kind": "new", "part": 2}


def sandbox_with_replaced_metadata(vector: Vector) -> VectorSandbox:
    """Return a sandbox in which the metadata of a vector were replaced."""
    item, new = replacement(vector)
    sandbox = vector.sandbox(item, vector.item(120, {"kind": "other"}))
    sandbox.put({**item, "metadata": new})
    return sandbox


@rules("scalars VEC-UPSERT-6, doubles VEC-UPSERT-19, null_and_lists VEC-UPSERT-15")
def test_a_value_of_metadata_comes_back(vector: Vector, requirement: str) -> None:
    """Each metadata value comes back unchanged, with its type."""
    scalars = SCALARS if vector.capabilities.rounds_numbers else {**SCALARS, **DOUBLES}
    held = {"VEC-UPSERT-6": scalars, "VEC-UPSERT-19": DOUBLES, "VEC-UPSERT-15": NULL_AND_LISTS}[requirement]
    item, [sandbox] = vector.item(30, held), shared_sandboxes(vector, "metadata", lambda: [vector.sandbox()])
    if requirement == "VEC-UPSERT-6":
        sandbox.put(item)
    else:
        expect.success(sandbox.upsert(item), "an upsert with metadata of the schema")
    odd: dict[str, Item] = {}
    if requirement == "VEC-UPSERT-6":
        odd = items_with_words(vector, fill_in({**WORDS, **INJECTIONS}, "w"), fill_in({**WORDS, **RESERVED}, "w"))
        odd = offer_items(sandbox, dict([*odd.items()][: vector.features.count_words_to_try(len(odd))]))
    there = expect_present(sandbox, item, *odd.values())
    found = metadata_of(there[item["id"]])
    for key, value in held.items():
        kept = key in found and are_equal(found[key], value) and (key not in EXACT or found[key] == value)
        expect.check(kept, "the value as written", "another value", f"metadata.{key}")
    for kind, each in odd.items():
        kept = has_metadata(there[each["id"]], each["metadata"])
        expect.check(kept, f"the metadata as written ({kind}), or a refusal", "other metadata", "metadata")


@pytest.mark.requirement("VEC-UPSERT-17")
def test_the_last_of_two_items_with_one_id_counts(vector: Vector) -> None:
    """Two items with one id in a batch leave one vector, the last item."""
    vector.limits.require_batch_of()
    first = vector.item(20, {"part": 1})
    last = {**first, "vector": direction(150, vector.dimensions), "metadata": {"part": 2}}
    sandbox = vector.sandbox()
    expect.success(sandbox.upsert(first, last), "an upsert")
    ids = sandbox.ids(last["vector"], 5)
    expect.check(ids == [first["id"]], "one vector", f"{len(ids)}")
    expect.check(
        has_metadata(expect_present(sandbox, first)[first["id"]], {"part": 2}), "the last one", "the first vector"
    )


@pytest.mark.requirement("VEC-UPSERT-7")
def test_the_counts_of_an_upsert_are_true(vector: Vector) -> None:
    """New and overwritten vectors count as processed, and no vector counts as failed."""
    sandbox, items = vector.sandbox(), [vector.item(20 + 30 * part) for part in range(4)]
    for size in (1, 4, 4):
        batch = items[: min(size, vector.limits.most_in_batch or size)]
        result = expect.success(sandbox.upsert(*batch), "an upsert")
        expect_count(result, len(batch))
        expect.check(
            not failed_count(result) and not failed_items(result), "no failures", "a failed item", "result.failures"
        )


@rules("settled VEC-UPSERT-11, reported VEC-UPSERT-12")
@pytest.mark.parametrize("at", [0, 1, 2], ids=["first", "middle", "last"])
def test_a_bad_item_does_not_decide_of_the_others(vector: Vector, requirement: str, at: int) -> None:
    """A batch with a bad item is refused, or stores all other items and reports the bad item with its class."""
    vector.limits.require_batch_of(3)
    found = False
    for batch in mixed_batches(vector)[at]:
        if requirement == "VEC-UPSERT-11":
            batch.expect_consistent()
        if not batch.reply.is_success or (vector.settings.edition == "1.0.0" and "id" not in batch.bad[at]):
            continue
        found = True
        if requirement == "VEC-UPSERT-12":
            points = names_wrong_items(batch.reply, batch.bad, vector.settings.edition)
            got = "a failure at another index, or at none"
            expect.check(points, f"a failure at the index {at}", got, "result.failures", on=[batch.reply])
            named = all(map(error_names, failed_items(batch.reply.result)))
            expect.check(named, "a class or a code of the taxonomy", "another error, or none", "result.failures")
    expect.applicable(found or requirement == "VEC-UPSERT-11", "the whole batch is refused if one item is bad")


@pytest.mark.requirement("VEC-UPSERT-11")
def test_bad_items_of_two_kinds_do_not_decide_of_the_others(vector: Vector) -> None:
    """A batch with two bad items of different kinds is refused and writes nothing, or is applied and reports both."""
    vector.limits.require_batch_of(4)
    for batch in mixed_batches(vector)[-1]:
        batch.expect_consistent()


@pytest.mark.requirement("VEC-UPSERT-13")
def test_ids_are_told_apart(vector: Vector) -> None:
    """Two ids that resemble each other belong to two vectors."""
    stem, sandbox = vector.new_name(), vector.sandbox()
    halves: list[dict[str, Item]] = [
        {
            kind: {**vector.item(12 * number + 90 * at, {"part": number, "at": at}), "id": f"{stem}k{number}{ends[at]}"}
            for number, (kind, ends) in enumerate(TWINS.items())
        }
        for at in (0, 1)
    ]
    words = items_with_ids(vector, {**INJECTIONS, **choose(WORDS, vector.features.count_words_to_try(len(WORDS)))})
    stored = [item for items in (*halves, words) for item in offer_items(sandbox, items).values()]
    expect_metadata(expect_present(sandbox, *stored), stored, "each id with its own metadata")
    expect.applicable(stored, "unusual ids are refused")


@pytest.mark.requirement("VEC-UPSERT-18")
def test_an_id_may_be_any_text(vector: Vector) -> None:
    """An id that is not a UUID is accepted like a UUID."""
    expect.check(
        vector.features.takes_any_id(), "any text to be accepted as an id", "a refusal, although a UUID is accepted"
    )


@pytest.mark.requirement("VEC-UPSERT-14")
def test_an_item_may_name_a_namespace(vector: Vector) -> None:
    """An item may repeat its batch's namespace. An item with another namespace is refused, or stored in one of them."""
    vector.features.require_namespaces()
    one, other = vector.sandbox(vector.item(10)), vector.sandbox(vector.item(10))
    item = vector.item(60)
    reply = one.upsert({**item, "namespace": one.name})
    expect.either(reply, "BadRequest", "NotSupported")
    if reply.is_carried_out:
        expect_present(one, item)
    item = vector.item(100)
    reply = one.upsert({**item, "namespace": other.name})
    expect.either(reply, "BadRequest", "NotSupported")
    if reply.is_carried_out:
        other.note_stored(item)
        found = (item["id"] in one.contents()) + (item["id"] in other.contents())
        expect.check(found == 1, "the vector in one of the two namespaces", f"the vector in {found} of them")


@pytest.mark.requirement("COM-NUM-1")
def test_a_number_that_is_not_finite_is_not_stored(vector: Vector) -> None:
    """NaN and infinities in a vector or its metadata are refused or reported, and never stored."""
    vector.require("upsert")
    sandbox, rest, items = vector.sandbox(vector.item(20)), vector.item(70)["vector"], []
    for first, last in ((math.nan, math.nan), (math.inf, -math.inf)):
        for wrong in ([first, *rest[1:]], [*rest[:-1], last]):
            items.append({**vector.item(70), "vector": wrong})
        items += [vector.item(70, {"part": last}), vector.item(70, {"part": [first]})]
    for item in items:
        expect_refused_or_reported(sandbox.upsert(item))
    for item in items[::4] if vector.limits.most_in_batch != 1 else ():
        expect_refused_or_reported(sandbox.upsert(vector.item(150), item))
    found = sandbox.contents()
    expect.check(not any(item["id"] in found for item in items), "nothing stored", "the vector")


@pytest.mark.requirement("COM-CONC-1")
def test_upserts_at_the_same_time_are_all_stored(vector: Vector) -> None:
    """The vectors of concurrent upserts, in several namespaces and of several tenants, all keep their metadata."""
    vector.require("upsert", "query")
    many = max(2, min(8, vector.capabilities.limit("concurrency") or 8))
    places = sandboxes_side_by_side(vector)
    items = [vector.item(10 + 160 * part / many, {"part": part}) for part in range(many)]
    homes = [places[number % len(places)] for number in range(many)]
    for home, item in zip(homes, items, strict=True):
        home.note_stored(item)
    requests = [
        vector.envelope("upsert", home.args(vectors=[item]), home.ctx) for home, item in zip(homes, items, strict=True)
    ]
    vector.shared.actions.note("upsert", {})
    replies = list(map(Reply, vector.send_all(requests)))
    taken = [number for number, reply in enumerate(replies) if reply.is_carried_out]
    expect.assessable(len(taken) >= 2, Obstacle.TOO_FEW_UPSERTS)
    lost = [reply for reply in replies if reply.is_a("NamespaceNotFound", "DimensionMismatch")]
    expect.check(not lost, "each upsert to be carried out in its own namespace", ", ".join(map(str, lost)), on=lost)
    for number in taken:
        homes[number].held.add(items[number]["id"])

    def are_shared() -> bool:
        if places[0].store_key[0] == places[-1].store_key[0]:
            return False
        item = vector.item(175)
        places[0].put(item)
        return item["id"] in places[-1].ids(item["vector"], 1)

    for place in places:
        own = [items[number] for number in taken if homes[number] is place]
        with blame_shared_tenants(are_shared):
            found = (expect_exactly if len(own) == homes.count(place) else expect_present)(place, *own)
        expect_metadata(found, own, "each vector with its own metadata")


def sandboxes_side_by_side(vector: Vector) -> list[VectorSandbox]:
    """Return sandboxes in two namespaces and for a second tenant, as far as these are offered; at least one sandbox."""
    places = [vector.sandbox()]
    if vector.has_namespaces and vector.features.count_namespaces_to_try() > 1:
        places.append(vector.sandbox())
        if vector.capabilities.flag("supports_multi_tenant") is True:
            places.append(vector.sandbox(tenant=new_tenant_context()["tenant"], name=places[0].name))
    return places


@pytest.mark.requirement("VEC-STATE-1")
def test_any_sequence_leaves_what_it_should(vector: Vector) -> None:
    """After each step of random writes and deletes, queries agree with a model of the content."""
    vector.require("query", "upsert", "delete")
    examples = 1 if vector.settling.has_late_writes else SEQUENCES
    run_sequences(vector, lambda: VectorContents(vector), rules_of(vector), steps=STEPS, examples=examples)


@rules("whole VEC-STATE-2, in_order VEC-STATE-3")
def test_concurrent_operations_on_the_same_ids(vector: Vector, requirement: str) -> None:
    """Concurrent clients of two ids see only complete vectors, and finally the last write."""
    if requirement == "VEC-STATE-2":
        check_histories(
            history(vector),
            is_convergent,
            "each read shows a whole vector or no vector, and the last read shows the state after the last change",
        )
        return
    require_strong_consistency(vector)
    check_histories(
        history(vector), is_linearizable, "an order of the operations in which each read sees the last write"
    )
