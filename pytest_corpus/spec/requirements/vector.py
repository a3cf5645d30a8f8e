"""Vector: queries, scores, limits (SPECIFICATION 9; SCHEMA 4.2; BEHAVIORAL_CONFORMANCE 5.4, 6; ERRORS 6.3, 10)."""

from __future__ import annotations

from functools import partial

from pytest_corpus.spec.requirements.model import Requirement

R = partial(Requirement, components=("vector",))

_QUERY = (
    R(
        "VEC-QUERY-1",
        "MUST",
        "A query is answered with matches, namespace and total_matches, as the schema says.",
        ("SCHEMA 4.2.2", "SPECIFICATION 9.2", "R30"),
        hint="give each match vector, score and distance, write [] for no matches, and add no undocumented key",
    ),
    R(
        "VEC-QUERY-2",
        "MUST",
        "There are at most `top_k` matches.",
        ("SPECIFICATION 9.3",),
        hint="cut the sorted matches to the first top_k, not to top_k + 1",
    ),
    R(
        "VEC-QUERY-3",
        "MUST",
        "There are `top_k` matches, each id once, where so many vectors are there.",
        ("SPECIFICATION 9.3", "SPECIFICATION 4.2.6"),
        hint="ask the index for all of top_k, drop duplicates before you cut, and use no threshold of similarity",
    ),
    R(
        "VEC-QUERY-4",
        "MUST",
        "The matches are the best of all vectors, however few are asked for.",
        ("SPECIFICATION 9.3", "SPECIFICATION 9.4", "R30"),
        hint="sort by the metric before cutting to top_k, and search with enough candidates",
    ),
    R(
        "VEC-QUERY-5",
        "MUST",
        "`total_matches` is at least the number of matches.",
        ("SCHEMA 4.2.2", "R30"),
        hint="set total_matches to len(matches) or to the number of all that were found",
    ),
    R(
        "VEC-QUERY-6",
        "MUST",
        "`namespace` in the result is the namespace that was asked.",
        ("SCHEMA 4.2.2", "SPECIFICATION 9.2"),
        hint='return the namespace of the request, not "default" and not the backend\'s name for it',
    ),
    R(
        "VEC-QUERY-7",
        "MUST",
        "Metadata are in the matches unless `include_metadata` is false.",
        ("SPECIFICATION 9.2",),
        hint="take a missing include_metadata for true, and fill in metadata for every match, filtered or not",
    ),
    R(
        "VEC-QUERY-8",
        "MUST",
        "With `include_vectors` true each match has the vector that was stored under its id.",
        ("SPECIFICATION 9.2", "SPECIFICATION 9.3", "R30"),
        hint="look up the stored vector of each match by its id, and keep its full precision",
    ),
    R(
        "VEC-QUERY-9",
        "MUST",
        "`top_k` that is no positive whole number is refused with BAD_REQUEST.",
        ("SPECIFICATION 9.3", "SPECIFICATION 17.2"),
        hint="check that top_k is an integer of at least 1; neither round it nor take zero for none given",
    ),
    R(
        "VEC-QUERY-10",
        "MUST",
        "A query without `vector` or without `top_k` is refused with BAD_REQUEST.",
        ("SPECIFICATION 9.2", "R8"),
        hint="refuse a query that lacks `vector` or `top_k`; neither has a default",
    ),
    R(
        "VEC-QUERY-11",
        "MUST",
        "A query with an argument of the wrong type is refused with BAD_REQUEST.",
        ("SPECIFICATION 9.2", "SPECIFICATION 17.2", "R8"),
        hint="check the type of every argument before use; the text of a number is no number",
    ),
    R(
        "VEC-QUERY-12",
        "MUST",
        "Whole numbers, negative numbers and zeros are vector components like any other.",
        ("SCHEMA 4.2.2", "SPECIFICATION 4.1"),
        hint="take any finite number as a component, and test for None, not for truth",
    ),
    R(
        "VEC-QUERY-13",
        "MUST",
        "A query on an empty namespace is answered with no matches or INDEX_NOT_READY.",
        ("ERRORS 6.3", "SPECIFICATION 9.5", "R12"),
        hint="return matches [] or INDEX_NOT_READY where nothing is stored yet",
    ),
    R(
        "VEC-QUERY-14",
        "MUST",
        "Following a page token yields every match exactly once, and ends.",
        ("SPECIFICATION 11.5", "R32"),
        needs=("supports_pagination",),
        hint="give a token while matches are left, begin the next page after the last one, and end without a token",
    ),
    R(
        "VEC-QUERY-15",
        "SHOULD",
        "INDEX_NOT_READY says when to retry.",
        ("SPECIFICATION 9.5", "ERRORS 6.3"),
        hint="set retry_after_ms in the error envelope of INDEX_NOT_READY",
    ),
    R(
        "VEC-QUERY-16",
        "SHOULD",
        "With `include_metadata` false the matches carry no metadata.",
        ("SPECIFICATION 9.2",),
        hint="leave the metadata out of each match, or empty, where include_metadata is false",
    ),
    R(
        "VEC-QUERY-17",
        "SHOULD",
        "`query_vector`, where it is given, is the vector of the query.",
        ("SPECIFICATION 9.2",),
        hint="return the vector of the request, not its normalized form, or leave query_vector out",
    ),
    R(
        "VEC-QUERY-18",
        "SHOULD",
        "A match names the namespace that it lies in, where it names any.",
        ("SPECIFICATION 9.2",),
        hint="name in a match the namespace that it was found in, or leave `namespace` out",
    ),
)

