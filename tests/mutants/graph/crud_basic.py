"""Mistakes that graph/test_crud_basic.py finds (GRA-MODEL, GRA-NODE)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def finite(value: Any) -> Any:
    """The value with zero for each number that is not finite."""
    if isinstance(value, Mapping):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    return 0 if isinstance(value, float) and not math.isfinite(value) else value
