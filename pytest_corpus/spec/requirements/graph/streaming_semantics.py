"""Streams of records: state machine, completeness, order (BEHAVIORAL_CONFORMANCE 6.2; SPECIFICATION 4.2.3, 7.3.2)."""

from __future__ import annotations

from functools import partial

from pytest_corpus.spec.requirements.model import Requirement

R = partial(Requirement, components=("graph",))

REQUIREMENTS = (
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
        "`stream_query` refuses a text that is not a query as `query` does.",
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
