"""Items that no store may accept, and what becomes of a batch with them (SPECIFICATION 12.5; R14, R45)."""

from typing import Any

from pytest_corpus.suites.vector.support.component import Vector

WRONG_FIELDS: tuple[tuple[str, Any], ...] = (
    ("id", 7),
    ("id", ["a"]),
    ("vector", "x"),
    ("vector", 7),
    ("vector", {}),
    ("metadata", "x"),
    ("metadata", [1]),
    ("metadata", 7),
    ("namespace", 7),
)

WRONG_VALUES: dict[str, tuple[str, Any]] = {
    "wrong_type": ("vector", "x"),
    "empty_id": ("id", ""),
    "empty_vector": ("vector", []),
    "wrong_component": ("vector", ["x"]),
    "wrong_metadata": ("metadata", "x"),
}

FAULTY = ("no_vector", "no_id", "wrong_dimension", *WRONG_VALUES)
"""The faults of an item: an adapter may refuse a whole batch for one of them and report another by itself."""


def faulty(vector: Vector, kind: str) -> dict[str, Any]:
    """An item that cannot be stored."""
    item = vector.item(85)
    if kind in ("no_vector", "no_id"):
        del item[kind.partition("_")[2]]
    elif kind in WRONG_VALUES:
        key, value = WRONG_VALUES[kind]
        item[key] = value
    else:
        item["vector"] = [*item["vector"], 0.5]
    return item
