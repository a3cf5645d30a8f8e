"""The parts of transports: addresses, bytes that become frames, messages with an id."""

import json
import math
from typing import Any

import pytest

from pytest_corpus.adapter.exceptions import DeclarationError
from pytest_corpus.adapter.opening.address import display_address, parse, split_label
from pytest_corpus.adapter.transports.multiplexer import InvalidMessage, is_terminal, unpack
from pytest_corpus.adapter.transports.program import Intake
from pytest_corpus.adapter.transports.protocol import request_bytes
from pytest_corpus.suites.transport.test_calls import is_utf8
from pytest_corpus.text import frame_message
from pytest_corpus.validation.streams.transport import SseReader


@pytest.mark.parametrize(("declared", "expected"), [
    ("http://h:1/p", ("http://h:1/p", "http://h:1/p")),
    ("mine=http://h:1/p?a=b", ("mine", "http://h:1/p?a=b")),
    ("http://h:1/p?a=b", ("http://h:1/p", "http://h:1/p?a=b")),
    ("go-1=cmd:run --x=y", ("go-1", "cmd:run --x=y")),
    ("cmd:run --x=y", ("cmd:run --x=y", "cmd:run --x=y")),
    ("mypkg:factory", None),
    ("a=mypkg:factory", None),
])  # fmt: skip
def test_a_label_stands_before_the_first_equals_sign_of_an_address(declared: str, expected: Any) -> None:
    """An equals sign inside an address begins no label."""
    assert split_label(declared) == expected


@pytest.mark.parametrize(("declared", "said"), [
    ("http:///x", "names no host"),
    ("http://h:port/", "cannot be read"),
    ("cmd:", "names no program"),
    ("cmd:a 'b", "cannot be read"),
    ("http://user:hunter2@h/", "corpus_header"),
    ("http://user:hunter2/more@h/", "the port must be a number"),
    ("http://user:hunter2#more@h/", "the port must be a number"),
    ("http://user:hunter2?more@h/", "the port must be a number"),
    ("cmd:API_KEY=hunter2 node adapter.js", "begin it with cmd:env"),
])  # fmt: skip
def test_an_address_that_cannot_be_read_is_told_in_one_sentence(declared: str, said: str) -> None:
    """And without what may be a password."""
    with pytest.raises(DeclarationError) as told:
        parse(declared)
    assert said in str(told.value)
    assert "hunter2" not in str(told.value)


def test_an_address_is_shown_without_its_query() -> None:
    """A query may hold a key."""
    assert display_address("https://h:1/p?key=abc#d") == "https://h:1/p"


@pytest.mark.parametrize(("declared", "said"), [
    ("cmd:env DB_PASSWORD=hunter2 LEVEL=3 node a.js", "cmd:env DB_PASSWORD=*** LEVEL=3 node a.js"),
    ("cmd:node a.js --api-key hunter2 --port 80", "cmd:node a.js --api-key *** --port 80"),
    ("cmd:node a.js --token='hunter2 and more' -v", "cmd:node a.js --token=*** -v"),
    ("cmd:sh -c 'SECRET=hunter2 exec node a.js'", "cmd:sh -c 'SECRET=***"),
    ("cmd:node key.js --key --fast", "cmd:node key.js --key --fast"),
    ("http://h:80/@scope/a", "http://h:80/@scope/a"),
    ("http://[::1]:80/@scope/a", "http://[::1]:80/@scope/a"),
])  # fmt: skip
def test_a_command_is_shown_without_what_is_named_a_secret(declared: str, said: str) -> None:
    """Reports call the adapter so; it need not look like a credential."""
    assert display_address(declared) == said


def test_what_json_cannot_say_is_sent_as_a_number_beyond_all_doubles() -> None:
    """A text that says NaN stays one."""
    data = request_bytes({"NaN": [math.nan, math.inf, -math.inf, 'a "NaN" \\']})
    assert data == b'{"NaN":[1e999,1e999,-1e999,"a \\"NaN\\" \\\\"]}'


@pytest.mark.parametrize(("message", "expected"), [
    (b'{"id":7,"frame":{"id":1,"frame":{}}}', (7, b'{"id":1,"frame":{}}')),
    (b' { "frame" : {"ok":true,"id":3} , "id" : 9 } ', (9, b'{"ok":true,"id":3}')),
    (b'{"id":null,"frame":{}}', (None, b"{}")),
])  # fmt: skip
def test_the_bytes_of_a_frame_are_taken_out_unread(message: bytes, expected: tuple[int | None, bytes]) -> None:
    """In either order of the keys."""
    assert unpack(message) == expected


