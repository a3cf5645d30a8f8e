"""What of an offending value can be shown: never content, never a secret (SPECIFICATION 14, Appendix D; R21).

A prompt, a text, a vector, a query and its parameters, a tenant, a credential or an idempotency key is told by
its kind and size alone, wherever it turned up; so is whatever a caller may have written freely. What remains are
numbers, and strings that read like an identifier of the protocol.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_WRITTEN_FREELY: Final = frozenset(
    (
        *("text", "content", "prompt", "message", "system_message", "query", "arguments", "user"),
        *("vector", "query_vector", "embedding", "params", "parameters", "metadata", "properties", "attrs"),
        *("filter", "node_filters", "relationship_filters", "details", "records", "summary", "provider_specific"),
    )
)
"""Keys at and below which anything may stand that a user wrote."""

_LISTS: Final = frozenset(("messages", "texts", "stop_sequences", "embeddings", "vectors", "args"))
"""Keys at which a user may have written what belongs deeper."""

_SECRET_KEY: Final = re.compile(
    r"secret|passw|authori[sz]|credential|cookie|bearer|signature|private|session|tenant|"
    r"idempotency|(^|[_-])(token|key|pwd|auth|api[_-]?key)$|apikey|accesstoken",
    re.IGNORECASE,
)
_IDENTIFIER: Final = re.compile(r"[A-Za-z0-9_.:/+-]{0,40}")
_RULES: Final = ("enum", "const", "pattern", "format", "type")
"""The rules that speak of what a string says; of the others its length is enough."""

_SECRET: Final = re.compile(
    r"^(sk|pk|rk|ghp|gho|ghs|xox.|akia|asia|eyj|glpat|hf|aiza|ya29|basic|bearer)[-_]?|[A-Za-z0-9+/]{24}|"
    r"(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{8}",
    re.IGNORECASE,
)
"""What looks like a credential: a known beginning, or a run that no word has."""


def shown(value: object, path: Iterable[object], rule: str) -> str:
    """The value at a path, on which a rule was broken, as it can be shown."""
    keys = [part for part in path if isinstance(part, str)]
    open_to_view = not any(key in _WRITTEN_FREELY or _SECRET_KEY.search(key) for key in keys)
    open_to_view = open_to_view and (not keys or keys[-1] not in _LISTS)
    if isinstance(value, str):
        plain = open_to_view and keys and rule in _RULES and _IDENTIFIER.fullmatch(value) and not _SECRET.search(value)
        return f'"{value}"' if plain else f"a string of {len(value)} characters"
    if isinstance(value, list):
        return f"an array of {len(value)} items"
    if isinstance(value, dict):
        return f"an object of {len(value)} keys"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, int | float) or not open_to_view:
        return "a number" if isinstance(value, int | float) else ""
    return _number(value)


def _number(value: float) -> str:
    # Python refuses to write integers of thousands of digits.
    if isinstance(value, int) and value.bit_length() > 128:
        return f"an integer of {value.bit_length()} bits"
    return repr(value)


def printable(text: str) -> str:
    """Text of which no character moves the cursor or changes the terminal."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)
