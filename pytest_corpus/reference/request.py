"""Typed access to the fields of a request, and the checks that all operations share."""

from __future__ import annotations

import hashlib
import hmac
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from pytest_corpus.reference.errors import AdapterError, invalid
from pytest_corpus.spec.operations import BY_OP, Operation

LARGEST_INTEGER = 2**63 - 1
_JSON_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "a string": str,
    "an array": list,
    "an object": (dict, Mapping),
    "a number": (int, float),
}


def copy_json(value: Any) -> Any:
    """Return an independent copy of a JSON value."""
    if isinstance(value, (str, float, int)):
        return value
    if isinstance(value, (dict, Mapping)):
        return {key: copy_json(item) for key, item in value.items()}
    return [copy_json(item) for item in value] if isinstance(value, list) else value


@dataclass(frozen=True, slots=True)
class Fields:
    """Typed access to the members of a request object; null counts as absent.

    Every reader raises a refusal of class `error` with the `path` of the field.
    """

    values: Mapping[str, Any]
    path: str
    error: str = "BadRequest"

    def invalid(self, name: str, code: str, rule: str) -> AdapterError:
        return invalid(f"{self.path}.{name}", code, rule, error=self.error)

    def read(self, name: str, kind: str, *, required: bool = False) -> Any:
        value = self.values.get(name)
        if value is None and required:
            raise self.invalid(name, "REQUIRED", f"is required and must be {kind}")
        if value is not None and (isinstance(value, bool) or not isinstance(value, _JSON_TYPES[kind])):
            raise self.invalid(name, "WRONG_TYPE", f"must be {kind}")
        return value

    def text(self, name: str) -> str | None:
        value: str | None = self.read(name, "a string")
        return value

    def required_text(self, name: str) -> str:
        value: str = self.read(name, "a string", required=True)
        return value

    def number(self, name: str) -> float | None:
        value: float | None = self.read(name, "a number")
        return value

    def integer(self, name: str, *, at_least: int) -> int | None:
        """Return an integer in either notation, because 1.0 is also an integer in JSON Schema."""
        value = self.number(name)
        if value is None:
            return None
        if value != int(value):
            raise self.invalid(name, "WRONG_TYPE", "must be an integer")
        if value < at_least:
            raise self.invalid(name, "OUT_OF_RANGE", f"must be at least {at_least}")
        return int(value)

    def flag(self, name: str, *, default: bool) -> bool:
        value = self.values.get(name)
        if value is not None and not isinstance(value, bool):
            raise self.invalid(name, "WRONG_TYPE", "must be a boolean")
        return default if value is None else value

    def member(self, name: str) -> Fields:
        """Return the members of a required object."""
        return Fields(self.read(name, "an object", required=True), f"{self.path}.{name}", self.error)

    def items(self, name: str, kind: str, *, required: bool = False) -> list[Any]:
        """Return the elements of an array, all of one kind; empty if the array is absent."""
        values: list[Any] = self.read(name, "an array", required=required) or []
        elements = Fields({f"{name}[{i}]": value for i, value in enumerate(values)}, self.path, self.error)
        return [elements.read(element, kind, required=True) for element in elements.values]

    def objects(self, name: str, *, required: bool = False) -> list[Fields]:
        """Return the elements of an array of objects; empty if the array is absent."""
        values = self.items(name, "an object", required=required)
        return [Fields(value, f"{self.path}.{name}[{i}]", self.error) for i, value in enumerate(values)]


