"""Vector, writing and reading (SPECIFICATION 9; SCHEMA 4.2; BEHAVIORAL_CONFORMANCE 5.4, 6; ERRORS 6.3, 10)."""

from __future__ import annotations

from functools import partial

from pytest_corpus.spec.requirements.model import Requirement

R = partial(Requirement, components=("vector",))

_UPSERT = (
    R(
        "VEC-UPSERT-1",
        "MUST",
        "An upsert is answered with its counts and its failures, as the schema says.",
        ("SCHEMA 4.2.2", "SPECIFICATION 12.5", "R14"),
        hint="upserted_count (or processed_count), failed_count and failures",
    ),
    R(
        "VEC-UPSERT-2",
        "MUST",
        "What was upserted is found, in the first query and in a query that was asked before.",
        ("SPECIFICATION 4.2.6", "SPECIFICATION 9.3"),
        hint="store the vectors; let no cache outlive a write",
    ),
    R(
        "VEC-UPSERT-3",
        "MUST",
        "Every vector of a batch is stored, from the first to the last.",
        ("SPECIFICATION 12.5", "R14"),
    ),
    R(
        "VEC-UPSERT-4",
        "MUST",
        "An upsert of a known id replaces the vector: the old one is gone, and the id is there once.",
        ("SPECIFICATION 4.2.6", "SPECIFICATION 9.3"),
        hint="insert or update by id",
    ),
    R(
        "VEC-UPSERT-5",
        "MUST",
        "An upsert of a known id gives its metadata their new values, in answers and for filters.",
        ("SPECIFICATION 4.2.6",),
    ),
    R(
        "VEC-UPSERT-6",
        "MUST",
        "Strings, numbers and booleans of `metadata` come back as they were written.",
        ("SCHEMA 4.2.2", "SPECIFICATION 9.2"),
    ),
    R(
        "VEC-UPSERT-7",
        "MUST",
        "The counts are true: what is stored and what is reported as failed add up to the batch.",
        ("SPECIFICATION 12.5", "R14"),
    ),
    R(
        "VEC-UPSERT-8",
        "MUST",
        "An item without `id` or without `vector` is refused, or reported as failed.",
        ("SCHEMA 4.2.2", "ERRORS 10", "R14"),
    ),
    R(
        "VEC-UPSERT-9",
        "MUST",
        "An item with a field of the wrong type is refused with BAD_REQUEST, or reported as failed.",
        ("SCHEMA 4.2.2", "SPECIFICATION 17.2", "R8", "R45"),
    ),
    R(
        "VEC-UPSERT-10",
        "MUST",
        "An upsert without `vectors`, or with something else than a list of objects, is refused with BAD_REQUEST.",
        ("SPECIFICATION 9.2", "R8"),
    ),
    R(
        "VEC-UPSERT-11",
        "MUST",
        "A batch with a bad item is applied but for that item, or refused whole and nothing of it applied.",
        ("SPECIFICATION 12.5", "ERRORS 6.3", "R14"),
        hint="go on after a failed item, or check all items before the first one is stored",
    ),
    R(
        "VEC-UPSERT-12",
        "MUST",
        "Each failed item is reported with its `index` (under edition 1.0.0: its `id`) and its `error`.",
        ("SPECIFICATION 12.5", "ERRORS 10", "R14"),
    ),
    R(
        "VEC-UPSERT-13",
        "MUST",
        "Ids are told apart exactly: letter case, spaces and scripts count.",
        ("SCHEMA 4.2.2",),
        hint="use the id as it is",
    ),
    R(
        "VEC-UPSERT-14",
        "MUST",
        "An item that names a `namespace` is stored there, refused or reported, never lost.",
        ("SCHEMA 4.2.2", "R14"),
    ),
    R(
        "VEC-UPSERT-15",
        "SHOULD",
        "Null and lists in `metadata` come back as they were written.",
        ("SCHEMA 4.2.2",),
    ),
    R(
        "VEC-UPSERT-16",
        "SHOULD",
        "An upsert of a known id leaves none of its old metadata behind.",
        ("SPECIFICATION 4.2.6",),
    ),
    R(
        "VEC-UPSERT-17",
        "SHOULD",
        "Of two items with one id in a batch the last one counts.",
        ("SPECIFICATION 4.2.6",),
    ),
)

