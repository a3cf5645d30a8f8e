"""Mistakes that vector/test_namespace_operations.py finds (VEC-NS)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_corpus.reference.errors import AdapterError, invalid
from pytest_corpus.reference.request import Call, Fields
from pytest_corpus.reference.vector.adapter import ReferenceVector
from pytest_corpus.reference.vector.arguments import Query
from pytest_corpus.reference.vector.store import Item, Space

from .. import catches
from .legal import Uncached


@catches("VEC-NS-1", others=4)
class CreatedInVain(ReferenceVector):
    """It answers that it created a namespace, and did not."""

    def create(self, call: Call, name: str, wanted: Space) -> None:
        """Nothing is created."""


@catches("VEC-NS-2", others=0)
class QueriesSearchEverywhere(Uncached):
    """It searches all namespaces of the same dimensions and metric."""

    def select(self, space: Space, query: Query) -> list[Item]:
        return [
            item
            for spaces in self.tenants.values()
            if space in spaces.values()
            for each in spaces.values()
            if (each.dimensions, each.metric) == (space.dimensions, space.metric)
            for item in super(QueriesSearchEverywhere, self).select(each, query)
        ]


@catches("VEC-NS-3")
class DeletesEverywhere(ReferenceVector):
    """It deletes an id from every namespace of the tenant."""

    def erase(self, call: Call, namespace: str, ids: Sequence[str], conditions: Sequence[Any]) -> int:
        for name in self.spaces(call):
            if name != namespace and ids:
                super().erase(call, name, ids, conditions)
        return super().erase(call, namespace, ids, conditions)


@catches("VEC-NS-3")
class IdsAreOfOneNamespace(ReferenceVector):
    """It moves an id to the namespace where it was written last."""

    def write(self, call: Call, namespace: str, items: Sequence[Item]) -> dict[str, Any]:
        for name, space in self.spaces(call).items():
            for item in items if name != namespace else []:
                space.items.pop(item.id, None)
                self.touch(space)
        return super().write(call, namespace, items)


@catches("VEC-NS-4")
class DeletedSpaceKeepsItsVectors(ReferenceVector):
    """It forgets the name of a namespace and keeps its vectors for the next one of that name."""

    def __init__(self, **hooks: Any) -> None:
        super().__init__(**hooks)
        self.dropped: dict[tuple[str | None, str], Space] = {}

    def drop(self, call: Call, name: str) -> bool:
        space = self.spaces(call).get(name)
        if space is not None:
            self.dropped[self.owner(call), name] = space
        return super().drop(call, name)

    def create(self, call: Call, name: str, wanted: Space) -> None:
        left = self.dropped.get((self.owner(call), name))
        if left is not None and left.dimensions == wanted.dimensions:
            wanted = replace(wanted, items=left.items)
        super().create(call, name, wanted)


@catches("VEC-NS-4")
class DeletedSpaceIsStillThere(ReferenceVector):
    """It answers that it deleted a namespace, and did not."""

    def drop(self, call: Call, name: str) -> bool:
        return name in self.spaces(call)


@catches("VEC-NS-4")
class CacheOutlivesTheSpace(ReferenceVector):
    """It answers queries on a deleted namespace from its cache."""

    async def query(self, call: Call) -> dict[str, Any]:
        namespace = self.read_namespace(call.args)
        if namespace in self.spaces(call):
            self.last = (call.args.values, await super().query(call))
            return self.last[1]
        if self.last is not None and call.args.values == self.last[0]:
            return self.last[1]
        return await super().query(call)

    last: tuple[Mapping[str, Any], dict[str, Any]] | None = None


@catches("VEC-NS-5")
class DeletesByPrefix(ReferenceVector):
    """It deletes every namespace whose name begins with the given one."""

    def drop(self, call: Call, name: str) -> bool:
        for other in list(self.spaces(call)):
            if other.startswith(name) and other != name:
                super().drop(call, other)
        return super().drop(call, name)


@catches("VEC-NS-5", others=14)
class DeletesTheYoungestToo(ReferenceVector):
    """It deletes the namespace that was created last along with the one named."""

    def drop(self, call: Call, name: str) -> bool:
        others = [other for other in self.spaces(call) if other not in (name, self.default_namespace)]
        for other in others[-1:]:
            super().drop(call, other)
        return super().drop(call, name)


@catches("VEC-NS-6")
class UnknownIsEmpty(ReferenceVector):
    """It answers a query on an unknown namespace with no matches."""

    async def query(self, call: Call) -> dict[str, Any]:
        namespace = self.read_namespace(call.args)
        if namespace in self.spaces(call):
            return await super().query(call)
        query = self.read_query(call.args, namespace)
        return {"matches": [], "query_vector": query.vector, "namespace": namespace, "total_matches": 0}


@catches("VEC-NS-6")
class UnknownIsNotReady(ReferenceVector):
    """It asks for patience where a namespace is unknown."""

    def check_query(self, call: Call, query: Query) -> None:
        if call.op == "query" and query.namespace not in self.spaces(call):
            raise AdapterError("IndexNotReady", "The index is not there", retry_after_ms=10)
        super().check_query(call, query)


@catches("VEC-NS-7")
class DimensionsByDefault(ReferenceVector):
    """It creates a namespace of its own dimensions where none are given."""

    def read_dimensions(self, call: Call) -> int:
        return super().read_dimensions(call) if "dimensions" in call.args.values else 3


@catches("VEC-NS-7")
class NamelessSpaceIsTheDefault(ReferenceVector):
    """It deletes the default namespace where none is named."""

    async def delete_namespace(self, call: Call) -> dict[str, Any]:
        if "namespace" not in call.args.values:
            call.args = replace(call.args, values={"namespace": self.default_namespace})
        return await super().delete_namespace(call)


@catches("VEC-NS-7")
class DimensionsAsText(ReferenceVector):
    """It takes the text of a number for dimensions."""

    def read_dimensions(self, call: Call) -> int:
        return 3 if isinstance(call.args.values.get("dimensions"), str) else super().read_dimensions(call)


@catches("VEC-NS-7")
class AnyTypeOfMetric(ReferenceVector):
    """It takes the default metric where `distance_metric` is not a string."""

    def read_metric(self, call: Call) -> str:
        given = call.args.values.get("distance_metric")
        return super().read_metric(call) if given is None or isinstance(given, str) else self.default_metric


@catches("VEC-NS-8")
class MetricOfTheLastSpace(ReferenceVector):
    """It ranks every namespace of a tenant by the metric of the one created last."""

    def create(self, call: Call, name: str, wanted: Space) -> None:
        super().create(call, name, wanted)
        for space in self.spaces(call).values():
            space.metric = wanted.metric
            self.touch(space)


@catches("VEC-NS-9")
class LastSpaceIsTheDefault(ReferenceVector):
    """It takes the namespace that was used last where none is given."""

    last = "default"

    def read_namespace(self, fields: Fields) -> str:
        self.last = fields.text("namespace") or self.last
        return self.last


@catches("VEC-NS-9")
class NamespaceIsRequired(ReferenceVector):
    """It wants a namespace in every upsert."""

    def read_items(self, call: Call, namespace: str) -> list[Item]:
        call.args.required_text("namespace")
        return super().read_items(call, namespace)


@catches("VEC-NS-9")
class DefaultForQueriesAlone(ReferenceVector):
    """It deletes from a namespace of no name where none is given."""

    async def delete(self, call: Call) -> dict[str, Any]:
        if call.args.values.get("namespace") is None:
            self.read_ids(call)
            return self.counts(0, [])
        return await super().delete(call)


@catches("VEC-NS-10")
class SuccessIsFalse(ReferenceVector):
    """It says `success` false where it created a namespace."""

    async def create_namespace(self, call: Call) -> dict[str, Any]:
        return {**await super().create_namespace(call), "success": False}


@catches("VEC-NS-10")
class NameOfTheBackend(ReferenceVector):
    """It answers a deletion with the name that the namespace had in its backend."""

    async def delete_namespace(self, call: Call) -> dict[str, Any]:
        result = await super().delete_namespace(call)
        return {**result, "namespace": f"index-{result['namespace']}"}


@catches("VEC-NS-11")
class UnknownIsAnyBadRequest(ReferenceVector):
    """It refuses a query on an unknown namespace as any bad request."""

    def space(self, call: Call, name: str) -> Space:
        if name not in self.spaces(call):
            raise invalid("args.namespace", "NOT_FOUND", "does not exist")
        return super().space(call, name)


@catches("VEC-NS-12")
class UnknownMetricIsCosine(ReferenceVector):
    """It takes a metric that it does not know for the default one."""

    def read_metric(self, call: Call) -> str:
        metric = call.args.text("distance_metric") or self.default_metric
        return super().read_metric(call) if self.synonyms.get(metric, metric) in self.measures else self.default_metric


@catches("VEC-NS-13")
class CreatingEmpties(ReferenceVector):
    """It empties a namespace that is created anew."""

    def create(self, call: Call, name: str, wanted: Space) -> None:
        self.check_existing(call, name, wanted)
        self.spaces(call)[name] = wanted
        self.touch(wanted)


@catches("VEC-NS-4")
class VersionsBeginAnew(ReferenceVector):
    """It keys its cache by a version that begins anew with each namespace of a name."""

    def touch(self, space: Space) -> None:
        space.version += 1


@catches("VEC-NS-14")
class DefaultMetricIsNotKept(ReferenceVector):
    """It creates a namespace without a metric, and cannot rank there."""

    async def create_namespace(self, call: Call) -> dict[str, Any]:
        created = await super().create_namespace(call)
        if call.args.values.get("distance_metric") is None:
            self.spaces(call)[created["namespace"]].metric = "none"
        return created
