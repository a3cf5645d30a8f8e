"""Graph data and queries (SPECIFICATION 7.3.1, 7.3.2, 7.4; SCHEMA 4.4; ERRORS 6.4, 10).

What works on many at once, traversal, paging and the schema lie in `graph_wholes`.
"""

from __future__ import annotations

from functools import partial

from pytest_corpus.spec.requirements.model import Requirement

R = partial(Requirement, components=("graph",))

_NODES = (
    R(
        "GRA-NODE-1",
        "MUST",
        "A node that was upserted is read back with its labels and properties.",
        ("SPECIFICATION 4.2.6", "SPECIFICATION 7.3.1", "BEHAVIORAL_CONFORMANCE 5.2"),
        hint="store all that was sent before you answer",
    ),
    R(
        "GRA-NODE-2",
        "MUST",
        "Upserting a node again updates it in its place: there is one of that id, with the new values.",
        ("SPECIFICATION 4.2.6",),
        hint="properties that the update does not name may stay or go",
    ),
    R(
        "GRA-NODE-3",
        "MUST",
        "Every node of a request is written, whatever its place.",
        ("SPECIFICATION 4.2.6", "SPECIFICATION 12.5", "R14"),
    ),
    R(
        "GRA-NODE-4",
        "MUST",
        "The result of `upsert_nodes` is of the schema: a count, `failed_count` and `failures`.",
        ("SCHEMA 4.4.2", "SPECIFICATION 12.5", "R14"),
        hint="compare the result with graph.types.partial_success_result",
    ),
    R(
        "GRA-NODE-5",
        "MUST",
        "The counts of `upsert_nodes` are the numbers of nodes that were and were not written.",
        ("SPECIFICATION 12.5", "SCHEMA 4.4.2", "R14"),
    ),
    R(
        "GRA-NODE-6",
        "MUST",
        "`nodes`, or a node, of the wrong type is refused whole or reported for that node.",
        ("SPECIFICATION 7.3.1", "SCHEMA 4.4.2", "R8", "R45"),
        hint="id is a string and required, labels a list of strings, properties an object",
    ),
    R(
        "GRA-NODE-7",
        "MUST",
        "Beside an unusable node the others are written, and it is reported by `index` and `error`; or nothing is.",
        ("SPECIFICATION 12.5", "ERRORS 10", "R14", "R45"),
        hint="either apply item by item, or refuse the whole request before you write",
    ),
    R(
        "GRA-NODE-8",
        "MUST",
        "NaN and infinities in properties, at any depth, are refused whole or reported for that item.",
        ("SPECIFICATION 4.1", "R34", "R45"),
        hint="check math.isfinite of every number in properties, lists and objects included",
    ),
    R(
        "GRA-NODE-9",
        "MUST",
        "Strings of any script, integers, floats and booleans in properties are read back as they were written.",
        ("SPECIFICATION 7.3.1", "SPECIFICATION 4.1"),
    ),
    R(
        "GRA-NODE-10",
        "MUST",
        "Lists and objects in properties are read back as they were written, or refused.",
        ("SPECIFICATION 7.3.1", "SPECIFICATION 17.2"),
        hint="what cannot be stored is an error, never changed in silence",
    ),
    R(
        "GRA-NODE-11",
        "SHOULD",
        "Of two nodes of one id in a request the last one is kept, or the request is refused.",
        ("SPECIFICATION 4.2.6", "SPECIFICATION 12.5"),
    ),
)

