"""Dimensions of vectors and namespaces (SPECIFICATION 9.3, 17.2; ERRORS 6.3; BEHAVIORAL_CONFORMANCE 6.7; R12, R14)."""

REQUIREMENTS = """
VEC-DIM-1 MUST: If an upserted vector has another dimension than its namespace, the upsert is refused, or the item
    reported, with DIMENSION_MISMATCH.
  from SPECIFICATION 9.3, ERRORS 6.3, R12
  hint: raise DimensionMismatch if len(vector) is larger or smaller than the dimensions of the namespace
VEC-DIM-2 MUST: A query whose vector has another dimension than its namespace is refused with DIMENSION_MISMATCH.
  from SPECIFICATION 9.3, ERRORS 6.3, R12
  hint: compare the length of a query vector before you search; neither cut nor pad it
VEC-DIM-3 MUST: A batch of queries is refused with DIMENSION_MISMATCH if the vector of any query has another dimension
    than the namespace.
  from SPECIFICATION 9.3, ERRORS 6.3, R12; needs supports_batch_queries
  hint: compare the vector of every query, not only of the first, and raise DimensionMismatch
VEC-DIM-4 MUST: A vector of a wrong dimension is not stored, and changes nothing that is stored under its id.
  from SPECIFICATION 9.3, SPECIFICATION 14.4, R14
  hint: compare the length before you store or remove anything under the id
VEC-DIM-5 MUST: Only the items of a wrong dimension are reported as failed, each at its index.
  from SPECIFICATION 12.5, ERRORS 10, R14
  hint: continue after an item of a wrong dimension, and report each such item with its index
VEC-DIM-6 MUST: A namespace of `max_dimensions` dimensions can be created and used.
  from BEHAVIORAL_CONFORMANCE 6.7, R23
  hint: refuse only more than max_dimensions, in create_namespace and in upsert
VEC-DIM-7 MUST: A namespace of more than `max_dimensions` dimensions is refused with BAD_REQUEST.
  from BEHAVIORAL_CONFORMANCE 6.7, SPECIFICATION 17.2
  hint: compare `dimensions` with max_dimensions in create_namespace
VEC-DIM-8 MUST: `dimensions` that is not a positive whole number is refused with BAD_REQUEST.
  from SPECIFICATION 4.1, SPECIFICATION 17.2, R8
  hint: check that `dimensions` is an integer of at least 1; zero does not stand for unknown
VEC-DIM-9 MUST: Each namespace keeps its own dimensions.
  from SPECIFICATION 9.3, ERRORS 6.3
  hint: keep the dimensions with each namespace, not once for the adapter or the tenant
VEC-DIM-10 MUST: A vector without components is refused with BAD_REQUEST, or reported as failed.
  from SCHEMA 4.2.2, ERRORS 10
  hint: refuse an empty `vector` before you store it or search by it
VEC-DIM-11 SHOULD: DIMENSION_MISMATCH gives `expected` and `provided` in its details.
  from ERRORS 6.3
  hint: give the dimensions of the namespace as `expected` and len(vector) as `provided`
VEC-DIM-12 SHOULD: DIMENSION_MISMATCH gives the `namespace` in its details.
  from ERRORS 6.3
  hint: add the name of the namespace, as it was asked for, to `details`
"""
