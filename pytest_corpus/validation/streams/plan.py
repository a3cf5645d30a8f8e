"""The validators of one kind of stream, compiled once a registry."""

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final
from weakref import WeakKeyDictionary

from pytest_corpus.spec.schemas import BASE_URI, BY_NAME, EDITIONS
from pytest_corpus.spec.words import STREAMING_CODE
from pytest_corpus.validation.schema.registry import SchemaRegistry
from pytest_corpus.validation.streams.config import Framing, chunk_schema

FRAME_KEYS: Final = ("ok", "code", "ms", "chunk")
"""The keys of a success frame; there are no others (SPECIFICATION 4.2.1)."""

STREAMING: Final = STREAMING_CODE
"""The code of every success frame (SPECIFICATION 4.2.3.1)."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The validators for the frames of one component in one edition.

    Attributes:
        chunk: the schema of the chunks.
        null_ms: whether `ms` may be null.
        accepts_chunks: whether every chunk of a list meets its schema.
        accepts_frames: whether every frame of a list is a success frame with a chunk that meets its schema.
        accepts_shells: whether every frame of a list is a success frame around some object.
    """

    chunk: str
    null_ms: bool
    accepts_chunks: Callable[[Any], bool]
    accepts_frames: Callable[[Any], bool]
    accepts_shells: Callable[[Any], bool]


_PLANS: WeakKeyDictionary[SchemaRegistry, dict[tuple[str, str | None, Framing], Plan]] = WeakKeyDictionary()
_LOCK = Lock()


def plan_of(schemas: SchemaRegistry, component: str, edition: str | None, framing: Framing) -> Plan:
    """The plan for streams of a component; the same object for every call that means the same.

    Raises:
        UnknownSchemaError, SchemaFileError: no schema says what its chunks, or its overlay frames, are.
    """
    with _LOCK:
        plans = _PLANS.setdefault(schemas, {})
        plan = plans.get((component, edition, framing))
        if plan is None:
            plan = plans[component, edition, framing] = _make(schemas, component, edition, framing)
        return plan


def edition_for(schema: str, edition: str | None) -> str | None:
    """The edition that decides on a schema: the pinned one, or the first that has the schema."""
    known = BY_NAME.get(schema)
    if known is None or edition is None or edition in known.editions:
        return edition
    return known.editions[0]


def _make(schemas: SchemaRegistry, component: str, edition: str | None, framing: Framing) -> Plan:
    if framing == "event":
        schemas.get_validator(f"{component}.stream.frame.data", edition)
    chunk = chunk_schema(component)
    chunk_edition = edition_for(chunk, edition)
    null_ms = edition != EDITIONS[0]
    whole = {"$ref": BASE_URI + BY_NAME[chunk].file(chunk_edition or EDITIONS[-1])}
    return Plan(
        chunk,
        null_ms,
        schemas.compile({"items": whole}).is_valid,
        schemas.compile({"items": _frame(whole, null_ms)}).is_valid,
        schemas.compile({"items": _frame({"type": "object"}, null_ms)}).is_valid,
    )


def _frame(chunk: dict[str, Any], null_ms: bool) -> dict[str, Any]:
    """A success frame around a chunk (SPECIFICATION 4.2.3.1), said as the compiled validator is fastest.

    That is in one level, where the files have three, and with a count of keys: a closed object of four possible
    keys has all of them when it has four.
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
