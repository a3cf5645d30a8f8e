"""The round trip of envelopes through JSON."""

import enum
from collections import OrderedDict
from types import MappingProxyType
from typing import Any

import pytest

from pytest_corpus import wire


class Colour(str, enum.Enum):  # noqa: UP042  (its text is "Colour.RED", not "red")
    RED = "red"


class Size(enum.IntEnum):
    SMALL = 1


class Text(str):
    __slots__ = ()


@pytest.mark.parametrize(("value", "arrives"), [
    ((1, 2), [1, 2]),
    (Colour.RED, "red"),
    (Size.SMALL, 1),
    (Text("a"), "a"),
    (OrderedDict(a=1), {"a": 1}),
    ({Colour.RED: 1}, {"red": 1}),
    (-0.0, -0.0),
    (1e308, 1e308),
    (2**63 - 1, 2**63 - 1),
    (-(2**63), -(2**63)),
    ("\u2028\U0001f600\x00", "\u2028\U0001f600\x00"),
], ids=repr)  # fmt: skip
def test_what_json_says_in_its_own_way_is_preserved(value: object, arrives: object) -> None:
    """A tuple is an array, an enum its value, a subclass what it is made of: nothing is lost."""
    came = wire.json_roundtrip({"a": value})["a"]
    assert came == arrives
    assert type(came) is type(arrives)


@pytest.mark.parametrize("key", [1, 1.5, True, None])
def test_a_key_that_becomes_a_string_is_not_preserved(key: object) -> None:
    """JSON turns such a key into a string, which is another key."""
    with pytest.raises(wire.RoundTripError, match=r"a\.b has a key"):
        wire.json_roundtrip({"a": {"b": {key: 1}}})


@pytest.mark.parametrize("key", [(1,), b"a", frozenset()])
def test_a_key_that_json_cannot_write(key: object) -> None:
    """Other keys cannot be written at all."""
    with pytest.raises(wire.SerializationError) as refused:
        wire.json_roundtrip({key: 1})
    assert type(refused.value) is wire.SerializationError


class Shifting(dict):  # type: ignore[type-arg]
    """A dict that shows a writer something else than it holds."""

    def items(self) -> Any:
        return {"shown": 1}.items()


def test_a_dict_that_is_written_otherwise_is_not_preserved() -> None:
    """The arrived value is compared with the content of the dict."""
    with pytest.raises(wire.RoundTripError, match="a does not come back"):
        wire.json_roundtrip({"a": Shifting(held=1)})


@pytest.mark.parametrize("value", [[], "a", 1, None, MappingProxyType({})])
def test_only_a_dict_is_the_outcome(value: object) -> None:
    """A round trip that gives no dict is refused."""
    with pytest.raises(wire.SerializationError):
        wire.json_roundtrip(value)
