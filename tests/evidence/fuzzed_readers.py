"""The readers of files and messages that others wrote, each with a sound document, and hostile ones made of it."""

import asyncio
import contextlib
import copy
import hashlib
import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import hostile_files
import pytest
import samples
import signatures
from cli_runs import call_command
from hostile_files import bytes_changed, changed, sealed
from sound import sound, written

from pytest_corpus.adapter.exceptions import MissingAnswer
from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.adapter.hooks import http_server
from pytest_corpus.adapter.hooks.vendors.recording import Recording
from pytest_corpus.adapter.opening import settings
from pytest_corpus.authoring.goldens import checks
from pytest_corpus.bundles.errors import BundleError
from pytest_corpus.bundles.loading import bundle_file
from pytest_corpus.bundles.loading.output_schema import read_schema
from pytest_corpus.bundles.providers.protocol import Answer, CompletionRequest
from pytest_corpus.bundles.reporting import comparison
from pytest_corpus.bundles.running import shards
from pytest_corpus.bundles.running.cassettes import Cassettes
from pytest_corpus.bundles.running.store import AnswerJournal
from pytest_corpus.integration.options import files
from pytest_corpus.kit.reply import Reply
from pytest_corpus.kit.store import leftovers, sweeping
from pytest_corpus.reference import llm
from pytest_corpus.reports import formats, json_report, reading
from pytest_corpus.reports.checking import verification
from pytest_corpus.reports.signing import dsse, intoto
from pytest_corpus.reports.site import building
from pytest_corpus.resources import folder
from pytest_corpus.serving.service import Conversation, Service
from pytest_corpus.spec import goldens
from pytest_corpus.spec.schemas import BASE_URI
from pytest_corpus.text import bounded
from pytest_corpus.text.problems import PlainError
from pytest_corpus.validation.schema import files as schema_files
from pytest_corpus.validation.schema.exceptions import SchemaFileError
from pytest_corpus.verdict import deviations

REPORT = {**written(sound()), "command": "pytest --corpus-adapter=a:b"}
REPORT["requirements"] = REPORT["requirements"][:3]

COUNT = {"op": "llm.count_tokens", "ctx": {}, "args": {"text": "hi", "model": "m"}}
FRAME = {"ok": True, "code": "STREAMING", "ms": 1, "chunk": {"text": "a", "is_final": True, "usage_so_far": None}}
ARCHIVE = {"log": {"entries": [
    {"time": 40, "request": {"postData": {"text": json.dumps({**COUNT, "op": op})}},
     "response": {"content": {"mimeType": kind, "text": json.dumps(body)}}}
    for op in ("llm.count_tokens", "llm.stream", "llm.capabilities", "vector.query", "vector.upsert")
    for kind, body in (("application/json", {"ok": True, "code": "OK", "ms": 1, "result": 3}),
                       ("application/x-ndjson", FRAME), ("text/event-stream", FRAME))
]}}  # fmt: skip

ASKED = CompletionRequest("a prompt", None, "m", 0.0, 5, {}, 0.0, case="c")
CASSETTE = {"format": "1.0", "case": "c", "recordings": [
    {"key": "k", "request": {"provider": "p", "model": "m", "prompt": "a", "system": None, "temperature": 0.0,
                             "max_tokens": 5, "sample": 0, "options": {}},
     "answer": {"text": "t", "finish_reason": "stop", "prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3,
                "cached": False, "id": "x"}}]}  # fmt: skip
RECORDING = [
    {"kind": "header", "format": "1.0", "content": "provider", "run": "abcd012345", "seed": 0,
     "recorded_at": "2026-11-27T12:00:00+00:00"},
    {"kind": "exchange", "number": 1,
     "request": {"method": "POST", "url": "https://api.example/v1/chat", "query": "n=1", "body": {"json": {"a": [1]}}},
     "answer": {"status": 200, "reason": "OK", "headers": [["Content-Type", "text/plain"]], "ms": 1.5, "took_ms": 9,
                "parts": [[2.5, "a"], [3.5, {"base64": "/w=="}]], "ending": "whole"}},
]  # fmt: skip
OF_RUN = {"cases": {"c": "passed"}, "numbers": {"score_a": {"c": 1.0}}, "metrics": {"pass_rate": 1.0, "a": None}}
BASELINE = {"format": "1.0", "bundles": {"b | p": OF_RUN}}
NOW = {"cases": {"c": "passed", "d": "failed"}, "numbers": {"score_a": {"c": 0.5}}, "metrics": {"pass_rate": 0.5}}
DEVIATIONS = """
[[deviation]]
requirement = "LLM-TOKENS-1"
adapter = "a*"
reason = "agreed"
removal_plan = "next release"
expires = 2999-01-01
"""


