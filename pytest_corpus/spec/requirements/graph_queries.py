"""Graph queries, unary and streamed, and their dialects (SPECIFICATION 7.3.2, 7.4; SCHEMA 4.4; ERRORS 6.4)."""

from __future__ import annotations

from functools import partial

from pytest_corpus.spec.requirements.model import Requirement

R = partial(Requirement, components=("graph",))

_QUERY = (
    R(
        "GRA-QUERY-1",
        "MUST",
        "A plain query of an advertised dialect is answered with `records` of the schema.",
        ("SPECIFICATION 7.3.2", "SPECIFICATION 4.2.6", "SCHEMA 4.4.2"),
        hint="return `records` as a list of objects, [] for none; replace the probe queries with --corpus-dialects",
    ),
    R(
        "GRA-QUERY-2",
        "MUST",
        "A query finds what was written, just that, and as it is now.",
        ("SPECIFICATION 4.2.6", "BEHAVIORAL_CONFORMANCE 5.2"),
        hint="return each match once, all of them, from the graph as it is now; set no hidden limit",
    ),
    R(
        "GRA-QUERY-3",
        "MUST",
        "Parameters are bound as values, never written into the text of the query.",
        ("SPECIFICATION 7.3.2", "SPECIFICATION 14.4"),
        hint="bind parameters with the driver, never format them into the text",
    ),
    R(
        "GRA-QUERY-4",
        "MUST",
        "Parameters of every scalar type are bound with their type.",
        ("SPECIFICATION 7.3.2",),
        hint="hand parameters to the driver as they came, without converting them",
    ),
    R(
        "GRA-QUERY-5",
        "MUST",
        "A query that matches nothing is a success without records.",
        ("SPECIFICATION 7.3.2", "BEHAVIORAL_CONFORMANCE 5.2"),
        hint="return records [] where nothing matches, not a record of nulls",
    ),
    R(
        "GRA-QUERY-6",
        "MUST",
        "A text that is no query of its dialect is refused with QueryParseError or BadRequest.",
        ("ERRORS 6.4", "SPECIFICATION 12.4", "R12"),
        hint="map the database's syntax error to QueryParseError, neither to no records nor to an outage",
    ),
    R(
        "GRA-QUERY-7",
        "SHOULD",
        "It is reported as QueryParseError, and an empty text is one.",
        ("ERRORS 6.4", "R12"),
        hint="raise QueryParseError for a syntax error, and for an empty `text` too",
    ),
    R(
        "GRA-QUERY-8",
        "MUST",
        "A missing `text`, or an argument of `query` of the wrong type, is refused with BAD_REQUEST.",
        ("SPECIFICATION 7.3.2", "R8"),
        hint="check that `text` is a string, `params` an object and `timeout_ms` a number before use",
    ),
    R(
        "GRA-QUERY-9",
        "MUST",
        "A query whose parameter is not given is refused or finds nothing.",
        ("SPECIFICATION 7.3.2", "SPECIFICATION 14.4"),
        hint="refuse an unbound parameter with BAD_REQUEST, or take it for null; do not drop its condition",
    ),
    R(
        "GRA-QUERY-10",
        "MUST",
        "A query longer than the stated `max_query_length` is refused with BAD_REQUEST, a shorter one is not.",
        ("SPECIFICATION 7.2", "BEHAVIORAL_CONFORMANCE 6.7", "R23"),
        hint="refuse only more than max_query_length, with BAD_REQUEST, before the database is asked",
    ),
    R(
        "GRA-QUERY-11",
        "MUST",
        "The records of an ordered query come in that order.",
        ("SPECIFICATION 4.2.3.3", "SPECIFICATION 7.3.2"),
        hint="keep the records in a list, in the order in which the database gives them",
    ),
    R(
        "GRA-QUERY-12",
        "SHOULD",
        "A result names the dialect and the namespace that were asked for, where it names any.",
        ("SPECIFICATION 7.3.2", "SCHEMA 4.4.2"),
        hint="return the dialect and the namespace of the request, or leave them out",
    ),
    R(
        "GRA-QUERY-13",
        "MUST",
        "Every documented optional argument of a query is accepted with a valid value.",
        ("SPECIFICATION 7.3.2", "SPECIFICATION 4.2.6"),
        hint="accept `timeout_ms`, a duration and not an epoch time, together with `params` and `namespace`",
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
        hint="send queries of every listed dialect to the database, or take the dialect off the list",
    ),
    R(
        "GRA-DIALECT-3",
        "MUST",
        "Every listed dialect is answered by `stream_query`.",
        ("SPECIFICATION 7.4", "R23", "R33"),
        needs=("supports_streaming",),
        hint="serve in `stream_query` every dialect that `query` serves, or take it off the list",
    ),
    R(
        "GRA-DIALECT-4",
        "MUST",
        "`query` refuses an unknown dialect with NOT_SUPPORTED.",
        ("SPECIFICATION 7.4", "ERRORS 6.4", "R12"),
        hint="answer NOT_SUPPORTED, not BAD_REQUEST, to a dialect that is not listed; fall back to no other",
    ),
    R(
        "GRA-DIALECT-5",
        "MUST",
        "`stream_query` refuses an unknown dialect with NOT_SUPPORTED.",
        ("SPECIFICATION 7.4", "ERRORS 6.4", "R12"),
        needs=("supports_streaming",),
        hint="look the dialect up in `stream_query` too, before the first frame",
    ),
    R(
        "GRA-DIALECT-6",
        "MUST",
        "A `dialect` that is no string is refused with BAD_REQUEST or NOT_SUPPORTED.",
        ("SPECIFICATION 7.3.2", "R8"),
        hint="check that `dialect` is a string before you look it up; do not take another type for none",
    ),
    R(
        "GRA-DIALECT-7",
        "SHOULD",
        "A dialect of the protocol that is not listed does not work.",
        ("SPECIFICATION 7.3.2", "R23"),
        hint="list the dialect, or answer NOT_SUPPORTED to it",
    ),
    R(
        "GRA-DIALECT-8",
        "SHOULD",
        "`dialect` may be left out where only one is listed.",
        ("SPECIFICATION 7.3.2",),
        hint="use the one dialect that you list where `dialect` is missing",
    ),
)

