"""The most basic faults of an adapter: an operation that fails, or a thing that all tests give and it does not take.

`vector_upsert_broken` is the reference adapter for vectors whose `upsert` is broken, `vector_dead_broken` one of which
nothing but capabilities works, `vector_writes_denied` one whose login may not write; `first.txt` has the requirement
that comes first for each. The others are rows of edits, which name it themselves.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from edits import Room
from tables import read_rows

from pytest_corpus.reference.embedding.adapter import ReferenceEmbedding
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.graph.adapter import ReferenceGraph
from pytest_corpus.reference.llm.adapter import ReferenceLLM
from pytest_corpus.reference.request import Call
from pytest_corpus.reference.vector.adapter import ReferenceVector
from pytest_corpus.spec.operations import BY_OP, operations_of

ROOM = Room(Path(__file__).parent, __name__, ReferenceVector)

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


def __getattr__(name: str) -> type[Any]:
    component, _, rest = name.partition("_")
    if component in REFERENCES and rest == "without_tenants":
        return without_tenants(component)
    failed, _, kind = rest.rpartition("_")
    rows = [row for row in operations_of(component) if row.name != "capabilities"] if component in REFERENCES else []
    groups = {"dead": [row.name for row in rows], "writes": [row.name for row in rows if row.mutating]}
    groups.update({row.name: [row.name] for row in rows})
    if failed not in groups or kind not in KINDS:
        return ROOM.adapter(name)
    return made(component, groups[failed], kind)


def first() -> dict[str, str]:
    """The requirement that comes first, by the name of the adapter."""
    named = {row.name: row.requirement for file in ROOM.files for row in file.rows.values() if row.requirement}
    table = (line.split(" ", 1) for line in read_rows(Path(__file__).with_name("first.txt")))
    return {**dict(table), **named}
