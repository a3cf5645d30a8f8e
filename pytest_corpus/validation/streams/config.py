"""Configuration of stream validation (SCHEMA 6.2), the compiled checks of a stream's frames, and the report on a
stream.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from threading import Lock
from typing import Any, Final, Literal
from weakref import WeakKeyDictionary

from pytest_corpus.spec.errors import STREAM_ERROR_CODES
from pytest_corpus.spec.operations import operations_of
from pytest_corpus.spec.schemas import BASE_URI, BY_NAME, SCHEMA_VERSIONS
from pytest_corpus.spec.words import MAX_FRAME_BYTES, STREAMING_CODE
from pytest_corpus.validation.schema.exceptions import UnknownEditionError
from pytest_corpus.validation.schema.files import find_schema
from pytest_corpus.validation.schema.registry import SchemaRegistry

Framing = Literal["canonical", "event"]

MAX_ERRORS: Final = 1000
"""The most defects in a report; further ones are only counted, because a stream may be endless."""


class ValidationMode(Enum):
    """The choice of the frames whose content is checked against schemas.

    Every mode checks the frames, their order, their end and error envelopes; the modes differ in the chunks that are
    checked. Arguments accept a member, or its name in any case.
    """

    STRICT = "strict"
    """Every chunk is checked. All problems in one part of a frame are one error."""

    SAMPLED = "sampled"
    """Evenly spaced chunks are checked, including the first and the last; each run checks the same chunks."""

    LAZY = "lazy"
    """No chunk is checked, except for `is_final`."""

    COLLECT_ERRORS = "collect_errors"
    """Like STRICT, but each problem, and each frame after the terminal, is a separate error."""

    @classmethod
    def _missing_(cls, value: object) -> ValidationMode | None:
        return cls.__members__.get(value.upper()) if isinstance(value, str) else None


@dataclass(frozen=True)
class ValidationConfig:
    """The configuration of the validation of a stream.

    Args:
        envelope_schema_id: the schema of the stream. Its name can replace `component` and, with a version, `edition`.
            Allowed are success and stream envelopes, the frame of a streaming operation, and the union of overlay
            frames (``llm.stream.frames.ndjson.schema``), which means ``framing="event"``. The schema of a success
            envelope, as in SCHEMA 6.2, is replaced by the stream envelope, because no frame can satisfy it (R3).
        component: the component of the stream; it must have a streaming operation.
        mode: a `ValidationMode` or its name in any case.
        max_frame_bytes: the largest size of a frame as UTF-8 JSON.
        sample_rate: the share of chunks that SAMPLED validates, above 0 and at most 1.
        edition: the only schema version that decides (R18). If it has no schema for the chunks, the first edition with
            such a schema decides. With None, a chunk is valid if any edition accepts it.
        framing: ``canonical`` for the frames of adapters, ``event`` for the gateway overlay, ``{event, data}`` (R1).
        max_errors: the number of defects in the report; further defects are only counted.

    Raises:
        ValueError: an unknown mode or framing, a number out of range, a component that does not stream, or a schema
            without rules for the frames of a stream.
        UnknownEditionError, UnknownSchemaError: the edition or the schema does not exist.
    """

    envelope_schema_id: str | None = None
    component: str = ""
    mode: ValidationMode | str = ValidationMode.STRICT
    max_frame_bytes: int = MAX_FRAME_BYTES
    sample_rate: float = 0.1
    edition: str | None = None
    framing: Framing = "canonical"
    max_errors: int = MAX_ERRORS

    def __post_init__(self) -> None:
        object.__setattr__(self, "mode", mode_of(self.mode))
        if self.framing not in ("canonical", "event"):
            raise ValueError(f"framing must be 'canonical' or 'event', not {self.framing!r}")
        if not 0 < self.sample_rate <= 1:
            raise ValueError(f"sample_rate must be above 0 and at most 1, not {self.sample_rate!r}")
        for name in ("max_frame_bytes", "max_errors"):
            if not isinstance(getattr(self, name), int) or getattr(self, name) < 1:
                raise ValueError(f"{name} must be a positive integer, not {getattr(self, name)!r}")
        if self.edition not in (None, *SCHEMA_VERSIONS):
            raise UnknownEditionError(str(self.edition))
        if self.envelope_schema_id is not None:
            name = self.envelope_schema_id
            component, pinned, framing = _stream_of(name, self.component)
            if pinned and self.edition not in (None, pinned):
                raise ValueError(f"{name} is of edition {pinned}, and edition {self.edition} was asked for")
            object.__setattr__(self, "component", component)
            object.__setattr__(self, "edition", self.edition or pinned)
            object.__setattr__(self, "framing", framing or self.framing)
        if not self.component:
            raise ValueError("name the component whose stream it is, or a schema of its frames")
        chunk_schema(self.component)


@lru_cache
def _stream_of(name: str, component: str) -> tuple[str, str | None, Framing | None]:
    """Return the component, the edition (or None) and the framing (or None) that the name of a frame schema implies."""
    schema, pinned = find_schema(name)
    component = component or schema.component
    frames = [f"{operation.op}.frame" for operation in operations_of(component, streaming=True)]
    envelopes = [f"{of}.envelope.{kind}" for of in (component, "common") for kind in ("success", "stream.success")]
    overlay = f"{component}.stream.frames.ndjson.schema"
    if schema.name not in (*frames, *envelopes, overlay):
        raise ValueError(f"{schema.name} says nothing about the frames of a stream of {component}")
    return component, pinned, "event" if schema.name == overlay else None


def mode_of(mode: ValidationMode | str) -> ValidationMode:
    """Convert a mode's name to its member. Raises ValueError if the name is unknown."""
    try:
        return ValidationMode(mode)
    except ValueError:
        names = ", ".join(ValidationMode.__members__)
        raise ValueError(f"there is no validation mode {mode!r}; there are {names}") from None


