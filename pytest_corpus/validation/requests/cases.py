"""The cases of request validation (SCHEMA 8.2), one per operation; and counts and durations of validations."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

from pytest_corpus.spec.operations import OPERATIONS, Operation
from pytest_corpus.spec.schemas import BASE_URI, BY_NAME, SCHEMA_VERSIONS
from pytest_corpus.validation.requests.arguments import ArgsValidator
from pytest_corpus.validation.requests.exceptions import (
    ArgsValidationError,
    CtxValidationError,
    EnvelopeShapeError,
    EnvelopeTypeError,
    RoundTripError,
    SerializationError,
    WireSchemaError,
    WireValidationError,
)
from pytest_corpus.validation.requests.pipeline import Validator, validate_wire_envelope


@dataclass
class ValidationMetrics:
    """The outcomes of the validations of a run; several threads may record.

    Attributes:
        validation_times: pairs of case id and seconds, one for each timed validation.
        successes: the number of successful validations, by case.
        failures: the number of failed validations, by case and by the code or name of the error.
    """

    validation_times: list[tuple[str, float]] = field(default_factory=list)
    successes: dict[str, int] = field(default_factory=dict)
    failures: dict[str, dict[str, int]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock, init=False, repr=False, compare=False)

    def record_success(self, case_id: str, duration: float) -> None:
        """Count a successful validation; `duration` is in seconds."""
        with self._lock:
            self.validation_times.append((case_id, duration))
            self.successes[case_id] = self.successes.get(case_id, 0) + 1

    def record_failure(self, case_id: str, error: BaseException | str, duration: float | None = None) -> None:
        """Count a failed validation under an error code or name.

        Args:
            error: a `WireValidationError`, counted under its code; another exception, counted under its name; or a
            name.
            duration: in seconds; None if the validation was not timed.
        """
        name = error if isinstance(error, str) else type(error).__name__
        if isinstance(error, WireValidationError):
            name = error.code
        with self._lock:
            if duration is not None:
                self.validation_times.append((case_id, duration))
            of_case = self.failures.setdefault(case_id, {})
            of_case[name] = of_case.get(name, 0) + 1

    def get_summary(self) -> dict[str, Any]:
        """Return `total_runs`, `total_successes`, `total_failures`, and `avg_duration_ms` of timed runs (or 0.0)."""
        with self._lock:
            succeeded = sum(self.successes.values())
            failed = sum(sum(by_error.values()) for by_error in self.failures.values())
            times = [seconds for _, seconds in self.validation_times]
        return {
            "total_runs": succeeded + failed,
            "total_successes": succeeded,
            "total_failures": failed,
            "avg_duration_ms": sum(times) / len(times) * 1000 if times else 0.0,
        }


@dataclass(frozen=True)
class WireRequestCase:
    """The demands on the envelope that a client's request builder makes for one operation.

    Attributes:
        id: the unique id of the case, e.g. ``llm.complete.basic``.
        op: the operation that the envelope must name.
        build_method: the name of the builder, e.g. ``build_complete_request``; see also `qualified_method`.
        schema_id: the ``$id`` of the schema of the envelope.
        component: the component of the operation.
        schema_versions: the schema versions of which at least one must accept the envelope.
        args_validator: the validator of the arguments.
        tags: the component; ``core`` if every adapter must offer the operation; ``streaming``; ``mutating``.
    """

    id: str
    op: str
    build_method: str
    schema_id: str
    component: str
    schema_versions: tuple[str, ...] = SCHEMA_VERSIONS
    args_validator: Validator | None = None
    tags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("schema_versions", "tags"):  # callers may pass lists
            object.__setattr__(self, name, tuple(getattr(self, name)))

    def accepting(self, schema_versions: tuple[str, ...]) -> WireRequestCase:
        """Return the same case with other schema versions, also for the arguments."""
        validator = self.args_validator
        if isinstance(validator, ArgsValidator):
            validator = replace(validator, schema_versions=schema_versions)
        return replace(self, schema_versions=schema_versions, args_validator=validator)

    @property
    def qualified_method(self) -> str:
        """The name of the builder that includes the component, e.g. ``build_llm_complete_request``."""
        return f"build_{self.component}_{self.op.partition('.')[2]}_request"


def _make_basic_case(operation: Operation) -> WireRequestCase:
    kinds = {"core": not operation.capability, operation.component: True}
    kinds |= {"streaming": operation.streaming, "mutating": operation.mutating}
    return WireRequestCase(
        id=f"{operation.op}.basic",
        op=operation.op,
        build_method=f"build_{operation.name}_request",
        schema_id=BASE_URI + BY_NAME[f"{operation.component}.envelope.request"].files[0],
        component=operation.component,
        args_validator=ArgsValidator(operation.op),
        tags=tuple(kind for kind, holds in kinds.items() if holds),
    )


CASES = tuple(_make_basic_case(operation) for operation in OPERATIONS)
"""A case for each of the 33 operations, in the order of the operation table."""

_BY_OP = {case.op: case for case in CASES}


def cases(component: str | None = None, tag: str | None = None) -> tuple[WireRequestCase, ...]:
    """Return the cases of a component, with a tag, or both; by default all cases."""
    return tuple(case for case in CASES if component in (None, case.component) and (tag is None or tag in case.tags))


def case_of(op: str) -> WireRequestCase:
    """Return the case of an operation. Raises KeyError if the operation is unknown."""
    return _BY_OP[op]


def validate_case(case: WireRequestCase, envelope: Any, metrics: ValidationMetrics | None = None) -> None:
    """Validate an envelope by a case, and count the outcome in `metrics`. Raises WireValidationError."""
    started = time.perf_counter()
    try:
        validate_wire_envelope(
            envelope, case.op, case.schema_id, case.component, case.args_validator, case.id, case.schema_versions
        )
    except Exception as error:
        if metrics is not None:
            metrics.record_failure(case.id, error, time.perf_counter() - started)
        raise
    if metrics is not None:
        metrics.record_success(case.id, time.perf_counter() - started)


def get_adapter_builder(adapter: Any, case: WireRequestCase) -> Callable[..., Any] | None:
    """Return the method of an object that builds the envelope of a case, or None.

    `adapter` is an object with builder methods, or a mapping of component to such objects. A builder is named
    `qualified_method` or, shorter, `build_method`. If several components share the short name (`build_health_request`),
    it counts only in a mapping, or if `possible_components` returns only the component of the case.
    """
    holder = adapter.get(case.component) if isinstance(adapter, Mapping) else adapter
    name = case.qualified_method
    if not has_attribute(holder, name) and (
        isinstance(adapter, Mapping) or possible_components(holder, case) == (case.component,)
    ):
        name = case.build_method
    found = getattr(holder, name, None)
    return found if callable(found) else None


def possible_components(holder: Any, case: WireRequestCase) -> tuple[str, ...]:
    """Return the components to which the shorter name of a case's builder may refer in an object.

    Several components may share the shorter name. The result has those for which the object also has a builder whose
    name belongs to one component only. If there are none, the result has all components that share the name.
    """
    sharing = tuple(other.component for other in CASES if other.build_method == case.build_method)
    if len(sharing) == 1:
        return sharing
    named = _components_of(holder)
    return tuple(component for component in sharing if component in named) or sharing


def _components_of(holder: Any) -> set[str]:
    """Return the components for which the object has builders whose names belong to one component only."""
    counts = Counter(case.build_method for case in CASES)
    return {
        case.component
        for case in CASES
        for name in (case.qualified_method, *([case.build_method] if counts[case.build_method] == 1 else []))
        if has_attribute(holder, name)
    }


def has_attribute(holder: Any, name: str) -> bool:
    """True if an attribute exists and is not None. A property that raises counts as existing."""
    try:
        return getattr(holder, name, None) is not None
    except Exception:  # noqa: BLE001 - a property of the user's object may raise anything
        return True


@dataclass(frozen=True)
class EdgeCase(WireRequestCase):
    """A case for testing validators: `envelope` returns a new invalid envelope, which must be refused with `error`."""

    envelope: Callable[[], Any] = dict
    error: type[WireValidationError] = WireValidationError


def _make_cyclic() -> dict[str, Any]:
    args: dict[str, Any] = {}
    args["self"] = args
    return args


def _make_deep() -> list[Any]:
    value: list[Any] = []
    for _ in range(1000):
        value = [value]
    return value


def _message_args(**more: object) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": "Hello"}], **more}


def _valid_without(key: str) -> Callable[[], Any]:
    return lambda: {name: value for name, value in _valid_envelope().items() if name != key}


def _valid_envelope(ctx: Any = None, args: Any = None, **more: Any) -> dict[str, Any]:
    ctx = {"request_id": "test"} if ctx is None else ctx
    return {"op": "llm.complete", "ctx": ctx, "args": _message_args() if args is None else args, **more}


def _edge_case(
    name: str, error: type[WireValidationError], envelope: Callable[[], Any], op: str = "llm.complete"
) -> EdgeCase:
    case = case_of(op)
    changed = {"id": f"{op}.{name}", "tags": ("edge", case.component), "envelope": envelope, "error": error}
    return EdgeCase(**{**vars(case), **changed})


def _context_case(name: str, **ctx: Any) -> EdgeCase:
    return _edge_case(name, CtxValidationError, lambda: _valid_envelope(ctx=ctx))


def _json_case(name: str, make: Callable[[], Any]) -> EdgeCase:
    return _edge_case(name, SerializationError, lambda: _valid_envelope(args=_message_args(extra=make())))


def _args_case(name: str, **args: Any) -> EdgeCase:
    return _edge_case(name, ArgsValidationError, lambda: _valid_envelope(args=args))


def _query_case(name: str, **args: Any) -> EdgeCase:
    op = "vector.query"
    return _edge_case(name, ArgsValidationError, lambda: {**_valid_envelope(args=args), "op": op}, op)


EDGE_CASES = (
    _edge_case("no_dict", EnvelopeTypeError, lambda: [("op", "llm.complete")]),
    _edge_case("missing_op", EnvelopeShapeError, _valid_without("op")),
    _edge_case("missing_ctx", EnvelopeShapeError, _valid_without("ctx")),
    _edge_case("missing_args", EnvelopeShapeError, _valid_without("args")),
    _edge_case("other_op", EnvelopeShapeError, lambda: {**_valid_envelope(), "op": "llm.stream"}),
    _edge_case("op_in_capitals", EnvelopeShapeError, lambda: {**_valid_envelope(), "op": "LLM.complete"}),
    _edge_case("ctx_no_object", CtxValidationError, lambda: _valid_envelope(ctx=[])),
    _context_case("negative_deadline", request_id="test", deadline_ms=-100),
    _context_case("zero_deadline", deadline_ms=0),
    _context_case("deadline_no_number", deadline_ms="soon"),
    _context_case("deadline_not_finite", deadline_ms=float("nan")),
    _context_case("empty_request_id", request_id=""),
    _context_case("request_id_with_a_space", request_id="a b"),
    _context_case("traceparent_malformed", traceparent="00-0-0-01"),
    _context_case("tenant_too_long", tenant="t" * 257),
    _context_case("attrs_no_object", attrs=["a"]),
    _json_case("callable", lambda: lambda x: x),
    _json_case("set", lambda: {"a"}),
    _json_case("bytes", lambda: b"a"),
    _json_case("nan", lambda: float("nan")),
    _json_case("infinity", lambda: float("-inf")),
    _json_case("integer_beyond_64_bits", lambda: 2**63),
    _json_case("lone_surrogate", lambda: "\ud800"),
    _json_case("nested_too_deep", _make_deep),
    _json_case("cyclic", _make_cyclic),
    _edge_case("key_no_string", RoundTripError, lambda: _valid_envelope(args=_message_args(extra={1: "a"}))),
    _edge_case(
        "key_twice_as_string", RoundTripError, lambda: _valid_envelope(args=_message_args(extra={1: "a", "1": "b"}))
    ),
    _edge_case("another_key", WireSchemaError, lambda: _valid_envelope(version="1.0.0")),
    _edge_case("args_no_object", WireSchemaError, lambda: _valid_envelope(args=[])),
    _args_case("no_messages", model="m"),
    _args_case("temperature_too_high", **_message_args(temperature=2.5)),
    _args_case("unknown_role", messages=[{"role": "robot", "content": "Hello"}]),
    _args_case("message_without_content", messages=[{"role": "user"}]),
    _query_case("neither_vector_nor_text", top_k=1),
    _query_case("empty_vector", vector=[], top_k=1),
    _query_case("vector_of_strings", vector=["a"], top_k=1),
    _query_case("top_k_zero", vector=[0.5], top_k=0),
)
"""The edge cases of SCHEMA 8.2, and further ones for each stage of the validation."""
