"""Envelopes that the pipeline must refuse, and with which error (SCHEMA 8.2, "Edge Case Validation")."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pytest_corpus.validation.requests.cases import WireRequestCase, case_of
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


@dataclass(frozen=True)
class EdgeCase(WireRequestCase):
    """A case with an envelope, made anew by each call of `envelope`, that is refused with `error`.

    It tests a validator, not a client: no client is asked to build it.
    """

    envelope: Callable[[], Any] = dict
    error: type[WireValidationError] = WireValidationError


def _cyclic() -> dict[str, Any]:
    args: dict[str, Any] = {}
    args["self"] = args
    return args


def _deep() -> list[Any]:
    value: list[Any] = []
    for _ in range(1000):
        value = [value]
    return value


def _message(**more: object) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": "Hello"}], **more}


def _without(key: str) -> Callable[[], Any]:
    return lambda: {name: value for name, value in _sound().items() if name != key}


def _sound(ctx: Any = None, args: Any = None, **more: Any) -> dict[str, Any]:
    ctx = {"request_id": "test"} if ctx is None else ctx
    return {"op": "llm.complete", "ctx": ctx, "args": _message() if args is None else args, **more}


def _edge(
    name: str, error: type[WireValidationError], envelope: Callable[[], Any], op: str = "llm.complete"
) -> EdgeCase:
    case = case_of(op)
    changed = {"id": f"{op}.{name}", "tags": ("edge", case.component), "envelope": envelope, "error": error}
    return EdgeCase(**{**vars(case), **changed})


def _ctx(name: str, **ctx: Any) -> EdgeCase:
    return _edge(name, CtxValidationError, lambda: _sound(ctx=ctx))


def _json(name: str, make: Callable[[], Any]) -> EdgeCase:
    return _edge(name, SerializationError, lambda: _sound(args=_message(extra=make())))


def _args(name: str, **args: Any) -> EdgeCase:
    return _edge(name, ArgsValidationError, lambda: _sound(args=args))


def _query(name: str, **args: Any) -> EdgeCase:
    op = "vector.query"
    return _edge(name, ArgsValidationError, lambda: {**_sound(args=args), "op": op}, op)


EDGE_CASES = (
    _edge("no_dict", EnvelopeTypeError, lambda: [("op", "llm.complete")]),
    _edge("missing_op", EnvelopeShapeError, _without("op")),
    _edge("missing_ctx", EnvelopeShapeError, _without("ctx")),
    _edge("missing_args", EnvelopeShapeError, _without("args")),
    _edge("other_op", EnvelopeShapeError, lambda: {**_sound(), "op": "llm.stream"}),
    _edge("op_in_capitals", EnvelopeShapeError, lambda: {**_sound(), "op": "LLM.complete"}),
    _edge("ctx_no_object", CtxValidationError, lambda: _sound(ctx=[])),
    _ctx("negative_deadline", request_id="test", deadline_ms=-100),
    _ctx("zero_deadline", deadline_ms=0),
    _ctx("deadline_no_number", deadline_ms="soon"),
    _ctx("deadline_not_finite", deadline_ms=float("nan")),
    _ctx("empty_request_id", request_id=""),
    _ctx("request_id_with_a_space", request_id="a b"),
    _ctx("traceparent_malformed", traceparent="00-0-0-01"),
    _ctx("tenant_too_long", tenant="t" * 257),
    _ctx("attrs_no_object", attrs=["a"]),
    _json("callable", lambda: lambda x: x),
    _json("set", lambda: {"a"}),
    _json("bytes", lambda: b"a"),
    _json("nan", lambda: float("nan")),
    _json("infinity", lambda: float("-inf")),
    _json("integer_beyond_64_bits", lambda: 2**63),
    _json("lone_surrogate", lambda: "\ud800"),
    _json("nested_too_deep", _deep),
    _json("cyclic", _cyclic),
    _edge("key_no_string", RoundTripError, lambda: _sound(args=_message(extra={1: "a"}))),
    _edge("key_twice_as_string", RoundTripError, lambda: _sound(args=_message(extra={1: "a", "1": "b"}))),
    _edge("another_key", WireSchemaError, lambda: _sound(version="1.0.0")),
    _edge("args_no_object", WireSchemaError, lambda: _sound(args=[])),
    _args("no_messages", model="m"),
    _args("temperature_too_high", **_message(temperature=2.5)),
    _args("unknown_role", messages=[{"role": "robot", "content": "Hello"}]),
    _args("message_without_content", messages=[{"role": "user"}]),
    _query("neither_vector_nor_text", top_k=1),
    _query("empty_vector", vector=[], top_k=1),
    _query("vector_of_strings", vector=["a"], top_k=1),
    _query("top_k_zero", vector=[0.5], top_k=0),
)
"""The edge cases of SCHEMA 8.2, and those that each stage of the pipeline has besides."""
