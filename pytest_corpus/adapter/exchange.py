"""The exchange: a call with its request, its answer and all other observations."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pytest_corpus.adapter.scope import Observed
from pytest_corpus.adapter.tracebacks import EscapedException
from pytest_corpus.spec.operations import BY_OP
from pytest_corpus.spec.schemas import SCHEMA_VERSIONS

CallFaultKind = Literal["raised", "timeout", "not_json", "no_stream", "cut_off", "endless"]


@dataclass(frozen=True, slots=True)
class CallFault:
    """The reason why a call has no complete answer on the wire.

    raised: an exception escaped; timeout: no answer in time; not_json: the answer is not JSON, or cannot be written as
    such; no_stream: `handle_stream` returned nothing to iterate; cut_off: the suite stopped reading an answer that
    might have ended later; endless: a stream went on beyond what any request can ask for. `text` names the exception's
    type or the place, never content; `raised` describes the exception. `wants_credentials` is True if a server refused
    the request before an adapter got it.
    """

    kind: CallFaultKind
    text: str
    raised: EscapedException | None = field(default=None, compare=False)
    wants_credentials: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        """The fault without content; for an exception, its type and the place where it was raised."""
        return str(self.raised) if self.raised else self.text


def looks_like_error(body: Any) -> bool:
    """True if an answer seems to be an error envelope."""
    if not isinstance(body, dict):
        return False
    return body.get("ok") is False or ("error" in body and "result" not in body and "chunk" not in body)


def looks_like_success(body: Any) -> bool:
    """True if an answer seems to be a unary success envelope."""
    return isinstance(body, dict) and "result" in body and not looks_like_error(body)


@dataclass(slots=True)
class Frame:
    """An answer as a JSON value, its size in bytes, and its arrival in seconds after the call.

    In process the size is the size of compact UTF-8 JSON. `finite` is True if all numbers are surely finite.
    `is_error` and `is_success` are True if it seems to be an error envelope or a unary success envelope.
    """

    body: Any
    size: int
    at_s: float
    finite: bool = False
    is_error: bool = field(init=False)
    is_success: bool = field(init=False)

    def __post_init__(self) -> None:
        self.is_error, self.is_success = looks_like_error(self.body), looks_like_success(self.body)


@dataclass(slots=True, eq=False)
class Exchange:
    """A request, the answer, and all other observations of the call.

    Attributes:
        component: the component whose handler got the request.
        secrets: the texts that may not reappear in any output, by name.
        limited: True if the call had less time than the call limit.
        frames: the frames that came back; a unary call has at most one.
        until: the time on the monotonic clock after which no report belongs to the call.
        started: the time at which a unary call was sent, on the same clock.
        observed: all other observations of the call.
        record: the record of the test in the transcript, and the number of the call in it; None without a transcript.
        origin: the test that made the call, if reports may come after the test.
        own: True if a retryable error is the adapter's own answer, because a plain call worked at that time (R114).
        findings: the findings of the audit; None before the audit, and as long as more reports may come.
        editions: the schema versions under which all successful parts of the answer are valid; the audit sets them.
    """

    request: Any
    streaming: bool
    frames: list[Frame] = field(default_factory=list)
    fault: CallFault | None = None
    elapsed_s: float = 0.0
    secrets: Mapping[str, str] = field(default_factory=dict)
    limited: bool = False
    until: float = math.inf
    started: float = math.inf
    component: str = ""
    observed: Observed = field(default_factory=Observed)
    origin: Any = None
    record: tuple[Any, int] | None = None
    own: bool = False
    findings: list[Any] | None = None
    editions: frozenset[str] = frozenset(SCHEMA_VERSIONS)
    op: str = field(init=False)
    """The operation that the request names; empty if it names none."""
    ctx: Mapping[str, Any] | None = field(init=False)
    """The operation context of the request, if it is an object."""

    def __post_init__(self) -> None:
        self.op, self.ctx = op_of(self.request), context_of(self.request)

    @property
    def ordered_request(self) -> Any:
        """The request with the keys of its envelope in the usual order."""
        if not isinstance(self.request, Mapping):
            return self.request
        usual = {key: self.request[key] for key in ("op", "ctx", "args") if key in self.request}
        return usual | dict(self.request)


def is_observed(exchange: Exchange) -> bool:
    """True if the adapter must report the call: it answered a known operation at the right entry point (R19)."""
    operation = BY_OP.get(exchange.op)
    answered = exchange.fault is None and bool(exchange.frames)
    return operation is not None and operation.streaming == exchange.streaming and answered


def is_not_offered(exchange: Exchange) -> bool:
    """True if an optional operation was refused as NotSupported. The `op` label may then be one fixed word (R143)."""
    operation, last = BY_OP.get(exchange.op), exchange.frames[-1].body if exchange.frames else None
    refused = isinstance(last, dict) and last.get("error") == "NotSupported"
    return refused and operation is not None and bool(operation.capability or operation.optional)


def op_of(request: Any) -> str:
    """Return the operation that a request names; empty if it names none."""
    op = request.get("op") if type(request) is dict or isinstance(request, Mapping) else None
    return op if isinstance(op, str) else ""


def is_stream(request: Any) -> bool:
    """True if the operation that a request names is a stream."""
    operation = BY_OP.get(op_of(request))
    return operation is not None and operation.streaming


def context_of(request: Any) -> Mapping[str, Any] | None:
    """Return the operation context of a request, if it is an object."""
    ctx = request.get("ctx") if type(request) is dict or isinstance(request, Mapping) else None
    return ctx if type(ctx) is dict or isinstance(ctx, Mapping) else None


def non_finite(value: Any, path: str = "") -> Iterator[str]:
    """Yield the paths of all NaN and infinities in a JSON value."""
    if isinstance(value, float):
        yield from () if math.isfinite(value) else (path or "(root)",)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from non_finite(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from non_finite(item, f"{path}[{index}]")
