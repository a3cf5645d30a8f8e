"""Mistakes in dialects and streams (GRA-DIALECT, GRA-STREAM)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import replace
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.foundation import Chunk
from pytest_corpus.reference.graph_adapter import ReferenceGraph
from pytest_corpus.reference.request import Call, Fields

from . import catches
from .graph_queries import Answering, Record, interpolated, with_params


class Streaming(ReferenceGraph):
    """The reference with one place for the arguments and the chunks of `stream_query`."""

    async def stream_query(self, call: Call) -> AsyncGenerator[Chunk, None]:
        call.args = replace(call.args, values=self.taken(dict(call.args.values)))
        async for chunk in super().stream_query(call):
            yield self.told(chunk)

    def taken(self, args: dict[str, Any]) -> dict[str, Any]:
        """The arguments as they are read."""
        return args

    def told(self, chunk: Chunk) -> Chunk:
        """The chunk that is sent."""
        return chunk


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


@catches("GRA-DIALECT-1")
class DialectsNotListed(ReferenceGraph):
    """It does not say which dialects it answers."""

    async def capabilities(self, call: Call) -> dict[str, Any]:
        stated = await super().capabilities(call)
        return {key: value for key, value in stated.items() if key != "dialects"}


@catches("GRA-DIALECT-2")
class GqlNotAnswered(Answering):
    """It lists a dialect that only its streams answer."""

    def taken(self, args: dict[str, Any]) -> dict[str, Any]:
        if args.get("dialect") == "gql":
            raise AdapterError("NotSupported", "The dialect is not offered")
        return args


@catches("GRA-DIALECT-3")
class GqlNotStreamed(Streaming):
    """It lists a dialect that its streams do not answer."""

    def taken(self, args: dict[str, Any]) -> dict[str, Any]:
        if args.get("dialect") == "gql":
            raise AdapterError("NotSupported", "The dialect is not offered")
        return args


@catches("GRA-DIALECT-4")
class UnknownDialectIsBad(Answering):
    """It calls an unknown dialect a bad request."""

    def taken(self, args: dict[str, Any]) -> dict[str, Any]:
        if args.get("dialect") not in (None, *self.dialects):
            raise AdapterError("BadRequest", "The dialect is not known")
        return args


@catches("GRA-DIALECT-4")
class UnknownDialectIsTheFirst(Answering):
    """It reads a query of an unknown dialect in its first one."""

    def taken(self, args: dict[str, Any]) -> dict[str, Any]:
        known = args.get("dialect") in (*self.dialects, None) or not isinstance(args["dialect"], str)
        return args if known else {**args, "dialect": self.dialects[0]}


@catches("GRA-DIALECT-5")
class StreamTakesAnyDialect(Streaming):
    """It reads a stream of an unknown dialect in its first one."""

    def taken(self, args: dict[str, Any]) -> dict[str, Any]:
        known = args.get("dialect") in (*self.dialects, None) or not isinstance(args["dialect"], str)
        return args if known else {**args, "dialect": self.dialects[0]}


@catches("GRA-DIALECT-6")
class DialectNumberIgnored(ReferenceGraph):
    """It takes a dialect that is no text for none."""

    def read_dialect(self, args: Fields) -> str:
        return super().read_dialect(args) if isinstance(args.values.get("dialect"), str) else self.dialects[0]


@catches("GRA-DIALECT-6")
class DialectIsHashed(ReferenceGraph):
    """It looks the dialect up unchecked, which makes a list UNAVAILABLE."""

    def read_dialect(self, args: Fields) -> str:
        hash(args.values.get("dialect"))
        return super().read_dialect(args)


@catches("GRA-DIALECT-7")
class OneDialectIsNotListed(ReferenceGraph):
    """It answers a dialect that it does not list."""

    async def capabilities(self, call: Call) -> dict[str, Any]:
        return {**await super().capabilities(call), "dialects": ["cypher", "opencypher", "gremlin"]}


class CypherOnly(ReferenceGraph):
    """A legal variant that has one dialect."""

    dialects = ("cypher",)


@catches("GRA-DIALECT-8", control=CypherOnly)
class DialectIsRequired(CypherOnly):
    """It has one dialect and wants it named."""

    def read_dialect(self, args: Fields) -> str:
        args.required_text("dialect")
        return super().read_dialect(args)


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
class StreamTimeoutIgnored(Streaming):
    """It ignores the timeout of a stream, whatever it is."""

    def taken(self, args: dict[str, Any]) -> dict[str, Any]:
        return {**args, "timeout_ms": None}


@catches("GRA-STREAM-7")
class NothingStreamsARecord(ReferenceGraph):
    """It streams a record without values where a query matches nothing."""

    def chunks(self, records: Sequence[Record]) -> Iterator[Chunk]:
        return super().chunks(records or [{}])
