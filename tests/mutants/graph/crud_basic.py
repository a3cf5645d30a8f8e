"""Mistakes that graph/test_crud_basic.py finds (GRA-MODEL, GRA-NODE)."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.graph.adapter import ReferenceGraph
from pytest_corpus.reference.graph.arguments import Selection
from pytest_corpus.reference.graph.store import Graph, Node, Space
from pytest_corpus.reference.graph.writes import Outcome
from pytest_corpus.reference.request import Call, Fields

from .. import catches
from .shared import Broken, ItemByItem, Lenient, Result, without_nan


@catches("GRA-NODE-8")
class NanInBatchesAccepted(ReferenceGraph):
    """It checks the numbers of single writes and not those of batches."""

    def check_number(self, value: float, path: str) -> None:
        if not path.startswith(("args.ops", "args.operations")) or isinstance(value, int):
            super().check_number(value, path)

    def perform_step(self, draft: Space, op: str, args: Fields) -> Result:
        return super().perform_step(draft, op, Fields(finite(args.values), args.path))


def finite(value: Any) -> Any:
    """The value with zero for each number that is not finite."""
    if isinstance(value, Mapping):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    return 0 if isinstance(value, float) and not math.isfinite(value) else value


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


@catches("GRA-NODE-6")
class NullLabelsAreTaken(ReferenceGraph):
    """It leaves out null among the labels of a node."""

    def read_node(self, args: Fields, item: Fields) -> Node:
        labels = item.values.get("labels")
        if isinstance(labels, list):
            item = replace(item, values={**item.values, "labels": [label for label in labels if label is not None]})
        return super().read_node(args, item)


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


@catches("GRA-MODEL-1")
class DeletedTwiceStaysAway(ReferenceGraph):
    """It does not write a node again that was deleted twice."""

    def __init__(self, *, metrics: Any = None, provider: Any = None) -> None:
        super().__init__(metrics=metrics, provider=provider)
        self.deleted: dict[tuple[str, str], int] = {}

    def remove_nodes(self, graph: Graph, selection: Selection) -> int:
        for node in graph.nodes.values():
            if self.selected(node, selection):
                key = node.namespace, node.id
                self.deleted[key] = self.deleted.get(key, 0) + 1
        return super().remove_nodes(graph, selection)

    def put_node(self, graph: Graph, node: Node) -> None:
        if self.deleted.get((node.namespace, node.id), 0) < 2:
            super().put_node(graph, node)


@catches("GRA-MODEL-1")
class EdgeOfAnUpdatedNodeIsLost(ReferenceGraph):
    """It loses the edges from a node that is written again with edges at it."""

    def put_node(self, graph: Graph, node: Node) -> None:
        if node.id in graph.nodes:
            for edge in [edge for edge in graph.edges.values() if edge.src == node.id]:
                del graph.edges[edge.id]
        super().put_node(graph, node)


@catches("GRA-MODEL-1")
class TransactionRestoresEdges(ReferenceGraph):
    """It forgets to delete edges in a transaction that also writes nodes."""

    async def transaction(self, call: Call) -> Result:
        self.wrote = False
        return await super().transaction(call)

    def perform_step(self, draft: Space, op: str, args: Fields) -> Result:
        self.wrote = getattr(self, "wrote", False) or op == "upsert_nodes"
        return super().perform_step(draft, op, args)

    def remove_edges(self, graph: Graph, selection: Selection) -> int:
        if getattr(self, "wrote", False):
            return super().remove_edges(graph.draft(), selection)
        return super().remove_edges(graph, selection)

    async def delete_edges(self, call: Call) -> Result:
        self.wrote = False
        return await super().delete_edges(call)


@catches("GRA-NODE-1")
class StoresNoNode(ReferenceGraph):
    """It stores no node."""

    def put_node(self, graph: Graph, node: Node) -> None:
        self.check_names("node", node.id, *node.labels)


@catches("GRA-NODE-2")
class UpdatesNoNode(ReferenceGraph):
    """It leaves a node that is there as it is."""

    def put_node(self, graph: Graph, node: Node) -> None:
        if node.id not in graph.nodes:
            super().put_node(graph, node)


@catches("GRA-NODE-3")
class StoresAllButTheLastNode(ReferenceGraph):
    """It counts the last of several nodes and does not store it."""

    def store(self, space: Space, entities: Sequence[Any], put: Callable[[Graph, Any], None]) -> Outcome:
        lost = put == self.put_node and len(entities) > 1
        outcome = super().store(space, entities[:-1] if lost else entities, put)
        outcome.processed += lost
        return outcome


@catches("GRA-NODE-6")
class LabelsOfANumberAreNone(ReferenceGraph):
    """It takes labels that are not a list for none."""

    def read_node(self, args: Fields, item: Fields) -> Node:
        labels = item.values.get("labels")
        if labels is not None and not isinstance(labels, (list, str, dict)):
            item = replace(item, values={**item.values, "labels": []})
        return super().read_node(args, item)


@catches("GRA-NODE-11")
class FirstOfAnIdIsKept(ReferenceGraph):
    """Of two nodes of one id in a request it keeps the first."""

    def store(self, space: Space, entities: Sequence[Any], put: Callable[[Graph, Any], None]) -> Outcome:
        first = {entity.id: entity for entity in reversed(entities)}
        outcome = super().store(space, [*first.values()], put)
        outcome.processed += len(entities) - len(first)
        return outcome


@catches("GRA-NODE-3")
class LongIdsAreCut(ReferenceGraph):
    """It keeps a hundred letters of an id."""

    def put_node(self, graph: Graph, node: Node) -> None:
        super().put_node(graph, replace(node, id=node.id[:100]))


@catches("GRA-NODE-10")
class NullIsAWord(ReferenceGraph):
    """It stores a property of null as a word."""

    def put_node(self, graph: Graph, node: Node) -> None:
        words = {key: "None" if value is None else value for key, value in node.properties.items()}
        super().put_node(graph, replace(node, properties=words))


@catches("GRA-NODE-6")
class EmptyIdsTaken(ReferenceGraph):
    """It writes a node without a name for it."""

    def check_names(self, kind: str, *names: str) -> None:
        super().check_names(kind, *(names[1:] if kind == "node" else names))


@catches("GRA-NODE-6")
class EmptyLabelsTaken(ReferenceGraph):
    """It writes a node with an empty label."""

    def check_names(self, kind: str, *names: str) -> None:
        super().check_names(kind, *(names[:1] if kind == "node" else names))


@catches("GRA-NODE-5")
class FailedNodesAreCounted(ReferenceGraph):
    """It counts nodes that failed among those that were written."""

    async def upsert_nodes(self, call: Call) -> dict[str, Any]:
        result = await super().upsert_nodes(call)
        return {**result, "processed_count": result["processed_count"] + result["failed_count"]}


@catches("GRA-NODE-5")
class FailedNodesAreCountedOnce(ReferenceGraph):
    """It counts one failed node, however many have failed."""

    async def upsert_nodes(self, call: Call) -> dict[str, Any]:
        result = await super().upsert_nodes(call)
        return {**result, "failed_count": min(result["failed_count"], 1)}


@catches("GRA-NODE-5")
class BatchesCountNothing(ReferenceGraph):
    """It counts no nodes of an operation in a batch."""

    async def batch(self, call: Call) -> dict[str, Any]:
        result = await super().batch(call)
        for each in result["results"]:
            if "processed_count" in each.get("result", {}):
                each["result"]["processed_count"] = 0
        return result