@lru_cache
def chunk_schema(component: str) -> str:
    """Return the schema of the chunks of a component's streams. Raises ValueError if it has no streams."""
    for operation in operations_of(component, streaming=True):
        if operation.payload:
            return operation.payload
    raise ValueError(f"{component} has no streaming operation")


FRAME_KEYS: Final = ("ok", "code", "ms", "chunk")
"""All keys that a success frame may have (SPECIFICATION 4.2.1)."""

STREAMING: Final = STREAMING_CODE
"""The code of every success frame (SPECIFICATION 4.2.3.1)."""


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """The compiled checks for the frames of one component in one edition.

    Attributes:
        chunk: the name of the schema of the chunks.
        null_ms: True if `ms` may be null.
        accepts_chunks: returns True if every chunk of a list is valid.
        accepts_frames: returns True if every frame of a list is a success frame with a valid chunk.
        accepts_shells: returns True if every frame of a list is a success frame; a chunk may be any object.
    """

    chunk: str
    null_ms: bool
    accepts_chunks: Callable[[Any], bool]
    accepts_frames: Callable[[Any], bool]
    accepts_shells: Callable[[Any], bool]


_PLANS: WeakKeyDictionary[SchemaRegistry, dict[tuple[str, str | None, Framing], StreamPlan]] = WeakKeyDictionary()
_LOCK = Lock()


def plan_of(schemas: SchemaRegistry, component: str, edition: str | None, framing: Framing) -> StreamPlan:
    """Return the compiled checks for streams of a component; they are cached.

    Raises:
        UnknownSchemaError, SchemaFileError: the schema of the chunks or of the overlay frames is missing.
    """
    with _LOCK:
        plans = _PLANS.setdefault(schemas, {})
        plan = plans.get((component, edition, framing))
        if plan is None:
            plan = plans[component, edition, framing] = _make_plan(schemas, component, edition, framing)
        return plan


def edition_for(schema: str, edition: str | None) -> str | None:
    """Return the edition to use for a schema: the wanted edition, or the schema's first edition if the wanted one
    lacks the schema.
    """
    known = BY_NAME.get(schema)
    if known is None or edition is None or edition in known.editions:
        return edition
    return known.editions[0]


def _make_plan(schemas: SchemaRegistry, component: str, edition: str | None, framing: Framing) -> StreamPlan:
    if framing == "event":
        schemas.get_validator(f"{component}.stream.frame.data", edition)
    chunk = chunk_schema(component)
    chunk_edition = edition_for(chunk, edition)
    null_ms = edition != SCHEMA_VERSIONS[0]
    whole = {"$ref": BASE_URI + BY_NAME[chunk].file(chunk_edition or SCHEMA_VERSIONS[-1])}
    return StreamPlan(
        chunk,
        null_ms,
        schemas.compile({"items": whole}).is_valid,
        schemas.compile({"items": _frame_schema(whole, null_ms)}).is_valid,
        schemas.compile({"items": _frame_schema({"type": "object"}, null_ms)}).is_valid,
    )