@pytest.mark.parametrize("message", [b"", b"hello", b"[]", b'{"id":1}', b'{"frame":{}}', b'{"id":"a","frame":{}}'])
def test_what_has_no_id_and_frame_is_no_message(message: bytes) -> None:
    """It belongs to no call."""
    with pytest.raises(InvalidMessage):
        unpack(message)


def test_a_key_beside_id_and_frame_leaves_no_json() -> None:
    """The strict reader finds it."""
    _, frame = unpack(b'{"id":1,"frame":{},"more":1}')
    with pytest.raises(ValueError, match="Extra data"):
        json.loads(frame)


@pytest.mark.parametrize(("frame", "ends"), [
    (b'{"ok":true,"code":"STREAMING","ms":1,"chunk":{"is_final":false}}', False),
    (b'{"ok":true,"code":"STREAMING","ms":1,"chunk":{"is_final":true}}', True),
    (b'{"ok":false}', True),
    (b'{"ok":false,"chunk":{"is_final":false}}', True),
    (b'{"ok":true,"chunk":{"is_final":false,"\\u0069s_final":true}}', True),
    (b'{"ok":true,"chunk":{"is_final":false,"text":"is_final: true"}}', False),
    (b"[1]", True),
    (b"{", True),
])  # fmt: skip
def test_a_stream_ends_with_its_terminal_frame(frame: bytes, ends: bool) -> None:
    """Or with something that is not a frame at all."""
    assert is_terminal(frame) is ends


@pytest.mark.parametrize("size", [0, 1, 127, 128, 16_383, 16_384, 70_000])
def test_a_frame_message_is_the_same_after_both_ways(size: int) -> None:
    """Its length is a number of one byte or more."""
    assert frame_message.unpack(frame_message.pack(b"x" * size)) == b"x" * size


def test_unknown_fields_of_a_frame_message_are_passed_over() -> None:
    """A number, a fixed one of either size, and a text."""
    unknown = b"\x10\x96\x01" + b"\x19" + b"12345678" + b"\x25" + b"1234" + b"\x2a\x02hi"
    assert frame_message.unpack(unknown + frame_message.pack(b"{}")) == b"{}"


@pytest.mark.parametrize("message", [b"\x0a", b"\x0a\x05ab", b"\x0b", b"\x19abc", b"\xff" * 12])
def test_what_is_no_frame_message_is_told(message: bytes) -> None:
    """A field that is cut off, or of an unknown type."""
    with pytest.raises(ValueError, match="a "):
        frame_message.unpack(message)


@pytest.mark.parametrize(
    "parts",
    [[b"0123456789abcdef\nnext\n"], [b"0123456789abcdef", b"g\nnext\n"], [b"0123", b"456789", b"ab", b"c\nnext\n"]],
    ids=["at once", "its end later", "in pieces"],
)
def test_the_beginning_of_a_long_line_is_never_lost(parts: list[bytes]) -> None:
    """However the bytes of it come: what an adapter logs is searched for leaks."""
    taken: list[bytes] = []
    intake = Intake(taken.append, 8, taken.append)
    for part in parts:
        intake.feed(part)
    assert [line[:8] for line in taken] == [b"01234567", b"next"]


def test_a_carriage_return_ends_a_line_as_soon_as_it_comes() -> None:
    """A line feed that follows it belongs to it; a frame is not held back until more comes."""
    pieces = (b"data: 1\r\r", b"\ndata: 2\r", b"\n\r")
    assert list(map(SseReader(100).feed, pieces)) == [[b"1"], [], [b"2"]]


@pytest.mark.parametrize(("data", "is_whole", "expected"), [
    ("a\u00e4".encode(), True, True),
    ("a\u00e4".encode()[:-1], True, False),
    ("a\u00e4".encode()[:-1], False, True),
    ("a\u00e4".encode("latin-1") + b"b", False, False),
])  # fmt: skip
def test_an_answer_that_broke_off_within_a_character_is_utf_8(data: bytes, is_whole: bool, expected: bool) -> None:
    """That it broke off is the finding, and no other encoding."""
    assert is_utf8(data, is_whole=is_whole) is expected