ANSWERS = [["a k", {"answer": CASSETTE["recordings"][0]["answer"], "attempts": 1, "latency_ms": 2.0}],  # type: ignore[index]
           ["b", {"answer": {"text": "", "latency_ms": None}, "attempts": 2, "latency_ms": 0}]]  # fmt: skip
LEFTOVERS = [{"run": "abcdefghij", "adapter": "a", "factory": ""},
             ["+", "vector", None, None, "namespace", ["corpusrunabcdefghij1", "b"]],
             ["-", "vector", "t", "n", "vector", ["a"]], ["+", "graph", None, None, "edge", ["e"]]]  # fmt: skip
SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "required": ["a"],
    "properties": {"a": {"$ref": "#/$defs/x"}, "b": {"$dynamicRef": "#m"}}, "allOf": [{"not": {"const": 1}}],
    "$defs": {"x": {"type": "string", "pattern": "a+", "$anchor": "m", "$dynamicAnchor": "m"}}, "items": {},
    "prefixItems": [True], "if": {}, "then": True, "patternProperties": {"^a": {}}, "dependentSchemas": {"a": {}},
    "additionalProperties": {"$ref": "other.json#/x"},
}  # fmt: skip
CASES = [samples.echo(1), {"id": "b", "input": {"q": [1]}, "expected_output": {"a": 1}, "metadata": {"x": "y"}}]
DIALECTS = {"cypher": {"nodes": "MATCH (n) RETURN n"}, "mine": {"nodes": ["a", "b"]}}
REQUEST = "POST /v1/hooks/1/metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n{}"
CHUNKED = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\n{}\r\n0\r\nA: b\r\n\r\n"
MESSAGES = [{"id": 1, "stream": True, "envelope": {**COUNT, "op": "llm.stream"}, "hooks": None},
            {"id": "a", "envelope": COUNT}, {"cancel": 1}]  # fmt: skip
INI = "[pytest]\ncorpus_headers =\n    X-Key: $HOME\ncorpus_timeout = 3\n"
PROJECT = '[tool.pytest-corpus]\nheaders = ["a: b"]\n\n[tool.pytest.ini_options]\ncorpus_tls_verify = false\n'
LISTS = ("answers", "leftovers", "cases", "stream", "golden_stream", "messages")
"""Documents that are files of lines."""


def read_transcript(path: Path) -> None:
    found = call_command("replay", path)
    assert found.code in (0, 2), found
    found = call_command("replay", path, "--as", "shell")
    assert found.code in (0, 2), found
    found = call_command("audit", path, "--component", "llm")
    assert found.code in (0, 1, 2), found


def read_report(path: Path) -> None:
    verification.find_faults(path, deviations.today(), lambda _component, _profile: {})
    document, _ = reading.read_report(path)
    json_report.compute_digest(document)
    for suffix in formats.FORMATS:
        formats.render(document, suffix)


def read_envelope(path: Path) -> None:
    try:
        intoto.read_claims(dsse.open_envelope(bounded.read_contents(path), signatures.KEY.public_key()))
    except (dsse.EnvelopeError, ValueError):
        return


def read_statement(path: Path) -> None:
    try:
        intoto.read_claims(bounded.read_contents(path))
    except ValueError:
        return


def read_archive(path: Path) -> None:
    for component in ("llm", "vector"):
        found = call_command("audit", path, "--component", component)
        assert found.code in (0, 1, 2), found


def read_cassette(path: Path) -> None:
    cassettes = Cassettes(path.parent.parent, "new")
    path.replace(path.parent / cassettes._path("c").name)
    cassettes.replay("p", ASKED)


def read_recording(path: Path) -> None:
    for mode in ("none", "new"):
        str(Recording(path, mode, {}))


def read_baseline(path: Path) -> None:
    for entry in comparison.read_baseline(path).values():
        comparison.compare_with_baseline(NOW, entry)


def read_bundle(path: Path) -> None:
    bundle_file.is_bundle(path)
    bundle_file.load_bundle(path)


