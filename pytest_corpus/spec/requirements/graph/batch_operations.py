"""Batches: order, mixed outcome, limits; transactions and pages (SPECIFICATION 7.3.3, 11.5, 12.5; R14, R15, R32)."""

REQUIREMENTS = """
GRA-BATCH-1 MUST: A batch applies all its operations.
  from SPECIFICATION 4.2.6, SPECIFICATION 7.3.3; needs supports_batch
  hint: carry out all operations, the first and the last, of every kind
GRA-BATCH-2 MUST: The result of a batch matches the schema: `results` with `ok`, and `success`.
  from SPECIFICATION 12.5, SCHEMA 4.4.2, R14; needs supports_batch
  hint: return `results` with a boolean `ok` in each, and a boolean `success` next to them
GRA-BATCH-3 MUST: A batch has one result for each operation, in the order of the operations.
  from SPECIFICATION 12.5, R14; needs supports_batch
  hint: add a result for a failed operation too, at its position
GRA-BATCH-4 MUST: A failed operation of a batch is reported with its `index`, and its `error` names a mistake of the
    caller.
  from SPECIFICATION 12.5, ERRORS 6.4, ERRORS 10, R14; needs supports_batch
  hint: report the position in `ops` from 0 and a class such as BadRequest, or refuse the whole batch
GRA-BATCH-5 MUST: If an operation of a batch fails, the others are applied. If the whole batch is refused, none is
    applied.
  from SPECIFICATION 12.5, R14; needs supports_batch
  hint: continue after a failed operation, or check all operations before you apply the first
GRA-BATCH-6 MUST: A batch of more than `max_batch_ops` operations is refused with BAD_REQUEST, and nothing is applied.
  from SPECIFICATION 7.3.3, ERRORS 6.4, R15; needs supports_batch
  hint: compare len(ops) with max_batch_ops before the first is applied, and raise BadRequest
GRA-BATCH-7 MUST: A batch of `max_batch_ops` operations is carried out.
  from SPECIFICATION 7.3.3, R23; needs supports_batch
  hint: refuse only more than max_batch_ops, not max_batch_ops itself
GRA-BATCH-8 SHOULD: The refusal of a batch that is too large states `max_batch_ops` and `suggested_batch_reduction`.
  from ERRORS 7, ERRORS 10, R15; needs supports_batch
  hint: add max_batch_ops and suggested_batch_reduction, a percentage, to `details`
GRA-BATCH-9 MUST: If `ops` or an operation has the wrong type, the batch is refused or the operation is reported.
  from SCHEMA 4.4.2, R8, R45; needs supports_batch
  hint: check that `ops` is a list of objects with `op` and `args` before you read them; do not skip any
GRA-BATCH-10 SHOULD: `success` of a batch is true if every operation succeeded, and false if one failed.
  from SPECIFICATION 12.5; needs supports_batch
  hint: set `success` to false as soon as one result is not ok
GRA-BATCH-11 SHOULD: A query in a batch sees what the operations before it wrote, or is refused.
  from SPECIFICATION 7.3.3, SPECIFICATION 12.5; needs supports_batch
  hint: run each query of a batch after the writes before it, so that it sees them, or refuse it
GRA-BATCH-12 SHOULD: A batch applies its operations in their order.
  from SPECIFICATION 4.2.6, SPECIFICATION 7.3.3; needs supports_batch
  hint: carry out the operations one after the other, without sorting them by kind
GRA-TXN-1 MUST: A transaction applies all its operations.
  from SPECIFICATION 4.2.6, R23; needs supports_txn
  hint: apply every operation of every kind, in order, and commit once all are done
GRA-TXN-2 MUST: A failed transaction leaves no trace.
  from SPECIFICATION 4.2.6, R33; needs supports_txn
  hint: undo writes, updates and deletes that came before the operation that failed
GRA-TXN-3 MUST: A failed transaction says so: by an error, or by `success` false.
  from SPECIFICATION 4.2.6, SPECIFICATION 12.5, R33; needs supports_txn
  hint: answer a rollback with an error envelope, or with `success` false
GRA-TXN-4 MUST: The result of a transaction matches the schema: `results` with `ok`, and `success`.
  from SPECIFICATION 12.5, SCHEMA 4.4.2, R14; needs supports_txn
  hint: return `results` with a boolean `ok` in each, and a boolean `success`, not the id of the transaction
GRA-TXN-5 MUST: The answer of a committed transaction states `success` true, and has one result for each operation, in
    the order of the operations.
  from SPECIFICATION 12.5, R14; needs supports_txn
  hint: set `success` to true after the commit, and collect the result of every operation in order
GRA-TXN-6 MUST: If `operations` or an operation has the wrong type, the transaction is refused and nothing is applied.
  from SCHEMA 4.4.2, R8, R33; needs supports_txn
  hint: check `operations` and each of them before you apply the first; do not skip any
GRA-TXN-12 SHOULD: No two transactions state the same `transaction_id`.
  from SPECIFICATION 4.2.6, R99; needs supports_txn
  hint: give each transaction its own id; only a replay has the same id
GRA-TXN-13 SHOULD: A transaction applies its operations in their order.
  from SPECIFICATION 4.2.6, SPECIFICATION 12.5; needs supports_txn
  hint: carry out the operations of a transaction one after the other, as they stand in `operations`
GRA-BULK-1 MUST: `bulk_vertices` lists the nodes that were written, as they are now.
  from SPECIFICATION 4.2.6, SPECIFICATION 7.3.3; needs supports_bulk_ops; quiet
  hint: list every node, the first one included, with its labels and properties as they are now
GRA-BULK-2 MUST: The result of `bulk_vertices` matches the schema: `nodes` of ids, labels and properties.
  from SCHEMA 4.4.2, R32; needs supports_bulk_ops
  hint: give each node `id`, `labels` ([] for none) and `properties`, and no undocumented key
GRA-BULK-3 MUST: A client that follows the pages gets every node exactly once, and reaches a last page.
  from SPECIFICATION 11.5, R32; needs supports_bulk_ops; quiet
  hint: give next_cursor or next_page_token while nodes are left, continue after the last one, and end without a token
GRA-BULK-4 MUST: A page has no more nodes than `limit`.
  from SPECIFICATION 11.5, SPECIFICATION 14.4; needs supports_bulk_ops
  hint: cut the page to `limit` nodes, not to limit + 1
GRA-BULK-5 MUST: `filter` is applied on every page, or refused permanently.
  from ERRORS 6.4, R31, R32; needs supports_bulk_ops
  hint: filter before you cut pages, on every page, or refuse the filter
GRA-BULK-6 MUST: A `limit`, `cursor` or `filter` of the wrong type is refused with BAD_REQUEST.
  from SPECIFICATION 17.2, R8; needs supports_bulk_ops
  hint: check that limit is an integer, cursor a string and filter an object before use
GRA-BULK-7 SHOULD: A `cursor` that the adapter never returned is refused with BAD_REQUEST.
  from SPECIFICATION 11.5; needs supports_bulk_ops
  hint: refuse a cursor that you cannot decode or did not return; do not start again
GRA-BULK-8 SHOULD: A `limit` below 1 is refused with BAD_REQUEST.
  from SPECIFICATION 4.1, R42, R118; needs supports_bulk_ops
  hint: refuse a limit of zero or less; do not treat it as the default or as no limit
"""
