"""The one reader of bytes, and facts of capabilities, whatever spells them."""

import json
import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
from arrivals import arrived
from hypothesis import given
from hypothesis import strategies as st

from pytest_corpus.adapter.calls import read_frame
from pytest_corpus.adapter.exchange import Exchange, non_finite
from pytest_corpus.adapter.facts import Capabilities
from pytest_corpus.adapter.snapshot import NotJSON
from pytest_corpus.spec.words import BOM
from pytest_corpus.text.problems import MAX_DEPTH

TEXT = st.text() | st.sampled_from(("a", ":", '"', "\\u003a", "\\", "\ud800", "é", "[{"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=12,
)


def nested(levels: int) -> bytes:
    return b"[" * levels + b"]" * levels


@given(JSON)
def test_what_is_written_is_read(value: Any) -> None:
    """Any value comes back as it was, NaN, infinities, large integers and lone surrogates too."""
    assert repr(arrived(value).body) == repr(value)


@given(value=JSON, indent=st.none() | st.integers(0, 3), ascii_only=st.booleans())
def test_a_document_may_be_written_in_any_way(value: Any, indent: int | None, ascii_only: bool) -> None:
    """White space and escapes change nothing but the size, which is that of the bytes that came."""
    data = json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "backslashreplace")
    frame = read_frame(data, 1.5)
    assert (repr(frame.body), frame.size, frame.at_s) == (repr(json.loads(data)), len(data), 1.5)


@given(around=JSON, name=TEXT, first=JSON, second=JSON)
def test_a_key_that_stands_twice_is_found_wherever_it_stands(around: Any, name: str, first: Any, second: Any) -> None:
    """No value, no name and no place hides it, not even a NaN, which alone is not a fault here."""
    key = json.dumps(name)
    twice = f"{{{key}: {json.dumps(first)}, {key}: {json.dumps(second)}}}"
    with pytest.raises(NotJSON, match=r"^an answer with a key that appears twice$"):
        read_frame(f"[{json.dumps(around)}, {twice}]".encode(), 0.0)


@given(st.binary() | JSON.map(lambda value: json.dumps(value).encode()[1:]))
def test_any_bytes_are_a_frame_or_no_json(data: bytes) -> None:
    """Nothing else comes of bytes, whatever they are; what is read is what Python's own reader makes of them."""
    try:
        frame = read_frame(data, 0.0)
    except NotJSON:
        return
    assert repr(frame.body) == repr(json.loads(data.decode()))


@pytest.mark.parametrize(("data", "fault"), [
    (b"", "is empty"),
    (b" \r\n", "is empty"),
    (b'{"canary": 1', "is not JSON"),
    (b"{} {}", "is not JSON"),
    (b"{'canary': 1}", "is not JSON"),
    (BOM + b'{"canary": 1}', "begins with a byte order mark, which JSON does not have"),
    (b'{"canary": "\xe9"}', "is not UTF-8 at byte 13"),
    (b'{"canary": "\xed\xa0\x80"}', "is not UTF-8 at byte 13"),
    ('{"canary": 1}'.encode("utf-16"), "is not UTF-8 at byte 1"),
    (nested(MAX_DEPTH + 1), f"is nested deeper than {MAX_DEPTH} levels"),
    (b"[" * 100_000, f"is nested deeper than {MAX_DEPTH} levels"),
])  # fmt: skip
def test_what_is_no_json(data: bytes, fault: str) -> None:
    """Each fault has a kind of its own, and shows nothing of the content."""
    with pytest.raises(NotJSON) as caught:
        read_frame(data, 0.0)
    assert str(caught.value) == f"an answer that {fault}"


@pytest.mark.parametrize(("number", "value"), [
    ("NaN", math.nan),
    ("-Infinity", -math.inf),
    ("1e999", math.inf),
    ("9" * 400, math.inf),
    ("-" + "9" * 5000, -math.inf),
    ("18446744073709551616", 2**64),
    ("1" + "0" * 300, 10**300),
])  # fmt: skip
def test_numbers_are_left_to_a_requirement_of_their_own(number: str, value: float) -> None:
    """A number that is not finite stays in the frame with its path, and a large integer stays exact."""
    body = read_frame(b'{"a": [%s], "b": "%s"}' % (number.encode(), number.encode()), 0.0).body
    assert repr(body["a"]) == repr([value])
    assert body["b"] == number
    assert list(non_finite(body)) == ([] if type(value) is int else ["a[0]"])