_SCORE = (
    R(
        "VEC-SCORE-1",
        "MUST",
        "In a cosine namespace the most similar vector comes first.",
        ("SPECIFICATION 9.4", "R30"),
        hint="divide the product by both norms, keep its sign, and put the largest cosine first",
    ),
    R(
        "VEC-SCORE-2",
        "MUST",
        "In a euclidean namespace the nearest vector comes first.",
        ("SPECIFICATION 9.4", "R30"),
        hint="sort by the rising root of the sum of squared differences",
    ),
    R(
        "VEC-SCORE-3",
        "MUST",
        "In a dot product namespace the vector with the largest product comes first.",
        ("SPECIFICATION 9.4", "R30"),
        hint="sort by the falling product of the vectors as they are, not normalized, with its sign",
    ),
    R(
        "VEC-SCORE-4",
        "MUST",
        "A better match has a higher `score`, whatever the metric.",
        ("SPECIFICATION 9.4", "SCHEMA 4.2.2", "R30"),
        hint="return a score that rises with quality, for a distance d for example 1 / (1 + d)",
    ),
    R(
        "VEC-SCORE-5",
        "MUST",
        "A better match has a lower `distance`, whatever the metric.",
        ("SPECIFICATION 9.4", "SCHEMA 4.2.2", "R30"),
        hint="return a distance that falls with quality, for example 1 - cosine, or the negated product",
    ),
    R(
        "VEC-SCORE-6",
        "SHOULD",
        "The cosine score is the cosine of the two vectors, or that normalized to [0, 1].",
        ("SPECIFICATION 9.4", "R30"),
        hint="return the cosine itself, or (1 + cosine) / 2, as the score",
    ),
    R(
        "VEC-SCORE-7",
        "SHOULD",
        "The euclidean distance is that of the two vectors.",
        ("SPECIFICATION 9.4", "R30"),
        hint="take the square root of the sum of squared differences",
    ),
    R(
        "VEC-SCORE-8",
        "SHOULD",
        "The dot product score is the product of the two vectors, or that normalized to [0, 1].",
        ("SPECIFICATION 9.4", "R30"),
        hint="return the product itself, or one scaled to [0, 1]; do not divide it by the dimensions",
    ),
)

_BATCH_QUERY = (
    R(
        "VEC-MULTI-1",
        "MUST",
        "`batch_query` is answered with one query result for each query.",
        ("SPECIFICATION 4.2.6", "SCHEMA 4.2.2", "R10"),
        needs=("supports_batch_queries",),
        hint="return an array of query results, or an object with `results`: one for each query, empty ones too",
    ),
    R(
        "VEC-MULTI-2",
        "MUST",
        "The results stand in the order of the queries.",
        ("SPECIFICATION 12.5",),
        needs=("supports_batch_queries",),
        hint="put each result at the position of its query, not where it became ready",
    ),
    R(
        "VEC-MULTI-3",
        "MUST",
        "Each query of a batch is answered as it is alone: its top_k, its filter, its include flags are its own.",
        ("SPECIFICATION 4.2.6", "SPECIFICATION 9.2"),
        needs=("supports_batch_queries",),
        hint="run each query of a batch with the code of `query` and its own top_k, filter and include flags",
    ),
    R(
        "VEC-MULTI-4",
        "MUST",
        "A batch with a bad query, or that is no list of queries, is refused with BAD_REQUEST.",
        ("SPECIFICATION 9.2", "SPECIFICATION 17.2", "R8"),
        needs=("supports_batch_queries",),
        hint="check `queries` and each query in it as `query` does, before the first is run; skip none",
    ),
    R(
        "VEC-MULTI-5",
        "MUST",
        "A batch on an unknown namespace is refused with BAD_REQUEST or its subtype NamespaceNotFound.",
        ("ERRORS 6.3", "R12", "R45"),
        needs=("supports_batch_queries",),
        hint="look the namespace up before you run the batch, and raise NamespaceNotFound",
    ),
    R(
        "VEC-MULTI-6",
        "SHOULD",
        "The `namespace` of a batch is that of its queries where they name none.",
        ("SPECIFICATION 9.2",),
        needs=("supports_batch_queries",),
        hint="pass the namespace of the batch to each query that names none",
    ),
    R(
        "VEC-MULTI-7",
        "SHOULD",
        "A query that names another namespace than its batch is refused, or answered from its own.",
        ("SPECIFICATION 9.2",),
        needs=("supports_batch_queries",),
        hint="run a query in the namespace that it names, or refuse the batch",
    ),
)