_QUERY = (
    R(
        "VEC-QUERY-1",
        "MUST",
        "A query is answered with matches, namespace and total_matches, as the schema says.",
        ("SCHEMA 4.2.2", "SPECIFICATION 9.2", "R30"),
        hint="compare the result with vector.types.query_result",
    ),
    R(
        "VEC-QUERY-2",
        "MUST",
        "There are at most `top_k` matches.",
        ("SPECIFICATION 9.3",),
    ),
    R(
        "VEC-QUERY-3",
        "MUST",
        "There are `top_k` matches, each id once, where so many vectors are there.",
        ("SPECIFICATION 9.3", "SPECIFICATION 4.2.6"),
    ),
    R(
        "VEC-QUERY-4",
        "MUST",
        "The matches are the best of all vectors, however few are asked for.",
        ("SPECIFICATION 9.3", "SPECIFICATION 9.4", "R30"),
        hint="cut to top_k after sorting",
    ),
    R(
        "VEC-QUERY-5",
        "MUST",
        "`total_matches` is at least the number of matches.",
        ("SCHEMA 4.2.2", "R30"),
    ),
    R(
        "VEC-QUERY-6",
        "MUST",
        "`namespace` in the result is the namespace that was asked.",
        ("SCHEMA 4.2.2", "SPECIFICATION 9.2"),
    ),
    R(
        "VEC-QUERY-7",
        "MUST",
        "Metadata are in the matches unless `include_metadata` is false.",
        ("SPECIFICATION 9.2",),
    ),
    R(
        "VEC-QUERY-8",
        "MUST",
        "With `include_vectors` true each match has the vector that was stored under its id.",
        ("SPECIFICATION 9.2", "SPECIFICATION 9.3", "R30"),
    ),
    R(
        "VEC-QUERY-9",
        "MUST",
        "`top_k` that is no positive whole number is refused with BAD_REQUEST.",
        ("SPECIFICATION 9.3", "SPECIFICATION 17.2"),
    ),
    R(
        "VEC-QUERY-10",
        "MUST",
        "A query without `vector` or without `top_k` is refused with BAD_REQUEST.",
        ("SPECIFICATION 9.2", "R8"),
    ),
    R(
        "VEC-QUERY-11",
        "MUST",
        "A query with an argument of the wrong type is refused with BAD_REQUEST.",
        ("SPECIFICATION 9.2", "SPECIFICATION 17.2", "R8"),
    ),
    R(
        "VEC-QUERY-12",
        "MUST",
        "Whole numbers, negative numbers and zeros are vector components like any other.",
        ("SCHEMA 4.2.2", "SPECIFICATION 4.1"),
    ),
    R(
        "VEC-QUERY-13",
        "MUST",
        "A query on an empty namespace is answered with no matches or INDEX_NOT_READY.",
        ("ERRORS 6.3", "SPECIFICATION 9.5", "R12"),
    ),
    R(
        "VEC-QUERY-14",
        "MUST",
        "Following a page token yields every match exactly once, and ends.",
        ("SPECIFICATION 11.5", "R32"),
        needs=("supports_pagination",),
    ),
    R(
        "VEC-QUERY-15",
        "SHOULD",
        "INDEX_NOT_READY says when to retry.",
        ("SPECIFICATION 9.5", "ERRORS 6.3"),
    ),
    R(
        "VEC-QUERY-16",
        "SHOULD",
        "With `include_metadata` false the matches carry no metadata.",
        ("SPECIFICATION 9.2",),
    ),
    R(
        "VEC-QUERY-17",
        "SHOULD",
        "`query_vector`, where it is given, is the vector of the query.",
        ("SPECIFICATION 9.2",),
    ),
    R(
        "VEC-QUERY-18",
        "SHOULD",
        "A match names the namespace that it lies in, where it names any.",
        ("SPECIFICATION 9.2",),
    ),
)

