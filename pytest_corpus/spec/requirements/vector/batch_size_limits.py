"""Batches, and sizes at and above the limit (BEHAVIORAL_CONFORMANCE 6.7; SPECIFICATION 9.3, 17.2; R15)."""

REQUIREMENTS = """
VEC-MULTI-1 MUST: `batch_query` is answered with one query result for each query.
  from SPECIFICATION 4.2.6, SCHEMA 4.2.2, R10; needs supports_batch_queries
  hint: return an array of query results, or an object with `results`; empty results count too
VEC-MULTI-2 MUST: The results stand in the order of the queries.
  from SPECIFICATION 12.5; needs supports_batch_queries
  hint: put each result at the position of its query, not in order of completion
VEC-MULTI-3 MUST: Each query of a batch has the same answer as outside a batch, with its own top_k, filter and include
    flags.
  from SPECIFICATION 4.2.6, SPECIFICATION 9.2; needs supports_batch_queries
  hint: run each query of a batch with the code of `query` and its own top_k, filter and include flags
VEC-MULTI-4 MUST: A batch that has a bad query, or is not a list of queries, is refused with BAD_REQUEST.
  from SPECIFICATION 9.2, SPECIFICATION 17.2, R8; needs supports_batch_queries
  hint: check `queries` and each query in it as `query` does, before you run the first; do not skip any
VEC-MULTI-5 MUST: A batch on an unknown namespace is refused with BAD_REQUEST or its subtype NamespaceNotFound.
  from ERRORS 6.3, R12, R45; needs supports_batch_queries
  hint: look the namespace up before you run the batch, and raise NamespaceNotFound
VEC-MULTI-6 SHOULD: A query that names no namespace is answered from the `namespace` of its batch.
  from SPECIFICATION 9.2; needs supports_batch_queries
  hint: use the namespace of the batch for each query that names none
VEC-MULTI-7 SHOULD: A query that names another namespace than its batch is refused, or answered from the namespace that
    the query names.
  from SPECIFICATION 9.2; needs supports_batch_queries
  hint: run a query in the namespace that it names, or refuse the batch
VEC-LIMIT-1 MUST: A batch of `max_batch_size` vectors is stored.
  from BEHAVIORAL_CONFORMANCE 6.7, R23, R45
  hint: refuse only more than max_batch_size, and store the last vector of a full batch too
VEC-LIMIT-2 MUST: A batch of more than `max_batch_size` vectors is refused with BAD_REQUEST.
  from SPECIFICATION 17.2, ERRORS 6.3, BEHAVIORAL_CONFORMANCE 6.7, R15
  hint: compare len(vectors) with max_batch_size, and raise BadRequest, not a retryable class
VEC-LIMIT-3 MUST: If a batch is too large, nothing of it is stored.
  from ERRORS 6.3, R14, R15
  hint: compare the size before the first vector is stored; do not cut the batch
VEC-LIMIT-4 MUST: A query with a `top_k` of `max_top_k` is carried out.
  from SPECIFICATION 9.3, BEHAVIORAL_CONFORMANCE 6.7, R23
  hint: refuse only a top_k larger than max_top_k
VEC-LIMIT-5 MUST: `top_k` beyond `max_top_k` is refused with BAD_REQUEST, in a batch of queries too.
  from SPECIFICATION 9.3, BEHAVIORAL_CONFORMANCE 6.7
  hint: refuse the larger top_k in `query` and in each query of `batch_query`; do not lower it
VEC-LIMIT-6 SHOULD: The refusal of a batch that is too large gives `details.max_batch_size`.
  from ERRORS 6.3, R15
  hint: add max_batch_size to `details` of the refusal
VEC-LIMIT-7 SHOULD: The refusal of a batch that is too large gives `details.suggested_batch_reduction`, from 0 to 100.
  from ERRORS 6.3, ERRORS 10, R5, R15
  hint: add to `details` the percentage by which this batch must shrink: ceil(100 * (1 - max / given))
VEC-LIMIT-8 MUST: If capabilities deny batch operations, a batch of two vectors is refused with NOT_SUPPORTED or
    BAD_REQUEST, or both vectors are stored.
  from BEHAVIORAL_CONFORMANCE 5.4, R23
  hint: refuse more than one vector with NOT_SUPPORTED, or store them all
VEC-LIMIT-14 SHOULD: If capabilities deny batch operations, a batch of two vectors is not stored.
  from BEHAVIORAL_CONFORMANCE 5.4, R23, R99
  hint: state `supports_batch_operations` true if an upsert takes several vectors
VEC-LIMIT-9 SHOULD: The refusal of a query beyond `max_top_k` gives `details.max_top_k`.
  from ERRORS 7
  hint: add max_top_k to `details` of the refusal
"""
