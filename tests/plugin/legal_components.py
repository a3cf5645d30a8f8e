"""Legal vector, embedding and graph adapters of another shape than the references."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_corpus.reference.embedding.adapter import ReferenceEmbedding
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.foundation import Provider
from pytest_corpus.reference.graph.adapter import ReferenceGraph
from pytest_corpus.reference.graph.store import DEFAULT_NAMESPACE, Graph, Node
from pytest_corpus.reference.request import Call
from pytest_corpus.reference.telemetry import MetricsSink
from pytest_corpus.reference.vector.adapter import ReferenceVector
from pytest_corpus.reference.vector.arguments import Query
from pytest_corpus.reference.vector.store import Item, Measures, Space


def nested(stated: Mapping[str, Any]) -> dict[str, Any]:
    """Capabilities with their flags under `features` and their limits under `limits`."""
    flags = {key: value for key, value in stated.items() if isinstance(value, bool)}
    limits = {key: value for key, value in stated.items() if key.startswith("max_")}
    rest = {key: value for key, value in stated.items() if key not in {**flags, **limits}}
    return {**rest, "features": flags, "limits": {**limits, **rest.get("limits", {})}}


class EuclideanOnly(ReferenceVector):
    """Knows one metric, which is not the usual one."""

    default_metric = "euclidean"

    @property
    def measures(self) -> Measures:
        return {"euclidean": self.euclidean}


class FixedDimension(ReferenceVector):
    """Takes vectors of five components and no others, whatever the namespace."""

    max_dimensions = 5

    async def capabilities(self, call: Call) -> dict[str, Any]:
        return {**await super().capabilities(call), "dimension": 5}

    def read_dimensions(self, call: Call) -> int:
        if (dimensions := super().read_dimensions(call)) != 5:
            raise AdapterError("DimensionMismatch", "expected 5 dimensions", expected=5, provided=dimensions)
        return dimensions

    def spaces(self, call: Call) -> dict[str, Space]:
        spaces = super().spaces(call)
        spaces[self.default_namespace].dimensions = 5
        return spaces


class OneNamespace(ReferenceVector):
    """Has the default namespace and no other."""

    features: Mapping[str, bool] = {
        **ReferenceVector.features,
        "supports_namespaces": False,
        "supports_index_management": False,
    }


class VectorLimitsOfTwo(ReferenceVector):
    """Takes two of everything, and says so in nested capabilities."""

    max_dimensions = max_batch_size = max_top_k = max_filter_terms = 2

    async def capabilities(self, call: Call) -> dict[str, Any]:
        return nested(await super().capabilities(call))


class LateVector(ReferenceVector):
    """Shows a write in queries only a moment later, as an index that is refreshed in the background does."""

    late_s = 0.02
    features: Mapping[str, bool] = {**ReferenceVector.features, "supports_caching": False}

    def __init__(self, *, metrics: MetricsSink | None = None, provider: Provider | None = None) -> None:
        super().__init__(metrics=metrics, provider=provider)
        self.history: dict[int, list[tuple[float, Space, list[Item]]]] = {}

    def touch(self, space: Space) -> None:
        super().touch(space)
        kept = self.history.setdefault(id(space), [(0.0, space, [])])
        kept.append((time.monotonic(), space, list(space.items.values())))

    def select(self, space: Space, query: Query) -> list[Item]:
        until = time.monotonic() - self.late_s
        shown = [items for at, _, items in self.history.get(id(space), ()) if at <= until]
        return [item for item in (shown[-1] if shown else ()) if self.passes(item.metadata, query.conditions)]


class VectorOfTenantsUnclaimed(ReferenceVector):
    """Keeps tenants apart and says that it does not."""

    features: Mapping[str, bool] = {**ReferenceVector.features, "supports_multi_tenant": False}


class VectorOfTenantsUnsaid(ReferenceVector):
    """Keeps tenants apart and says nothing of it."""

    features: Mapping[str, bool] = {
        key: value for key, value in ReferenceVector.features.items() if key != "supports_multi_tenant"
    }


class VectorOfOneForAll(ReferenceVector):
    """Keeps no tenants apart, and says so."""

    features: Mapping[str, bool] = {
        **ReferenceVector.features,
        "supports_multi_tenant": False,
        "supports_caching": False,
        "idempotent_writes": False,
    }

    def owner(self, _call: Call) -> None:
        return None


class PostFiltering(ReferenceVector):
    """Applies a filter to the best matches of all, as its documentation says."""

    async def capabilities(self, call: Call) -> dict[str, Any]:
        stated = await super().capabilities(call)
        return {**stated, "extensions": {**stated["extensions"], "acme:filtering": "post-filtering"}}

    def search(self, call: Call, query: Query) -> dict[str, Any]:
        everything = super().search(call, replace(query, conditions=[], include_metadata=True))
        met = [match for match in everything["matches"] if self.passes(match["vector"]["metadata"], query.conditions)]
        for match in met if not query.include_metadata else ():
            del match["vector"]["metadata"]
        return {**everything, "matches": met}


class FloatingVector(ReferenceVector):
    """Writes every number as a JavaScript number would be written by a careless library: 2.0."""

    def success(self, call: Call, result: Any) -> dict[str, Any]:
        return super().success(call, floating(result))


def floating(value: Any) -> Any:
    """The same JSON value with every integer as a float."""
    if isinstance(value, dict):
        return {key: floating(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return list(map(floating, value))
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


class VectorLimitsOfOne(ReferenceVector):
    """Takes one of everything."""

    max_dimensions = max_batch_size = max_top_k = max_filter_terms = 1


class LaterVector(LateVector):
    """Shows it after 150 ms."""

    late_s = 0.15


class LatestVector(LateVector):
    """Shows it after a second."""

    late_s = 1.0


class EmbeddingLimitsOfTwo(ReferenceEmbedding):
    """Takes two texts of twelve characters for one model, and says so in nested capabilities."""

    models: Mapping[str, int] = {"m": 3}
    max_batch_size = 2
    max_text_length = 12

    async def capabilities(self, call: Call) -> dict[str, Any]:
        return nested(await super().capabilities(call))


class Plain(ReferenceEmbedding):
    """Embeds one text after the other and nothing else."""

    features: Mapping[str, bool] = {
        **dict.fromkeys(ReferenceEmbedding.features, False),
        "supports_deadline": True,
    }


class LateGraph(ReferenceGraph):
    """Answers from a copy that is a moment behind."""

    late_s = 0.02
    features: Mapping[str, bool] = {**ReferenceGraph.features, "supports_caching": False}

    def __init__(self, *, metrics: MetricsSink | None = None, provider: Provider | None = None) -> None:
        super().__init__(metrics=metrics, provider=provider)
        self.history: dict[str | None, list[tuple[float, dict[str, Graph]]]] = {}

    def commit(self, call: Call, draft: dict[str, Graph]) -> None:
        super().commit(call, draft)
        self.history.setdefault(call.tenant_hash, []).append((time.monotonic(), draft))

    def space(self, call: Call) -> dict[str, Graph]:
        until = time.monotonic() - self.late_s
        shown = [space for at, space in self.history.get(call.tenant_hash, ()) if at <= until]
        return shown[-1] if shown else {DEFAULT_NAMESPACE: Graph()}

    def draft(self, call: Call) -> dict[str, Graph]:
        return {name: graph.draft() for name, graph in super().space(call).items()}


class LatestGraph(LateGraph):
    """Answers from a copy that is a second behind."""

    late_s = 1.0


class GremlinOnly(ReferenceGraph):
    """Speaks one language, which is not the usual one."""

    dialects = ("gremlin",)


class Bare(ReferenceGraph):
    """Writes, deletes and answers queries, and nothing else."""

    features: Mapping[str, bool] = {
        **dict.fromkeys(ReferenceGraph.features, False),
        "supports_deadline": True,
    }


class GraphLimitsOfTwo(ReferenceGraph):
    """Takes two operations and two steps, and says so at the top of its capabilities."""

    max_batch_ops = max_traversal_depth = 2

    async def capabilities(self, call: Call) -> dict[str, Any]:
        stated = await super().capabilities(call)
        return {**{key: value for key, value in stated.items() if key != "limits"}, **stated["limits"]}


class PageTokens(ReferenceGraph):
    """Gives a `next_page_token` in place of a cursor."""

    def page(self, nodes: Sequence[Node], limit: int) -> dict[str, Any]:
        page = super().page(nodes, limit)
        token = page.pop("next_cursor")
        return {**page, "next_page_token": token} if token else page


LEGAL: tuple[Callable[..., Any], ...] = (
    EuclideanOnly,
    FixedDimension,
    OneNamespace,
    VectorLimitsOfTwo,
    VectorLimitsOfOne,
    VectorOfTenantsUnclaimed,
    VectorOfTenantsUnsaid,
    VectorOfOneForAll,
    PostFiltering,
    FloatingVector,
    LateVector,
    LateGraph,
    EmbeddingLimitsOfTwo,
    Plain,
    GremlinOnly,
    Bare,
    GraphLimitsOfTwo,
    PageTokens,
)
