"""Filters of queries (SPECIFICATION 9.3; SCHEMA 4.2.2; ERRORS 6.3; BEHAVIORAL_CONFORMANCE 6.7; R23, R31)."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest

from pytest_corpus.kit import expect, vocabulary
from pytest_corpus.kit.fixtures import core, rules
from pytest_corpus.kit.outcomes import NotApplicable, QuotaUsedUp, describe, describe_names, difference
from pytest_corpus.spec.errors import PERMANENT
from pytest_corpus.suites.vector.support.answers import id_of, matches_of
from pytest_corpus.suites.vector.support.component import Vector, vector
from pytest_corpus.suites.vector.support.geometry import direction
from pytest_corpus.suites.vector.support.sandbox import VectorSandbox, offer_items
from pytest_corpus.suites.vector.support.scenarios import checks
from pytest_corpus.suites.vector.support.scenarios.checks import are_equal, five_directions
from pytest_corpus.suites.vector.support.shared import Item

OPERATORS: tuple[tuple[Any, tuple[int, ...]], ...] = (
    *(({f"{sign}gt": 2}, (3, 4)) for sign in ("", "$")),
    *(({f"{sign}gte": 3}, (3, 4)) for sign in ("", "$")),
    *(({f"{sign}lt": 2}, (0, 1)) for sign in ("", "$")),
    *(({f"{sign}lte": 1}, (0, 1)) for sign in ("", "$")),
    *(({f"{sign}in": [1, 4]}, (1, 4)) for sign in ("", "$")),
    ([1, 4], (1, 4)),
    ({"gt": 1, "lt": 4}, (2, 3)),
)
"""Terms of a filter on `part`, each with the values of `part` that satisfy the term."""

ODD_OPERANDS: tuple[dict[str, Any], ...] = (
    {"gt": "a"},
    {"$gt": "a"},
    {"in": 3},
    {"$in": 3},
    {"no_such_operator": 3},
    {"$no_such_operator": 3},
    {"$no_such_operator": [3]},
)
"""Terms whose operand has the wrong type for the operator, or whose operator is unknown."""

LARGE = 2**53
"""The first integer whose successor a double cannot represent."""

SCALARS: dict[str, tuple[Any, Any]] = {
    "whole": (7, 8),
    "zero": (0, 1),
    "fraction": (0.1, 0.2),
    "large": (LARGE + 1, LARGE),
    "negative": (-2, 2),
    "yes": (True, False),
    "no": (False, True),
    "unicode": ("\u6771\u4eac", "\u897f\u4eac"),
    "wildcards": ("a_c%", "abcd"),
    "empty": ("", "x"),
    "casing": ("a", "A"),
}
"""A value to filter by, and a different one."""

TYPES: tuple[tuple[Any, Any], ...] = ((1, True), (True, 1), (1, "1"), ("1", 1), (0, False), ("true", True))
"""A value to filter by, and one of another type that resembles it."""

FILTERS: dict[str, tuple[tuple[dict[str, Any], tuple[int, ...]], ...]] = {
    "VEC-FILTER-1": (({"sort": "a"}, (0, 2)), ({"sort": "b"}, (1, 3)), ({"sort": "c"}, (4,)), ({"sort": "a"}, (0, 2))),
    "VEC-FILTER-3": (
        ({"sort": "a", "odd": 0}, (0, 2)),
        ({"sort": "a", "part": 1}, ()),
        ({"part": 3, "sort": "b"}, (3,)),
    ),
    "VEC-FILTER-4": (({"sort": "nothing"}, ()), ({"absent": "a"}, ())),
    "VEC-FILTER-14": (({}, (0, 1, 2, 3, 4)),),
}
"""By requirement: filters, and for each filter the values of `part` in the matching vectors."""


def key_of(number: int) -> str:
    """Return a key of metadata with small letters only, which every store must accept."""
    return "key" + "".join("abcdefghij"[int(digit)] for digit in str(number))


HELD: dict[str, tuple[tuple[dict[str, Any] | None, ...], tuple[tuple[dict[str, Any], tuple[int, ...]], ...]]] = {
    "VEC-FILTER-5": (
        tuple({kind: pair[at] for kind, pair in SCALARS.items()} for at in (0, 1, 0)),
        (*(({kind: pair[0]}, (0, 2)) for kind, pair in SCALARS.items()), ({"casing": "A"}, (1,))),
    ),
    "VEC-FILTER-6": (({"kind": "a"}, {"other": "a"}, None, {}), (({"kind": "a"}, (0,)),)),
    "VEC-FILTER-13": (
        tuple({key_of(number): pair[at] for number, pair in enumerate(TYPES)} for at in (0, 1)),
        tuple(({key_of(number): pair[0]}, (0,)) for number, pair in enumerate(TYPES)),
    ),
}
"""By requirement: the metadata of each vector, and filters. Each filter has the indexes of the matching vectors."""

MIXED: tuple[Any, ...] = ("a", "ab", "b a", 7, 70, ["a", "b"], None, True)
"""The values of one metadata key: one value for each of the vectors."""

UNPRINTABLE = ("nul", "newline", "tab", "long")
"""The kinds of words that are left out of values with several words."""

MOST_TERMS = 2000
"""A filter with more terms than this is not sent."""

CROWDS = (45, 400)
"""Numbers of vectors that do not meet a filter. 45 exceeds the usual `ef_search`; 400 are enough to use an index."""

MOST_BATCHES = 50
"""The suite does not write vectors that need more upserts than this."""


def matching_items(sandbox: VectorSandbox, wanted: Any, items: Sequence[Item], *refusals: str) -> list[Item] | None:
    """Return the vectors that a filter selects, or None if it is refused with one of the classes `refusals`.

    If the number of matches is limited or the search is approximate, each vector is queried separately.
    """
    count = len(items) + 1
    whole = sandbox.vector.limits.cap_matches(count) == count and not sandbox.vector.limits.is_approximate
    sandbox.require_distinguishable(count)
    found: set[str] = set()
    for components in [None] if whole else [item["vector"] for item in items]:
        reply = sandbox.ask(components, count, filter=wanted)
        if refusals:
            expect.either(reply, *refusals)
            if reply.is_error:
                return None
        if not sandbox.vector.is_empty_answer(reply):
            found.update(map(id_of, sandbox.expect_own(matches_of(expect.success(reply, "an answer to the query")))))
    expect.check(found <= set(sandbox.known), "vectors of the namespace", "vectors of another namespace")
    return [item for item in items if item["id"] in found]


def expect_exact_matches(
    sandbox: VectorSandbox, wanted: Any, items: Sequence[Item], right: Sequence[Item], *refusals: str
) -> None:
    """Check that a query with a filter finds exactly these vectors, or is refused with one of these classes."""
    found = matching_items(sandbox, wanted, items, *refusals)
    if found is None:
        return
    wanted_ids, ids = [item["id"] for item in right], [item["id"] for item in found]
    got = difference(wanted_ids, ids)
    expect.check(sorted(ids) == sorted(wanted_ids), f"{len(right)} matches of the filter", got, "result.matches")


@pytest.mark.core
@rules(**{name: name for name in FILTERS})
def test_just_what_meets_the_filter_matches(vector: Vector, requirement: str) -> None:
    """A filter selects exactly the vectors that satisfy all its terms; a filter without terms selects all vectors."""
    if requirement == "VEC-FILTER-1" and not vector.features.accepts_filters:
        raise NotApplicable("filters are not claimed, and they are answered with NOT_SUPPORTED")
    if requirement == "VEC-FILTER-3":
        vector.limits.require_two_terms()
    if requirement != "VEC-FILTER-1":
        vector.features.require_filters()
    sandbox, items = five_directions(vector)
    for wanted, parts in FILTERS[requirement]:
        unknown = (
            wanted.keys() - items[0]["metadata"].keys()
        )  # a store with declared keys may refuse others (R31, R138)
        many = len(wanted) > 1 and vector.capabilities.limit("max_filter_terms") is None  # the limit may be one (R22)
        refusals = PERMANENT if unknown or many else ()
        expect_exact_matches(sandbox, wanted, items, [items[part] for part in parts], *refusals)
    if requirement == "VEC-FILTER-1":
        found = len(sandbox.contents() if vector.limits.is_approximate else sandbox.ids(top_k=5))
        all_of_them = vector.limits.cap_matches(5)
        expect.check(found >= all_of_them, f"all {all_of_them} vectors without a filter", f"{found}")


@rules(**{name: name for name in HELD})
def test_a_filter_compares_whole_values(vector: Vector, requirement: str) -> None:
    """A filter selects only vectors with the same value of the same type under its key."""
    vector.features.require_filters()
    filters, odd, taken = HELD[requirement][1], dict[str, Item](), dict[str, Item]()
    items = items_for_requirement(vector, requirement)
    if requirement == "VEC-FILTER-13":
        sandbox = vector.sandbox()
        both = len(offer_items(sandbox, dict(zip("ab", items, strict=True)))) == len(items)
        expect.applicable(both, "a key of metadata has values of one type")
    else:
        sandbox = vector.sandbox(*items)
    if requirement == "VEC-FILTER-5":
        odd = unusual_items(vector)
        taken = offer_items(sandbox, odd)
    stored = [*items, *taken.values()]
    rounded = vector.capabilities.rounds_numbers
    for wanted, right in filters:
        if rounded and any(isinstance(value, float) for value in wanted.values()):
            continue
        refusals = PERMANENT if any(map(may_be_refused, wanted.values())) else ()
        expect_exact_matches(sandbox, wanted, stored, [items[number] for number in right], *refusals)
    for kind, item in odd.items():
        if kind in (*taken, *vocabulary.INJECTIONS):
            found = matching_items(sandbox, item["metadata"], stored, *PERMANENT)
            fits = found is None or found == [each for name, each in taken.items() if name == kind]
            expect.check(
                fits, f"exactly the vectors with the value ({kind}), or a refusal", f"{len(found or ())} matches"
            )


def may_be_refused(value: Any) -> bool:
    """True for values that a filter may refuse: huge integers, and texts with anything but letters and digits."""
    if isinstance(value, str):
        return not (value.isascii() and value.isalnum())
    return isinstance(value, int) and abs(value) > LARGE


def items_for_requirement(vector: Vector, requirement: str) -> list[Item]:
    """Return vectors with the metadata that the table `HELD` has for a requirement."""
    return [vector.item(20 + 40 * number, metadata) for number, metadata in enumerate(HELD[requirement][0])]


def unusual_items(vector: Vector) -> dict[str, Item]:
    """Return vectors with unusual words as values of a key, or as keys."""
    values = vocabulary.choose(vocabulary.INJECTIONS, 3, ["expression", "condition"])
    several = {f"words {number}": text for number, text in enumerate(vocabulary.distribute_words(2, "w", UNPRINTABLE))}
    several["newline"] = " ".join(vocabulary.WORDS[kind] for kind in ("newline", "tab"))
    first = ("composed", "decomposed", *several)
    values |= vocabulary.choose({**vocabulary.WORDS, **several}, min(5, vector.features.count_words_to_try(5)), first)
    keys = vocabulary.fill_in(vocabulary.choose({**vocabulary.WORDS, **vocabulary.INJECTIONS}, 3, ["expression"]), "w")
    with_keys = {f"{kind} key": vector.item(90 + 9 * n, {word: f"a{n}"}) for n, (kind, word) in enumerate(keys.items())}
    return {**checks.items_with_value(vector, vocabulary.fill_in(values, "w")), **with_keys}


@core("VEC-FILTER-2")
def test_the_filter_applies_before_the_cut(vector: Vector) -> None:
    """Vectors that match the filter are found even if many nearer vectors do not match."""
    vector.features.require_filters()
    near = [vector.item(3 * number, {"kind": "near"}) for number in range(12)]
    far = [vector.item(degrees, {"kind": "far"}) for degrees in (120, 150)]
    sandbox = vector.sandbox(*near, *far)
    for most, include_metadata in ((1, True), (2, True), (2, False)):
        top_k = vector.limits.cap_matches(most)
        narrowed: dict[str, Any] = {"filter": {"kind": "far"}, "include_metadata": include_metadata}
        narrowed["include_vectors"] = not include_metadata
        found = sandbox.ids(direction(0, vector.dimensions), top_k, **narrowed)
        is_right = set(found) <= {item["id"] for item in far}
        expect.check(is_right, "vectors that meet the filter", "vectors that do not meet it")
        if vector.limits.filters_after_search or vector.limits.is_approximate:
            first = sandbox.ids(far[0]["vector"], 1, **narrowed)
            is_right = first == [far[0]["id"]]
            expect.check(is_right, "the vector that comes first both with and without the filter", f"{len(first)}")
            continue
        expect.check(len(found) == top_k, f"{top_k} matches", f"{len(found)}", "result.matches")
        if vector.dimensions > 1:
            expect.check(found[0] == far[0]["id"], "the nearest vector that meets the filter", "another vector")


@pytest.mark.requirement("VEC-FILTER-2")
def test_a_crowd_does_not_push_out_what_meets_the_filter(vector: Vector) -> None:
    """A filter finds its matches among many nearer vectors that do not match, whichever were written first."""
    vector.features.require_filters()
    expect.applicable(
        not vector.limits.filters_after_search, "capabilities say that filters are applied after the search"
    )
    vector.features.require_direction()
    sandbox = vector.sandbox(*(vector.item(degrees, {"kind": "far"}) for degrees in (12, 13, 14, 15)))
    query: dict[str, Any] = {"vector": direction(8, vector.dimensions), "top_k": 3, "filter": {"kind": "far"}}
    before = sandbox.ids(**query)
    expect.applicable(
        before or not vector.limits.is_approximate, "the approximate search did not find the near vectors"
    )
    with expect.resting_on("VEC-FILTER-1"):
        expect.check(before, "the vectors that meet the filter", "no matches", "result.matches")
    written = 0
    for count in CROWDS:
        if vector.limits.most_in_batch and count > vector.limits.most_in_batch * MOST_BATCHES:
            raise NotApplicable(f"{count} vectors take more than {MOST_BATCHES} upserts")
        crowd = [vector.item(6 + 4 * number / count, {"kind": "near"}) for number in range(written, count)]
        if not written:
            late = crowd[-1] = vector.item(20, {"kind": "late"})
        with suppress(QuotaUsedUp):  # a quota may leave room for fewer
            sandbox.put(*crowd)
            if not written and not vector.limits.is_approximate:
                found = sandbox.ids(**{**query, "filter": {"kind": "late"}})
                expect.check(found == [late["id"]], "the vector that was written last", "another match, or none")
        expect.check(sandbox.ids(**query), f"{len(before)} matches, as before", "no matches", "result.matches")
        written = count


@pytest.mark.requirement("VEC-FILTER-7")
def test_an_operator_is_applied_or_refused(vector: Vector) -> None:
    """A filter with an operator is refused, finds nothing, or finds exactly the matching vectors."""
    vector.features.require_filters()
    sandbox, items = five_directions(vector)
    terms = vector.capabilities.limit("max_filter_terms") or 2
    for term, parts in OPERATORS:
        if not isinstance(term, dict) or len(term) <= terms:
            found, right = matching_items(sandbox, {"part": term}, items, *PERMANENT), [items[part] for part in parts]
            wrong = f"{len(found or ())}, some of them wrong"
            expect.check(not found or found == right, f"{len(right)} matches of {describe(term)}", wrong)


@pytest.mark.requirement("VEC-FILTER-7")
def test_an_operand_that_does_not_fit_is_a_bad_request(vector: Vector) -> None:
    """A filter whose operand has the wrong type, or whose operator is unknown, has an answer or a permanent error."""
    vector.features.require_filters()
    sandbox, _ = five_directions(vector)
    for key, terms in (
        ("part", ODD_OPERANDS),
        ("sort", ODD_OPERANDS[2:-1]),
    ):  # a text may be compared with `sort`, a text
        for term in terms:
            reply = sandbox.ask(filter={key: term})
            expect.either(reply, *PERMANENT)
            if reply.is_success and any("no_such" in name for name in term):
                expect.check(not matches_of(reply.result), "no matches, or a refusal", "matches", "result.matches")


@pytest.mark.requirement("VEC-FILTER-7")
def test_null_in_a_filter_is_not_ignored(vector: Vector) -> None:
    """A filter by null is refused, or finds no vector that has a value under the key."""
    vector.features.require_filters()
    sandbox, items = five_directions(vector)
    found = matching_items(sandbox, {"sort": None}, items, *PERMANENT)
    expect.check(not found, "no vector with a value under the key, or a refusal", f"{len(found or ())} matches")


@pytest.mark.requirement("VEC-FILTER-12")
def test_an_unknown_operator_is_refused(vector: Vector) -> None:
    """A filter with an undocumented operator is refused as a bad request or as not supported."""
    vector.features.require_filters()
    query = {**vector.requests.minimal("query"), "filter": {"kind": {"$no_such_operator": "a"}}}
    expect.refusal(vector.call("query", query), *PERMANENT)


@pytest.mark.requirement("VEC-FILTER-8")
@pytest.mark.parametrize("operation", ["query", "batch_query"])
def test_a_filter_that_is_denied_is_not_ignored(vector: Vector, operation: str) -> None:
    """If filters are denied, a filter is refused with NOT_SUPPORTED, or applied nevertheless."""
    expect.applicable(vector.capabilities.flag("supports_filters") is False, "filters are not denied")
    vector.require("query", operation)
    sandbox, items = five_directions(vector)
    query = {"vector": items[0]["vector"], "top_k": vector.limits.cap_matches(5), "filter": {"sort": "b"}}
    args = query if operation == "query" else {"queries": [sandbox.args(**query)]}
    reply = vector.call(operation, sandbox.args(**args))
    expect.either(reply, "NotSupported")
    if reply.is_success:
        found = sandbox.ids(**query, by=operation)
        right = {item["id"] for item in items if item["metadata"]["sort"] == "b"}
        is_right = set(found) <= right
        expect.check(is_right, "matches that meet the filter", "matches that do not meet it", "result.matches")


@pytest.mark.requirement("VEC-FILTER-10")
def test_a_filter_of_the_most_terms_is_served(vector: Vector) -> None:
    """A filter with the maximum number of terms is applied with all its terms."""
    vector.features.require_filters()
    terms = {key_of(number): number for number in range(vector.limits.require_limit("max_filter_terms", MOST_TERMS))}
    first, last = key_of(0), key_of(len(terms) - 1)
    items = [vector.item(20, terms), vector.item(80, {**terms, last: -1}), vector.item(140, {**terms, first: -1})]
    sandbox = vector.sandbox(*items)
    expect_exact_matches(sandbox, terms, items, items[:1])


@pytest.mark.requirement("VEC-FILTER-11")
@pytest.mark.parametrize("operation", ["query", "batch_query", "delete"])
def test_a_filter_of_too_many_terms_is_refused(vector: Vector, operation: str) -> None:
    """A filter with one term too many is refused, in every operation that accepts filters."""
    vector.features.require_filters()
    terms = {
        key_of(number): number for number in range(vector.limits.require_limit("max_filter_terms", MOST_TERMS) + 1)
    }
    vector.require(operation)
    if operation == "delete":
        vector.features.require_filter_deletes()
    args = vector.requests.query_arguments(operation, {**vector.requests.minimal("query"), "filter": terms})
    scratch_namespace_arg = {"filter": terms, **vector.requests.scratch_namespace_arg}
    expect.refusal(vector.call(operation, scratch_namespace_arg if operation == "delete" else args), "BadRequest")


@pytest.mark.requirement("VEC-FILTER-15")
def test_a_key_may_hold_values_of_several_types(vector: Vector) -> None:
    """A filter by a value finds all items with this value and none with another, or is refused permanently."""
    vector.features.require_filters()
    sandbox = vector.sandbox()
    items = {str(number): vector.item(10 + 20 * number, {"held": value}) for number, value in enumerate(MIXED)}
    stored = [*offer_items(sandbox, items).values()]
    doubtful = [item for item in stored if isinstance(item["metadata"]["held"], list)]
    for wanted in ("a", 7):
        found = matching_items(sandbox, {"held": wanted}, stored, *PERMANENT)
        if found is None:
            raise NotApplicable("a filter on a key of several types is refused")
        right = [item for item in stored if are_equal(item["metadata"]["held"], wanted)]
        extra = [item["id"] for item in found if item not in (*right, *doubtful)]
        missing = [item["id"] for item in right if item not in found]
        with expect.resting_on("VEC-FILTER-1" if isinstance(wanted, str) else "VEC-FILTER-5"):
            expect.check(not missing, f"{len(right)} matches", f"{describe_names(missing)} missing")
        expect.check(not extra, f"{len(right)} matches", f"{describe_names(extra)} too many")