_EDGES = (
    R(
        "GRA-EDGE-1",
        "MUST",
        "An edge that was upserted is read back between its ends, in its direction and with its label.",
        ("SPECIFICATION 4.2.6", "SPECIFICATION 7.3.1", "SCHEMA 4.4.2"),
    ),
    R(
        "GRA-EDGE-2",
        "MUST",
        "The properties of an edge are read back as they were written.",
        ("SPECIFICATION 7.3.1", "SCHEMA 4.4.2"),
    ),
    R(
        "GRA-EDGE-3",
        "MUST",
        "Upserting an edge again updates it in its place: there is one of that id, with the new values.",
        ("SPECIFICATION 4.2.6",),
    ),
    R(
        "GRA-EDGE-4",
        "MUST",
        "Where an edge without one of its nodes is refused, it is with VertexNotFound or BadRequest.",
        ("ERRORS 6.4", "R12"),
        hint="it is the caller's mistake: not retryable",
    ),
    R(
        "GRA-EDGE-5",
        "SHOULD",
        "An edge without one of its nodes is refused.",
        ("ERRORS 6.4",),
    ),
    R(
        "GRA-EDGE-6",
        "MUST",
        "`edges`, or an edge, of the wrong type is refused whole or reported for that edge.",
        ("SPECIFICATION 7.3.1", "SCHEMA 4.4.2", "R8", "R45"),
        hint="id, src, dst and label are strings and required, properties is an object",
    ),
    R(
        "GRA-EDGE-7",
        "MUST",
        "Beside an unusable edge the others are written, and it is reported by `index` and `error`; or nothing is.",
        ("SPECIFICATION 12.5", "ERRORS 10", "R14", "R45"),
    ),
    R(
        "GRA-EDGE-8",
        "MUST",
        "The result of `upsert_edges` is of the schema, and its counts are true.",
        ("SCHEMA 4.4.2", "SPECIFICATION 12.5", "R14"),
    ),
    R(
        "GRA-EDGE-9",
        "MUST",
        "Every edge of a request is written: edges of other ids between the same nodes, and from a node to itself.",
        ("SPECIFICATION 4.2.6", "SPECIFICATION 12.5", "R14"),
    ),
    R(
        "GRA-EDGE-10",
        "MUST",
        "NaN and infinities in the properties of an edge are refused whole or reported for that edge.",
        ("SPECIFICATION 4.1", "R34", "R45"),
    ),
)

_DELETES = (
    R(
        "GRA-DELETE-1",
        "MUST",
        "`delete_nodes` by ids removes these nodes and no others.",
        ("SPECIFICATION 4.2.6", "SPECIFICATION 7.3.1"),
    ),
    R(
        "GRA-DELETE-2",
        "MUST",
        "`delete_edges` by ids removes these edges and no others, and leaves the nodes.",
        ("SPECIFICATION 4.2.6", "SPECIFICATION 7.3.1"),
    ),
    R(
        "GRA-DELETE-3",
        "MUST",
        "Deleting a node or an edge that does not exist succeeds.",
        ("SPECIFICATION 7.3.1", "R26"),
        hint="a second delete of the same id is a success too",
    ),
    R(
        "GRA-DELETE-4",
        "MUST",
        "A deleted node is reached by no traversal and found by no query, its edges included.",
        ("SPECIFICATION 4.2.6", "SPECIFICATION 7.3.1"),
        hint="remove the edges of a node with it, or refuse to remove a node that has edges",
    ),
    R(
        "GRA-DELETE-5",
        "SHOULD",
        "A node that is written again after its deletion has none of its old edges.",
        ("SPECIFICATION 4.2.6",),
    ),
    R(
        "GRA-DELETE-6",
        "MUST",
        "A delete with a filter removes what fits it and nothing else, or is refused for good.",
        ("SPECIFICATION 4.2.6", "R31"),
        hint="a filter that cannot be served is an error, never ignored",
    ),
    R(
        "GRA-DELETE-7",
        "MUST",
        "A delete without `ids` and `filter`, or with one of the wrong type, is refused with BAD_REQUEST.",
        ("SPECIFICATION 7.3.1", "R8"),
    ),
    R(
        "GRA-DELETE-8",
        "MUST",
        "The result of a delete is of the schema: a count, `failed_count` and `failures`.",
        ("SCHEMA 4.4.2", "SPECIFICATION 12.5", "R14"),
    ),
    R(
        "GRA-DELETE-9",
        "SHOULD",
        "`deleted_count` is the number of given ids that were there.",
        ("SCHEMA 4.4.2", "SPECIFICATION 12.5"),
    ),
)