def _frame_schema(chunk: dict[str, Any], null_ms: bool) -> dict[str, Any]:
    """Return a schema for a complete success frame (SPECIFICATION 4.2.3.1); `chunk` is the schema of its chunk.

    It is one flat object, so validation is fast. It requires four keys and allows only these four.
    """
    return {
        "type": "object",
        "properties": {
            "ok": {"const": True},
            "code": {"const": STREAMING},
            "ms": {"type": ["number", "null"] if null_ms else "number", "minimum": 0},
            "chunk": chunk,
        },
        "minProperties": len(FRAME_KEYS),
        "additionalProperties": False,
    }


Terminal = Literal["success", "error"]


class ErrorType:
    """The types of defects of a stream, which are the values of `FrameError.error_type`."""

    # The bytes are not valid JSON. Such a frame counts and may end the stream, but its content is not checked.
    FRAME_UTF8: Final = "FRAME_UTF8"
    FRAME_JSON: Final = "FRAME_JSON"  # syntax, an empty payload, NaN, a lone surrogate, a byte order mark
    DUPLICATE_KEY: Final = "DUPLICATE_KEY"
    FRAME_DEPTH: Final = "FRAME_DEPTH"
    FRAME_SIZE: Final = "FRAME_SIZE"
    UNFINISHED_EVENT: Final = "UNFINISHED_EVENT"  # server-sent events that end before the blank line

    # The content of a frame is wrong.
    FRAME_TYPE: Final = "FRAME_TYPE"  # a frame that is not a JSON object
    FRAMING: Final = "FRAMING"  # an overlay frame where canonical was expected, or the reverse
    FRAME_SHAPE: Final = "FRAME_SHAPE"  # a missing chunk, or unknown keys
    FRAME_OK: Final = "FRAME_OK"
    FRAME_CODE: Final = "FRAME_CODE"
    FRAME_MS: Final = "FRAME_MS"
    CHUNK_SCHEMA: Final = "CHUNK_SCHEMA"
    ERROR_ENVELOPE: Final = "ERROR_ENVELOPE"

    # The stream as a whole is wrong.
    NO_TERMINAL: Final = "NO_TERMINAL"
    AFTER_TERMINAL: Final = "AFTER_TERMINAL"


@dataclass(frozen=True, slots=True)
class FrameError:
    """A defect of a stream.

    Attributes:
        frame_number: counted from 1; 0 means the stream as a whole.
        error_type: a member of `ErrorType`.
        path: the position in the frame, as in `Problem.path`.
    """

    frame_number: int
    error_type: str
    message: str
    path: str = ""

    @property
    def code(self) -> str:
        """The matching code in `PROTOCOL_ERROR_CODES` (SCHEMA 11.2); `CHUNK_SCHEMA` if none matches."""
        return STREAM_ERROR_CODES.get(self.error_type, self.error_type)

    def __str__(self) -> str:
        where = f"frame {self.frame_number}" if self.frame_number else "the stream"
        return f"{where}: {self.error_type}: {f'{self.path} ' if self.path else ''}{self.message}"


@dataclass(frozen=True, slots=True)
class StreamReport:
    """The result of the validation of a stream.

    Attributes:
        total_frames: the number of all frames, including frames after the terminal.
        frames_validated: the number of frames whose content was validated. In the modes STRICT and COLLECT_ERRORS these
            are all frames up to the terminal, including it.
        validation_errors: the defects, in the order of the frames.
        terminal: "success" or "error"; None if no frame ended the stream.
        errors_omitted: the number of defects that the report does not contain.
    """

    total_frames: int
    frames_validated: int
    validation_errors: tuple[FrameError, ...]
    terminal: Terminal | None
    errors_omitted: int = 0

    @property
    def is_valid(self) -> bool:
        """True if the stream has no defect. A stream that ends with a proper error envelope is valid."""
        return not self.validation_errors

    @property
    def error_summary(self) -> str:
        """All defects, one per line; empty for a valid stream."""
        lines = [str(error) for error in self.validation_errors]
        if self.errors_omitted:
            lines.append(f"and {self.errors_omitted} more")
        return "\n".join(lines)
