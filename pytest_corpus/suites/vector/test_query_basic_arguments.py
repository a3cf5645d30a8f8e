"""Arguments that are missing, of a wrong type or out of range (SPECIFICATION 9.2, 9.3, 17.2; SCHEMA 4.2.2; R8, R45)."""

from collections.abc import Mapping
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.suites.vector.support.component import Vector, vector
from pytest_corpus.suites.vector.support.scenarios.checks import expect_refused_or_reported

OPERATIONS = {"item": "upsert", "batched": "batch_query"}
"""The operation for each place of a bad argument: an item of an upsert, or the first or last query of a batch."""

WRONG: dict[str, tuple[tuple[str, str, tuple[Any, ...]], ...]] = {
    "VEC-QUERY-9": (("query", "top_k", (0, -1, -5, 1.5)),),
    "VEC-QUERY-10": (("query", "vector", (...,)), ("query", "top_k", (...,))),
    "VEC-QUERY-11": (
        ("query", "vector", ("x", {}, None, ["a"], [None], ["0.5", ...], [..., "0.5"])),
        ("query", "top_k", ("many", "3", {})),
        ("query", "namespace", (7, ["a"])),
        ("query", "include_metadata", ("yes", "false")),
        ("query", "include_vectors", ("no", [1])),
    ),
    "VEC-FILTER-9": (("query", "filter", ("x", 7, ["kind"])),),
    "VEC-MULTI-4": (
        ("batch_query", "queries", ("x", {}, None, [7], ...)),
        ("batched", "top_k", (0, "x", "3", ...)),
        ("batched", "vector", ("x", ["a"], ...)),
    ),
    "VEC-UPSERT-8": (("item", "id", (..., "")), ("item", "vector", (...,))),
    "VEC-UPSERT-9": (
        ("item", "id", (7, ["a"])),
        ("item", "vector", ("x", {}, ["a", ...], [..., "a"], [None, ...], [..., None], [[0.5], ...], [..., {}])),
        ("item", "metadata", ("x", [1])),
        ("item", "namespace", (7,)),
    ),
    "VEC-UPSERT-10": (("upsert", "vectors", (..., "x", {}, {"id": "a"}, None, [7], [None], [[0.5]])),),
    "VEC-NS-7": (
        ("create_namespace", "namespace", (..., 7, None)),
        ("create_namespace", "dimensions", (..., "x")),
        ("create_namespace", "distance_metric", (7, ["cosine"])),
        ("delete_namespace", "namespace", (..., ["a"], None, {})),
    ),
    "VEC-DIM-8": (("create_namespace", "dimensions", (0, -1, 1.5, "4")),),
    "VEC-DIM-10": (("query", "vector", ([],)), ("batched", "vector", ([], [])), ("item", "vector", ([],))),
}
"""By requirement: operation, argument and bad values. `...` stands for no argument; in a list, for a good component."""

CASES = [
    pytest.param(name, marks=[pytest.mark.requirement(name), *([pytest.mark.core] if "QUERY" in name else [])])
    for name in WRONG
]


@pytest.mark.parametrize("requirement", CASES)
def test_a_bad_argument_is_refused(vector: Vector, requirement: str) -> None:
    """A missing argument, a wrong type or a number out of range is refused, or reported for the item."""
    if requirement == "VEC-FILTER-9":
        vector.features.require_filters()
    wrong = [(OPERATIONS.get(place, place), place, key, values) for place, key, values in WRONG[requirement]]
    offered = [each for each in wrong if vector.works(each[0])]
    if not offered:
        vector.require(wrong[0][0])
    for operation, place, key, values in offered:
        for number, value in enumerate(values):
            reply = vector.call(operation, arguments(vector, place, key, value, at_end=bool(number % 2)))
            if operation == "upsert" and (place == "item" or isinstance(value, list)):
                expect_refused_or_reported(reply)
            else:
                expect.refusal(reply, "BadRequest", claim=f"a bad {key} to be refused with BAD_REQUEST")


def arguments(vector: Vector, place: str, key: str, value: Any, *, at_end: bool) -> dict[str, Any]:
    """Return the arguments of a request with one bad value. In a batch, the first or the last query has it."""
    if place == "item":
        return {"vectors": [replace_value(vector.item(), key, value)], **vector.requests.scratch_namespace_arg}
    if place == "batched":
        good = vector.requests.minimal("query")
        bad = replace_value(good, key, value)
        queries = [bad] if vector.limits.most_in_batch == 1 else [good, bad] if at_end else [bad, good]
        return vector.requests.query_arguments("batch_query", *queries)
    whole = {**vector.item(), **value} if key == "vectors" and isinstance(value, dict) and value else value
    return replace_value(vector.requests.minimal(place), key, whole)


def replace_value(args: Mapping[str, Any], key: str, value: Any) -> dict[str, Any]:
    """Return arguments with another value.

    For a vector, the list is repeated and cut to the right length: at its beginning if the list begins with `...`, or
    else at its end. Each `...` becomes a good component.
    """
    if key == "vector" and isinstance(value, list) and value:
        right = args[key]
        wrong = value * len(right)
        wrong = wrong[-len(right) :] if value[0] is ... else wrong[: len(right)]
        value = [good if each is ... else each for each, good in zip(wrong, right, strict=True)]
    return {name: each for name, each in {**args, key: value}.items() if each is not ...}