_NAMESPACES = (
    R(
        "GRA-NS-1",
        "MUST",
        "What was written in one namespace is not read in another, by any operation, even under one id.",
        ("BEHAVIORAL_CONFORMANCE 6.7", "SCHEMA 4.4.2", "SPECIFICATION 7.3.1"),
        needs=("supports_namespaces",),
        hint="every operation reads `namespace`, items of batches and streams included",
    ),
    R(
        "GRA-NS-2",
        "MUST",
        "Deleting in one namespace leaves what another holds under the same id.",
        ("SPECIFICATION 7.3.1", "SCHEMA 4.4.2"),
        needs=("supports_namespaces",),
    ),
    R(
        "GRA-NS-3",
        "SHOULD",
        "An item that alone names its namespace lies there, and answers name the namespace that was read.",
        ("SCHEMA 4.4.2", "SPECIFICATION 7.3.1"),
        needs=("supports_namespaces",),
    ),
    R(
        "GRA-NS-4",
        "MUST",
        "Reading from a namespace that nobody wrote to finds nothing, or is refused with NamespaceNotFound.",
        ("ERRORS 6.4", "R12", "R45"),
        needs=("supports_namespaces",),
    ),
    R(
        "GRA-NS-5",
        "MUST",
        "Deleting in a namespace that nobody wrote to succeeds, or is refused for good.",
        ("SPECIFICATION 7.3.1", "ERRORS 6.4", "R26", "R45"),
        needs=("supports_namespaces",),
    ),
)

_QUERY = (
    R(
        "GRA-QUERY-1",
        "MUST",
        "A plain query of an advertised dialect is answered with `records` of the schema.",
        ("SPECIFICATION 7.3.2", "SPECIFICATION 4.2.6", "SCHEMA 4.4.2"),
        hint="each record is an object of names and values; override the probe queries with --corpus-dialects",
    ),
    R(
        "GRA-QUERY-2",
        "MUST",
        "A query finds what was written, just that, and as it is now.",
        ("SPECIFICATION 4.2.6", "BEHAVIORAL_CONFORMANCE 5.2"),
    ),
    R(
        "GRA-QUERY-3",
        "MUST",
        "Parameters are bound as values, never written into the text of the query.",
        ("SPECIFICATION 7.3.2", "SPECIFICATION 14.4"),
        hint="hand text and parameters to the database separately",
    ),
    R(
        "GRA-QUERY-4",
        "MUST",
        "Parameters of every scalar type are bound with their type.",
        ("SPECIFICATION 7.3.2",),
    ),
    R(
        "GRA-QUERY-5",
        "MUST",
        "A query that matches nothing is a success without records.",
        ("SPECIFICATION 7.3.2", "BEHAVIORAL_CONFORMANCE 5.2"),
    ),
    R(
        "GRA-QUERY-6",
        "MUST",
        "A text that is no query of its dialect is refused with QueryParseError or BadRequest.",
        ("ERRORS 6.4", "SPECIFICATION 12.4", "R12"),
        hint="neither an empty result nor a retryable error",
    ),
    R(
        "GRA-QUERY-7",
        "SHOULD",
        "It is reported as QueryParseError, and an empty text is one.",
        ("ERRORS 6.4", "R12"),
    ),
    R(
        "GRA-QUERY-8",
        "MUST",
        "A missing `text`, or an argument of `query` of the wrong type, is refused with BAD_REQUEST.",
        ("SPECIFICATION 7.3.2", "R8"),
    ),
    R(
        "GRA-QUERY-9",
        "MUST",
        "A query whose parameter is not given is refused or finds nothing.",
        ("SPECIFICATION 7.3.2", "SPECIFICATION 14.4"),
    ),
    R(
        "GRA-QUERY-10",
        "MUST",
        "A query longer than the stated `max_query_length` is refused with BAD_REQUEST, a shorter one is not.",
        ("SPECIFICATION 7.2", "BEHAVIORAL_CONFORMANCE 6.7", "R23"),
    ),
    R(
        "GRA-QUERY-11",
        "MUST",
        "The records of an ordered query come in that order.",
        ("SPECIFICATION 4.2.3.3", "SPECIFICATION 7.3.2"),
    ),
    R(
        "GRA-QUERY-12",
        "SHOULD",
        "A result names the dialect and the namespace that were asked for, where it names any.",
        ("SPECIFICATION 7.3.2", "SCHEMA 4.4.2"),
    ),
    R(
        "GRA-QUERY-13",
        "MUST",
        "Every documented optional argument of a query is accepted with a valid value.",
        ("SPECIFICATION 7.3.2", "SPECIFICATION 4.2.6"),
    ),
)

