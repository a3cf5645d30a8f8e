"""Parts of legal adapters that need more than edits."""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from pytest_corpus.reference.foundation import ReferenceAdapter
from pytest_corpus.reference.request import Call, Fields


def nested(stated: Mapping[str, Any]) -> dict[str, Any]:
    """Capabilities with their flags under `features` and their limits under `limits`."""
    flags = {key: value for key, value in stated.items() if isinstance(value, bool)}
    limits = {key: value for key, value in stated.items() if key.startswith("max_")}
    rest = {key: value for key, value in stated.items() if key not in {**flags, **limits}}
    return {**rest, "features": flags, "limits": {**limits, **rest.get("limits", {})}}


def floating(value: Any) -> Any:
    """The same JSON value with every integer as a float that holds it."""
    if isinstance(value, dict):
        return {key: floating(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return list(map(floating, value))
    fits = isinstance(value, int) and not isinstance(value, bool) and abs(value) <= 2**53
    return float(value) if fits else value


class BareIterator:
    """An iterator that has nothing but `__anext__`."""

    def __init__(self, frames: AsyncIterator[dict[str, Any]]) -> None:
        self.frames = frames

    def __aiter__(self) -> BareIterator:
        return self

    async def __anext__(self) -> dict[str, Any]:
        return await self.frames.__anext__()


def wire_code(name: str) -> str:
    """The wire code of an error class: `BadRequest` is BAD_REQUEST."""
    return "".join(f"_{char}" if char.isupper() else char.upper() for char in name).lstrip("_")


class Sent(str):
    """A text that was cut, and the one that was sent."""

    def __new__(cls, text: str, sent: str) -> Sent:
        made = super().__new__(cls, text)
        made.sent = sent
        return made

    sent: str


class ClosedContext(ReferenceAdapter):
    """Refuses unknown keys in `ctx`, as the schemas of edition 1.0.0 do."""

    known = ("request_id", "idempotency_key", "deadline_ms", "traceparent", "tenant", "attrs")

    def read_context(self, call: Call, ctx: Fields) -> None:
        if unknown := set(ctx.values) - set(self.known):
            raise ctx.invalid(min(map(str, unknown)), "UNKNOWN", "is not a key of a context")
        super().read_context(call, ctx)


class Versioned(ReferenceAdapter):
    """Adds the optional keys of edition 1.1.0 to every result that is an object (R56)."""

    def success(self, call: Call, result: Any) -> dict[str, Any]:
        more = {"schema_version": "1.1.0", "protocol": f"{self.component}/v1.0"}
        room: dict[str, Any] = {"provider_specific": {}, "experimental_features": {}}
        plain = isinstance(result, dict) and call.op not in ("capabilities", "health", "get_schema")
        return super().success(call, {**more, **room, **result} if plain else result)


def cell(vector: Sequence[float], border: float = 13) -> int:
    """One of eight directions; vectors on a line lie in cells of different lengths."""
    if len(vector) == 1:
        return int(vector[0] * 4)
    return int((math.degrees(math.atan2(vector[1], vector[0])) + 180 + border) // 45)


def single(number: float) -> float:
    """The nearest number of 32 bits."""
    return float(struct.unpack("f", struct.pack("f", number))[0])


class Owned(dict[str, Any]):
    """The graphs of one tenant."""

    def __init__(self, graphs: Mapping[str, Any], owner: str | None) -> None:
        super().__init__(graphs)
        self.owner = owner


class Folded:
    """A query that gives each of its rows once."""

    def __init__(self, query: Any) -> None:
        self.query = query

    def run(self, graph: Any, params: Mapping[str, Any]) -> list[Any]:
        """The different rows, in order."""
        return list({str(row): row for row in self.query.run(graph, params)}.values())


def refuse_odd(ctx: Fields, *names: str) -> None:
    """Refuse members of a context that are not short words of small letters."""
    for name in names:
        if not re.fullmatch(r"([a-z][a-z0-9]{0,62})?", ctx.text(name) or ""):
            raise ctx.invalid(name, "NOT_ALLOWED", "must be a short word")


def attacks(value: Any) -> bool:
    """True if a JSON value holds a text that looks like an injection."""
    signs = r"drop\s+table|\{\{|\$\{|\$ne|%\(|['\"] or ['\"]|return 1|<script|%s"
    return re.search(signs, json.dumps(value, ensure_ascii=False).replace("\\", ""), re.IGNORECASE) is not None
