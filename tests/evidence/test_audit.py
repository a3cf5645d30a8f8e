"""`pytest-corpus audit`: recorded traffic is judged by what holds for every exchange, a bad file in one sentence."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from cli_runs import call_command

CAPABILITIES = {"op": "llm.capabilities", "ctx": {}, "args": {}}
STREAM = {"op": "llm.stream", "ctx": {}, "args": {"messages": [{"role": "user", "content": "hi"}], "model": "m"}}
COUNT = {"op": "llm.count_tokens", "ctx": {}, "args": {"text": "hi", "model": "m"}}
NDJSON, SSE = "application/x-ndjson; charset=utf-8", "text/event-stream"


def success(result: Any, **more: Any) -> str:
    return json.dumps({"ok": True, "code": "OK", "ms": 1, "result": result, **more})


def chunk(**more: Any) -> str:
    """A frame of a stream."""
    given = {"text": "a", "is_final": False, "model": "m", "usage_so_far": None}
    return json.dumps({"ok": True, "code": "STREAMING", "ms": 1, "chunk": {**given, **more}})


def entry(request: Any, text: str, kind: str = "application/json", **more: Any) -> dict[str, Any]:
    content = {"mimeType": kind, "text": text, **more.pop("content", {})}
    sent = {"postData": {"text": json.dumps(request)}} if request else {}
    return {"time": 40, "request": sent, "response": {"content": content}, **more}


def audited(folder: Path, archive: Any) -> tuple[int, list[str], str]:
    """The exit code, the lines of findings, and the last line or the error."""
    (folder / "a.har").write_text(archive if isinstance(archive, str) else json.dumps({"log": {"entries": archive}}))
    ended = call_command("audit", folder / "a.har", "--component", "llm")
    *found, last = (ended.out or ended.err).splitlines()
    return ended.code, found, last


def test_good_traffic(tmp_path: Path) -> None:
    """Every form of a body is read, and requests of other kinds are left out."""
    whole = chunk() + "\n" + chunk(is_final=True) + "\n"
    events = "".join(f"data: {line}\n\n" for line in whole.splitlines())
    encoded: dict[str, Any] = {
        "content": {"encoding": "base64", "text": base64.b64encode(success(3).encode()).decode()}
    }
    traffic = [
        entry(None, "<html>"), entry(COUNT, success(3)), entry(COUNT, "", **encoded), entry([COUNT], "[]"),
        entry({"op": "vector.query"}, "{}"), entry(STREAM, whole, NDJSON), entry(STREAM, events, SSE),
        entry(COUNT, success(3), time=None),
    ]  # fmt: skip
    code, found, last = audited(tmp_path, traffic)
    assert (code, found) == (0, [])
    assert last == "5 exchanges, 0 findings; there is no verdict, which only a run of the suite gives"


@pytest.mark.parametrize(("given", "expected"), [
    (entry(COUNT, success(-1)), "LLM-TOKENS-1 (MUST) llm.count_tokens: expected a non-negative integer"),
    (entry(COUNT, "7"), "COM-WIRE-3 (MUST) llm.count_tokens: expected a success or an error envelope; got a number"),
    (entry(COUNT, "{}"), "expected a success or an error envelope; got an object with no keys"),
    (entry(COUNT, "<html>"), "COM-WIRE-3 (MUST) llm.count_tokens: expected an answer that is JSON; got an answer"),
    (entry(COUNT, "[" * 5000), "COM-WIRE-3 (MUST) llm.count_tokens: expected an answer that is JSON; got an answer"),
    (entry(COUNT, success(3, ms=None, code="ok")), "got ok (at code)"),
    (entry(COUNT, success(3, ms=9000)), "expected at most 90 ms, because the call took no longer; got 9000 (at ms)"),
    (entry(COUNT, success({"tokens": "\ud800"})), "got a string of 1 character (at result.tokens)"),
    (entry(CAPABILITIES, success(None)), "COM-CAP-1 (MUST) llm.capabilities: expected an object; got nothing"),
    (entry(STREAM, chunk() + "\n", NDJSON), "got the answer ended without a final frame or an error envelope"),
    (entry(STREAM, f"{chunk(is_final=True)}\n{chunk()}\n", NDJSON),
     "COM-STREAM-7 (MUST) llm.stream: expected canonical frames; got frame 2 comes after the terminal frame"),
    (entry(STREAM, "[1]\n" + chunk(is_final=True) + "\n", NDJSON), "got frame 1 is not a JSON object (at frame 1)"),
    (entry(STREAM, f"{chunk()}\n{chunk(is_final=1)}\n{chunk(is_final=True)}\n", NDJSON),
     "got is_final must be boolean, is integer"),
])  # fmt: skip
def test_planted_faults(tmp_path: Path, given: dict[str, Any], expected: str) -> None:
    """A finding names the entry of the archive, the requirement, and what is wrong."""
    code, found, last = audited(tmp_path, [entry(None, "<html>"), given])
    assert code == 1
    assert all(line.startswith("entry 2: ") for line in found)
    assert any(expected in line for line in found), found
    assert last.startswith("1 exchange, ")


@pytest.mark.parametrize(("archive", "said"), [
    ("", "not an HTTP archive (HAR): it has no log with entries"),
    ("[" * 100_000, "not an HTTP archive (HAR): it has no log with entries"),
    ('{"log": {"entries": {}}}', "not an HTTP archive (HAR): its entries are not a list"),
    ([], "no exchange with an operation of llm"),
    ([entry(COUNT, "{}"), {}], "entry 2: not as HAR 1.2 has it, without 'request'"),
    ([{**entry(COUNT, "{}"), "response": {}}], "entry 1: not as HAR 1.2 has it, without 'content'"),
    ([entry(COUNT, "{}", time="soon")], "entry 1: not as HAR 1.2 has it (time: "),
    ([entry(COUNT, "{}", content={"encoding": "base64", "text": "a"})], "entry 1: not as HAR 1.2 has it (I"),
    ([7], "entry 1: not as HAR 1.2 has it ("),
], ids=str)  # fmt: skip
def test_a_file_that_is_not_traffic(tmp_path: Path, archive: Any, said: str) -> None:
    """It is refused in one sentence."""
    code, before, last = audited(tmp_path, archive)
    assert (code, before) == (2, [])
    assert last.startswith(f"pytest-corpus audit: {tmp_path / 'a.har'}")
    assert said in last


def test_a_transcript_is_traffic(recorded: Path) -> None:
    """Findings name the line; what the audit of the run found is found again."""
    ended = call_command("audit", recorded / "t.jsonl", "--component", "llm", "--format", "json")
    found = json.loads(ended.out)["findings"]
    assert ended.code == 1
    assert {(each["requirement"], each["op"]) for each in found} == {("LLM-TOKENS-1", "llm.count_tokens")}
    assert all(each["exchange"].startswith("line ") for each in found)