_DIALECTS = (
    R(
        "GRA-DIALECT-1",
        "MUST",
        "The dialects that queries are answered in are listed in capabilities.",
        ("SPECIFICATION 7.4", "SPECIFICATION 7.3.2"),
        hint="list them as `dialects` or `supported_query_dialects`",
    ),
    R(
        "GRA-DIALECT-2",
        "MUST",
        "Every listed dialect is answered by `query`.",
        ("SPECIFICATION 7.4", "R23", "R33"),
    ),
    R(
        "GRA-DIALECT-3",
        "MUST",
        "Every listed dialect is answered by `stream_query`.",
        ("SPECIFICATION 7.4", "R23", "R33"),
        needs=("supports_streaming",),
    ),
    R(
        "GRA-DIALECT-4",
        "MUST",
        "`query` refuses an unknown dialect with NOT_SUPPORTED.",
        ("SPECIFICATION 7.4", "ERRORS 6.4", "R12"),
        hint="a dialect that you do not know is not a bad request",
    ),
    R(
        "GRA-DIALECT-5",
        "MUST",
        "`stream_query` refuses an unknown dialect with NOT_SUPPORTED.",
        ("SPECIFICATION 7.4", "ERRORS 6.4", "R12"),
        needs=("supports_streaming",),
    ),
    R(
        "GRA-DIALECT-6",
        "MUST",
        "A `dialect` that is no string is refused with BAD_REQUEST or NOT_SUPPORTED.",
        ("SPECIFICATION 7.3.2", "R8"),
    ),
    R(
        "GRA-DIALECT-7",
        "SHOULD",
        "A dialect of the protocol that is not listed does not work.",
        ("SPECIFICATION 7.3.2", "R23"),
    ),
    R(
        "GRA-DIALECT-8",
        "SHOULD",
        "`dialect` may be left out where only one is listed.",
        ("SPECIFICATION 7.3.2",),
    ),
)

_STREAM = (
    R(
        "GRA-STREAM-1",
        "MUST",
        "Every chunk of a stream is of the schema: `records`, `is_final` and nothing undocumented.",
        ("SCHEMA 4.4.3", "SPECIFICATION 4.2.3.3", "R3"),
        needs=("supports_streaming",),
    ),
    R(
        "GRA-STREAM-2",
        "MUST",
        "A stream has the records that the query has: all of them, each once, as they are now.",
        ("SPECIFICATION 7.3.2", "SPECIFICATION 4.2.6"),
        needs=("supports_streaming",),
    ),
    R(
        "GRA-STREAM-3",
        "MUST",
        "The records of an ordered query are streamed in that order.",
        ("SPECIFICATION 4.2.3.3",),
        needs=("supports_streaming",),
    ),
    R(
        "GRA-STREAM-4",
        "MUST",
        "`stream_query` binds parameters as values, with their type.",
        ("SPECIFICATION 7.3.2", "SPECIFICATION 14.4"),
        needs=("supports_streaming",),
    ),
    R(
        "GRA-STREAM-5",
        "MUST",
        "`stream_query` refuses a text that is no query as `query` does.",
        ("ERRORS 6.4", "R12"),
        needs=("supports_streaming",),
    ),
    R(
        "GRA-STREAM-6",
        "MUST",
        "`stream_query` refuses the arguments that `query` refuses.",
        ("ERRORS 6.4", "R8"),
        needs=("supports_streaming",),
    ),
    R(
        "GRA-STREAM-7",
        "MUST",
        "A stream that matches nothing ends well without records.",
        ("SPECIFICATION 7.3.2", "R4"),
        needs=("supports_streaming",),
    ),
)

REQUIREMENTS = (*_NODES, *_EDGES, *_DELETES, *_NAMESPACES, *_QUERY, *_DIALECTS, *_STREAM)
