"""Names, items and calls for the suite's own data in one namespace and tenant."""

from collections.abc import Mapping
from typing import Any

from pytest_corpus.adapter import inputs
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.spec.dialects import EDGE_LABEL, NODE_LABEL
from pytest_corpus.suites.graph.support.run_state import MANY

WITHOUT_NAMESPACE = (*MANY, "get_schema")
"""The operations without an argument `namespace`."""


class NodeGroup:
    """A group of nodes in one namespace and of one tenant: their names, and calls for them.

    `namespace` is None for the default namespace. `tenant` is None for no tenant. `graph` is a `GraphCapabilities`; the
    class cannot be imported here. Every `corpus_value` that a test writes begins with the same mark. By this mark, the
    suite recognizes the value in the result of any query.
    """

    def __init__(self, graph: Any, tag: str, *, namespace: str | None = None, tenant: str | None = None) -> None:
        self.graph, self.tag, self.namespace, self.tenant = graph, tag, namespace, tenant
        self.group = f"g-{tag}-"

    @property
    def ctx(self) -> dict[str, Any]:
        """Return the context that names the tenant."""
        return {} if self.tenant is None else {"tenant": self.tenant}

    @property
    def namespace_arg(self) -> dict[str, Any]:
        """The argument that names the namespace; empty for the default namespace."""
        return {} if self.namespace is None else {"namespace": self.namespace}

    def id(self, name: str) -> str:
        """Return the id of a node or edge."""
        return f"{self.tag}-{name}"

    def key(self, name: str) -> str:
        """Return the `corpus_key` of a node, by which queries find the node."""
        return f"k-{self.tag}-{name}"

    def value(self, name: str) -> str:
        """Return a new value for the node of this name."""
        return f"v-{self.tag}-{name}-{inputs.unique_number()}"

    def name_of(self, value: str) -> str:
        """Return the name of the node that a value was made for."""
        return value.removeprefix(f"v-{self.tag}-").rpartition("-")[0]

    def node(self, name: str, value: str | None = None, *, rank: Any = 0, **properties: Any) -> dict[str, Any]:
        """Return a node of this group."""
        own = {"corpus_key": self.key(name), "corpus_group": self.group, "corpus_rank": rank}
        own["corpus_value"] = self.value(name) if value is None else value
        return {"id": self.id(name), "labels": [NODE_LABEL], "properties": {**own, **properties}}

    def edge(self, source: str, target: str, name: str = "", *, label: str = EDGE_LABEL, **properties: Any) -> Any:
        """Return an edge between two nodes of this group."""
        return {
            "id": self.id(name or f"{source}to{target}"),
            "src": self.id(source),
            "dst": self.id(target),
            "label": label,
            "properties": {"corpus_value": self.value("e"), **properties},
        }

    def item(self, name: str, **args: Any) -> dict[str, Any]:
        """Return an operation of a batch or a transaction in this namespace."""
        item: dict[str, Any] = self.graph.item(name, **args, **self.namespace_arg)
        return item

    def write_args(self, name: str, kind: str, item: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a request that writes one item, alone or in a batch or transaction."""
        args = {kind: [item]}
        return {MANY[name]: [self.item(f"upsert_{kind}", **args)]} if name in MANY else args

    def call(self, name: str, args: Mapping[str, Any], ctx: Mapping[str, Any] | None = None) -> Reply:
        """Call a unary operation for this namespace and tenant."""
        self.graph.shared.actions.note(name, args, (self.tenant, self.namespace))
        place = {} if name in WITHOUT_NAMESPACE else self.namespace_arg
        reply: Reply = self.graph.call(name, {**place, **args}, {**self.ctx, **(ctx or {})})
        return reply

    def call_many(self, name: str, *items: Any) -> Reply:
        """Call `batch` or `transaction` with these operations."""
        return self.call(name, {MANY[name]: list(items)})

    def stream(self, args: Mapping[str, Any]) -> StreamReply:
        """Call `stream_query` for this namespace and tenant."""
        self.graph.shared.actions.note("stream_query", args, (self.tenant, self.namespace))
        reply: StreamReply = self.graph.stream("stream_query", {**self.namespace_arg, **args}, self.ctx)
        return reply


def empty_namespace(graph: Any) -> str:
    """Return the name of a namespace to which nothing was written."""
    return f"{graph.settings.prefix}none{inputs.unique_digits()}"


def value_of(node: Mapping[str, Any]) -> str:
    """Return the `corpus_value` of a node or an edge."""
    return str(node["properties"]["corpus_value"])
