"""Legal graph adapters: another query language, results of other shapes, no timeouts, no unknown namespaces."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.graph.adapter import ReferenceGraph
from pytest_corpus.reference.graph.cypher import Cypher
from pytest_corpus.reference.graph.scanner import Query
from pytest_corpus.reference.graph.store import Graph, Space
from pytest_corpus.reference.request import Call, Fields


class Variables(ReferenceGraph):
    """Speaks a language whose parameters are variables: one that is not given fits any value, as in SPARQL (R119)."""

    dialects = ("sparql",)
    languages: ClassVar[Mapping[str, Callable[[str], Query]]] = {"sparql": Cypher}

    def read_text(self, dialect: str, text: str, params: Mapping[str, Any]) -> Query:
        for name in set(re.findall(r"\$(\w+)", text)) - set(params):
            text = re.sub(rf" WHERE n\.\w+ = \${name}(?!\w)", "", text)
        return super().read_text(dialect, text, params)


VARIABLES: dict[str, dict[str, str]] = {
    "sparql": {
        "find": "MATCH (n:CorpusNode) WHERE n.corpus_key = $wanted RETURN n.corpus_value AS found",
        "group": "MATCH (n:CorpusNode) WHERE n.corpus_group = $group RETURN n.corpus_value AS found",
        "links": "MATCH (a:CorpusNode)-[r:CORPUS_LINK]->(n:CorpusNode) WHERE a.corpus_key = $wanted"
        " RETURN n.corpus_value AS found",
        "link_values": "MATCH (a:CorpusNode)-[r:CORPUS_LINK]->(n:CorpusNode) WHERE a.corpus_key = $wanted"
        " RETURN r.corpus_value AS found",
        "broken": "SELECT ((",
    }
}
"""The probe queries of that language."""


class TimeoutIgnored(ReferenceGraph):
    """Does not read `timeout_ms` (R118)."""

    def read_timeout(self, args: Fields) -> float | None:
        return None


class TimeoutRefused(ReferenceGraph):
    """Refuses queries with a `timeout_ms` (R118)."""

    def read_timeout(self, args: Fields) -> float | None:
        if "timeout_ms" in args.values:
            raise AdapterError("NotSupported", "timeout_ms is not supported")
        return None


class Imports(ReferenceGraph):
    """Imports with `bulk_vertices`, as SPECIFICATION 7.3.3 has it, and lists nothing (R123)."""

    async def bulk_vertices(self, call: Call) -> Any:
        if "vertices" not in call.args.values:
            raise call.args.invalid("vertices", "REQUIRED", "is required")
        await self.reach(call)
        return []


class OtherSchema(ReferenceGraph):
    """Tells its schema in a form of its own (R123)."""

    async def get_schema(self, call: Call) -> dict[str, Any]:
        schema = await super().get_schema(call)
        return {"classes": [*schema["nodes"]], "predicates": [*schema["edges"]]}


class Ids(ReferenceGraph):
    """Answers upserts with ids and deletes with null, as SPECIFICATION 7.3.1 has it (R123)."""

    async def upsert_nodes(self, call: Call) -> Any:
        return self.ids(call, await super().upsert_nodes(call), "nodes")

    async def upsert_edges(self, call: Call) -> Any:
        return self.ids(call, await super().upsert_edges(call), "edges")

    async def delete_nodes(self, call: Call) -> Any:
        await super().delete_nodes(call)

    async def delete_edges(self, call: Call) -> Any:
        await super().delete_edges(call)

    def ids(self, call: Call, result: Any, kind: str) -> Any:
        """The ids that were written; where an item failed, nothing was."""
        if result["failures"]:
            raise AdapterError(result["failures"][0]["error"], "an item of the request cannot be stored")
        return [item["id"] for item in call.args.values[kind]]

    def store(self, space: Space, entities: Any, put: Callable[[Graph, Any], None]) -> Any:
        draft = {namespace: graph.draft() for namespace, graph in space.items()}
        outcome = super().store(draft, entities, put)
        if not outcome.failures:
            space.update(draft)
        return outcome


class OneId(Ids):
    """Answers an upsert with nothing, or with the id of its only item (R123)."""

    def ids(self, call: Call, result: Any, kind: str) -> Any:
        found = super().ids(call, result, kind)
        return found[0] if len(found) == 1 else None


class Uncounted(ReferenceGraph):
    """Answers writes with an object that counts nothing (R123)."""

    async def upsert_nodes(self, call: Call) -> Any:
        return {"acknowledged": True, "failures": (await super().upsert_nodes(call))["failures"]}

    async def delete_nodes(self, call: Call) -> Any:
        await super().delete_nodes(call)
        return {"acknowledged": True}


class UnknownIsEmpty(ReferenceGraph):
    """Takes a namespace that nobody wrote to for an empty one (R133)."""

    def graph(self, space: Space, namespace: str) -> Graph:
        return space.get(namespace) or Graph()


class AwayOnce(ReferenceGraph):
    """Is restarted when the first unknown key comes, and says when to come back (R114)."""

    away = True

    async def upsert_nodes(self, call: Call) -> dict[str, Any]:
        if self.away and "vendor_hint" in call.args.values:
            self.away = False
            raise AdapterError("Unavailable", "the database is restarted", suggested_backoff_ms=50)
        return await super().upsert_nodes(call)


class FoldedLinks(Variables):
    """Finds a node once, however many edges lead to it, as a language of triples does."""

    async def query(self, call: Call) -> dict[str, Any]:
        result = await super().query(call)
        folded = list({str(record): record for record in result["records"]}.values())
        return {**result, "records": folded if "RETURN n" in str(call.args.values["text"]) else result["records"]}


LEGAL: Mapping[Callable[..., Any], str] = {
    TimeoutIgnored: "GRA-QUERY-8,GRA-QUERY-13,GRA-QUERY-20,GRA-STREAM-6,COM-NUM-*",
    TimeoutRefused: "GRA-QUERY-*,GRA-STREAM-6,COM-NUM-*,GRA-CACHE-*",
    Imports: "COM-CAP-*,GRA-BULK-*,GRA-NODE-*",
    OtherSchema: "COM-CAP-6,GRA-SCHEMA-*",
    Ids: "GRA-NODE-*,GRA-EDGE-*,GRA-DELETE-*,GRA-BATCH-*,GRA-TXN-*,COM-IDEM-*,COM-CONC-1",
    OneId: "GRA-NODE-*,GRA-EDGE-*,GRA-DELETE-*",
    Uncounted: "GRA-NODE-*,GRA-EDGE-*,GRA-DELETE-*",
    UnknownIsEmpty: "GRA-NS-*",
    AwayOnce: "COM-WIRE-13",
}
"""Each with the requirements that its difference bears on."""