_SCORE = (
    R(
        "VEC-SCORE-1",
        "MUST",
        "In a cosine namespace the most similar vector comes first.",
        ("SPECIFICATION 9.4", "R30"),
    ),
    R(
        "VEC-SCORE-2",
        "MUST",
        "In a euclidean namespace the nearest vector comes first.",
        ("SPECIFICATION 9.4", "R30"),
    ),
    R(
        "VEC-SCORE-3",
        "MUST",
        "In a dot product namespace the vector with the largest product comes first.",
        ("SPECIFICATION 9.4", "R30"),
    ),
    R(
        "VEC-SCORE-4",
        "MUST",
        "A better match has a higher `score`, whatever the metric.",
        ("SPECIFICATION 9.4", "SCHEMA 4.2.2", "R30"),
        hint="where the metric itself is a distance, return a normalized score",
    ),
    R(
        "VEC-SCORE-5",
        "MUST",
        "A better match has a lower `distance`, whatever the metric.",
        ("SPECIFICATION 9.4", "SCHEMA 4.2.2", "R30"),
    ),
    R(
        "VEC-SCORE-6",
        "SHOULD",
        "The cosine score is the cosine of the two vectors, or that normalized to [0, 1].",
        ("SPECIFICATION 9.4", "R30"),
    ),
    R(
        "VEC-SCORE-7",
        "SHOULD",
        "The euclidean distance is that of the two vectors.",
        ("SPECIFICATION 9.4", "R30"),
    ),
    R(
        "VEC-SCORE-8",
        "SHOULD",
        "The dot product score is the product of the two vectors, or that normalized to [0, 1].",
        ("SPECIFICATION 9.4", "R30"),
    ),
)

_BATCH_QUERY = (
    R(
        "VEC-MULTI-1",
        "MUST",
        "`batch_query` is answered with one query result for each query.",
        ("SPECIFICATION 4.2.6", "SCHEMA 4.2.2", "R10"),
        needs=("supports_batch_queries",),
        hint="an array of query results, or an object with `results`",
    ),
    R(
        "VEC-MULTI-2",
        "MUST",
        "The results stand in the order of the queries.",
        ("SPECIFICATION 12.5",),
        needs=("supports_batch_queries",),
    ),
    R(
        "VEC-MULTI-3",
        "MUST",
        "Each query of a batch is answered as it is alone: its top_k, its filter, its include flags are its own.",
        ("SPECIFICATION 4.2.6", "SPECIFICATION 9.2"),
        needs=("supports_batch_queries",),
    ),
    R(
        "VEC-MULTI-4",
        "MUST",
        "A batch with a bad query, or that is no list of queries, is refused with BAD_REQUEST.",
        ("SPECIFICATION 9.2", "SPECIFICATION 17.2", "R8"),
        needs=("supports_batch_queries",),
    ),
    R(
        "VEC-MULTI-5",
        "MUST",
        "A batch on an unknown namespace is refused with BAD_REQUEST or its subtype NamespaceNotFound.",
        ("ERRORS 6.3", "R12", "R45"),
        needs=("supports_batch_queries",),
    ),
    R(
        "VEC-MULTI-6",
        "SHOULD",
        "The `namespace` of a batch is that of its queries where they name none.",
        ("SPECIFICATION 9.2",),
        needs=("supports_batch_queries",),
    ),
    R(
        "VEC-MULTI-7",
        "SHOULD",
        "A query that names another namespace than its batch is refused, or answered from its own.",
        ("SPECIFICATION 9.2",),
        needs=("supports_batch_queries",),
    ),
)

