"""The cost of validating: a request, a stream in each mode, a cold registry, a million frames.

Costs are ratios to work of a known size that runs in the same process in turns with it, so that whatever else the
machine does strikes both alike: to `orjson.loads` of the same bytes and to `jsonschema`'s `is_valid` of the same
instance. A cold registry is timed in fresh processes that have imported its libraries.

Times are of the processor, where elapsed time would measure the other programs too. A ratio is the median over
neighbouring runs, with the 95 % interval of that median. Exits with 1 where an interval lies above its limit.

    python benchmarks/validation.py [--rounds N] [--frames N]

Run it with the interpreter of an environment in which pytest-corpus is installed.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import version
from statistics import median
from typing import Any

import jsonschema
import orjson
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from pytest_corpus.schema_registry import registry
from pytest_corpus.stream_validator import validate_ndjson_stream, validate_sse_stream

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

SENTENCE = "What should one wear in Lisbon on a rainy day in spring, and is it warm enough to sit outside? "
TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Weather of a city on a day",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
REQUEST: dict[str, Any] = {
    "op": "llm.complete",
    "ctx": {
        "request_id": "req-7f3a-0001",
        "tenant": "acme-travel",
        "deadline_ms": 1_900_000_000_000,
        "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    },
    "args": {
        "model": "example-1",
        "messages": [
            {"role": role, "content": SENTENCE * 3 + SENTENCE[:40]}
            for role in ("system", "user", "assistant", "user", "user")
        ],
        "max_tokens": 512,
        "temperature": 0.7,
        "top_p": 0.95,
        "stop_sequences": ["\n\n"],
        "tools": [TOOL],
        "tool_choice": "auto",
    },
}
FRAMES = 48
USAGE = {"prompt_tokens": 17, "completion_tokens": 3, "total_tokens": 20}

COLD = """
import jsonschema_rs, orjson, time
started = time.process_time()
from pytest_corpus.schema_registry import SchemaRegistry
own = SchemaRegistry()
imported = time.process_time()
own.get_validator("llm.complete.request")
first = time.process_time()
own.preload_all_schemas()
print(1e3 * (first - imported), 1e3 * (time.process_time() - imported), 1e3 * (imported - started))
"""


def main() -> int:
    """Measure and print; return 1 if a cost certainly exceeds its limit, else 0."""
    parser = argparse.ArgumentParser(description="The cost of validating.")
    parser.add_argument("--rounds", type=int, default=300, help="pairs of runs a ratio (default 300)")
    parser.add_argument("--frames", type=int, default=1_000_000, help="frames of the long stream (default 1,000,000)")
    given = parser.parse_args()
    print(
        f"python {sys.version.split()[0]}, jsonschema-rs {version('jsonschema-rs')}, orjson {version('orjson')}, ",
        end="",
    )
    print(f"jsonschema {version('jsonschema')}; {given.rounds} pairs\n")
    print(f"{'':<66}{'µs':>8}{'ratio':>9}  95 %              limit")
    above = [_measure_request(given.rounds), _measure_streams(given.rounds), _measure_cold_start()]
    _measure_memory(given.frames)
    return 1 if any(above) else 0


def _measure_request(rounds: int) -> bool:
    """Compare the validation of an `llm.complete` request with `orjson.loads` of its bytes and with `jsonschema`."""
    data = orjson.dumps(REQUEST)
    above = False
    for name in ("llm.envelope.request", "llm.complete.request"):
        for edition in ("1.0.0", "1.1.0"):
            shared, slow = registry(), _jsonschema(name, edition)

            ours = partial(shared.is_valid, name, REQUEST, edition)
            assert ours()
            assert slow.is_valid(REQUEST)
            label = f"{len(data)} B request, {name} {edition}"
            above |= _print_row(
                f"{label} / orjson.loads", ours, lambda: orjson.loads(data), rounds=rounds, limit=1.0, repeats=100
            )
            everybody = partial(slow.is_valid, REQUEST)
            above |= _print_row(f"{label} / jsonschema", ours, everybody, rounds=rounds // 3, limit=0.02, repeats=10)
    return above


def _jsonschema(name: str, edition: str) -> Any:
    """Return the validator of the usual library."""
    every = registry()
    files: Registry[Any] = Registry(
        retrieve=lambda uri: DRAFT202012.create_resource(every.get_schema(uri))  # type: ignore[call-arg]
    )
    return jsonschema.Draft202012Validator(every.get_schema(name, edition), registry=files)


def _measure_streams(rounds: int) -> bool:
    """Compare the validation of streams of 48 short or long frames with `orjson.loads` of their lines."""
    above = False
    for text, usage, separators in ((" word", {}, None), (SENTENCE * 4, {"usage_so_far": USAGE}, (",", ":"))):
        frames = [
            {
                "ok": True,
                "code": "STREAMING",
                "ms": 12.5 + number,
                "chunk": {"text": text, "is_final": number == FRAMES - 1, "model": "example-1", **usage},
            }
            for number in range(FRAMES)
        ]
        lines = [json.dumps(frame, separators=separators).encode() for frame in frames]

        def parse(lines: list[bytes] = lines) -> None:
            for line in lines:
                orjson.loads(line)

        ndjson = b"".join(line + b"\n" for line in lines)
        for mode in ("STRICT", "COLLECT_ERRORS", "SAMPLED", "LAZY"):
            ours = partial(validate_ndjson_stream, ndjson, component="llm", mode=mode)
            assert validate_ndjson_stream(ndjson, component="llm", mode=mode).is_valid
            label = f"{FRAMES} frames of {len(lines[0])} B, NDJSON, {mode} / orjson.loads"
            above |= _print_row(label, ours, parse, rounds=rounds, limit=4.0 if mode == "STRICT" else None, repeats=10)
        events = b"".join(b"data: " + line + b"\n\n" for line in lines)
        label = f"{FRAMES} frames of {len(lines[0])} B, events, STRICT / orjson.loads"
        _print_row(
            label, partial(validate_sse_stream, events, component="llm"), parse, rounds=rounds, limit=None, repeats=10
        )
    return above


def _print_row(
    label: str,
    ours: Callable[[], object],
    other: Callable[[], object],
    *,
    rounds: int,
    limit: float | None,
    repeats: int,
) -> bool:
    """Print one line of the table; return True if the ratio certainly exceeds the limit."""
    pairs = []
    for number in range(max(rounds, 20)):
        first, second = (ours, other) if number % 2 else (other, ours)
        one, two = _measure_seconds(first, repeats), _measure_seconds(second, repeats)
        pairs.append((one, two) if number % 2 else (two, one))
    ratios = sorted(one / two for one, two in pairs)
    reach = int(0.98 * len(ratios) ** 0.5) + 1
    low, high = ratios[len(ratios) // 2 - reach], ratios[len(ratios) // 2 + reach]
    held = "" if limit is None else f"{limit:g}" + (" NOT held" if low > limit else "" if high <= limit else " unsure")
    print(
        f"{label:<66}{1e6 * median(one for one, _ in pairs):>8.2f}{median(ratios):>9.3f}"
        f"  {low:.3f} to {high:.3f}    {held}"
    )
    return limit is not None and low > limit


def _measure_seconds(work: Callable[[], object], repeats: int) -> float:
    """Return the seconds of processor time of one call, in this thread."""
    started = time.thread_time()
    for _ in range(repeats):
        work()
    return (time.thread_time() - started) / repeats


def _measure_cold_start() -> bool:
    """Measure the first validator, and all validators, in fresh processes, in milliseconds."""
    runs = []
    for _ in range(11):
        ran = subprocess.run([sys.executable, "-c", COLD], check=True, capture_output=True, text=True)
        runs.append(tuple(map(float, ran.stdout.split())))
    above = False
    print(f"\n{'':<66}{'ms':>8}           least           limit")
    for label, column, limit in (
        ("first validator", 0, 10.0),
        ("all schemas compiled", 1, 40.0),
        ("import of ours", 2, None),
    ):
        times = [run[column] for run in runs]
        held = "" if limit is None else f"{limit:g}" + (" NOT held" if min(times) > limit else "")
        print(f"{f'cold registry, {label}':<66}{median(times):>8.1f}           {min(times):.1f}            {held}")
        above |= limit is not None and min(times) > limit
    return above


def _measure_memory(frames: int) -> None:
    """Print the growth of this process's memory over a long stream."""
    if resource is None:
        return
    line = orjson.dumps({"ok": True, "code": "STREAMING", "ms": 1.5, "chunk": {"text": " word", "is_final": False}})
    block = (line + b"\n") * 500

    def blocks(count: int) -> Iterator[bytes]:
        for _ in range(count // 500):
            yield block

    for mode in ("STRICT", "LAZY"):
        validate_ndjson_stream(blocks(20_000), component="llm", mode=mode)
        before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.thread_time()
        report = validate_ndjson_stream(blocks(frames), component="llm", mode=mode)
        grown, seconds = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, time.thread_time() - started
        print(
            f"\n{report.total_frames} frames, {mode}: {seconds:.2f} s, the peak of memory grew by {grown} KiB", end=""
        )
    print()


if __name__ == "__main__":
    sys.exit(main())
