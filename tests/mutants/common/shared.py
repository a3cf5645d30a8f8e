"""Parts of mutants of several components."""

import math
from collections.abc import Mapping
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.foundation import ReferenceAdapter
from pytest_corpus.reference.request import Call


class WrongClass(ReferenceAdapter):
    """An adapter of any component that answers every bad request with UNAVAILABLE."""

    def failure(self, call: Call, fault: Exception) -> dict[str, Any]:
        if isinstance(fault, AdapterError) and fault.kind.family == "BadRequest":
            fault = AdapterError("Unavailable", "The service is temporarily unavailable")
        return super().failure(call, fault)


def op_of(envelope: Any) -> Any:
    """The operation that a request names, whatever the request is."""
    return envelope.get("op") if isinstance(envelope, Mapping) else None


def finite(value: Any, instead: float | None = None) -> Any:
    """The value with `instead` for each number that is not finite."""
    if isinstance(value, Mapping):
        return {key: finite(item, instead) for key, item in value.items()}
    if isinstance(value, list):
        return [finite(item, instead) for item in value]
    return instead if isinstance(value, float) and not math.isfinite(value) else value
