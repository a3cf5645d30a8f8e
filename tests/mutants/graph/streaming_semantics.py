"""Mistakes that graph/test_streaming_semantics.py finds (COM-STREAM, GRA-STREAM)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Sequence
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.foundation import Chunk
from pytest_corpus.reference.graph.adapter import ReferenceGraph
from pytest_corpus.reference.request import Call

from .. import catches
from .shared import Record, Streaming, interpolated, with_params


@catches("COM-STREAM-6")
class LastChunkIsNotFinal(ReferenceGraph):
    """It does not mark the last chunk of a stream that has several."""

    async def stream_query(self, call: Call) -> AsyncGenerator[Chunk, None]:
        several = False
        async for chunk in super().stream_query(call):
            yield {**chunk, "is_final": chunk["is_final"] and not several}
            several = True


@catches("COM-STREAM-7")
class SummaryFollowsTheEnd(ReferenceGraph):
    """It sends the summary after the final chunk."""

    async def stream_query(self, call: Call) -> AsyncGenerator[Chunk, None]:
        async for chunk in super().stream_query(call):
            yield {key: chunk[key] for key in chunk if key != "summary"}
            if chunk["is_final"]:
                yield {"records": [], "is_final": True, "summary": chunk["summary"]}


@catches("COM-STREAM-8")
class DataBeforeRefusal(ReferenceGraph):
    """It opens a stream with a record of its own before it reads the query."""

    async def stream_query(self, call: Call) -> AsyncGenerator[Chunk, None]:
        yield {"records": [{"state": "running"}], "is_final": False}
        async for chunk in super().stream_query(call):
            yield chunk


@catches("GRA-STREAM-4")
class StreamInterpolates(Streaming):
    """It binds the parameters of a query and writes those of a stream into it."""

    def taken(self, args: dict[str, Any]) -> dict[str, Any]:
        return interpolated(args)


@catches("GRA-STREAM-4")
class StreamBindsText(Streaming):
    """It binds the numbers of a stream's parameters as text."""

    def taken(self, args: dict[str, Any]) -> dict[str, Any]:
        return with_params(args, int, str)


@catches("GRA-STREAM-1")
class LastChunkHasACursor(Streaming):
    """It adds a cursor to the last chunk."""

    def told(self, chunk: Chunk) -> Chunk:
        return {**chunk, "next_cursor": None} if chunk["is_final"] else chunk


@catches("GRA-STREAM-1")
class StreamedRecordsAreRows(Streaming):
    """It streams records as lists of values."""

    def told(self, chunk: Chunk) -> Chunk:
        return {**chunk, "records": [[*record.values()] for record in chunk["records"]]}


@catches("GRA-STREAM-2")
class LastRecordNotStreamed(ReferenceGraph):
    """It forgets the last record of a stream of several chunks."""

    def chunks(self, records: Sequence[Record]) -> Iterator[Chunk]:
        return super().chunks(records[:-1] if len(records) > self.records_in_chunk else records)


@catches("GRA-STREAM-2")
class ChunksOverlap(ReferenceGraph):
    """It begins each chunk with the last record of the chunk before."""

    def chunks(self, records: Sequence[Record]) -> Iterator[Chunk]:
        last: list[Record] = []
        for chunk in super().chunks(records):
            yield {**chunk, "records": [*last, *chunk["records"]]}
            last = chunk["records"][-1:]


@catches("GRA-STREAM-3")
class ChunksAreReversed(Streaming):
    """It turns the order of records in each chunk around."""

    def told(self, chunk: Chunk) -> Chunk:
        return {**chunk, "records": chunk["records"][::-1]}


@catches("GRA-STREAM-5")
class StreamedParseErrorIsEmpty(Streaming):
    """It ends a stream well whose text it cannot read."""

    async def stream_query(self, call: Call) -> AsyncGenerator[Chunk, None]:
        try:
            async for chunk in super().stream_query(call):
                yield chunk
        except AdapterError as error:
            if error.kind.name != "QueryParseError":
                raise
            yield {"records": [], "is_final": True}


@catches("GRA-STREAM-5")
class StreamedParseErrorIsUnavailable(Streaming):
    """It takes the text of a stream that it cannot read for a failure of the database."""

    async def stream_query(self, call: Call) -> AsyncGenerator[Chunk, None]:
        try:
            async for chunk in super().stream_query(call):
                yield chunk
        except AdapterError as error:
            if error.kind.name != "QueryParseError":
                raise
            raise AdapterError("Unavailable", "The query failed") from None


@catches("GRA-STREAM-6")
class StreamParamsIgnored(Streaming):
    """It ignores parameters of a stream that are not an object."""

    def taken(self, args: dict[str, Any]) -> dict[str, Any]:
        return args if isinstance(args.get("params"), dict) else {**args, "params": {}}


@catches("GRA-STREAM-7")
class NothingStreamsARecord(ReferenceGraph):
    """It streams a record without values where a query matches nothing."""

    def chunks(self, records: Sequence[Record]) -> Iterator[Chunk]:
        return super().chunks(records or [{}])


@catches("COM-STREAM-5")
class AllRecordsInOneFrame(ReferenceGraph):
    """It counts the records of a frame and not its bytes."""

    records_in_chunk = 100
