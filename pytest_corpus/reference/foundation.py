"""What every embedded reference adapter shares: one way in, one envelope out, one observation a call.

A component derives from `ReferenceAdapter`, states its facts as class attributes and lists its operations in
`_unary` and `_streams`. Every decision is a method of its own, so that a variant overrides just that one.
"""

from __future__ import annotations

import asyncio
import copy
import hashlib
import hmac
import json
import logging
import math
import re
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, TypeVar
from weakref import WeakValueDictionary

from pytest_corpus.spec.errors import TAXONOMY
from pytest_corpus.spec.operations import BY_OP, Operation

T = TypeVar("T")
Envelope = dict[str, Any]
Chunk = dict[str, Any]
Unary = Callable[["Call"], Coroutine[Any, Any, Any]]
Stream = Callable[["Call"], AsyncGenerator[Chunk, None]]

_KINDS: Mapping[str, type | tuple[type, ...]] = {
    "a string": str,
    "an array": list,
    "an object": Mapping,
    "a number": (int, float),
    "an integer": int,
}
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")
_log = logging.getLogger(__name__)


class MetricsSink(Protocol):
    """Where telemetry goes (SPECIFICATION 6.4)."""

    def observe(
        self,
        *,
        component: str,
        op: str,
        ms: float,
        ok: bool,
        code: str = "OK",
        extra: Mapping[str, Any] | None = None,
    ) -> None: ...

    def counter(
        self, *, component: str, name: str, value: int = 1, extra: Mapping[str, Any] | None = None
    ) -> None: ...


class Provider(Protocol):
    """What stands where a real adapter would call its provider; may raise, sleep or hang."""

    async def reached(self, op: str, **facts: Any) -> object: ...


class AdapterError(Exception):
    """A failure that has its class in the taxonomy; the message names fields and rules, never values."""

    def __init__(
        self, name: str, message: str, *, retry_after_ms: float | None = None, **details: Any
    ) -> None:
        super().__init__(message)
        self.kind = TAXONOMY[name]
        self.retry_after_ms = retry_after_ms
        self.details = details


def digest(value: object) -> str:
    """SHA-256 of the canonical JSON of a value: what caches know of a content (SPECIFICATION 11.6)."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Fields:
    """Typed access to the members of a request object; null counts as absent.

    Every reader raises `AdapterError` of class `error`, with `details.validation_errors`.
    """

    values: Mapping[str, Any]
    path: str
    error: str = "BadRequest"

    def invalid(self, name: str, code: str, rule: str) -> AdapterError:
        where = f"{self.path}.{name}"
        return AdapterError(self.error, f"{where} {rule}", validation_errors=[{"field": where, "code": code}])

    def read(self, name: str, kind: str, *, required: bool = False) -> Any:
        value = self.values.get(name)
        if value is None and required:
            raise self.invalid(name, "REQUIRED", f"is required and must be {kind}")
        if value is not None and (isinstance(value, bool) or not isinstance(value, _KINDS[kind])):
            raise self.invalid(name, "WRONG_TYPE", f"must be {kind}")
        return value

    def text(self, name: str, *, required: bool = False, longest: float = math.inf) -> str | None:
        value: str | None = self.read(name, "a string", required=required)
        if value is not None and longest < math.inf and not 1 <= len(value) <= longest:
            raise self.invalid(name, "OUT_OF_RANGE", f"must have 1 to {longest} characters")
        return value

    def number(self, name: str) -> float | None:
        value: float | None = self.read(name, "a number")
        return value

    def integer(self, name: str, *, at_least: int, required: bool = False) -> int | None:
        value = self.values.get(name)
        if isinstance(value, float) and value.is_integer():  # JSON Schema: 1.0 is an integer
            return Fields({name: int(value)}, self.path, self.error).integer(name, at_least=at_least)
        value = self.read(name, "an integer", required=required)
        if value is not None and value < at_least:
            raise self.invalid(name, "OUT_OF_RANGE", f"must be at least {at_least}")
        return value

    def member(self, name: str) -> Fields:
        """A required object."""
        return Fields(self.read(name, "an object", required=True), f"{self.path}.{name}", self.error)

    def items(self, name: str, *, required: bool = False) -> list[Fields]:
        """An array of objects; empty where it is absent."""
        values = self.read(name, "an array", required=required) or []
        for index, value in enumerate(values):
            if not isinstance(value, Mapping):
                raise self.invalid(f"{name}[{index}]", "WRONG_TYPE", "must be an object")
        return [Fields(value, f"{self.path}.{name}[{i}]", self.error) for i, value in enumerate(values)]

    def texts(self, name: str) -> list[str]:
        """An array of strings; empty where it is absent."""
        values: list[str] = self.read(name, "an array") or []
        for index, value in enumerate(values):
            if not isinstance(value, str):
                raise self.invalid(f"{name}[{index}]", "WRONG_TYPE", "must be a string")
        return values


@dataclass(frozen=True, slots=True)
class Context:
    """The operation context, validated (SCHEMA 3.2)."""

    idempotency_key: str | None = None
    deadline_ms: float | None = None
    traceparent: str | None = None
    tenant_hash: str | None = None


@dataclass(slots=True)
class Call:
    """One call, filled in as its request is understood; telemetry reads it however the call ends."""

    streaming: bool = False
    started: float = field(default_factory=time.perf_counter)
    operation: Operation | None = None
    context: Context = Context()
    args: Fields = Fields({}, "args")
    labels: dict[str, Any] = field(default_factory=dict)
    settled: bool = False

    @property
    def ms(self) -> float:
        return (time.perf_counter() - self.started) * 1000

    @property
    def op(self) -> str:
        """The bare operation name, or ``invalid``: a label may not hold what a client made up."""
        return self.operation.name if self.operation else "invalid"


class Store:
    """Results by key for a limited time; what goes in and comes out are copies."""

    def __init__(self, ttl_s: float) -> None:
        self.ttl_s = ttl_s
        self._entries: dict[str, tuple[float, Any]] = {}

    def get(self, key: str) -> Any:
        expires, value = self._entries.get(key, (0.0, None))
        return copy.deepcopy(value) if time.monotonic() < expires else None

    def put(self, key: str, value: Any) -> None:
        now = time.monotonic()
        for old in [old for old, (expires, _) in self._entries.items() if expires <= now]:
            del self._entries[old]
        self._entries[key] = (now + self.ttl_s, copy.deepcopy(value))
