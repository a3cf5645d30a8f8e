"""Vector: dimensions, filters, deletes, namespaces (SPECIFICATION 9; ERRORS 6.3; BEHAVIORAL_CONFORMANCE 5.4, 6.7)."""

from __future__ import annotations

from functools import partial

from pytest_corpus.spec.requirements.model import Requirement

R = partial(Requirement, components=("vector",))

_DIMENSIONS = (
    R(
        "VEC-DIM-1",
        "MUST",
        "An upserted vector of another dimension than its namespace's is DIMENSION_MISMATCH, whole or for the item.",
        ("SPECIFICATION 9.3", "ERRORS 6.3", "R12"),
        hint="compare len(vector) with the dimensions of the namespace",
    ),
    R(
        "VEC-DIM-2",
        "MUST",
        "A query vector of another dimension than its namespace's is DIMENSION_MISMATCH.",
        ("SPECIFICATION 9.3", "ERRORS 6.3", "R12"),
    ),
    R(
        "VEC-DIM-3",
        "MUST",
        "Any query of a batch whose vector has another dimension makes it DIMENSION_MISMATCH.",
        ("SPECIFICATION 9.3", "ERRORS 6.3", "R12"),
        needs=("supports_batch_queries",),
    ),
    R(
        "VEC-DIM-4",
        "MUST",
        "A vector of a wrong dimension is not stored, nor does it touch what is stored under its id.",
        ("SPECIFICATION 9.3", "SPECIFICATION 14.4", "R14"),
        hint="neither cut nor pad",
    ),
    R(
        "VEC-DIM-5",
        "MUST",
        "Only the items of a wrong dimension are reported as failed, each at its index.",
        ("SPECIFICATION 12.5", "ERRORS 10", "R14"),
    ),
    R(
        "VEC-DIM-6",
        "MUST",
        "A namespace of `max_dimensions` dimensions can be created and used.",
        ("BEHAVIORAL_CONFORMANCE 6.7", "R23"),
    ),
    R(
        "VEC-DIM-7",
        "MUST",
        "A namespace of more than `max_dimensions` dimensions is refused with BAD_REQUEST.",
        ("BEHAVIORAL_CONFORMANCE 6.7", "SPECIFICATION 17.2"),
    ),
    R(
        "VEC-DIM-8",
        "MUST",
        "`dimensions` that is no positive whole number is refused with BAD_REQUEST.",
        ("SPECIFICATION 4.1", "SPECIFICATION 17.2", "R8"),
    ),
    R(
        "VEC-DIM-9",
        "MUST",
        "Each namespace keeps its own dimensions.",
        ("SPECIFICATION 9.3", "ERRORS 6.3"),
    ),
    R(
        "VEC-DIM-10",
        "MUST",
        "A vector without components is refused with BAD_REQUEST, or reported as failed.",
        ("SCHEMA 4.2.2", "ERRORS 10"),
    ),
    R(
        "VEC-DIM-11",
        "SHOULD",
        "DIMENSION_MISMATCH gives `expected` and `provided` in its details.",
        ("ERRORS 6.3",),
    ),
)