@dataclass(slots=True)
class Call:
    """One call. Its members are set while the request is parsed, and read by telemetry at the end of the call.

    Only the hash of the tenant is kept.
    """

    streaming: bool
    started: float = field(default_factory=lambda: time.perf_counter())  # noqa: PLW0108 - fixtures replace clocks
    operation: Operation | None = None
    idempotency_key: str | None = None
    deadline_ms: float | None = None
    traceparent: str | None = None
    tenant_hash: str | None = None
    args: Fields = field(default_factory=lambda: Fields({}, "args"))
    labels: dict[str, Any] = field(default_factory=dict)
    settled: bool = False

    @property
    def ms(self) -> float:
        return (time.perf_counter() - self.started) * 1000

    @property
    def op(self) -> str:
        """The bare operation name, or ``invalid``, because labels must not contain names invented by clients."""
        return self.operation.name if self.operation else "invalid"

    @property
    def seconds_left(self) -> float | None:
        """The seconds until the deadline, negative if it has passed; None without a deadline."""
        return None if self.deadline_ms is None else self.deadline_ms / 1000 - time.time()


class Admission:
    """The checks that a request passes before an operation sees it."""

    component: ClassVar[str]
    features: Mapping[str, bool] = {}
    tenant_salt = b"one secret per deployment"

    def find_operation(self, op: object) -> Operation | None:
        """Return the operation of this component with the name `op`, offered or not."""
        operation = BY_OP.get(op) if isinstance(op, str) else None
        return operation if operation and operation.component == self.component else None

    def read_section(self, envelope: Mapping[str, Any], name: str) -> Fields:
        """Read `ctx` or `args`: a required object with valid numbers at any depth (SPECIFICATION 4.1)."""
        section = Fields(Fields(envelope, "request").member(name).values, name)
        for key, value in section.values.items():
            pending = [value]
            while pending:
                item = pending.pop()
                if isinstance(item, (int, float)):
                    self.check_number(item, f"{name}.{key}")
                elif isinstance(item, list):
                    pending.extend(item)
                elif isinstance(item, (dict, Mapping)):
                    pending.extend(item.values())
        return section

    def check_number(self, value: float, path: str) -> None:
        """Refuse NaN, infinities and integers beyond signed 64 bits."""
        if isinstance(value, float) and not math.isfinite(value):
            raise invalid(path, "NOT_FINITE", "must be finite")
        if isinstance(value, int) and not -LARGEST_INTEGER - 1 <= value <= LARGEST_INTEGER:
            raise invalid(path, "OUT_OF_RANGE", "must fit a signed 64-bit integer")

    def read_context(self, call: Call, ctx: Fields) -> None:
        """Read the documented members of `ctx` and ignore all others (SCHEMA 3.2)."""
        ctx.text("request_id")
        call.traceparent = ctx.text("traceparent")
        ctx.read("attrs", "an object")
        tenant = ctx.text("tenant")
        call.tenant_hash = None if tenant is None else self.tenant_hash(tenant)
        call.idempotency_key = ctx.text("idempotency_key")
        call.deadline_ms = self.read_deadline(ctx)

    def read_deadline(self, ctx: Fields) -> float | None:
        """Read the deadline, in absolute epoch milliseconds."""
        deadline = ctx.number("deadline_ms")
        if deadline is not None and deadline <= 0:
            raise ctx.invalid("deadline_ms", "OUT_OF_RANGE", "must be positive epoch milliseconds")
        return deadline

    def tenant_hash(self, tenant: str) -> str:
        """Return a stable, salted, irreversible hash of a tenant. Other code only gets the hash (SPECIFICATION 15)."""
        content = tenant.encode("utf-8", "surrogatepass")
        return hmac.new(self.tenant_salt, content, hashlib.sha256).hexdigest()[:32]

    def route(self, call: Call) -> None:
        """Set the operation of a call; refuse it if it is unknown, not offered, or of the other entry point."""
        if call.operation is None:
            raise AdapterError("NotSupported", "The operation is not known")
        if call.operation.streaming != call.streaming:
            raise AdapterError("NotSupported", "The operation belongs to the other kind of request")
        if call.operation.capability:
            self.require(call.operation.capability)

    def require(self, feature: str) -> None:
        """Refuse a feature that the capabilities do not offer."""
        if not self.features.get(feature, True):
            raise AdapterError("NotSupported", f"The adapter does not offer {feature}")
