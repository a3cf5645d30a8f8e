"""The operations of `vector` (SPECIFICATION 9): arguments are read and checked here, the provider does the work."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .arguments import Arguments
from .errors import WireError
from .provider import Provider
from .wire import Call, WireHandler

DEFAULT = "default"
SYNONYMS = {"dotproduct": "dot"}


@dataclass(frozen=True)
class Namespace:
    """A set of vectors; `dimensions` is None until the first vector of a namespace that was not created."""

    name: str
    metric: str
    dimensions: int | None = None


@dataclass(frozen=True)
class Item:
    """A stored vector."""

    id: str
    vector: list[float]
    metadata: dict[str, Any]


@dataclass(frozen=True)
class Query:
    """A search for the best `top_k` vectors whose metadata have the values of `wanted`."""

    vector: list[float]
    top_k: int
    wanted: Mapping[str, Any]


@dataclass(frozen=True)
class Hit:
    """A result of a search: the better, the higher the score and the lower the distance."""

    item: Item
    score: float
    distance: float


class VectorProvider(Provider, ABC):
    """The limits, and the methods of a vector store.

    Attributes:
        largest_component: its square must be finite as a 32-bit float, so that no score becomes infinite.
    """

    component = "vector"
    metrics: tuple[str, ...] = ("cosine", "euclidean", "dot")
    max_dimensions = 4096
    max_batch_size = 1000
    max_top_k = 1000
    max_filter_terms = 32
    largest_component = 1e17

    @abstractmethod
    async def find_namespace(self, name: str) -> Namespace | None:
        """Return a namespace; `default` always exists."""

    @abstractmethod
    async def create_namespace(self, namespace: Namespace) -> None:
        """Create a namespace; one that exists keeps its vectors."""

    @abstractmethod
    async def delete_namespace(self, name: str) -> bool:
        """Delete a namespace; return if it existed."""

    @abstractmethod
    async def upsert(self, namespace: Namespace, items: Sequence[Item]) -> None:
        """Store all items; each replaces the one with its id, and of two with one id the last one counts."""

    @abstractmethod
    async def delete(self, namespace: Namespace, ids: Sequence[str], wanted: Mapping[str, Any]) -> int:
        """Delete the items that have one of the ids (none given: any id) and pass the filter; return their number."""

    @abstractmethod
    async def search(self, op: str, namespace: Namespace, queries: Sequence[Query]) -> list[tuple[list[Hit], int]]:
        """Return for each query the hits, best first, and the number of vectors that pass its filter."""


class VectorAdapter(WireHandler[VectorProvider]):
    """The wire handler of `vector`."""

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
    claims: Mapping[str, Any] = {
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

    def limits(self) -> dict[str, Any]:
        """The metrics and the sizes of vectors, batches, results and filters."""
        return {
            "supported_metrics": list(self.provider.metrics),
            "max_dimensions": self.provider.max_dimensions,
            "max_batch_size": self.provider.max_batch_size,
            "max_top_k": self.provider.max_top_k,
            "max_filter_terms": self.provider.max_filter_terms,
        }

    # Queries

    async def query(self, call: Call) -> dict[str, Any]:
        """Find the nearest vectors."""
        space = await self.namespace(call.args)
        (result,) = await self.answers("query", space, [call.args])
        return result

    async def batch_query(self, call: Call) -> dict[str, Any]:
        """Answer several queries of one namespace."""
        space = await self.namespace(call.args)
        queries = call.args.objects("queries", required=True)
        return {"results": await self.answers("batch_query", space, queries)}

    async def answers(self, op: str, space: Namespace, asked: Sequence[Arguments]) -> list[dict[str, Any]]:
        """Return a result for the arguments of each query."""
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
        # numbers of NumPy are not JSON
        return {"vector": vector, "score": float(hit.score), "distance": float(hit.distance)}

    def read_query(self, args: Arguments, space: Namespace) -> Query:
        self.same_namespace(args, space)
        top_k = args.integer("top_k", 1, self.provider.max_top_k, required=True) or 1
        return Query(self.vector(args, space, space.dimensions), top_k, self.filter(args))

    def read_shown(self, args: Arguments) -> list[str]:
        """The parts of an item that a match shows in addition to its id.

        Clients that only know edition 1.0.0 of the schemas need the vector in any case.
        """
        wanted = {
            "metadata": args.flag("include_metadata", default=True),
            "vector": args.flag("include_vectors", default=False),
        }
        return [part for part, is_wanted in wanted.items() if is_wanted]

    # Writes

    async def upsert(self, call: Call) -> dict[str, Any]:
        """Store items; one that cannot be stored refuses the whole batch (R14), so that none is ever lost."""
        space = await self.namespace(call.args)
        vectors = call.args.objects("vectors", required=True)
        call.args.check_batch("vectors", len(vectors), self.provider.max_batch_size)
        items: list[Item] = []
        for args in vectors:
            self.same_namespace(args, space)
            dimensions = space.dimensions or (len(items[0].vector) if items else None)
            items.append(Item(args.filled("id"), self.vector(args, space, dimensions), self.metadata(args)))
        await self.provider.upsert(space, items)
        return {"processed_count": len(items), "failed_count": 0, "failures": []}

    async def delete(self, call: Call) -> dict[str, Any]:
        """Delete items by id, by filter, or by both."""
        space, wanted = await self.namespace(call.args), self.filter(call.args)
        ids: list[str] = call.args.list_of("a string", "ids")
        if not ids and not wanted:
            raise call.args.invalid("ids", "or a filter must say what to delete")
        deleted = await self.provider.delete(space, ids, wanted)
        return {"processed_count": deleted, "failed_count": 0, "failures": []}

    async def create_namespace(self, call: Call) -> dict[str, Any]:
        """Create a namespace, or leave an equal one as it is."""
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
        """Delete a namespace, which may be absent."""
        name = call.args.filled("namespace")
        existed = await self.provider.delete_namespace(name)
        return {"success": True, "namespace": name, "details": {"existed": existed}}

    # Arguments

    async def namespace(self, args: Arguments) -> Namespace:
        name = args.optional_text("namespace") or DEFAULT
        found = await self.provider.find_namespace(name)
        if found is None:
            raise args.invalid("namespace", "does not exist", error="NamespaceNotFound")
        return found

    def same_namespace(self, args: Arguments, space: Namespace) -> None:
        """Refuse a query or an item that names another namespace than the request."""
        if args.optional_text("namespace") not in (None, space.name):
            raise args.invalid("namespace", "must be that of the request")

    def vector(self, args: Arguments, space: Namespace, dimensions: int | None) -> list[float]:
        """Read a vector; it must have the dimensions of the namespace, if that has any yet."""
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
        """Read a filter: only equality. A filter that the provider cannot serve must be refused, never ignored (R31)."""
        wanted, most = args.object("filter"), self.provider.max_filter_terms
        if len(wanted) > most:
            raise args.invalid("filter", f"must have at most {most} terms", max_filter_terms=most)
        if any(isinstance(value, (Mapping, list)) for value in wanted.values()):
            raise args.invalid("filter", "must map names to plain values", error="FilterSyntaxError")
        return wanted