_LIMITS = (
    R(
        "VEC-LIMIT-1",
        "MUST",
        "A batch of `max_batch_size` vectors is stored.",
        ("BEHAVIORAL_CONFORMANCE 6.7", "R23", "R45"),
    ),
    R(
        "VEC-LIMIT-2",
        "MUST",
        "A batch of more than `max_batch_size` vectors is refused with BAD_REQUEST.",
        ("SPECIFICATION 17.2", "ERRORS 6.3", "BEHAVIORAL_CONFORMANCE 6.7", "R15"),
    ),
    R(
        "VEC-LIMIT-3",
        "MUST",
        "Of a batch that is too large nothing is stored.",
        ("ERRORS 6.3", "R14", "R15"),
        hint="refuse it before the first vector is stored; do not cut it",
    ),
    R(
        "VEC-LIMIT-4",
        "MUST",
        "`top_k` of `max_top_k` is served.",
        ("SPECIFICATION 9.3", "BEHAVIORAL_CONFORMANCE 6.7", "R23"),
    ),
    R(
        "VEC-LIMIT-5",
        "MUST",
        "`top_k` beyond `max_top_k` is refused with BAD_REQUEST, in a batch of queries too.",
        ("SPECIFICATION 9.3", "BEHAVIORAL_CONFORMANCE 6.7"),
        hint="refuse it; do not lower it silently",
    ),
    R(
        "VEC-LIMIT-6",
        "SHOULD",
        "The refusal of a batch that is too large gives `details.max_batch_size`.",
        ("ERRORS 6.3", "R15"),
    ),
    R(
        "VEC-LIMIT-7",
        "SHOULD",
        "The refusal of a batch that is too large gives `details.suggested_batch_reduction`, from 0 to 100.",
        ("ERRORS 6.3", "ERRORS 10", "R5", "R15"),
    ),
    R(
        "VEC-LIMIT-8",
        "MUST",
        "Where batch operations are denied, a batch of two is refused with NOT_SUPPORTED or BAD_REQUEST, or stored.",
        ("BEHAVIORAL_CONFORMANCE 5.4", "R23"),
    ),
)

_CAPABILITIES = (
    R(
        "VEC-CAP-1",
        "MUST",
        "Capabilities advertise the metrics: cosine, euclidean, dot or some of them.",
        ("SPECIFICATION 9.4",),
        hint="list them in `supported_metrics`",
    ),
    R(
        "VEC-CAP-2",
        "MUST",
        "A namespace can be created with every metric that capabilities list, and used.",
        ("SPECIFICATION 9.4", "BEHAVIORAL_CONFORMANCE 5.4", "R23"),
    ),
    R(
        "VEC-CAP-3",
        "SHOULD",
        "Capabilities publish `max_top_k`.",
        ("SPECIFICATION 16.2", "SPECIFICATION 9.3"),
    ),
    R(
        "VEC-CAP-4",
        "MUST",
        "Stated limits (max_dimensions, max_batch_size, max_top_k, max_filter_terms) are positive whole numbers.",
        ("SPECIFICATION 4.1", "SPECIFICATION 6.2", "R22"),
        hint="leave out a limit that you do not have",
    ),
    R(
        "VEC-CAP-5",
        "MUST",
        "Neither an item id nor a namespace that a client made up becomes a label.",
        ("ERRORS 5", "SPECIFICATION 13.1", "R21"),
        needs=("metrics",),
    ),
    R(
        "VEC-CAP-6",
        "SHOULD",
        "The name of a namespace, even of one that is there, does not become a label.",
        ("SPECIFICATION 13.1", "R21"),
        needs=("metrics", "supports_namespaces"),
    ),
)

REQUIREMENTS = (*_UPSERT, *_QUERY, *_SCORE, *_BATCH_QUERY, *_LIMITS, *_CAPABILITIES)