_FILTER = (
    R(
        "VEC-FILTER-1",
        "MUST",
        "Only vectors whose metadata equal the filter are matches, and all of them are.",
        ("SPECIFICATION 9.3", "SCHEMA 4.2.2", "R31"),
        needs=("supports_filters",),
    ),
    R(
        "VEC-FILTER-2",
        "MUST",
        "The filter applies before the cut to `top_k`.",
        ("SPECIFICATION 9.3",),
        needs=("supports_filters",),
        hint="filter first, then take the best",
    ),
    R(
        "VEC-FILTER-3",
        "MUST",
        "All terms of a filter must hold.",
        ("SCHEMA 4.2.2", "R31"),
        needs=("supports_filters",),
    ),
    R(
        "VEC-FILTER-4",
        "MUST",
        "A filter that no vector meets gives no matches.",
        ("SPECIFICATION 9.3", "R31"),
        needs=("supports_filters",),
    ),
    R(
        "VEC-FILTER-5",
        "MUST",
        "Numbers and booleans can be filtered by, as strings can.",
        ("SCHEMA 4.2.2", "R31"),
        needs=("supports_filters",),
    ),
    R(
        "VEC-FILTER-6",
        "MUST",
        "A vector without the key, or without metadata, does not meet the filter.",
        ("SCHEMA 4.2.2", "R31"),
        needs=("supports_filters",),
    ),
    R(
        "VEC-FILTER-7",
        "MUST",
        "An operator is applied as it reads or refused; no match breaks it.",
        ("SCHEMA 4.2.2", "R31"),
        needs=("supports_filters",),
        hint="refuse what you cannot serve",
    ),
    R(
        "VEC-FILTER-8",
        "MUST",
        "Where filters are denied, a query with a filter is refused with NOT_SUPPORTED; the filter is never ignored.",
        ("BEHAVIORAL_CONFORMANCE 5.4", "R23", "R31"),
    ),
    R(
        "VEC-FILTER-9",
        "MUST",
        "A filter that is no object is refused with BAD_REQUEST.",
        ("SCHEMA 4.2.2", "R8"),
        needs=("supports_filters",),
    ),
    R(
        "VEC-FILTER-10",
        "MUST",
        "A filter of `max_filter_terms` terms is served.",
        ("BEHAVIORAL_CONFORMANCE 6.7", "R23"),
        needs=("supports_filters",),
    ),
    R(
        "VEC-FILTER-11",
        "MUST",
        "A filter of more than `max_filter_terms` terms is refused with BAD_REQUEST.",
        ("BEHAVIORAL_CONFORMANCE 6.7", "SPECIFICATION 17.2"),
        needs=("supports_filters",),
    ),
    R(
        "VEC-FILTER-12",
        "SHOULD",
        "An operator that no document knows is refused.",
        ("ERRORS 6.3", "R31"),
        needs=("supports_filters",),
    ),
    R(
        "VEC-FILTER-13",
        "SHOULD",
        "Values of different types are different: 1 is neither true nor the string 1.",
        ("SCHEMA 4.2.2", "R31"),
        needs=("supports_filters",),
    ),
    R(
        "VEC-FILTER-14",
        "SHOULD",
        "An empty filter leaves out nothing.",
        ("SCHEMA 4.2.2",),
        needs=("supports_filters",),
    ),
)

_DELETE = (
    R(
        "VEC-DELETE-1",
        "MUST",
        "A delete is answered with its counts and its failures, as the schema says.",
        ("SCHEMA 4.2.2", "SPECIFICATION 12.5", "R14"),
        hint="deleted_count (or processed_count), failed_count and failures",
    ),
    R(
        "VEC-DELETE-2",
        "MUST",
        "A vector that was deleted by its id is not found again, not by a query that was asked before either.",
        ("SPECIFICATION 4.2.6", "SPECIFICATION 9.3"),
    ),
    R(
        "VEC-DELETE-3",
        "MUST",
        "Every id of the list is deleted, from the first to the last.",
        ("SPECIFICATION 9.2", "SPECIFICATION 12.5"),
    ),
    R(
        "VEC-DELETE-4",
        "MUST",
        "A delete by ids leaves all other vectors as they are.",
        ("SPECIFICATION 4.2.6",),
    ),
    R(
        "VEC-DELETE-5",
        "MUST",
        "A delete by filter removes every vector that meets the filter.",
        ("SPECIFICATION 9.2", "R31"),
        needs=("supports_filters",),
    ),
    R(
        "VEC-DELETE-6",
        "MUST",
        "A delete by filter leaves all vectors that do not meet the filter.",
        ("SPECIFICATION 9.2", "R31"),
        needs=("supports_filters",),
    ),
    R(
        "VEC-DELETE-7",
        "MUST",
        "The count of a delete by ids is the number of vectors that it removed.",
        ("SCHEMA 4.2.2", "SPECIFICATION 12.5"),
    ),
    R(
        "VEC-DELETE-8",
        "MUST",
        "A delete with neither `ids` nor `filter` is refused with BAD_REQUEST and removes nothing.",
        ("SPECIFICATION 9.2", "SPECIFICATION 17.2", "R8"),
    ),
    R(
        "VEC-DELETE-9",
        "MUST",
        "A delete with an argument of the wrong type is refused with BAD_REQUEST and removes nothing.",
        ("SPECIFICATION 9.2", "R8"),
    ),
    R(
        "VEC-DELETE-10",
        "MUST",
        "An id that was deleted can be upserted again.",
        ("SPECIFICATION 4.2.6",),
    ),
    R(
        "VEC-DELETE-11",
        "MUST",
        "A delete by a filter that cannot be served, or is denied, removes nothing that does not meet it.",
        ("R31",),
        hint="refuse what you cannot serve",
    ),
    R(
        "VEC-DELETE-12",
        "MUST",
        "A delete by no ids at all removes nothing.",
        ("SPECIFICATION 9.2",),
    ),
    R(
        "VEC-DELETE-13",
        "SHOULD",
        "Deleting an id that does not exist succeeds, and counts nothing.",
        ("R26",),
    ),
    R(
        "VEC-DELETE-14",
        "SHOULD",
        "The count of a delete by filter is the number of vectors that it removed.",
        ("SCHEMA 4.2.2",),
        needs=("supports_filters",),
    ),
)

