"""Mistakes in what is stored of nodes (GRA-NODE), and odd numbers in properties."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.graph_adapter import ReferenceGraph
from pytest_corpus.reference.graph_store import DEFAULT_NAMESPACE, Edge, Graph, Node, Space
from pytest_corpus.reference.graph_writes import Outcome
from pytest_corpus.reference.request import Call, Fields

from . import catches

Properties = dict[str, Any]


class Storing(ReferenceGraph):
    """The reference with one place for what is stored of the properties of nodes."""

    def put_node(self, graph: Graph, node: Node) -> None:
        super().put_node(graph, replace(node, properties=self.stored(dict(node.properties))))

    def stored(self, properties: Properties) -> Properties:
        """The properties that are kept."""
        return properties


class Reporting(ReferenceGraph):
    """The reference with one place for what is told of an upsert of nodes."""

    async def upsert_nodes(self, call: Call) -> Any:
        return self.told(await super().upsert_nodes(call))

    def told(self, result: dict[str, Any]) -> Any:
        """The result that is given."""
        return result


@dataclass(frozen=True)
class Broken:
    """An item that could not be read."""

    error: AdapterError
    id: str = ""
    namespace: str = DEFAULT_NAMESPACE


class ItemByItem(ReferenceGraph):
    """A legal variant that reports each item of the wrong type and stores the others."""

    def read_node(self, args: Fields, item: Fields) -> Any:
        self.read_namespace(args)
        try:
            return super().read_node(args, item)
        except AdapterError as error:
            return Broken(error)

    def read_edge(self, args: Fields, item: Fields) -> Any:
        self.read_namespace(args)
        try:
            return super().read_edge(args, item)
        except AdapterError as error:
            return Broken(error)

    def put_node(self, graph: Graph, node: Node) -> None:
        self.check(node)
        super().put_node(graph, node)

    def put_edge(self, graph: Graph, edge: Edge) -> None:
        self.check(edge)
        super().put_edge(graph, edge)

    def check(self, item: Any) -> None:
        if isinstance(item, Broken):
            raise item.error


@catches("GRA-NODE-1")
class SecondLabelLost(ReferenceGraph):
    """It keeps the first label of a node and no other."""

    def put_node(self, graph: Graph, node: Node) -> None:
        super().put_node(graph, replace(node, labels=node.labels[:1]))


@catches("GRA-NODE-1")
class UnlabelledNodesAreBare(ReferenceGraph):
    """It keeps properties by label, and none of a node without labels."""

    def put_node(self, graph: Graph, node: Node) -> None:
        super().put_node(graph, node if node.labels else replace(node, properties={}))


@catches("GRA-NODE-2")
class FirstLabelsStay(ReferenceGraph):
    """It updates the properties of a node and not its labels."""

    def put_node(self, graph: Graph, node: Node) -> None:
        old = graph.nodes.get(node.id)
        super().put_node(graph, replace(node, labels=old.labels) if old else node)


@catches("GRA-NODE-2")
class OldValueIsAReplay(ReferenceGraph):
    """It takes an update with what the node once was for a replay, and ignores it."""

    def __init__(self, *, metrics: Any = None, provider: Any = None) -> None:
        super().__init__(metrics=metrics, provider=provider)
        self.known: dict[str, list[Node]] = {}

    def put_node(self, graph: Graph, node: Node) -> None:
        known = self.known.setdefault(node.id, [])
        if node.id not in graph.nodes or node not in known:
            super().put_node(graph, node)
            known.append(node)


@catches("GRA-NODE-3")
class TenAtOnce(ReferenceGraph):
    """It writes ten nodes of a request and forgets the others."""

    def store(self, space: Space, entities: Sequence[Any], put: Callable[[Graph, Any], None]) -> Outcome:
        written = [entity for index, entity in enumerate(entities) if index < 10 or not isinstance(entity, Node)]
        outcome = super().store(space, written, put)
        outcome.processed += len(entities) - len(written)
        return outcome


@catches("GRA-NODE-3")
class LastOfManyLost(ReferenceGraph):
    """It forgets the last node of a request that is cut into two."""

    def store(self, space: Space, entities: Sequence[Any], put: Callable[[Graph, Any], None]) -> Outcome:
        outcome = super().store(space, entities, put)
        if len(entities) > 16 and isinstance(entities[-1], Node):
            space[entities[-1].namespace].nodes.pop(entities[-1].id, None)
        return outcome


@catches("GRA-NODE-4")
class CountIsWords(Reporting):
    """It gives its count as text."""

    def told(self, result: dict[str, Any]) -> Any:
        return {**result, "processed_count": str(result["processed_count"])}


@catches("GRA-NODE-4")
class NoFailuresIsNull(Reporting):
    """It gives null where no node failed."""

    def told(self, result: dict[str, Any]) -> Any:
        return {**result, "failures": result["failures"] or None}


@catches("GRA-NODE-5")
class CountsRequests(Reporting):
    """It counts one for a request of any number of nodes."""

    def told(self, result: dict[str, Any]) -> Any:
        return {**result, "processed_count": min(result["processed_count"], 1)}


@catches("GRA-NODE-6")
class IdsAreCoerced(ReferenceGraph):
    """It makes a text of an id of any type."""

    def read_node(self, args: Fields, item: Fields) -> Node:
        values = {**item.values, "id": str(item.values.get("id", "none"))}
        return super().read_node(args, replace(item, values=values))


@catches("GRA-NODE-6")
class LabelsAreAWord(ReferenceGraph):
    """It takes a text where labels belong for the only label."""

    def read_node(self, args: Fields, item: Fields) -> Node:
        labels = item.values.get("labels")
        values = {**item.values, "labels": [labels] if isinstance(labels, str) else labels}
        return super().read_node(args, replace(item, values=values))


@catches("GRA-NODE-6")
class PropertyListIsAKeyError(ReferenceGraph):
    """It reads properties by their keys, which makes a list of them UNAVAILABLE."""

    def read_object(self, args: Fields, name: str) -> Mapping[str, Any]:
        if name == "properties" and ".nodes[" in args.path and isinstance(args.values.get(name), list):
            raise KeyError(name)
        return super().read_object(args, name)


@catches("GRA-NODE-7", control=ItemByItem)
class RestNotWritten(ItemByItem):
    """It stops at the first item that fails and says nothing of those after it."""

    def store(self, space: Space, entities: Sequence[Any], put: Callable[[Graph, Any], None]) -> Outcome:
        ends = [index for index, entity in enumerate(entities) if isinstance(entity, Broken)]
        whole = put == self.put_edge or not ends
        return super().store(space, entities if whole else entities[: ends[0] + 1], put)


@catches("GRA-NODE-7", control=ItemByItem)
class FailureLacksIndex(ItemByItem):
    """It tells the id of a node that failed and not its index."""

    async def upsert_nodes(self, call: Call) -> dict[str, Any]:
        result = await super().upsert_nodes(call)
        return {**result, "failures": [{**failure, "index": None} for failure in result["failures"]]}


@catches("GRA-NODE-7", control=ItemByItem)
class RefusedHalfway(ItemByItem):
    """It refuses a request when it comes to the node that fails, and keeps the others."""

    async def upsert_nodes(self, call: Call) -> dict[str, Any]:
        result = await super().upsert_nodes(call)
        if result["failures"]:
            raise AdapterError("BadRequest", "A node of the request cannot be stored")
        return result


@catches("GRA-NODE-5", control=ItemByItem)
class FailedCountIsNothing(ItemByItem):
    """It lists the nodes that failed and counts none of them."""

    async def upsert_nodes(self, call: Call) -> dict[str, Any]:
        return {**await super().upsert_nodes(call), "failed_count": 0}


def without_nan(value: Any) -> Any:
    """The value with null for each number that is not finite."""
    if isinstance(value, Mapping):
        return {key: without_nan(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_nan(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


class Lenient(ReferenceGraph):
    """The reference with one place for items whose odd numbers become null."""

    kind = "nodes"

    def read_section(self, envelope: Mapping[str, Any], name: str) -> Fields:
        values = envelope.get(name)
        if name == "args" and isinstance(values, Mapping) and isinstance(values.get(self.kind), list):
            items = [self.cleaned(item) for item in values[self.kind]]
            return super().read_section({**envelope, name: {**values, self.kind: items}}, name)
        return super().read_section(envelope, name)

    def cleaned(self, item: Any) -> Any:
        """The item as it is checked and stored."""
        return without_nan(item)


@catches("GRA-NODE-8")
class NanIsNull(Lenient):
    """It stores null for NaN and infinities in the properties of nodes."""


@catches("GRA-NODE-8")
class NestedNanIsNull(Lenient):
    """It looks for NaN in properties and stores null for those inside of lists and objects."""

    def cleaned(self, item: Any) -> Any:
        properties = item.get("properties") if isinstance(item, Mapping) else None
        if not isinstance(properties, Mapping):
            return item
        nested = {key: value if isinstance(value, float) else without_nan(value) for key, value in properties.items()}
        return {**item, "properties": nested}


@catches("GRA-EDGE-10")
class EdgeNanIsNull(Lenient):
    """It stores null for NaN and infinities in the properties of edges."""

    kind = "edges"


@catches("GRA-NODE-9")
class BooleansAreIntegers(Storing):
    """It stores a boolean as 1 or 0."""

    def stored(self, properties: Properties) -> Properties:
        return {key: int(value) if isinstance(value, bool) else value for key, value in properties.items()}


@catches("GRA-NODE-9")
class TextIsLatin(Storing):
    """It stores a question mark for what Latin-1 does not have."""

    def stored(self, properties: Properties) -> Properties:
        return {
            key: value.encode("latin-1", "replace").decode("latin-1") if isinstance(value, str) else value
            for key, value in properties.items()
        }


@catches("GRA-NODE-9")
class NumbersAreSingle(Storing):
    """It stores numbers with six digits."""

    def stored(self, properties: Properties) -> Properties:
        return {
            key: float(f"{value:.6g}") if isinstance(value, (int, float)) and not isinstance(value, bool) else value
            for key, value in properties.items()
        }


@catches("GRA-NODE-10")
class ListsAreText(Storing):
    """It stores the JSON text of lists and objects."""

    def stored(self, properties: Properties) -> Properties:
        return {
            key: json.dumps(value) if isinstance(value, (list, dict)) else value for key, value in properties.items()
        }


@catches("GRA-NODE-10")
class ObjectsAreDropped(Storing):
    """It drops properties that hold an object, without a word."""

    def stored(self, properties: Properties) -> Properties:
        return {key: value for key, value in properties.items() if not isinstance(value, Mapping)}
