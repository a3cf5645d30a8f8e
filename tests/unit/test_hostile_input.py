"""Ten thousand mutated streams and as many mutated envelopes: always a report, never an undocumented exception."""

import copy
import json
from random import Random
from typing import Any

import pytest

from pytest_corpus import resources
from pytest_corpus.schema_registry import SchemaValidationError, registry
from pytest_corpus.spec.goldens import GOLDENS
from pytest_corpus.stream_validator import (
    ErrorType,
    StreamReport,
    StreamValidationEngine,
    ValidationConfig,
    validate_ndjson_stream,
    validate_sse_stream,
)

MANY = 10_000
SEED = 20_260_101
ROOT = resources.folder("golden")
TYPES = {value for name, value in vars(ErrorType).items() if name.isupper()}
STREAMS = [(golden.component, (ROOT / golden.file).read_bytes()) for golden in GOLDENS if golden.is_stream]
ENVELOPES = [
    (name, edition, json.loads((ROOT / golden.file).read_bytes()))
    for golden in GOLDENS
    if not golden.is_stream
    for name, edition in golden.checks()
]
SHREDS = (
    *(b"", b"\n", b"\r", b"\r\n", b"\n\n", b"\x00", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"{", b"}", b"[", b"]"),
    *(b'"', b"\\", b"\\u003a", b"\\ud800", b":", b",", b"null", b"true", b"false", b"NaN", b"-Infinity", b"1e999"),
    *(b"-1", b"1.0", b"9" * 500, b"[" * 300, b'{"a":' * 260, b'"ok": true,', b'"chunk": {},', b"is_final", b"data: "),
    *(b"event: end\n", b": comment\n", b"data: [DONE]\n\n", b"x" * 2_000),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.0, 2**70, 10**400, -0.0, float("nan"), float("inf"), "", "a\n", "\ud800", "x" * 300),
    *([], {}, [[]], {"": {}}, {"a": 1}, {1: 2}, b"bytes", {"set"}, (), object(), ["\udfff"], {"\ud800": 1}, 1j),
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
    """Whatever bytes come in whatever transport, mode and pieces, there is a report of known errors."""
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


def mutated_value(random: Random, value: Any) -> Any:
    """The value with one of its parts replaced, removed, renamed or nested deep."""
    holder: Any = [value]
    key: Any = 0
    while isinstance(holder[key], dict | list) and holder[key] and random.random() < 0.75:
        holder = holder[key]
        key = random.choice(list(holder)) if isinstance(holder, dict) else random.randrange(len(holder))
    kind = random.randrange(8)
    if kind == 0:
        del holder[key]
        return value if holder is not None else None
    if kind == 1 and isinstance(holder, dict):
        holder[random.choice((key[:-1], key.upper(), "extra", "", "\ud800", 7))] = holder.pop(key)
    elif kind == 2:
        deep: Any = holder[key]
        for _ in range(random.choice((3, 250, 3_000))):
            deep = random.choice(([deep], {"a": deep}))
        holder[key] = deep
    elif kind == 3:
        holder[key] = value
    else:
        holder[key] = random.choice(VALUES)
    return value


def test_every_mutated_envelope_gets_a_verdict() -> None:
    """Whatever object comes, the registry gives a verdict, its reasons, and raises nothing but those."""
    random = Random(SEED)
    schemas = registry()
    engine = StreamValidationEngine(ValidationConfig(component="llm"))
    valid = 0
    for _ in range(MANY):
        name, edition, document = random.choice(ENVELOPES)
        instance = mutated_value(random, copy.deepcopy(document))
        accepted = schemas.is_valid(name, instance, edition)
        valid += accepted
        if accepted:
            schemas.validate_json(name, instance, edition)
        elif random.random() < 0.1:  # reasons take their time
            with pytest.raises(SchemaValidationError, match=name) as caught:
                schemas.validate_json(name, instance, edition)
            assert caught.value.problems
        report = engine.validate_frames([instance])
        assert report.is_valid is (report.error_summary == "")
    assert 0 < valid < MANY
