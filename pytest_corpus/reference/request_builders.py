"""The embedded reference client, which builds a request for every operation (SPECIFICATION 4.2.6)."""

import time
import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

from pytest_corpus.spec.operations import BY_OP, OPERATIONS, Operation

Request = dict[str, Any]

_HELLO = {"messages": [{"role": "user", "content": "Hello"}]}
_EMBED = {"text": "Hello", "model": "small"}
_QUERY = {"text": "MATCH (n) RETURN n", "dialect": "cypher"}
_STEP = {"op": "delete_nodes", "args": {"ids": ["a"]}}

ARGUMENTS: Mapping[str, Mapping[str, Any]] = {
    "llm.complete": _HELLO,
    "llm.stream": _HELLO,
    "llm.count_tokens": {"text": "Hello"},
    "vector.query": {"vector": [0.6, 0.8], "top_k": 3, "namespace": "default"},
    "vector.batch_query": {"queries": [{"vector": [0.6, 0.8], "top_k": 3}]},
    "vector.upsert": {"vectors": [{"id": "a", "vector": [0.6, 0.8]}]},
    "vector.delete": {"ids": ["a"], "namespace": "default"},
    "vector.create_namespace": {"namespace": "notes", "dimensions": 2},
    "vector.delete_namespace": {"namespace": "notes"},
    "embedding.embed": _EMBED,
    "embedding.embed_batch": {"texts": ["Hello"], "model": "small"},
    "embedding.stream_embed": _EMBED,
    "embedding.count_tokens": {"text": "Hello"},
    "graph.upsert_nodes": {"nodes": [{"id": "a", "labels": [], "properties": {}}]},
    "graph.upsert_edges": {"edges": [{"id": "ab", "src": "a", "dst": "b", "label": "R"}]},
    "graph.delete_nodes": {"ids": ["a"]},
    "graph.delete_edges": {"ids": ["ab"]},
    "graph.query": _QUERY,
    "graph.stream_query": _QUERY,
    "graph.bulk_vertices": {"limit": 100},
    "graph.batch": {"ops": [_STEP]},
    "graph.transaction": {"operations": [_STEP]},
    "graph.traversal": {"start_nodes": ["a"], "max_depth": 1},
}
"""The default arguments of operations; other operations need no arguments."""


class ReferenceClient:
    """Builds request envelopes, with a method for each operation: ``build_embed_request(text="Hello")``.

    Names that components share contain the component: `build_llm_health_request`.
    """

    def __init__(self, tenant: str | None = None, budget_ms: int = 30_000) -> None:
        self.tenant, self.budget_ms = tenant, budget_ms

    def request(self, op: str, **args: Any) -> Request:
        """Return the envelope of one request; arguments with the value None are left out."""
        ctx: dict[str, Any] = {"request_id": uuid.uuid4().hex, "tenant": self.tenant}
        if not BY_OP[op].deadline_exempt:
            ctx["deadline_ms"] = int(time.time() * 1000) + self.budget_ms
        if BY_OP[op].mutating:
            ctx["idempotency_key"] = uuid.uuid4().hex
        return {"op": op, "ctx": _drop_none(ctx), "args": _drop_none({**deepcopy(ARGUMENTS.get(op, {})), **args})}


def _drop_none(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _make_builder(operation: Operation) -> Callable[..., Request]:
    def build(self: ReferenceClient, **args: Any) -> Request:
        return self.request(operation.op, **args)

    build.__doc__ = f"A request of `{operation.op}`."
    return build


_SHARING = Counter(operation.name for operation in OPERATIONS)

for _operation in OPERATIONS:
    _name = _operation.name if _SHARING[_operation.name] == 1 else _operation.op.replace(".", "_")
    setattr(ReferenceClient, f"build_{_name}_request", _make_builder(_operation))
