"""Mistakes that graph/test_context_siem.py finds (COM-LEAK, GRA-OBS)."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.foundation import Chunk
from pytest_corpus.reference.graph.adapter import ReferenceGraph
from pytest_corpus.reference.request import Call

from .. import catches
from .shared import Result


class Labelling(ReferenceGraph):
    """The reference with one place for labels of metrics that come from arguments."""

    labelled = ""

    def route(self, call: Call) -> None:
        super().route(call)
        value = call.args.values.get(self.labelled)
        if isinstance(value, str):
            call.labels[self.labelled] = value


@catches("GRA-OBS-1")
class DialectIsALabel(Labelling):
    """It labels metrics with the dialect that a client names."""

    labelled = "dialect"


@catches("GRA-OBS-1")
class NodeIsALabel(ReferenceGraph):
    """It labels the metrics of a delete with the node."""

    def route(self, call: Call) -> None:
        super().route(call)
        ids = call.args.values.get("ids") or call.args.values.get("start_nodes")
        if isinstance(ids, list) and ids:
            call.labels["node"] = str(ids[0])


@catches("GRA-OBS-2")
class NamespaceIsALabel(Labelling):
    """It labels metrics with the namespace."""

    labelled = "namespace"


@catches("GRA-OBS-2")
class ListsCountTheNamespace(ReferenceGraph):
    """It counts how often a namespace is listed, by its name."""

    async def bulk_vertices(self, call: Call) -> dict[str, Any]:
        if namespace := call.args.values.get("namespace"):
            self.count("lists_total", 1, {"namespace": str(namespace)})
        return await super().bulk_vertices(call)


@catches("COM-LEAK-2")
class EdgeFiltersAreALabel(ReferenceGraph):
    """It labels a traversal with the values of its filter of relationships."""

    async def traversal(self, call: Call) -> dict[str, Any]:
        wanted = call.args.values.get("relationship_filters")
        if isinstance(wanted, dict) and wanted:
            call.labels["filtered"] = ",".join(map(str, wanted.values()))
        return await super().traversal(call)


logger = logging.getLogger(__name__)


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


@catches("COM-LEAK-9")
class MissingStartIsNamed(ReferenceGraph):
    """It names the start nodes of a traversal that it does not find."""

    def failure(self, call: Call, fault: Exception) -> dict[str, Any]:
        error = super().failure(call, fault)
        if error["error"] != "VertexNotFound" or call.op != "traversal":
            return error
        return {**error, "message": f"no node {call.args.values['start_nodes']}"}


@catches("COM-TENANT-2")
class HealthOfAllNamespaces(ReferenceGraph):
    """It reports the namespaces of all tenants to each of them."""

    async def health(self, call: Call) -> dict[str, Any]:
        every = {name for space in self.tenants.values() for name in space}
        return {**await super().health(call), "namespaces": dict.fromkeys(sorted(every), "ok")}
