"""An exchange: what is JSON in it, and what it was about."""

from types import MappingProxyType
from typing import Any

import pytest
from arrivals import arrived
from hypothesis import given
from hypothesis import strategies as st

from pytest_corpus.adapter.exchange import Exchange, non_finite
from pytest_corpus.adapter.snapshot import NotJSON

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


@given(JSON)
def test_json_comes_back_as_it_is(value: Any) -> None:
    """A JSON value survives, and its size is that of its compact UTF-8 text."""
    import json

    frame = arrived(value)
    assert frame.body == value or any(True for _ in non_finite(value))
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert frame.size == len(text.encode())


def test_mappings_and_tuples_become_json() -> None:
    """Any mapping is an object, any tuple an array."""
    assert arrived(MappingProxyType({"a": (1, MappingProxyType({}))})).body == {"a": [1, {}]}


@pytest.mark.parametrize("value", [object(), {1}, b"", {(1, 2): 3}, 1j])
def test_no_json(value: Any) -> None:
    """What JSON does not know is refused by type, without content."""
    with pytest.raises(NotJSON):
        arrived({"deep": [value]})


def test_recursion_is_no_json() -> None:
    """What contains itself, or is nested without end, is refused."""
    around: list[Any] = []
    around.append(around)
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    for value in (around, deep):
        with pytest.raises(NotJSON):
            arrived(value)


def test_non_finite_paths() -> None:
    """Every NaN and infinity is found with its path."""
    value = {"a": [1.0, float("nan")], "b": {"c": float("-inf")}, "d": 2.0}
    assert sorted(non_finite(value)) == ["a[1]", "b.c"]
    assert list(non_finite(float("inf"))) == ["(root)"]


@pytest.mark.parametrize(
    ("request_", "op"), [({"op": "llm.health"}, "llm.health"), ({"op": 7}, ""), ([], ""), (None, "")]
)
def test_op_of_an_exchange(request_: Any, op: str) -> None:
    """The operation of a request, whatever the request is."""
    assert Exchange(request_, streaming=False).op == op
