"""Deleting vectors (SPECIFICATION 4.2.6, 9.2, 9.3; SCHEMA 4.2.2; R26, R31)."""

REQUIREMENTS = """
VEC-DELETE-1 MUST: A delete is answered with its counts and its failures, as the schema says.
  from SCHEMA 4.2.2, SPECIFICATION 12.5, R14
  hint: return deleted_count (or processed_count) as a number, failed_count and the list failures
VEC-DELETE-2 MUST: A vector that was deleted by its id is not found again, even if the same query was sent before the
    delete.
  from SPECIFICATION 4.2.6, SPECIFICATION 9.3
  hint: remove the vector from storage and index, and drop cached answers
VEC-DELETE-3 MUST: Every id of the list is deleted, from the first to the last.
  from SPECIFICATION 9.2, SPECIFICATION 12.5
  hint: delete all of `ids`, including the first and the last
VEC-DELETE-4 MUST: A delete by ids leaves all other vectors as they are.
  from SPECIFICATION 4.2.6, R138
  hint: compare whole ids, not their beginnings
VEC-DELETE-5 MUST: If deletes by filter are offered, such a delete removes every vector that meets the filter.
  from SPECIFICATION 9.2, R31, R131; needs supports_filters
  hint: remove all vectors that match the filter, without a limit such as top_k
VEC-DELETE-6 MUST: A delete by filter keeps every vector that does not meet the filter. If `ids` are given too, every
    vector that they do not name is kept as well.
  from SPECIFICATION 9.2, R31, R131, R138; needs supports_filters
  hint: use the filter code of `query`; missing `ids` do not mean all vectors
VEC-DELETE-7 MUST: The count of a delete by ids is the number of vectors that it removed.
  from SCHEMA 4.2.2, SPECIFICATION 12.5
  hint: count the vectors that were removed, not those that are left
VEC-DELETE-8 MUST: A delete with neither `ids` nor `filter`, or with only an empty filter, removes nothing.
  from SPECIFICATION 9.2, R98
  hint: refuse a request without `ids` and `filter`; it does not mean all vectors
VEC-DELETE-9 MUST: A delete with an argument of the wrong type is refused with BAD_REQUEST and removes nothing.
  from SPECIFICATION 9.2, R8
  hint: check `ids`, each id and `filter` before the first vector is removed
VEC-DELETE-10 MUST: An id that was deleted can be upserted again.
  from SPECIFICATION 4.2.6
  hint: clear the deletion mark of an id when it is written again
VEC-DELETE-11 MUST: If a filter is denied or cannot be served, a delete by this filter removes at most the vectors that
    meet it.
  from R31
  hint: refuse a filter that you cannot apply completely: a skipped term deletes too much
VEC-DELETE-12 MUST: A delete by an empty list of `ids` removes nothing.
  from SPECIFICATION 9.2
  hint: compare `ids` with None; do not test for truth, because an empty list names no vectors
VEC-DELETE-13 SHOULD: Deleting an id that does not exist succeeds, and counts nothing.
  from R26
  hint: answer an unknown id with a success, and do not count it
VEC-DELETE-14 SHOULD: The count of a delete by filter is the number of vectors that it removed.
  from SCHEMA 4.2.2; needs supports_filters
  hint: count the vectors that the filter removed
VEC-DELETE-15 SHOULD: A delete with neither `ids` nor `filter` is refused with BAD_REQUEST.
  from R98
  hint: refuse a delete that names nothing: a client that sends one has made a mistake
"""