_STREAM = (
    R(
        "GRA-STREAM-1",
        "MUST",
        "Every chunk of a stream is of the schema: `records`, `is_final` and nothing undocumented.",
        ("SCHEMA 4.4.3", "SPECIFICATION 4.2.3.3", "R3"),
        needs=("supports_streaming",),
        hint="send `records` as a list of objects in each chunk, with `is_final` and no undocumented key",
    ),
    R(
        "GRA-STREAM-2",
        "MUST",
        "A stream has the records that the query has: all of them, each once, as they are now.",
        ("SPECIFICATION 7.3.2", "SPECIFICATION 4.2.6"),
        needs=("supports_streaming",),
        hint="begin each chunk after the last record sent, and send what is left over at the end",
    ),
    R(
        "GRA-STREAM-3",
        "MUST",
        "The records of an ordered query are streamed in that order.",
        ("SPECIFICATION 4.2.3.3",),
        needs=("supports_streaming",),
        hint="keep the database's order within each chunk and from chunk to chunk",
    ),
    R(
        "GRA-STREAM-4",
        "MUST",
        "`stream_query` binds parameters as values, with their type.",
        ("SPECIFICATION 7.3.2", "SPECIFICATION 14.4"),
        needs=("supports_streaming",),
        hint="bind the parameters of a stream with the code of `query`; neither format nor convert them",
    ),
    R(
        "GRA-STREAM-5",
        "MUST",
        "`stream_query` refuses a text that is no query as `query` does.",
        ("ERRORS 6.4", "R12"),
        needs=("supports_streaming",),
        hint="map the syntax error of a stream with the code of `query`, and do not end it as complete",
    ),
    R(
        "GRA-STREAM-6",
        "MUST",
        "`stream_query` refuses the arguments that `query` refuses.",
        ("ERRORS 6.4", "R8"),
        needs=("supports_streaming",),
        hint="check the arguments of `stream_query` with the function that `query` uses, before the first frame",
    ),
    R(
        "GRA-STREAM-7",
        "MUST",
        "A stream that matches nothing ends well without records.",
        ("SPECIFICATION 7.3.2", "R4"),
        needs=("supports_streaming",),
        hint="end with a final chunk of records [] where nothing matches, not with a record of nulls",
    ),
)

REQUIREMENTS = (*_QUERY, *_DIALECTS, *_STREAM)
