"""The most basic faults of an adapter: an operation that fails, or a thing that all tests give and it does not take.

`vector_upsert_broken` is the reference adapter for vectors whose `upsert` is broken, `vector_dead_broken` one of which
nothing but capabilities works, `vector_writes_denied` one whose login may not write. The others are classes.
`test_basic_faults.py` states what comes first.
"""

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

from pytest_corpus.reference.embedding.adapter import ReferenceEmbedding
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.graph.adapter import ReferenceGraph
from pytest_corpus.reference.llm.adapter import ReferenceLLM
from pytest_corpus.reference.request import Call, Fields
from pytest_corpus.reference.vector.adapter import ReferenceVector
from pytest_corpus.reference.vector.arguments import Query
from pytest_corpus.reference.vector.store import Hit, Item
from pytest_corpus.spec.operations import BY_OP, operations_of

REFERENCES: Mapping[str, type[Any]] = {
    made.component: made for made in (ReferenceLLM, ReferenceVector, ReferenceEmbedding, ReferenceGraph)
}

TOO_LONG_S = 600


async def broken() -> dict[str, Any]:
    """Fail by a mistake of the author, which an adapter reports as UNAVAILABLE."""
    raise AttributeError("'NoneType' object has no attribute 'cursor'")


async def refused() -> dict[str, Any]:
    """Take no request for a valid one."""
    raise AdapterError("BadRequest", "the request is not valid")


async def denied() -> dict[str, Any]:
    """Refuse because the login may not do it."""
    raise AdapterError("AuthError", "permission denied")


async def empty() -> dict[str, Any]:
    """Succeed without a result."""
    return {}


async def slow() -> dict[str, Any]:
    """Answer too late."""
    await asyncio.sleep(TOO_LONG_S)
    return {}


KINDS = {each.__name__: each for each in (broken, refused, denied, empty, slow)}


def failing(kind: str, *, streaming: bool) -> Callable[..., Any]:
    """An operation that fails in one of these ways."""
    fail = KINDS[kind]

    async def operation(_self: Any, _call: Call) -> dict[str, Any]:
        return await fail()

    async def stream(_self: Any, _call: Call) -> AsyncIterator[dict[str, Any]]:
        if found := await fail():
            yield found

    return stream if streaming else operation


def made(component: str, names: Sequence[str], kind: str) -> type[Any]:
    """A reference adapter of which some operations fail in one way."""
    methods = {name: failing(kind, streaming=BY_OP[f"{component}.{name}"].streaming) for name in names}
    return type(f"{component}_{kind}", (REFERENCES[component],), methods)


def without_tenants(component: str) -> type[Any]:
    """A reference adapter that refuses every tenant."""

    def tenant_hash(_self: Any, _tenant: str) -> str:
        raise AdapterError("BadRequest", "tenant is not taken")

    return type(f"{component}_tenants", (REFERENCES[component],), {"tenant_hash": tenant_hash})


def is_uuid(name: str) -> bool:
    """Return if a text is a UUID."""
    try:
        return str(uuid.UUID(name)) == name.lower()
    except ValueError:
        return False


class NoTopKBeyond(ReferenceVector):
    """It refuses a `top_k` that exceeds the number of vectors."""

    def search(self, call: Call, query: Query) -> dict[str, Any]:
        if query.top_k > len(self.space(call, query.namespace).items):
            raise AdapterError("BadRequest", "top_k exceeds the number of vectors")
        return super().search(call, query)


class OnlyUuids(ReferenceVector):
    """It takes no id but a UUID."""

    def read_item(self, fields: Fields, namespace: str) -> Item:
        item = super().read_item(fields, namespace)
        if not is_uuid(item.id):
            raise AdapterError("BadRequest", "id must be a UUID")
        return item


class IdsBecomeUuids(ReferenceVector):
    """It answers with a UUID in place of the id."""

    def match(self, query: Query, hit: Hit) -> dict[str, Any]:
        found = super().match(query, hit)
        found["vector"]["id"] = str(uuid.uuid5(uuid.NAMESPACE_URL, hit.item.id))
        return found


class FiltersRefused(ReferenceVector):
    """It takes no filter."""

    def read_filter(self, fields: Fields) -> list[Any]:
        if fields.values.get("filter"):
            raise AdapterError("BadRequest", "filter is not taken")
        return super().read_filter(fields)


class FiltersIgnored(ReferenceVector):
    """It accepts filters and does not apply them."""

    def passes(self, metadata: Mapping[str, Any], conditions: Any) -> bool:
        return True


class MetadataRefused(ReferenceVector):
    """It takes no metadata."""

    def read_metadata(self, fields: Fields) -> dict[str, Any]:
        if fields.values.get("metadata"):
            raise AdapterError("BadRequest", "metadata is not taken")
        return super().read_metadata(fields)


class MetadataDropped(ReferenceVector):
    """It stores no metadata."""

    def read_metadata(self, fields: Fields) -> dict[str, Any]:
        super().read_metadata(fields)
        return {}


class NothingDeleted(ReferenceVector):
    """It says that it has deleted, and has not."""

    def erase(self, call: Call, namespace: str, ids: Sequence[str], conditions: Any) -> int:
        return len(ids)


def __getattr__(name: str) -> type[Any]:
    component, _, rest = name.partition("_")
    if component in REFERENCES and rest == "without_tenants":
        return without_tenants(component)
    failed, _, kind = rest.rpartition("_")
    rows = [row for row in operations_of(component) if row.name != "capabilities"] if component in REFERENCES else []
    groups = {"dead": [row.name for row in rows], "writes": [row.name for row in rows if row.mutating]}
    groups.update({row.name: [row.name] for row in rows})
    if failed not in groups or kind not in KINDS:
        raise AttributeError(name)
    return made(component, groups[failed], kind)