_LIMITS = (
    R(
        "VEC-LIMIT-1",
        "MUST",
        "A batch of `max_batch_size` vectors is stored.",
        ("BEHAVIORAL_CONFORMANCE 6.7", "R23", "R45"),
        hint="refuse only more than max_batch_size, and store the last vector of a full batch too",
    ),
    R(
        "VEC-LIMIT-2",
        "MUST",
        "A batch of more than `max_batch_size` vectors is refused with BAD_REQUEST.",
        ("SPECIFICATION 17.2", "ERRORS 6.3", "BEHAVIORAL_CONFORMANCE 6.7", "R15"),
        hint="compare len(vectors) with max_batch_size, and raise BadRequest, not a retryable class",
    ),
    R(
        "VEC-LIMIT-3",
        "MUST",
        "Of a batch that is too large nothing is stored.",
        ("ERRORS 6.3", "R14", "R15"),
        hint="compare the size before the first vector is stored; do not cut the batch",
    ),
    R(
        "VEC-LIMIT-4",
        "MUST",
        "`top_k` of `max_top_k` is served.",
        ("SPECIFICATION 9.3", "BEHAVIORAL_CONFORMANCE 6.7", "R23"),
        hint="refuse only what is larger than max_top_k, not max_top_k itself",
    ),
    R(
        "VEC-LIMIT-5",
        "MUST",
        "`top_k` beyond `max_top_k` is refused with BAD_REQUEST, in a batch of queries too.",
        ("SPECIFICATION 9.3", "BEHAVIORAL_CONFORMANCE 6.7"),
        hint="refuse the larger top_k in `query` and in each query of `batch_query`; do not lower it",
    ),
    R(
        "VEC-LIMIT-6",
        "SHOULD",
        "The refusal of a batch that is too large gives `details.max_batch_size`.",
        ("ERRORS 6.3", "R15"),
        hint="add max_batch_size to `details` of the refusal",
    ),
    R(
        "VEC-LIMIT-7",
        "SHOULD",
        "The refusal of a batch that is too large gives `details.suggested_batch_reduction`, from 0 to 100.",
        ("ERRORS 6.3", "ERRORS 10", "R5", "R15"),
        hint="add to `details` the percentage by which this batch must shrink: ceil(100 * (1 - max / given))",
    ),
    R(
        "VEC-LIMIT-8",
        "MUST",
        "Where batch operations are denied, a batch of two is refused with NOT_SUPPORTED or BAD_REQUEST, or stored.",
        ("BEHAVIORAL_CONFORMANCE 5.4", "R23"),
        hint="refuse more than one vector with NOT_SUPPORTED, or store them all",
    ),
)

_CAPABILITIES = (
    R(
        "VEC-CAP-1",
        "MUST",
        "Capabilities advertise the metrics: cosine, euclidean, dot or some of them.",
        ("SPECIFICATION 9.4",),
        hint="list cosine, euclidean, dot or some of them, by these names, in `supported_metrics`",
    ),
    R(
        "VEC-CAP-2",
        "MUST",
        "A namespace can be created with every metric that capabilities list, and used.",
        ("SPECIFICATION 9.4", "BEHAVIORAL_CONFORMANCE 5.4", "R23"),
        hint="list only metrics that create_namespace takes and upsert and query work with",
    ),
    R(
        "VEC-CAP-3",
        "SHOULD",
        "Capabilities publish `max_top_k`.",
        ("SPECIFICATION 16.2", "SPECIFICATION 9.3"),
        hint="state the max_top_k that queries enforce",
    ),
    R(
        "VEC-CAP-4",
        "MUST",
        "Stated limits (max_dimensions, max_batch_size, max_top_k, max_filter_terms) are positive whole numbers.",
        ("SPECIFICATION 4.1", "SPECIFICATION 6.2", "R22"),
        hint="leave out a limit that you do not have; state neither 0 nor -1 for it",
    ),
    R(
        "VEC-CAP-5",
        "MUST",
        "Neither an item id nor a namespace that a client made up becomes a label.",
        ("ERRORS 5", "SPECIFICATION 13.1", "R21"),
        needs=("metrics",),
        hint="keep ids and namespaces out of labels; report how many there were instead",
    ),
    R(
        "VEC-CAP-6",
        "SHOULD",
        "The name of a namespace, even of one that is there, does not become a label.",
        ("SPECIFICATION 13.1", "R21"),
        needs=("metrics", "supports_namespaces"),
        hint="keep namespace out of extra and counter names, a namespace that exists too",
    ),
)

REQUIREMENTS = (*_QUERY, *_SCORE, *_BATCH_QUERY, *_LIMITS, *_CAPABILITIES)
