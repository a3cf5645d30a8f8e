"""JSON read strictly: input that one reader accepts and another one refuses is found."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import JSON

from pytest_corpus.text.problems import MAX_DEPTH
from pytest_corpus.text.strict_json import NOT_PLAIN, Fault, are_flawless, parse, read_exactly, read_plainly, write_json


def nested(levels: int) -> bytes:
    return b'{"a":' * (levels - 1) + b"[1]" + b"}" * (levels - 1)


FLAWS: tuple[tuple[str, bytes, Fault, str], ...] = (
    ("nothing", b"", Fault.SYNTAX, ""),
    ("white space", b" \t\r", Fault.SYNTAX, ""),
    ("cut off", b'{"a": 1', Fault.SYNTAX, ""),
    ("two documents", b"{} {}", Fault.SYNTAX, ""),
    ("single quotes", b"{'a': 1}", Fault.SYNTAX, ""),
    ("trailing comma", b'{"a": 1,}', Fault.SYNTAX, ""),
    ("comment", b'{"a": 1} // one', Fault.SYNTAX, ""),
    ("control character", b'{"a": "\x01"}', Fault.SYNTAX, ""),
    ("byte order mark", b'\xef\xbb\xbf{"a": 1}', Fault.SYNTAX, ""),
    ("UTF-16", '{"a": 1}'.encode("utf-16"), Fault.UTF8, ""),
    ("Latin-1", b'{"a": "\xe9"}', Fault.UTF8, ""),
    ("surrogate as bytes", b'{"a": "\xed\xa0\x80"}', Fault.UTF8, ""),
    ("lone surrogate", b'{"a": "\\ud800"}', Fault.SYNTAX, "a"),
    ("lone surrogate in a key", b'{"b": {"\\ud800": 1}}', Fault.SYNTAX, "b"),
    ("NaN", b'{"a": [1, NaN]}', Fault.SYNTAX, "a.1"),
    ("Infinity", b'{"a": -Infinity}', Fault.SYNTAX, "a"),
    ("beyond a double", b'{"a": 1e999}', Fault.SYNTAX, "a"),
    ("beyond a double, in digits", b'{"a": ' + b"9" * 400 + b"}", Fault.SYNTAX, "a"),
    ("more digits than Python reads", b'{"a": ' + b"9" * 5000 + b"}", Fault.SYNTAX, "a"),
    ("a key twice", b'{"a": 1, "a": 1}', Fault.DUPLICATE_KEY, "a"),
    ("a key twice, deeper", b'{"b": [{"c": {"a": {}, "a": [":"]}}]}', Fault.DUPLICATE_KEY, "b.0.c.a"),
    ("a key twice, once escaped", b'{"a": 1, "\\u0061": 2}', Fault.DUPLICATE_KEY, "a"),
    ("a key twice, hidden", b'{"a": 1, "a": "\\u003a"}', Fault.DUPLICATE_KEY, "a"),
    ("one level too many", nested(MAX_DEPTH + 1), Fault.DEPTH, ""),
    ("bottomless", b"[" * 100_000, Fault.DEPTH, ""),
    ("bottomless and closed", nested(50_000), Fault.DEPTH, ""),
)


@pytest.mark.parametrize(("kind", "data", "fault", "path"), FLAWS, ids=[row[0] for row in FLAWS])
def test_each_flaw_is_told_apart(kind: str, data: bytes, fault: Fault, path: str) -> None:
    """Every way of being no JSON has its name, and a path where it has a place."""
    _, flaw = parse(data)
    assert flaw is not None
    assert (flaw.fault, flaw.path) == (fault, path)


def test_a_flaw_quotes_nothing() -> None:
    """The content of a document stays out of the message."""
    for data in (b'{"canary": canary}', b'{"a": "canary\xff"}', b'{"a": ["canary", "canary\\x"]}'):
        _, flaw = parse(data)
        assert flaw is not None
        assert "canary" not in flaw.message


@pytest.mark.parametrize("data", [
    b'{"a": ":", "b": {"a": "\\":"}}', b'{"a": "\\u003a", "b": "\\\\u003a"}',
    b'\t{ "a" : [ 1 , 2.50 , 1E5 , 18446744073709551616 ] }\r', b'"\xf0\x9f\x98\x80 \\ud83d\\ude00 \xe2\x80\xa8"',
    nested(MAX_DEPTH), b'{"' + b"[" * 300 + b'": "' + b"{" * 300 + b'\\""}',
], ids=range(6))  # fmt: skip
def test_sound_documents_have_no_flaw(data: bytes) -> None:
    """Colons, brackets and escapes in strings, white space and large numbers make no flaw."""
    value, flaw = parse(data)
    assert flaw is None
    assert value == json.loads(data)


@pytest.mark.parametrize(
    ("data", "value"), [(b'{"a": NaN, "b": 2}', 2), (b'{"b": 1, "b": 2}', 2), (b'{"b": 2}\xff', None)]
)
def test_a_flawed_document_is_read_as_far_as_can_be(data: bytes, value: object) -> None:
    """Of keys that appear twice the last counts; what cannot be read at all is None."""
    read_value, flaw = parse(data)
    assert flaw is not None
    assert (read_value["b"] if read_value else None) == value


def test_a_reader_that_does_not_look_closely_lets_pass_what_can_be_read() -> None:
    """Without a close look a key twice and deep nesting pass; what cannot be read does not."""
    assert parse(b'{"a": 1, "a": 2}', closely=False) == ({"a": 2}, None)
    assert parse(nested(300), closely=False)[1] is None
    assert parse(b'{"a": NaN}', closely=False)[1] is not None


@settings(max_examples=300)
@given(values=st.lists(JSON, min_size=1, max_size=5), data=st.data())
def test_many_documents_are_as_strict_as_each(values: list[Any], data: st.DataObject) -> None:
    """A look at many documents finds no flaw exactly when none of them has one, however they are written."""
    documents = []
    for value in values:
        text = json.dumps(value, ensure_ascii=data.draw(st.booleans()), indent=data.draw(st.sampled_from((None, 1))))
        if isinstance(value, dict) and value and data.draw(st.booleans()):
            text = text[:-1] + ',"' + next(iter(value)) + '": ":"}'
        documents.append(text.encode())
    try:
        read_values = [parse(document, closely=False) for document in documents]
    except ValueError:
        return
    if all(flaw is None for _, flaw in read_values):
        sound = all(parse(document)[1] is None for document in documents)
        plain = not any(b"\\u003" in document for document in documents)
        strict = are_flawless(documents, [value for value, _ in read_values])
        assert strict == sound if plain else not strict or sound


@pytest.mark.parametrize("levels", [MAX_DEPTH, MAX_DEPTH + 1])
def test_depth_is_limited_alike_in_one_and_in_many(levels: int) -> None:
    """The limit of nesting is the same for one document and for a batch, and for values that are written."""
    data = nested(levels)
    fits = levels <= MAX_DEPTH
    assert (parse(data)[1] is None) is fits
    assert are_flawless([b"{}", data], [{}, json.loads(data)]) is fits
    assert (write_json(json.loads(data)) is not None) is fits


@pytest.mark.parametrize("value", ["\ud800", 2**70, {1: 2}, {"a": object()}, {"a": {1}}], ids=range(5))
def test_what_cannot_be_written_is_none(value: object) -> None:
    """Nothing raises that has no JSON of its own."""
    assert write_json(value) is None


@given(JSON)
@settings(max_examples=200)
def test_what_is_read_plainly_is_what_json_reads(value: Any) -> None:
    """To the same types, and without a flaw."""
    data = json.dumps(value).encode()
    plain = read_plainly(data)
    if plain is not NOT_PLAIN:
        assert repr(plain) == repr(json.loads(data))
        assert read_exactly(data) == (plain, None)


@pytest.mark.parametrize(
    "data",
    [b"18446744073709551616", b"-9223372036854775809", b"NaN", b"-Infinity", b"1e999", b'"\\ud800"', b'{"a":1,"a":2}',
     b"\xef\xbb\xbf{}", b"{", nested(MAX_DEPTH + 1)],
)  # fmt: skip
def test_what_needs_a_closer_look_is_not_read_plainly(data: bytes) -> None:
    """Orjson reads some of it to another value."""
    assert read_plainly(data) is NOT_PLAIN
