"""Mistakes in streams, privacy and deadlines, in the form that they take in graphs (COM-...)."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.foundation import Chunk
from pytest_corpus.reference.graph_adapter import ReferenceGraph
from pytest_corpus.reference.graph_scanner import QueryError
from pytest_corpus.reference.request import Call

from . import catches

Result = dict[str, Any]
logger = logging.getLogger(__name__)


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


@catches("COM-LEAK-1")
class ParseErrorQuotesTheText(ReferenceGraph):
    """It quotes the text of a query that it cannot read."""

    async def query(self, call: Call) -> Result:
        try:
            return await super().query(call)
        except AdapterError as error:
            if error.kind.name != "QueryParseError":
                raise
            raise AdapterError("QueryParseError", f"cannot read {call.args.values['text']}") from None


@catches("COM-LEAK-1")
class RefusalQuotesParameters(ReferenceGraph):
    """It lists the parameters of a query that it cannot run in the details."""

    async def query(self, call: Call) -> Result:
        try:
            return await super().query(call)
        except AdapterError as error:
            error.details["params"] = str(call.args.values.get("params"))
            raise


@catches("COM-LEAK-2")
class TextIsALabel(ReferenceGraph):
    """It labels metrics with the text of a query."""

    async def query(self, call: Call) -> Result:
        call.labels["statement"] = str(call.args.values.get("text"))
        return await super().query(call)


@catches("COM-LEAK-2")
class ParametersAreALabel(ReferenceGraph):
    """It labels metrics with the parameters of a stream."""

    async def stream_query(self, call: Call) -> AsyncGenerator[Chunk, None]:
        call.labels["params"] = str(call.args.values.get("params"))
        async for chunk in super().stream_query(call):
            yield chunk


@catches("COM-LEAK-3")
class StoredNodesAreLogged(ReferenceGraph):
    """It logs the nodes that it writes."""

    async def upsert_nodes(self, call: Call) -> Result:
        logger.warning("writing %s", call.args.values.get("nodes"))
        return await super().upsert_nodes(call)


@catches("COM-LEAK-3")
class ParseErrorIsLogged(ReferenceGraph):
    """It logs the text of a query that it cannot read."""

    async def query(self, call: Call) -> Result:
        try:
            return await super().query(call)
        except AdapterError:
            logger.warning("cannot run %s", call.args.values.get("text"))
            raise


@catches("COM-DEADLINE-1")
class TransactionsHaveTime(ReferenceGraph):
    """It begins a transaction whose deadline has passed."""

    def seconds_left(self, call: Call) -> float | None:
        left = super().seconds_left(call)
        return None if call.op == "transaction" and left is not None and left <= 0 else left


@catches("COM-DEADLINE-4")
class BatchesHaveTime(ReferenceGraph):
    """It looks at the deadline of a batch when it begins, and never again."""

    def seconds_left(self, call: Call) -> float | None:
        left = super().seconds_left(call)
        return None if call.op == "batch" and left is not None and left > 0 else left


@catches("COM-DEADLINE-5")
class ChunksHaveTime(ReferenceGraph):
    """It bounds the wait for the first chunk and not the wait for others."""

    async def stream_query(self, call: Call) -> AsyncGenerator[Chunk, None]:
        async for chunk in super().stream_query(call):
            call.deadline_ms = None
            yield chunk


@catches("COM-FAULT-9")
class StreamFaultsAreUnavailable(ReferenceGraph):
    """It classifies what the database says in a query, and nothing of what it says in a stream."""

    async def reach(self, call: Call, **facts: Any) -> None:
        try:
            await super().reach(call, **facts)
        except AdapterError:
            if not call.streaming:
                raise
            raise AdapterError("Unavailable", "The stream failed") from None


@catches("COM-WIRE-1")
class StreamedParseErrorRaised(ReferenceGraph):
    """It lets the error of a stream's text escape."""

    def failure(self, call: Call, fault: Exception) -> Result:
        failure = super().failure(call, fault)
        if call.streaming and failure["error"] == "QueryParseError":
            raise QueryError("bad query")
        return failure
