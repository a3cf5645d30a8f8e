"""Ten thousand mutated streams and as many mutated envelopes: always a report, never an undocumented exception."""

from random import Random

from pytest_corpus import resources
from pytest_corpus.spec.goldens import GOLDENS
from pytest_corpus.stream_validator import ErrorType, StreamReport, validate_ndjson_stream, validate_sse_stream

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
