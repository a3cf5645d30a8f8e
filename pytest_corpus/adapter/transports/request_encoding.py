"""What goes out to an adapter outside this process."""

import re
from collections.abc import Mapping
from typing import Any

from pytest_corpus.adapter.snapshot import to_bytes
from pytest_corpus.spec.operations import BY_OP

_BEYOND = re.compile(rb'"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b')


def written(envelope: Any) -> bytes:
    """A request as compact UTF-8 JSON; what JSON cannot say, NaN and infinities, becomes ``1e999`` (R88)."""
    data = to_bytes(envelope)
    if b"NaN" not in data and b"Infinity" not in data:
        return data
    return _BEYOND.sub(_beyond, data)


def _beyond(found: re.Match[bytes]) -> bytes:
    text = found[0]
    if text.startswith(b'"'):
        return text
    return b"-1e999" if text.startswith(b"-") else b"1e999"


def op_of(envelope: Any) -> str:
    """The operation of an envelope; empty where it names none."""
    op = envelope.get("op") if isinstance(envelope, Mapping) else None
    return op if isinstance(op, str) else ""


def is_stream(envelope: Any) -> bool:
    """Whether the operation of an envelope is a streaming one, where that decides on the entry point."""
    op = op_of(envelope)
    return op in BY_OP and BY_OP[op].streaming
