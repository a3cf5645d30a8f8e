"""Mistakes that graph/test_query_basic_traversals.py finds (GRA-TRAV)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.graph.adapter import ReferenceGraph
from pytest_corpus.reference.graph.store import Edge, Graph, Node
from pytest_corpus.reference.graph.traversals import DIRECTIONS, Journey
from pytest_corpus.reference.request import Call, Fields

from .. import catches


@catches("GRA-TRAV-2")
class TraversesNothing(ReferenceGraph):
    """It reaches nothing from any start node."""

    def travel(self, graph: Graph, journey: Journey) -> tuple[dict[str, list[str]], list[Edge]]:
        super().travel(graph, journey)
        return {}, []


@catches("GRA-TRAV-6")
class FiltersAtTheFirstStep(ReferenceGraph):
    """It heeds filters at the first step of a traversal only."""

    def crosses(self, journey: Journey, edge: Edge, node: Node) -> bool:
        if not {edge.src, edge.dst} & set(journey.start_nodes):
            journey = replace(journey, node_filters={}, relationship_filters={})
        return super().crosses(journey, edge, node)


@catches("GRA-TRAV-11")
class UnknownStartAmongKnownIsDown(ReferenceGraph):
    """It answers an unknown start node among known ones with UNAVAILABLE."""

    def travel(self, graph: Graph, journey: Journey) -> tuple[dict[str, list[str]], list[Edge]]:
        unknown = set(journey.start_nodes) - graph.nodes.keys()
        if unknown and len(unknown) < len(set(journey.start_nodes)):
            raise KeyError("start node")
        return super().travel(graph, journey)


Result = dict[str, Any]


class Travelling(ReferenceGraph):
    """The reference with one place for the journey, and one for what is told of it."""

    def read_journey(self, args: Fields) -> Journey:
        return self.taken(args, super().read_journey(args))

    def taken(self, args: Fields, journey: Journey) -> Journey:
        """The journey that is made."""
        return journey

    async def traversal(self, call: Call) -> Result:
        return self.told(await super().traversal(call))

    def told(self, result: Result) -> Result:
        """The result that is given."""
        return result


@catches("GRA-TRAV-1")
class NodesTellTheirDepth(Travelling):
    """It adds the number of steps to each node."""

    def told(self, result: Result) -> Result:
        return {**result, "nodes": [{**node, "depth": 1} for node in result["nodes"]]}


@catches("GRA-TRAV-1")
class NoRelationshipsIsNull(Travelling):
    """It gives null where no relationship was followed."""

    def told(self, result: Result) -> Result:
        return {**result, "relationships": result["relationships"] or None}


@catches("GRA-TRAV-9")
class ThreeStepsAtMost(Travelling):
    """It takes three steps at the most, and says nothing of it."""

    def taken(self, args: Fields, journey: Journey) -> Journey:
        return replace(journey, max_depth=min(journey.max_depth, 3))


@catches("GRA-TRAV-2")
class FirstStartOnly(Travelling):
    """It starts at the first of several nodes."""

    def taken(self, args: Fields, journey: Journey) -> Journey:
        return replace(journey, start_nodes=journey.start_nodes[:1])


@catches("GRA-TRAV-2")
class ReachedNodesAreBare(Travelling):
    """It gives the nodes that it reaches without their properties."""

    def told(self, result: Result) -> Result:
        return {**result, "nodes": [{**node, "properties": {}} for node in result["nodes"]]}


@catches("GRA-TRAV-3")
class DeepTraversalsGoOn(Travelling):
    """It goes one step too far from the third step on."""

    def taken(self, args: Fields, journey: Journey) -> Journey:
        return replace(journey, max_depth=journey.max_depth + (journey.max_depth > 2))


@catches("GRA-TRAV-3")
class LastEdgesAreTold(ReferenceGraph):
    """It lists the relationships that lead on from the last nodes."""

    async def traversal(self, call: Call) -> Result:
        result = await super().traversal(call)
        graph = self.graph(self.space(call), result["namespace"])
        told = {edge["id"] for edge in result["relationships"]}
        direction, types = self.read_direction(call.args), call.args.values.get("relationship_types")
        further = [
            edge.to_wire()
            for node in result["nodes"]
            for edge, _ in graph.neighbours(node["id"], direction)
            if edge.id not in told and not types
        ]
        return {**result, "relationships": [*result["relationships"], *further]}


@catches("GRA-TRAV-4")
class DirectionIgnored(Travelling):
    """It follows edges both ways."""

    def taken(self, args: Fields, journey: Journey) -> Journey:
        return replace(journey, direction="BOTH")


@catches("GRA-TRAV-4")
class BothIsOutgoing(Travelling):
    """It follows outgoing edges where both directions are asked for."""

    def taken(self, args: Fields, journey: Journey) -> Journey:
        return replace(journey, direction="OUTGOING") if journey.direction == "BOTH" else journey


@catches("GRA-TRAV-4")
class IncomingAtTheStartOnly(ReferenceGraph):
    """It follows incoming edges in the first step and outgoing ones after it."""

    def travel(self, graph: Graph, journey: Journey) -> tuple[dict[str, list[str]], list[Edge]]:
        if journey.direction != "INCOMING":
            return super().travel(graph, journey)
        paths, crossed = super().travel(graph, replace(journey, max_depth=1))
        onwards = replace(journey, direction="OUTGOING", start_nodes=[*paths], max_depth=max(1, journey.max_depth - 1))
        if journey.max_depth == 1:
            return paths, crossed
        further, others = super().travel(graph, onwards)
        return {**further, **paths}, [*crossed, *(edge for edge in others if edge not in crossed)]


@catches("GRA-TRAV-5")
class TypesIgnored(Travelling):
    """It follows edges of any type."""

    def taken(self, args: Fields, journey: Journey) -> Journey:
        return replace(journey, relationship_types=[])


@catches("GRA-TRAV-5")
class FirstTypeOnly(Travelling):
    """It follows edges of the first of several types."""

    def taken(self, args: Fields, journey: Journey) -> Journey:
        return replace(journey, relationship_types=journey.relationship_types[:1])


@catches("GRA-TRAV-6")
class NodeFiltersIgnored(Travelling):
    """It takes filters of nodes and does not look at them."""

    def taken(self, args: Fields, journey: Journey) -> Journey:
        return replace(journey, node_filters={})


@catches("GRA-TRAV-6")
class EdgeFiltersIgnored(Travelling):
    """It takes filters of relationships and does not look at them."""

    def taken(self, args: Fields, journey: Journey) -> Journey:
        return replace(journey, relationship_filters={})


@catches("GRA-TRAV-7")
class EndsFollowTheWay(Travelling):
    """It gives a relationship in the direction in which it was followed."""

    def taken(self, args: Fields, journey: Journey) -> Journey:
        self.backwards = journey.direction == "INCOMING"
        return journey

    def told(self, result: Result) -> Result:
        if not self.backwards:
            return result
        turned = [{**edge, "src": edge["dst"], "dst": edge["src"]} for edge in result["relationships"]]
        return {**result, "relationships": turned}


@catches("GRA-TRAV-7")
class RelationshipsHaveOneLabel(Travelling):
    """It gives every relationship the label of the first."""

    def told(self, result: Result) -> Result:
        edges = result["relationships"]
        return {**result, "relationships": [{**edge, "label": edges[0]["label"]} for edge in edges]}


@catches("GRA-TRAV-8")
class DepthNotChecked(ReferenceGraph):
    """It states how deep a traversal may go and does not check it."""

    def read_depth(self, args: Fields) -> int:
        return args.integer("max_depth", at_least=1) or 1


@catches("GRA-TRAV-8")
class DepthIsExhausted(ReferenceGraph):
    """It takes a depth that is too much for an exhausted resource."""

    def read_depth(self, args: Fields) -> int:
        depth = args.integer("max_depth", at_least=1) or 1
        if depth > self.max_traversal_depth:
            raise AdapterError("ResourceExhausted", "The traversal is too deep")
        return depth


@catches("GRA-TRAV-9")
class FullDepthRefused(ReferenceGraph):
    """It refuses the depth that it states."""

    def read_depth(self, args: Fields) -> int:
        depth = super().read_depth(args)
        if depth == self.max_traversal_depth:
            raise args.invalid("max_depth", "OUT_OF_RANGE", "is too much")
        return depth


@catches("GRA-TRAV-10")
class CyclesGoOn(ReferenceGraph):
    """It does not remember where it was, and gives up when a way leads back."""

    def travel(self, graph: Graph, journey: Journey) -> tuple[dict[str, list[str]], list[Edge]]:
        paths, crossed = super().travel(graph, journey)
        if journey.direction == "OUTGOING" and any(edge.dst in journey.start_nodes for edge in crossed):
            raise RecursionError
        return paths, crossed


@catches("GRA-TRAV-10")
class SecondWayDropsTheNode(Travelling):
    """It drops a node to which two ways lead."""

    def told(self, result: Result) -> Result:
        ends = [edge["dst"] for edge in result["relationships"]]
        nodes = [node for node in result["nodes"] if ends.count(node["id"]) < 2]
        return {**result, "nodes": nodes}


@catches("GRA-TRAV-11")
class UnknownStartIsAKeyError(ReferenceGraph):
    """It looks up its start unchecked, which makes an unknown one UNAVAILABLE."""

    def travel(self, graph: Graph, journey: Journey) -> tuple[dict[str, list[str]], list[Edge]]:
        for start in journey.start_nodes:
            graph.nodes[start]
        return super().travel(graph, journey)


@catches("GRA-TRAV-11")
class UnknownStartIsMade(ReferenceGraph):
    """It gives an empty node for a start that it does not know."""

    async def traversal(self, call: Call) -> Result:
        try:
            return await super().traversal(call)
        except AdapterError as error:
            if error.kind.name != "VertexNotFound":
                raise
            nodes = [Node(name, (), {}).to_wire() for name in call.args.values["start_nodes"]]
            return {"nodes": nodes, "relationships": []}


@catches("GRA-TRAV-12")
class AnyDirection(ReferenceGraph):
    """It takes a direction that it does not know for OUTGOING."""

    def read_direction(self, args: Fields) -> str:
        direction = args.text("direction")
        return direction if direction in DIRECTIONS else "OUTGOING"


@catches("GRA-TRAV-12")
class DepthOfNothing(ReferenceGraph):
    """It takes a depth below one for one."""

    def read_depth(self, args: Fields) -> int:
        depth = args.number("max_depth")
        return 1 if depth is not None and depth < 1 else super().read_depth(args)


@catches("GRA-TRAV-12")
class StartIsALetter(ReferenceGraph):
    """It takes a text for a list of start nodes, and fails on it."""

    def read_journey(self, args: Fields) -> Journey:
        starts = args.values.get("start_nodes")
        if isinstance(starts, str):
            raise KeyError(starts)
        return super().read_journey(args)


@catches("GRA-TRAV-13")
class EachWayIsTold(Travelling):
    """It lists a relationship once for each node at its ends."""

    def told(self, result: Result) -> Result:
        return {**result, "relationships": [edge for edge in result["relationships"] for _ in (0, 1)]}


@catches("GRA-TRAV-13")
class PathsLackTheStart(Travelling):
    """It gives paths without the node that they start from."""

    def told(self, result: Result) -> Result:
        return {**result, "paths": [path[1:] for path in result["paths"]]}


@catches("GRA-TRAV-14")
class TwoStepsByDefault(Travelling):
    """It takes two steps where no depth is given."""

    def taken(self, args: Fields, journey: Journey) -> Journey:
        return journey if args.values.get("max_depth") else replace(journey, max_depth=2)


@catches("GRA-TRAV-14")
class BothWaysByDefault(Travelling):
    """It follows edges both ways where no direction is given."""

    def taken(self, args: Fields, journey: Journey) -> Journey:
        return journey if args.values.get("direction") else replace(journey, direction="BOTH")


@catches("GRA-TRAV-13")
class PathsLeap(Travelling):
    """It leaves the last edge of a path out and ends it somewhere else."""

    def told(self, result: Result) -> Result:
        start = {path[0]: path[0] for path in result["paths"]}
        return {**result, "paths": [[*path[:-1], start[path[0]]] for path in result["paths"]]}