_NAMESPACES = (
    R(
        "VEC-NS-1",
        "MUST",
        "A namespace that was created can be written to and read from.",
        ("SPECIFICATION 4.2.6", "SPECIFICATION 9.3"),
    ),
    R(
        "VEC-NS-2",
        "MUST",
        "What lies in one namespace is not found in another.",
        ("SPECIFICATION 9.1", "SPECIFICATION 9.2"),
        hint="keep vectors by namespace and id",
    ),
    R(
        "VEC-NS-3",
        "MUST",
        "Writing and deleting in one namespace leaves the same ids in another as they are.",
        ("SPECIFICATION 9.1", "SPECIFICATION 9.2"),
    ),
    R(
        "VEC-NS-4",
        "MUST",
        "Deleting a namespace removes all its vectors: they are not found, nor in a new namespace of that name.",
        ("SPECIFICATION 4.2.6",),
    ),
    R(
        "VEC-NS-5",
        "MUST",
        "Deleting a namespace leaves every other one as it is, one whose name begins alike included.",
        ("SPECIFICATION 4.2.6",),
    ),
    R(
        "VEC-NS-6",
        "MUST",
        "A query on an unknown namespace is refused with BAD_REQUEST or its subtype NamespaceNotFound.",
        ("ERRORS 6.3", "R12", "R45"),
    ),
    R(
        "VEC-NS-7",
        "MUST",
        "Creating or deleting a namespace with an argument missing or of the wrong type is refused with BAD_REQUEST.",
        ("SPECIFICATION 9.3", "R8"),
    ),
    R(
        "VEC-NS-8",
        "MUST",
        "Each namespace keeps its own metric.",
        ("SPECIFICATION 9.4",),
    ),
    R(
        "VEC-NS-9",
        "MUST",
        "Where no `namespace` is given, `default` is meant.",
        ("SPECIFICATION 9.2",),
    ),
    R(
        "VEC-NS-10",
        "MUST",
        "A success of `create_namespace` or `delete_namespace` does not say `success` false or another namespace.",
        ("SPECIFICATION 4.2.6", "SPECIFICATION 9.3"),
    ),
    R(
        "VEC-NS-11",
        "SHOULD",
        "A query on an unknown namespace is NAMESPACE_NOT_FOUND.",
        ("ERRORS 6.3", "R12"),
    ),
    R(
        "VEC-NS-12",
        "SHOULD",
        "A metric that is not offered is refused with BAD_REQUEST or NOT_SUPPORTED.",
        ("SPECIFICATION 9.4", "R23"),
    ),
    R(
        "VEC-NS-13",
        "SHOULD",
        "Creating a namespace anew leaves its vectors as they are.",
        ("SPECIFICATION 9.3",),
    ),
)

_STATE = (
    R(
        "VEC-STATE-1",
        "MUST",
        "Whatever the sequence of writes and deletes, queries find exactly what it leaves behind.",
        ("SPECIFICATION 4.2.6", "SPECIFICATION 9.3"),
        hint="the message lists the shortest sequence of envelopes that was found",
    ),
)

REQUIREMENTS = (*_DIMENSIONS, *_FILTER, *_DELETE, *_NAMESPACES, *_STATE)
