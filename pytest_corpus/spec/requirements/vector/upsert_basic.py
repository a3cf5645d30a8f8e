"""Writing vectors (SPECIFICATION 4.2.6, 9.2, 9.3, 12.5; SCHEMA 4.2.2; ERRORS 10; R8, R14, R24, R45)."""

REQUIREMENTS = """
VEC-UPSERT-1 MUST: An upsert is answered with its counts and its failures, as the schema says.
  from SCHEMA 4.2.2, SPECIFICATION 12.5, R14
  hint: return upserted_count (or processed_count), failed_count and failures, [] if nothing failed
VEC-UPSERT-2 MUST: Upserted vectors are found by the first query after the upsert, even if the same query was sent
    before the upsert.
  from SPECIFICATION 4.2.6, SPECIFICATION 9.3
  hint: add every vector to the index that queries read, and drop cached answers at each write
VEC-UPSERT-3 MUST: Every vector of a batch is stored, from the first to the last.
  from SPECIFICATION 12.5, R14
  hint: send the last, partly filled page of a batch to the backend too
VEC-UPSERT-4 MUST: An upsert of a known id replaces the vector: the old vector is gone, and the id exists once.
  from SPECIFICATION 4.2.6, SPECIFICATION 9.3
  hint: replace by id in storage and in the index: remove the old vector when you add the new one
VEC-UPSERT-5 MUST: An upsert of a known id updates its metadata, in answers and for filters.
  from SPECIFICATION 4.2.6
  hint: when a known id is written, replace its vector, its metadata, and its entries in the index for filters
VEC-UPSERT-6 MUST: Strings, numbers and booleans of `metadata` come back as they were written, and so do their keys.
  from SCHEMA 4.2.2, SPECIFICATION 4.1, SPECIFICATION 9.2, R128, R138
  hint: store metadata as JSON in UTF-8; do not turn numbers and booleans into text
VEC-UPSERT-7 MUST: The counts are true: stored items and failed items add up to the batch.
  from SPECIFICATION 12.5, R14
  hint: count every stored item, known ids included, and every failed item
VEC-UPSERT-8 MUST: If `id` of an item is missing or empty, or `vector` is missing, the item is refused, or reported as
    failed.
  from SCHEMA 4.2.2, ERRORS 10, R14, R69
  hint: check each item for `id` and `vector`; do not invent an id or silently skip an item
VEC-UPSERT-9 MUST: An item with a field of the wrong type is refused with BAD_REQUEST, or reported as failed.
  from SCHEMA 4.2.2, SPECIFICATION 17.2, R8, R45
  hint: check the types of an item's fields before you store it; do not convert or omit any
VEC-UPSERT-10 MUST: An upsert whose `vectors` is missing, or not a list of objects, is refused with BAD_REQUEST.
  from SPECIFICATION 9.2, R8
  hint: check that `vectors` is there and a list of objects; do not wrap an object into a list
VEC-UPSERT-11 MUST: If a batch has a bad item, all other items are applied, or the whole batch is refused and nothing is
    applied.
  from SPECIFICATION 12.5, ERRORS 6.3, R14
  hint: continue after a failed item, or check all items before you store the first
VEC-UPSERT-12 MUST: Each failed item is reported with its `index` (under edition 1.0.0: its `id`) and its `error`.
  from SPECIFICATION 12.5, ERRORS 10, R14
  hint: report the item's position from 0 as `index`, and a class of the taxonomy or its code as `error`
VEC-UPSERT-13 MUST: Ids are distinguished exactly: letter case, spaces and scripts make a difference.
  from SCHEMA 4.2.2, R138
  hint: use the id unchanged: do not change its case or encoding, and do not strip it
VEC-UPSERT-18 MUST: An id may be any text, not only a UUID.
  from SCHEMA 4.2.2, SPECIFICATION 9.2
  hint: if the backend accepts only UUIDs, map each id to a UUIDv5 and store the original for answers
VEC-UPSERT-14 MUST: An item that names a `namespace` is stored in this namespace, refused, or reported as failed; it is
    never lost.
  from SCHEMA 4.2.2, R14
  hint: store an item under the namespace that it names, or refuse it; do not skip it
VEC-UPSERT-15 SHOULD: Null and lists in `metadata` come back as they were written.
  from SCHEMA 4.2.2
  hint: store metadata as one JSON document, so that null and lists do not change
VEC-UPSERT-16 SHOULD: An upsert of a known id leaves none of its old metadata behind.
  from SPECIFICATION 4.2.6
  hint: replace the metadata of a known id as a whole; do not merge the new into the old
VEC-UPSERT-17 SHOULD: Of two items with the same id in a batch, the later one counts.
  from SPECIFICATION 4.2.6
  hint: apply the items of a batch in order; of two items with the same id, the later one wins
VEC-UPSERT-19 SHOULD: Numbers with a fraction in `metadata` are doubles, whatever precision capabilities state.
  from SPECIFICATION 4.1, R128
  hint: store the numbers of metadata as doubles, even if components of vectors have 32 bits
VEC-STATE-1 MUST: After any sequence of writes and deletes, queries find exactly the vectors that remain.
  from SPECIFICATION 4.2.6, SPECIFICATION 9.3
  hint: repeat the calls under `smallest story:`, and look for the id that is lost or not deleted
VEC-STATE-2 MUST: If clients write and delete an id concurrently, queries find only complete vectors. Afterwards,
    queries find the last write, or nothing if a delete was last.
  from SPECIFICATION 4.2.6, SPECIFICATION 9.3, R46; quiet
  hint: replace vector and metadata in one step, and after an await change only the ids of the request
VEC-STATE-3 SHOULD: If capabilities claim strong consistency of reads after writes, concurrent operations on an id
    behave as if they ran one after the other.
  from SPECIFICATION B, R46; quiet
  hint: read and write one copy of an id under one lock, or claim `read_after_write_consistency` of another kind
"""
