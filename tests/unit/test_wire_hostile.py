"""Hostile input: any envelope or stream raises the documented errors alone, and shows nothing of its content."""

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wire_requests import COMPLETE, complete

from pytest_corpus import resources, wire
from pytest_corpus.spec.goldens import GOLDENS
from pytest_corpus.spec.operations import BY_OP
from pytest_corpus.stream_validator import ErrorType, StreamReport, validate_ndjson_stream, validate_sse_stream


class Hostile:
    """Raises whatever is asked of it."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("secret")

    def __hash__(self) -> int:
        return hash("op")

    def __repr__(self) -> str:
        raise RuntimeError("secret")

    @property
    def __class__(self) -> Any:
        raise RuntimeError("secret")


class HostileDict(dict):  # type: ignore[type-arg]
    """A dict that cannot be read."""

    def __iter__(self) -> Any:
        raise RuntimeError("secret")

    items = keys = values = get = __getitem__ = __len__ = __contains__ = __iter__  # type: ignore[assignment]


class HostileText(str):
    __slots__ = ()

    def encode(self, *_: Any) -> Any:
        raise RuntimeError("secret")

    __eq__ = __ne__ = __hash__ = encode  # type: ignore[assignment]


HOSTILE = {
    "object": Hostile,
    "dict": lambda: HostileDict(op="llm.complete", ctx={}, args={}),
    "text": lambda: HostileText("a secret"),
}
"""Objects that raise where they are touched, each made anew: pytest touches its parameters."""
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.text(st.characters(categories=["Cs"])),
    st.binary(), st.decimals(), st.datetimes(), st.complex_numbers(), st.just(object),
    *map(st.builds, HOSTILE.values()), st.sampled_from([{1}, frozenset(), range(3), ..., len]),
)  # fmt: skip
KEYS = st.one_of(
    st.sampled_from(["op", "ctx", "args", "messages", "role", "deadline_ms", "attrs", "vector", "temperature", "text"]),
    st.text(max_size=5),
    st.integers(),
    st.none(),
    st.tuples(st.integers()),
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.tuples(inner, inner), st.dictionaries(KEYS, inner, max_size=4)
    ),
    max_leaves=12,
)
ENVELOPES = st.one_of(
    ANYTHING,
    st.fixed_dictionaries(
        {"op": st.sampled_from(list(BY_OP)), "ctx": ANYTHING, "args": ANYTHING}, optional={"more": ANYTHING}
    ),
    st.fixed_dictionaries(
        {"op": st.sampled_from(list(BY_OP)), "ctx": st.just({}), "args": st.dictionaries(KEYS, ANYTHING)}
    ),
)


@given(envelope=ENVELOPES, op=st.sampled_from(list(BY_OP)))
def test_nothing_but_the_documented_errors_is_raised(envelope: Any, op: str) -> None:
    """Any envelope passes, or a `WireValidationError` with a documented code says why not."""
    named = envelope.get("op") if type(envelope) is dict else None
    case = wire.case_of(named if isinstance(named, str) and named in BY_OP else op)
    try:
        wire.validate_case(case, envelope)
    except wire.WireValidationError as error:
        refused: wire.WireValidationError | None = error
    else:
        refused = None
    if refused is not None:
        assert refused.code in wire.PROTOCOL_ERROR_CODES
        assert str(refused).startswith(f"{case.id}: ")
        assert "secret" not in str(refused)
    else:
        assert json.loads(json.dumps(envelope))["op"] == case.op


SECRET = "sk-live-4f9a0c7b2d51 The patient's name is Doe"


@pytest.mark.parametrize("place", ["op", "ctx.tenant", "ctx.request_id", "args.messages", "args.temperature", "top"])
def test_no_content_is_told(place: str) -> None:
    """A text that stands where it does not belong is not repeated."""
    envelope: dict[str, Any] = complete()
    head, _, tail = place.partition(".")
    if tail:
        envelope[head] = {**envelope[head], tail: SECRET * 10}
    else:
        envelope = SECRET if place == "top" else {**envelope, place: SECRET}  # type: ignore[assignment]
    with pytest.raises(wire.WireValidationError) as refused:
        wire.validate_case(COMPLETE, envelope)
    assert "Doe" not in str(refused.value)
    assert "sk-live" not in str(refused.value)


MANY = 10_000
SEED = 20_260_101
ROOT = resources.folder("golden")
TYPES = {value for name, value in vars(ErrorType).items() if name.isupper()}
STREAMS = [(golden.component, (ROOT / golden.file).read_bytes()) for golden in GOLDENS if golden.is_stream]
SHREDS = (
    *(b"", b"\n", b"\r", b"\r\n", b"\n\n", b"\x00", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"{", b"}", b"[", b"]"),
    *(b'"', b"\\", b"\\u003a", b"\\ud800", b":", b",", b"null", b"true", b"false", b"NaN", b"-Infinity", b"1e999"),
    *(b"-1", b"1.0", b"9" * 500, b"[" * 300, b'{"a":' * 260, b'"ok": true,', b'"chunk": {},', b"is_final", b"data: "),
    *(b"event: end\n", b": comment\n", b"data: [DONE]\n\n", b"x" * 2_000),
)


def mutated_bytes(random: Random, data: bytes) -> bytes:
    for _ in range(random.randint(1, 4)):
        start, end = sorted(random.choices(range(len(data) + 1), k=2))
        end = min(end, start + random.choice((0, 1, 3, 40, 400)))
        kind = random.randrange(4)
        if kind == 0:
            data = data[:start] + random.choice(SHREDS) + data[end:]
        elif kind == 1:
            data = data[:start] + data[end:]
        elif kind == 2:
            data = data[:end] + data[start:end] + data[end:]
        else:
            lines = data.split(b"\n")
            random.shuffle(lines)
            data = b"\n".join(lines)
    return data


def test_every_mutated_stream_gets_a_report() -> None:
    """Any bytes, in any transport, mode and pieces, make a report of known errors."""
    random = Random(SEED)
    valid = 0
    for number in range(MANY):
        component, data = random.choice(STREAMS)
        check = validate_ndjson_stream if number % 2 else validate_sse_stream
        if check is validate_sse_stream:
            data = b"".join(b"data: %b\n\n" % line for line in data.splitlines())
        data = mutated_bytes(random, data)
        size = random.choice((len(data) + 1, len(data) + 1, 100))
        pieces = [data[start : start + size] for start in range(0, len(data), size)]
        report = check(
            pieces,
            component=component,
            mode=random.choice(("strict", "sampled", "lazy", "collect_errors")),
            framing=random.choice(("canonical", "canonical", "event")),
            edition=random.choice((None, "1.0.0", "1.1.0")),
            max_frame_bytes=random.choice((2**20, 1_000)),
        )
        assert isinstance(report, StreamReport)
        assert report.is_valid is (report.error_summary == "")
        assert {error.error_type for error in report.validation_errors} <= TYPES
        assert all(0 <= error.frame_number <= report.total_frames for error in report.validation_errors)
        assert 0 <= report.frames_validated <= report.total_frames
        valid += report.is_valid
    assert 0 < valid < MANY / 2
