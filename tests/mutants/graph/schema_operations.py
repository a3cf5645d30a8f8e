"""Mistakes that graph/test_schema_operations.py finds (GRA-SCHEMA)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.graph.adapter import ReferenceGraph
from pytest_corpus.reference.graph.store import Entity
from pytest_corpus.reference.request import Call

from .. import catches
from .shared import Result

Labelled = Sequence[tuple[str, Entity]]


class Describing(ReferenceGraph):
    """The reference with one place for what is told of the schema."""

    async def get_schema(self, call: Call) -> Result:
        told: Result = self.told(await super().get_schema(call))
        return told

    def told(self, schema: Result) -> Any:
        """The schema that is given."""
        return schema


@catches("GRA-SCHEMA-1")
class SchemaIsAList(Describing):
    """It answers with a list of the labels of nodes and edges."""

    def told(self, schema: Result) -> Any:
        return [*schema["nodes"], *schema["edges"]]


@catches("GRA-SCHEMA-2")
class EdgesNotDescribed(Describing):
    """It describes no edges."""

    def told(self, schema: Result) -> Result:
        return {**schema, "edges": {}}


@catches("GRA-SCHEMA-2")
class SchemaIsConfigured(Describing):
    """It describes the graph as it was when first asked."""

    def __init__(self, *, metrics: Any = None, provider: Any = None) -> None:
        super().__init__(metrics=metrics, provider=provider)
        self.known: Result = {}

    def told(self, schema: Result) -> Result:
        self.known = self.known or schema
        return self.known


@catches("GRA-SCHEMA-3")
class PropertiesOfTheFirst(ReferenceGraph):
    """It describes labels and not their properties."""

    def describe(self, labelled: Labelled) -> Result:
        return {label: {"count": entry["count"]} for label, entry in super().describe(labelled).items()}


@catches("GRA-SCHEMA-4")
class SchemaHasExamples(ReferenceGraph):
    """It gives examples of each property."""

    def describe(self, labelled: Labelled) -> Result:
        described = super().describe(labelled)
        for label, entity in labelled:
            for name, value in entity.properties.items():
                described[label].setdefault("examples", {}).setdefault(name, []).append(value)
        return described


class WithIndexes(ReferenceGraph):
    """A legal variant that claims DDL, and takes the statements that make and drop an index."""

    async def capabilities(self, call: Call) -> Result:
        facts = await super().capabilities(call)
        return {**facts, "extensions": {**facts["extensions"], "reference:ddl": True}}

    async def query(self, call: Call) -> Result:
        text = call.args.text("text") or ""
        if " INDEX " not in text:
            return await super().query(call)
        await self.reach(call)
        self.index(call, text)
        return {"records": [], "summary": {}, "dialect": call.args.text("dialect"), "namespace": None}

    def index(self, call: Call, text: str) -> None:
        """Make or drop an index."""


@catches("GRA-SCHEMA-5", control=WithIndexes)
class IndexesAreClaimedOnly(WithIndexes):
    """It claims DDL and does not offer it."""

    def index(self, call: Call, text: str) -> None:
        raise AdapterError("NotSupported", "Indexes are not offered")


@catches("GRA-SCHEMA-5", control=WithIndexes)
class DroppedWithTheirIndex(WithIndexes):
    """It drops the nodes of a namespace along with an index of it."""

    def index(self, call: Call, text: str) -> None:
        namespace = call.args.text("namespace")
        if text.startswith("DROP") and namespace:
            self.space(call)[namespace].nodes.clear()
            self.cache.clear()
