"""Dimensions of vectors and namespaces (SPECIFICATION 9.3, 17.2; ERRORS 6.3; BEHAVIORAL_CONFORMANCE 6.7; R12, R14)."""

from __future__ import annotations

from functools import partial

from pytest_corpus.spec.requirements.model import Requirement

R = partial(Requirement, components=("vector",))

REQUIREMENTS = (
    R(
        "VEC-DIM-1",
        "MUST",
        "An upserted vector of another dimension than its namespace's is DIMENSION_MISMATCH, whole or for the item.",
        ("SPECIFICATION 9.3", "ERRORS 6.3", "R12"),
        hint="compare len(vector) with the dimensions of the namespace, longer or shorter, and raise DimensionMismatch",
    ),
    R(
        "VEC-DIM-2",
        "MUST",
        "A query vector of another dimension than its namespace's is DIMENSION_MISMATCH.",
        ("SPECIFICATION 9.3", "ERRORS 6.3", "R12"),
        hint="compare the length of a query vector before you search; neither cut nor pad it",
    ),
    R(
        "VEC-DIM-3",
        "MUST",
        "Any query of a batch whose vector has another dimension makes it DIMENSION_MISMATCH.",
        ("SPECIFICATION 9.3", "ERRORS 6.3", "R12"),
        needs=("supports_batch_queries",),
        hint="compare the vector of every query, not of the first alone, and raise DimensionMismatch",
    ),
    R(
        "VEC-DIM-4",
        "MUST",
        "A vector of a wrong dimension is not stored, nor does it touch what is stored under its id.",
        ("SPECIFICATION 9.3", "SPECIFICATION 14.4", "R14"),
        hint="compare the length before you store or remove anything under the id",
    ),
    R(
        "VEC-DIM-5",
        "MUST",
        "Only the items of a wrong dimension are reported as failed, each at its index.",
        ("SPECIFICATION 12.5", "ERRORS 10", "R14"),
        hint="go on after an item of a wrong dimension, and report each such item at its own index",
    ),
    R(
        "VEC-DIM-6",
        "MUST",
        "A namespace of `max_dimensions` dimensions can be created and used.",
        ("BEHAVIORAL_CONFORMANCE 6.7", "R23"),
        hint="refuse only more than max_dimensions, in create_namespace and in upsert",
    ),
    R(
        "VEC-DIM-7",
        "MUST",
        "A namespace of more than `max_dimensions` dimensions is refused with BAD_REQUEST.",
        ("BEHAVIORAL_CONFORMANCE 6.7", "SPECIFICATION 17.2"),
        hint="compare `dimensions` with max_dimensions in create_namespace",
    ),
    R(
        "VEC-DIM-8",
        "MUST",
        "`dimensions` that is not a positive whole number is refused with BAD_REQUEST.",
        ("SPECIFICATION 4.1", "SPECIFICATION 17.2", "R8"),
        hint="check that `dimensions` is an integer of at least 1; zero does not stand for unknown",
    ),
    R(
        "VEC-DIM-9",
        "MUST",
        "Each namespace keeps its own dimensions.",
        ("SPECIFICATION 9.3", "ERRORS 6.3"),
        hint="keep the dimensions with each namespace, not once for the adapter or the tenant",
    ),
    R(
        "VEC-DIM-10",
        "MUST",
        "A vector without components is refused with BAD_REQUEST, or reported as failed.",
        ("SCHEMA 4.2.2", "ERRORS 10"),
        hint="refuse an empty `vector` before you store it or search by it",
    ),
    R(
        "VEC-DIM-11",
        "SHOULD",
        "DIMENSION_MISMATCH gives `expected` and `provided` in its details.",
        ("ERRORS 6.3",),
        hint="give the dimensions of the namespace as `expected` and len(vector) as `provided`",
    ),
    R(
        "VEC-DIM-12",
        "SHOULD",
        "DIMENSION_MISMATCH gives the `namespace` in its details.",
        ("ERRORS 6.3",),
        hint="add the name of the namespace, as it was asked for, to `details`",
    ),
)
