"""The back end of the adapters: the embedded reference adapters, in the place of a vendor's service.

They are asked with JSON, as an API over HTTP would be, and check what they are asked.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict, fields, is_dataclass
from typing import Any, TypeVar

from pytest_corpus import reference

from .authoring import Provider, Taxonomy, subtype

T = TypeVar("T")

ADDED = {
    "embedding": {"ContentFiltered": "BadRequest", "ProviderQuotaExceeded": "ResourceExhausted"},
    "graph": {
        "FilterSyntaxError": "BadRequest",
        "NamespaceNotFound": "BadRequest",
        "ProviderQuotaExceeded": "ResourceExhausted",
        "QueryParseError": "BadRequest",
        "VertexNotFound": "BadRequest",
    },
    "llm": {
        "ContentFiltered": "BadRequest",
        "PromptTooLong": "BadRequest",
        "ProviderQuotaExceeded": "ResourceExhausted",
    },
    "vector": {
        "FilterSyntaxError": "BadRequest",
        "NamespaceNotFound": "BadRequest",
        "ProviderQuotaExceeded": "ResourceExhausted",
    },
}
"""By component, the author's own classes of errors and the SDK's above them; any other error is a BadRequest."""


class Service:
    """One component of the service; what fails there becomes an exception of the SDK."""

    def __init__(self, component: str, taxonomy: Taxonomy, provider: Provider | None) -> None:
        self._component, self._module = component, taxonomy.module
        self._handler = getattr(reference, component)(provider=provider)
        self._classes: dict[str, Any] = {}

    async def ask(self, op: str, args: Any, ctx: Any) -> dict[str, Any]:
        """The result of an operation."""
        answer = await self._handler.handle(self._request(op, args, ctx))
        if not answer["ok"]:
            raise self._error(answer)
        result: dict[str, Any] = answer["result"]
        return result

    async def stream(self, op: str, args: Any, ctx: Any) -> AsyncIterator[dict[str, Any]]:
        """The chunks of a stream."""
        async for frame in self._handler.handle_stream(self._request(op, args, ctx)):
            if not frame["ok"]:
                raise self._error(frame)
            yield frame["chunk"]

    def _request(self, op: str, args: Any, ctx: Any) -> dict[str, Any]:
        return {"op": f"{self._component}.{op}", "ctx": given(ctx or {}), "args": given(args)}

    def _error(self, answer: Mapping[str, Any]) -> Exception:
        name = answer["error"]
        if name not in self._classes:
            parent = ADDED[self._component].get(name, "")
            known = getattr(self._module, parent or name, self._module.BadRequest)
            self._classes[name] = subtype(known, name) if parent else known
        facts = {"retry_after_ms": answer["retry_after_ms"], "details": answer["details"]}
        error: Exception = self._classes[name](answer["message"], **facts)
        return error


def given(value: Any) -> dict[str, Any]:
    """The fields of a request that have a value; an item in a list likewise."""
    known = asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
    return {key: listed(each) for key, each in known.items() if each is not None}


def listed(value: Any) -> Any:
    """A list whose objects have no empty fields at their top; another value as it is."""
    if not isinstance(value, (list, tuple)):
        return value
    return [given(each) if isinstance(each, Mapping) else each for each in value]


def changed(kind: type[T], result: Mapping[str, Any]) -> T:
    """The SDK's result of an upsert or a delete."""
    return kind(result["processed_count"], result["failed_count"], result["failures"])  # type: ignore[call-arg]


def victims(spec: Any) -> dict[str, Any]:
    """The arguments of a delete: without the empty list of ids that the SDK adds to a filter."""
    args = given(spec)
    return {key: value for key, value in args.items() if value or key != "ids" or not args.get("filter")}


def made(kind: type[T], result: Mapping[str, Any]) -> T:
    """An object of the SDK with those fields of a result that it has."""
    return kind(**{each.name: result[each.name] for each in fields(kind) if each.name in result})  # type: ignore[arg-type]