def read_answers(path: Path) -> None:
    journal = AnswerJournal(path.parent)
    for key in list(journal._known):
        Answer(**journal.recall(key)["answer"])
    journal.close()


def read_leftovers(path: Path) -> None:
    if (left := leftovers.read_file(path)) is not None:
        leftovers.began_at(left.run)
        sweeping.sweep(left, lambda _envelope, _component: Reply(Exchange({}, streaming=False)))


def read_schema_file(path: Path) -> None:
    with contextlib.suppress(SchemaFileError):
        schema_files.read_schema_file(path.parent, path.name)


def read_dialects(path: Path) -> None:
    files.dialects(SimpleNamespace(invocation_params=SimpleNamespace(dir=path.parent)), path.name)  # type: ignore[arg-type]


def read_golden(path: Path) -> None:
    for name in ("llm/llm_complete_success.json", "llm/llm_error_envelope.json", "llm/llm_types_tool.json"):
        checks.check_file(goldens.BY_FILE[name], path)


def read_stream(path: Path) -> None:
    for words in ((), ("--sse",), ("--framing", "events", "--mode", "collect_errors")):
        found = call_command("stream", "check", "--component", "llm", *words, path)
        assert found.code in (0, 1, 2), found


def read_message(path: Path) -> None:
    for words in ((), ("--lines",)):
        found = call_command("schema", "check", *words, path)
        assert found.code in (0, 1, 2), found


def read_output_schema(path: Path) -> None:
    (path.parent / "other.json").write_text('{"x": {"properties": ["a"]}}')
    read_schema(path.parent, path.name).violations({"a": 1})


def read_key(path: Path) -> None:
    for load in (dsse.read_private_key, dsse.read_public_key):
        with contextlib.suppress(dsse.KeyFileError):
            load(bounded.read_contents(path))


def read_request(path: Path) -> None:
    async def read() -> None:
        reader = asyncio.StreamReader()
        reader.feed_data(path.read_bytes())
        reader.feed_eof()
        writer = SimpleNamespace(write=len, drain=lambda: asyncio.sleep(0))
        with contextlib.suppress(http_server.UnreadableRequest):
            await http_server.HookConnection(reader, writer).next_request()  # type: ignore[arg-type]

    asyncio.run(read())


def read_messages(path: Path) -> None:
    async def read() -> None:
        sent: list[bytes] = []

        async def send(message: bytes) -> None:
            sent.append(message)

        service = Service(llm, "llm")
        await service.open()
        conversation = Conversation(service, send, "")
        for line in path.read_bytes().splitlines():
            await conversation.handle_message(line)
        every = asyncio.gather(*conversation._every, return_exceptions=True)
        failed = [each for each in await every if isinstance(each, Exception)]
        assert not failed, failed
        for message in sent:
            json.loads(message)
        await conversation.close()
        await service.close()

    asyncio.run(read())


def golden_text(name: str) -> str:
    return (folder("golden") / name).read_text("utf-8")


