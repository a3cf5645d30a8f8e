"""The operations of `vector` (SPECIFICATION 9): arguments are read and checked here, `provider.py` does the work."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from .arguments import Arguments
from .errors import WireError
from .provider import Hit, Item, Namespace, Provider, Query
from .wire import Call, Metrics, WireHandler

DEFAULT = "default"
SYNONYMS = {"dotproduct": "dot"}


class Adapter(WireHandler):
    """A wire handler: `handle` and `handle_stream` are inherited, each operation is a method."""

    component = "vector"
    unary = (
        "capabilities",
        "query",
        "batch_query",
        "upsert",
        "delete",
        "create_namespace",
        "delete_namespace",
        "health",
    )

    def __init__(self, provider: Provider, metrics: Metrics | None = None) -> None:
        super().__init__(metrics)
        self.provider = provider

    async def aclose(self) -> None:
        await self.provider.aclose()

    async def capabilities(self, call: Call) -> dict[str, Any]:
        """What is offered."""
        return {
            "server": "vector-pgvector",
            "version": "0.1.0",
            "protocol": "vector/v1.0",
            "supported_metrics": list(self.provider.metrics),
            "max_dimensions": self.provider.max_dimensions,
            "max_batch_size": self.provider.max_batch_size,
            "max_top_k": self.provider.max_top_k,
            "max_filter_terms": self.provider.max_filter_terms,
            "supports_namespaces": True,
            "supports_index_management": True,
            "supports_filters": True,
            "supports_batch_operations": True,
            "supports_batch_queries": True,
            "concurrency": 64,
            "rate_limit_qps": 100,
            "supports_deadline": True,
            "supports_pagination": False,
            "supports_multi_tenant": False,
            "supports_caching": False,
            "idempotent_writes": False,
        }

    async def health(self, call: Call) -> dict[str, Any]:
        """A provider that is down is a report, not an error."""
        report = {"server": "vector-pgvector", "version": "0.1.0"}
        if await self.provider.is_up():
            return {"ok": True, "status": "ok", **report}
        return {"ok": False, "status": "down", "reason": "the provider does not answer", **report}

    # Queries

    async def query(self, call: Call) -> dict[str, Any]:
        space = await self.namespace(call.args)
        (result,) = await self.answers("vector.query", space, [call.args])
        return result

    async def batch_query(self, call: Call) -> dict[str, Any]:
        space = await self.namespace(call.args)
        queries = call.args.objects("queries", required=True)
        return {"results": await self.answers("vector.batch_query", space, queries)}

    async def answers(self, op: str, space: Namespace, asked: Sequence[Arguments]) -> list[dict[str, Any]]:
        """A query result for the arguments of each query."""
        queries = [self.read_query(args, space) for args in asked]
        shown = [self.read_shown(args) for args in asked]
        found = await self.provider.search(op, space, queries)
        return [
            {
                "matches": [self.match(hit, space, parts) for hit in hits],
                "query_vector": query.vector,
                "namespace": space.name,
                "total_matches": total,
            }
            for query, parts, (hits, total) in zip(queries, shown, found, strict=True)
        ]

    def match(self, hit: Hit, space: Namespace, parts: Sequence[str]) -> dict[str, Any]:
        vector = {"id": hit.item.id, "namespace": space.name, **{part: getattr(hit.item, part) for part in parts}}
        # numbers of numpy are no JSON
        return {"vector": vector, "score": float(hit.score), "distance": float(hit.distance)}

    def read_query(self, args: Arguments, space: Namespace) -> Query:
        self.same_namespace(args, space)
        top_k = args.integer("top_k", 1, self.provider.max_top_k, required=True) or 1
        return Query(self.vector(args, space, space.dimensions), top_k, self.filter(args))

    def read_shown(self, args: Arguments) -> list[str]:
        """The parts of an item that a match shows besides its id."""
        wanted = {
            "metadata": args.flag("include_metadata", default=True),
            "vector": args.flag("include_vectors", default=False),
        }
        return [part for part, is_wanted in wanted.items() if is_wanted]

    # Writes

    async def upsert(self, call: Call) -> dict[str, Any]:
        """An item that cannot be stored refuses the whole batch (R14), so that none of it is ever lost."""
        space = await self.namespace(call.args)
        vectors = call.args.objects("vectors", required=True)
        self.check_batch(call.args, len(vectors))
        items: list[Item] = []
        for args in vectors:
            self.same_namespace(args, space)
            dimensions = space.dimensions or (len(items[0].vector) if items else None)
            items.append(Item(args.filled("id"), self.vector(args, space, dimensions), self.metadata(args)))
        await self.provider.upsert(space, items)
        return {"processed_count": len(items), "failed_count": 0, "failures": []}

    async def delete(self, call: Call) -> dict[str, Any]:
        space, wanted = await self.namespace(call.args), self.filter(call.args)
        ids: list[str] = call.args.list_of("a string", "ids")
        if not ids and not wanted:
            raise call.args.invalid("ids", "or a filter must say what to delete")
        deleted = await self.provider.delete(space, ids, wanted)
        return {"processed_count": deleted, "failed_count": 0, "failures": []}

    async def create_namespace(self, call: Call) -> dict[str, Any]:
        name = call.args.filled("namespace")
        dimensions = call.args.integer("dimensions", 1, required=True)
        if dimensions is None or dimensions > self.provider.max_dimensions:
            most = self.provider.max_dimensions
            raise call.args.invalid("dimensions", f"must be at most {most}", max_dimensions=most)
        metric = call.args.optional_text("distance_metric") or "cosine"
        metric = SYNONYMS.get(metric, metric)
        if metric not in self.provider.metrics:
            raise WireError("NotSupported", "args.distance_metric must be one of supported_metrics")
        found = await self.provider.find_namespace(name)
        if found and (found.dimensions or dimensions, found.metric) != (dimensions, metric):
            raise call.args.invalid("namespace", "exists with other dimensions or another metric")
        await self.provider.create_namespace(Namespace(name, metric, dimensions))
        return {"success": True, "namespace": name, "details": {"dimensions": dimensions, "distance_metric": metric}}

    async def delete_namespace(self, call: Call) -> dict[str, Any]:
        name = call.args.filled("namespace")
        existed = await self.provider.delete_namespace(name)
        return {"success": True, "namespace": name, "details": {"existed": existed}}

    # Reading arguments

    async def namespace(self, args: Arguments) -> Namespace:
        name = args.optional_text("namespace") or DEFAULT
        found = await self.provider.find_namespace(name)
        if found is None:
            raise args.invalid("namespace", "does not exist", error="NamespaceNotFound")
        return found

    def same_namespace(self, args: Arguments, space: Namespace) -> None:
        """What a query or an item names for itself must be what the request names."""
        if args.optional_text("namespace") not in (None, space.name):
            raise args.invalid("namespace", "must be that of the request")

    def vector(self, args: Arguments, space: Namespace, dimensions: int | None) -> list[float]:
        """A vector of as many dimensions as the namespace has, if it has any yet."""
        vector: list[float] = args.list_of("a number", "vector", required=True)
        if not vector:
            raise args.invalid("vector", "must not be empty")
        most = self.provider.max_dimensions
        if len(vector) != dimensions and (dimensions is not None or len(vector) > most):
            sizes = {"expected": dimensions or most, "provided": len(vector)}
            rule = f"{args.path}.vector has another dimension"
            raise WireError("DimensionMismatch", rule, namespace=space.name, **sizes)
        if max(map(abs, vector)) > self.provider.largest_component:
            raise args.invalid("vector", "holds a number that is too large")
        return [float(component) for component in vector]

    def metadata(self, args: Arguments) -> dict[str, Any]:
        metadata = dict(args.object("metadata"))
        if any(isinstance(value, Mapping) for value in metadata.values()):
            raise args.invalid("metadata", "must hold plain values or lists of them")
        return metadata

    def filter(self, args: Arguments) -> Mapping[str, Any]:
        """Only equality; what is asked beyond it is refused, never ignored."""
        wanted, most = args.object("filter"), self.provider.max_filter_terms
        if len(wanted) > most:
            raise args.invalid("filter", f"must have at most {most} terms", max_filter_terms=most)
        if any(isinstance(value, (Mapping, list)) for value in wanted.values()):
            raise args.invalid("filter", "must map names to plain values", error="FilterSyntaxError")
        return wanted

    def check_batch(self, args: Arguments, size: int) -> None:
        most = self.provider.max_batch_size
        if size > most:
            reduction = math.ceil(100 - 100 * most / size)
            raise args.invalid(
                "vectors", f"must be at most {most}", max_batch_size=most, suggested_batch_reduction=reduction
            )