def test_a_lone_surrogate_is_left_to_the_schemas() -> None:
    """Half a character that came as an escape stays in the frame."""
    assert read_frame(b'{"a": "\\ud800"}', 0.0).body == {"a": "\ud800"}


def test_just_deep_enough() -> None:
    """The limit of nesting is that of every other reader of the suite."""
    assert read_frame(nested(MAX_DEPTH), 0.0).size == 2 * MAX_DEPTH


def test_mappings_and_tuples_become_json() -> None:
    """Any mapping is an object, any tuple an array."""
    assert arrived(MappingProxyType({"a": (1, MappingProxyType({}))})).body == {"a": [1, {}]}


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


def test_an_object_of_this_process_can_name_a_key_twice() -> None:
    """Keys that are one and the same on the wire are found, though they are two in Python."""
    with pytest.raises(NotJSON, match="a key that appears twice"):
        arrived({1: "a", "1": "b"})


@pytest.mark.parametrize("document", [{"supports_streaming": False}, {"features": {"supports_streaming": False}}])
def test_a_flag_flat_or_nested(document: Mapping[str, Any]) -> None:
    """A flag is read at the top and inside `features`."""
    assert Capabilities("llm", document).flag("supports_streaming") is False


@pytest.mark.parametrize("value", [None, "yes", 1, [], {}])
def test_a_flag_that_is_no_boolean_is_unknown(value: Any) -> None:
    """Null and other types are not a claim."""
    assert Capabilities("llm", {"supports_streaming": value}).flag("supports_streaming") is None


def test_null_at_the_top_hides_nothing() -> None:
    """A null is as good as an absent key: the nested value counts."""
    document = {"max_context_length": None, "limits": {"max_context_length": 64}}
    assert Capabilities("llm", document).limit("max_context_length") == 64


@pytest.mark.parametrize(
    ("value", "expected"),
    [(64, 64), (64.0, 64), (64.5, None), (0, None), (-1, None), (True, None), ("64", None), (float("nan"), None)],
)
def test_a_limit(value: Any, expected: int | None) -> None:
    """A limit is a whole positive number, in either notation."""
    assert Capabilities("llm", {"limits": {"max_context_length": value}}).limit("max_context_length") == expected


@pytest.mark.parametrize(("document", "expected"), [
    ({"models": [{"name": "a"}, {"name": "b"}]}, ("a", "b")),
    ({"supported_models": ["a", "b"]}, ("a", "b")),
    ({"features": {"supported_models": ["a"]}}, ("a",)),
    ({"models": ["a", {"name": "b"}, 7, {"family": "x"}]}, ("a", "b")),
    ({"models": [{"name": "a"}], "supported_models": ["a"]}, ("a",)),
    ({}, ()),
    ({"models": None}, ()),
    ({"models": {"a": {}}}, ()),
])  # fmt: skip
def test_models(document: Mapping[str, Any], expected: tuple[str, ...]) -> None:
    """Models are read in every documented spelling, each once."""
    assert sorted(Capabilities("llm", document).models) == sorted(expected)


def test_context_window() -> None:
    """A model's own window comes before the general limit."""
    document = {"models": [{"name": "a", "context_window": 8}, {"name": "b"}], "max_context_length": 64}
    facts = Capabilities("llm", document)
    assert [facts.context_window(model) for model in ("a", "b", None)] == [8, 64, 64]
    assert Capabilities("llm", {}).context_window("a") is None


def test_spellings_of_other_components() -> None:
    """Spellings that the rulings read as one are read as one."""
    assert Capabilities("graph", {"supports_transaction": True}).flag("supports_txn") is True
    assert Capabilities("graph", {"supported_query_dialects": ["cypher"]}).names("dialects") == ("cypher",)
    assert Capabilities("vector", {"limits": {"max_batch": 9}}).limit("max_batch_size") == 9


def test_unknown_fact() -> None:
    """Asking for a fact that no document knows is a mistake of ours."""
    with pytest.raises(KeyError, match="supports_everything"):
        Capabilities("llm", {}).flag("supports_everything")


@pytest.mark.parametrize(("document", "expected"), [
    ({"supports_caching": True}, True),
    ({"cache": {"ttl": 5}}, True),
    ({"supports_caching": False}, False),
    ({}, False),
])  # fmt: skip
def test_caches(document: Mapping[str, Any], expected: bool) -> None:
    """A cache is claimed by the flag or by a capability of its own."""
    assert Capabilities("llm", document).claims_caching is expected