READERS: dict[str, tuple[str, Callable[[Path], object], Any]] = {
    "transcript": ("t.jsonl", read_transcript, list(hostile_files.LINES)),
    "report": ("r.json", read_report, REPORT),
    "envelope": ("e.dsse.json", read_envelope, json.loads(dsse.sign_payload(b"{}", signatures.KEY))),
    "statement": ("s.json", read_statement, json.loads(intoto.render(REPORT))),
    "archive": ("a.har", read_archive, ARCHIVE),
    "durations": ("durations.json", lambda path: shards.read_durations(path.parent), {"a": 1.0, "b": 2}),
    "cassette": ("cassettes/c.json", read_cassette, CASSETTE),
    "recording": ("p.jsonl", read_recording, RECORDING),
    "baseline": ("b.json", read_baseline, BASELINE),
    "deviations": ("d.toml", deviations.read, DEVIATIONS),
    "bundle": ("bundle.yaml", read_bundle, None),
    "answers": ("answers.jsonl", read_answers, ANSWERS),
    "leftovers": ("l.jsonl", read_leftovers, LEFTOVERS),
    "schema": ("s.json", read_schema_file, {"$id": BASE_URI + "s.json", "type": "object", "properties": {"a": {}}}),
    "remembered": ("data/verified.json", lambda path: building.read_memory(path.parent.parent),
                   {"format": "1.0", "verified": {"0" * 64: {"kit": "1.0.0", "faults": ["a"]}}}),
    "dialects": ("dialects.json", read_dialects, DIALECTS),
    "golden": ("g.json", read_golden, json.loads(golden_text("llm/llm_complete_success.json"))),
    "golden_stream": ("g.ndjson", partial(checks.check_file, goldens.BY_FILE["llm/llm_stream.ndjson"]),
                      [json.loads(line) for line in golden_text("llm/llm_stream.ndjson").splitlines()]),
    "stream": ("s.ndjson", read_stream, [FRAME, {**FRAME, "chunk": {"text": "b", "is_final": True}}]),
    "message": ("m.json", read_message, json.loads(golden_text("llm/llm_complete_request.json"))),
    "project": ("pyproject.toml", lambda path: settings.find_settings(path.parent), PROJECT),
    "ini": ("pytest.ini", lambda path: settings.find_settings(path.parent), INI),
    "cases": ("data.jsonl", lambda path: bundle_file.load_bundle(path.parent / "bundle.yaml"), CASES),
    "prompt": ("prompt.md", lambda path: bundle_file.load_bundle(path.parent / "bundle.yaml"),
               "{% for x in q %}{{ x|upper }}{% endfor %} {{ q.a[0] }} {# c #}"),
    "output_schema": ("s.json", read_output_schema, SCHEMA),
    "key": ("k.pem", read_key, signatures.pem(signatures.KEY).decode()),
    "request": ("r.http", read_request, REQUEST + CHUNKED),
    "messages": ("m.jsonl", read_messages, MESSAGES),
}  # fmt: skip
"""By name: the file's name, the reader, and a sound document of that kind."""

DOCUMENTED = (
    PlainError,
    pytest.UsageError,
    BundleError,
    comparison.BaselineError,
    deviations.DeviationError,
    MissingAnswer,
)


def inputs(kind: str, number: int, folder: Path) -> Iterator[bytes]:
    """Different files of hostile shape: a sound one with other values, other bytes, or another one altogether."""
    seen: set[bytes] = set()

    def is_new(data: bytes) -> bool:
        before = len(seen)
        seen.add(hashlib.sha256(data).digest())
        return len(seen) > before

    return islice(filter(is_new, _drawn(kind, 10 * number, folder)), number)


def _drawn(kind: str, number: int, folder: Path) -> Iterator[bytes]:
    document = READERS[kind][2]
    if kind in ("bundle", "cases", "prompt"):
        samples.bundle(folder, [{"id": "c", "input": {}, "expected": "t"}])
    if kind == "bundle":
        document = (folder / "bundle.yaml").read_text()
    for seed in range(number):
        chance = random.Random(f"{kind} {seed}")
        if kind in ("transcript", "recording"):
            lines = changed(document, chance) if chance.random() < 0.7 else copy.deepcopy(document)
            data = sealed(lines if isinstance(lines, list) else [lines])
        elif isinstance(document, str):
            data = document.encode()
        elif kind in LISTS:
            lines = changed(document, chance)
            data = b"".join(
                json.dumps(line).encode() + b"\n" for line in (lines if isinstance(lines, list) else [lines])
            )
        else:
            data = json.dumps(changed(document, chance)).encode()
        yield bytes_changed(data, chance) if isinstance(document, str) or chance.random() < 0.35 else data


def fuzz(kind: str, number: int, folder: Path) -> float:
    """Give a reader a number of inputs; return the most seconds of the processor that one of them took."""
    name, reader, _ = READERS[kind]
    path, longest = folder / name, 0.0
    path.parent.mkdir(parents=True, exist_ok=True)
    for at, data in enumerate(inputs(kind, number, folder)):
        path.write_bytes(data)
        began = time.process_time()
        try:
            reader(path)
        except DOCUMENTED:
            pass
        except Exception as error:
            raise AssertionError(f"{kind}, input {at}: {type(error).__name__}: {error}\n{data[:2000]!r}") from error
        longest = max(longest, time.process_time() - began)
    return longest


def measured(kind: str, number: int, folder: str) -> None:
    """Write the most time that an input took, and the most memory of this process."""
    longest = fuzz(kind, number, Path(folder))
    status = Path("/proc/self/status").read_text(encoding="ascii")  # getrusage counts the memory of the parent too
    mib = int(status.split("VmHWM:")[1].split()[0]) // 1024
    sys.stdout.write(json.dumps({"longest_s": round(longest, 2), "mib": mib}))
