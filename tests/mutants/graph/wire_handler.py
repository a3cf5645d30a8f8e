"""Mistakes that graph/test_wire_handler.py finds (COM-CONC, COM-NUM, COM-WIRE)."""

from __future__ import annotations

import asyncio
import math

from pytest_corpus.reference.graph.adapter import ReferenceGraph
from pytest_corpus.reference.graph.queries import Question
from pytest_corpus.reference.graph.scanner import QueryError
from pytest_corpus.reference.graph.store import Node
from pytest_corpus.reference.request import Call, Fields

from .. import catches
from .shared import Result


@catches("COM-CONC-1")
class ReadsTheLastCall(ReferenceGraph):
    """It keeps the current request in the adapter, where the next one finds it."""

    async def answer(self, call: Call, question: Question) -> Result:
        self.question = question
        await asyncio.sleep(0.01)
        return await super().answer(call, self.question)


@catches("COM-NUM-1")
class NanParametersAccepted(ReferenceGraph):
    """It does not look for NaN in the parameters of a query."""

    def check_number(self, value: float, path: str) -> None:
        if not path.startswith("args.params"):
            super().check_number(value, path)


@catches("COM-NUM-1")
class NanFiltersAccepted(ReferenceGraph):
    """It does not look for NaN in filters."""

    def check_number(self, value: float, path: str) -> None:
        if "filter" not in path:
            super().check_number(value, path)


@catches("COM-NUM-2")
class SummaryIsNan(ReferenceGraph):
    """It divides nodes by relationships in the summary of a traversal."""

    async def traversal(self, call: Call) -> Result:
        result = await super().traversal(call)
        count = len(result["relationships"])
        return {**result, "summary": {"nodes_per_relationship": len(result["nodes"]) / count if count else math.nan}}


@catches("COM-NUM-3")
class WideIntegersStored(ReferenceGraph):
    """It stores integers of any width."""

    def check_number(self, value: float, path: str) -> None:
        if not isinstance(value, int):
            super().check_number(value, path)


@catches("COM-WIRE-13")
class StrangeKeysOfANodeCrash(ReferenceGraph):
    """It makes a node of all its keys, which makes an unknown one UNAVAILABLE."""

    def read_node(self, args: Fields, item: Fields) -> Node:
        known = {"id", "labels", "properties", "namespace", "created_at", "updated_at"}
        if set(item.values) - known and "id" in item.values:
            raise TypeError("unexpected keyword argument")
        return super().read_node(args, item)


@catches("COM-WIRE-1")
class StreamedParseErrorRaised(ReferenceGraph):
    """It lets the error of a stream's text escape."""

    def failure(self, call: Call, fault: Exception) -> Result:
        failure = super().failure(call, fault)
        if call.streaming and failure["error"] == "QueryParseError":
            raise QueryError("bad query")
        return failure
