"""What mutants of several chapters are made with."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.foundation import Chunk
from pytest_corpus.reference.graph.adapter import ReferenceGraph
from pytest_corpus.reference.graph.store import DEFAULT_NAMESPACE, Edge, Graph, Node
from pytest_corpus.reference.request import Call, Fields

Operations = list[tuple[str, Fields]]
Result = dict[str, Any]


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


Record = dict[str, Any]


class Answering(ReferenceGraph):
    """The reference with one place for the arguments and the result of `query`."""

    async def query(self, call: Call) -> dict[str, Any]:
        call.args = replace(call.args, values=self.taken(dict(call.args.values)))
        return self.told(await super().query(call))

    def taken(self, args: dict[str, Any]) -> dict[str, Any]:
        """The arguments as they are read."""
        return args

    def told(self, result: dict[str, Any]) -> dict[str, Any]:
        """The result that is given."""
        return result


def interpolated(args: dict[str, Any]) -> dict[str, Any]:
    """The arguments with every text parameter written into the query."""
    text, params = args.get("text"), args.get("params")
    if not isinstance(text, str) or not isinstance(params, Mapping):
        return args
    for name, value in params.items():
        if isinstance(value, str):
            text = text.replace(f"${name}", f"'{value}'")
    return {**args, "text": text}


def with_params(args: dict[str, Any], kind: type, bound: Any) -> dict[str, Any]:
    """The arguments with another value for each parameter of a type."""
    params = args.get("params")
    if not isinstance(params, Mapping):
        return args
    return {**args, "params": {name: bound(value) if type(value) is kind else value for name, value in params.items()}}


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
