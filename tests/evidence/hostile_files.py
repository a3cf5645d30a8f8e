"""Files of strangers: headers, transcripts and reports that name commands and paths, and files of hostile shape."""

import copy
import gzip
import hashlib
import json
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from pytest_corpus.integration.options.table import OPTIONS
from pytest_corpus.spec.transports import CONNECTION

MARKER = "PWNED"

WATCHED = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "socket.connect",
           "socket.bind", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate",
           "os.chmod", "os.chown", "shutil.", "open")  # fmt: skip
WRITING = ("w", "a", "x", "+")


class Watch:
    """The effects of this process on the machine, noted by an audit hook, which stays installed once it is."""

    def __init__(self) -> None:
        self.events: list[tuple[str, tuple[Any, ...]]] = []
        self.on = False
        sys.addaudithook(self.note)

    def note(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.on or not event.startswith(WATCHED):
            return
        if event == "open":
            _, mode, flags = arguments
            if not any(each in (mode or "") for each in WRITING) and not (isinstance(flags, int) and flags & 3):
                return
        self.events.append((event, arguments))


@cache
def watch() -> Watch:
    """The only one of this process."""
    return Watch()


OF_FILES = ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "shutil.")


@contextmanager
def deeds(allowed: Path) -> Iterator[list[str]]:
    """The effects of this process within the block, but for files below a folder; filled at the end."""
    found: list[str] = []
    watch().events, watch().on = [], True
    try:
        yield found
    finally:
        watch().on = False
    found += (f"{event} {given}" for event, given in watch().events if not _is_within(event, given, str(allowed)))


def _is_within(event: str, given: tuple[Any, ...], folder: str) -> bool:
    """True if an event is of files below a folder, or of one that was opened before."""
    if not event.startswith(OF_FILES):
        return False
    if isinstance(given[0], int) or (event in ("os.remove", "os.rmdir") and given[1] != -1):
        return True
    paths = [str(each) for each in given if isinstance(each, str | Path) and "/" in str(each)]
    return bool(paths) and all(each.startswith(folder) for each in paths)


COMMANDS = (f"x=cmd:touch {MARKER}", f"cmd:touch {MARKER}", f"os:system('touch {MARKER}')", f"$(touch {MARKER})",
            f"`touch {MARKER}`", f"'; touch {MARKER}; '", f'"; touch {MARKER}; "', f"a\ntouch {MARKER}\n",
            f"|touch {MARKER}", f"& touch {MARKER} &", "http://127.0.0.1:9/", "grpc://127.0.0.1:9;id",
            f"grpc://h:1;touch {MARKER}", f"ws://h/$(touch {MARKER})", "../../evil.py", "/etc/passwd",
            f"${{IFS}}touch${{IFS}}{MARKER}", f"END\nimport os; os.system('touch {MARKER}')",
            "@/etc/passwd", "-p", "--help", f"/tmp/{MARKER}.html",
            f"\\'; touch {MARKER} #", "!!", "\x00", "\ud800", "\u202e", "\x1b]0;x\x07", "")  # fmt: skip
"""Values that a shell, a program or pytest could take for more than a text."""

VALUES = (
    *COMMANDS, "1", "0", "-1", "3", "2/5", "1e400", "nan", "inf", "9" * 400, "True", "False", "llm", "llm,vector",
    "LLM-*", "must", "should", "SHOULD", "quick", "dev", "ci", "stress", "1.0", "1.0.0", "1.1.0", "0.5", "10", " 2 ",
)  # fmt: skip

NAMES = (
    *(option.name for option in OPTIONS), *CONNECTION, "p", "c", "rootdir", "confcutdir", "x y", "adapter=x", "=",
    "help", "o", "\n", "override-ini", "level=x", "", "__class__", "basetemp", "junitxml",
)  # fmt: skip

SHAPES: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 10**30, -(10**30), 1e308, "", "abc", [], {}, ["a"], {"a": {}}, [[[[]]]], "\ud800",
    {"json_text": "NaN"}, {"json_text": "[" * 100}, {"json_text": 5}, {"base64": "!"}, {"base64": "AA=="},
)  # fmt: skip
"""Values of every type, to stand where another one belongs."""

HEADER = {
    "kind": "header", "format": "1.0", "pytest-corpus": "1.0.0", "catalogue": "1.0", "schema_versions": ["1.1.0"],
    "seed": 7, "run": "abcdefghij", "started_at": "2026-01-01T00:00:00+00:00", "read_only": False,
    "call_timeout_s": 30.0, "options": {"profile": "dev", "edition": "1.0"}, "deviations": "",
    "adapters": [{"label": "a", "declared": "mine:Counts", "capabilities": {}}],
}  # fmt: skip

OF = {"process": "", "adapter": "a", "test": "llm/test_count_tokens_consistency.py::test_it", "repetition": 0}

LINES: tuple[dict[str, Any], ...] = (
    HEADER,
    {"kind": "adapter", "process": "", "adapter": "a", "number": 0, "workers": 1, "declared": "mine:Counts",
     "components": ["llm"], "unnamed": [], "capabilities": {}, "transport": "", "hooks": ["metrics"],
     "asked": ["metrics", "component"], "headers": {"Authorization": "Bearer $TOKEN"}, "hears_logs": True,
     "streams": ["llm"]},
    {"kind": "exchange", **OF, "at": 1.0, "component": "llm", "entry_point": "handle",
     "request": {"op": "llm.count_tokens", "ctx": {"deadline_ms": 1900000000000}, "args": {"text": "hi", "model": "m"}},
     "frames": [{"at_s": 0.1, "size": 9, "body": {"ok": True, "code": "OK", "ms": 1, "result": -1}}], "elapsed_s": 0.2,
     "observations": [{"component": "llm", "op": "count_tokens", "ms": 1, "ok": True}], "logs": ["a text"],
     "counters": [{"component": "llm", "name": "n"}], "headers": ["a: b"], "faults_struck": ["unavailable"],
     "retry_hints_ms": [5], "fault": {"kind": "timeout", "text": "no answer"},
     "arrivals": [{"op": "complete", "facts": {"deadline_ms": 1}}], "hooks": ["metrics"], "generation": 1},
    {"kind": "exchange", **OF, "at": 2.0, "component": "llm", "entry_point": "together",
     "calls": [{"entry_point": "handle", "request": {"op": "llm.health", "ctx": {}, "args": {}}}]},
    {"kind": "exchange", **OF, "at": 3.0, "unresponsive": {"op": "llm.health", "moving": False}},
    {"kind": "test", **OF, "component": "llm", "requirement": "LLM-TOKENS-1", "outcome": "violated", "reason": "",
     "calls": 3, "duration_s": 0.5, "exchanges": 3, "readings": {"": {"clock": [1.0]}},
     "findings": [{"requirement": "LLM-TOKENS-1", "expected": "one", "got": "two", "path": "result",
                   "exchange": {"number": 1}},
                  {"requirement": "LLM-TOKENS-1", "expected": "one", "got": "two", "exchange": {"number": 2},
                   "story": {"said": "a story", "exchanges": [1, 2, 3]}}]},
    {"kind": "totals", "adapter": "a", "calls": {"llm": 3}, "tokens": {}, "settle": {}, "missed": {}, "left": {}},
)  # fmt: skip
"""A small transcript, without its numbers and its last line."""


Lines = list[dict[str, Any]]


def sealed(lines: list[Any]) -> bytes:
    """The text of a transcript whose numbers, counts and digest are right."""
    text = b""
    for number, line in enumerate(lines, 1):
        text += json.dumps({"n": number, **line} if isinstance(line, dict) else line).encode() + b"\n"
    exchanges = sum(isinstance(line, dict) and line.get("kind") == "exchange" for line in lines)
    end = {"n": len(lines) + 1, "kind": "end", "lines": len(lines), "exchanges": exchanges}
    return text + json.dumps({**end, "sha256": hashlib.sha256(text).hexdigest()}).encode() + b"\n"


def header(chance: random.Random) -> list[dict[str, Any]]:
    """The lines of a transcript whose header, and what names things in other lines, are of a stranger."""
    lines = copy.deepcopy(list(LINES))
    for _ in range(chance.choice((0, 1, 1, 1, 2, 3))):
        lines[0]["options"][chance.choice(NAMES)] = chance.choice(VALUES)
    for change in CHANGES:
        if chance.random() < 0.3:
            change(lines, chance.choice(COMMANDS), chance)
    return lines


def write_journal(folder: Path, chance: random.Random) -> None:
    """Write a journal of leftovers of a run whose adapter, place and names are a stranger's."""
    adapter = chance.choice(("pytest_corpus.reference:vector", chance.choice(COMMANDS)))
    lines: list[Any] = [{"run": "abcdefghij", "adapter": adapter, "factory": chance.choice((adapter, *COMMANDS))}]
    for kind in ("namespace", "vector", "node", "edge"):
        place, name = chance.choice((None, *COMMANDS)), chance.choice(("corpusrunabcdefghij1", *COMMANDS))
        lines.append([chance.choice("+-"), chance.choice(("vector", "graph")), place, place, kind, [name]])
    path = folder / ".corpus" / "abcdefghij.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def _label(lines: Lines, text: str, _: random.Random) -> None:
    for line in (lines[0]["adapters"][0], *lines[1:]):
        line["label" if "label" in line else "adapter"] = text


def _declared(lines: Lines, text: str, chance: random.Random) -> None:
    lines[1]["declared"] = lines[0]["adapters"][0]["declared"] = text
    lines[1]["transport"] = chance.choice(("", "http://", "ws://", "grpc://", "cmd:", "zzz"))


def _headers(lines: Lines, text: str, chance: random.Random) -> None:
    lines[1]["headers"] = {chance.choice(("X-Key", text)): chance.choice(("$HOME", "Bearer $PATH", *COMMANDS))}


def _test(lines: Lines, text: str, chance: random.Random) -> None:
    test = chance.choice((text, f"../../{MARKER}.py::test_it", "llm/../../evil.py::test_x"))
    for line in lines[2:-1]:
        line["test"] = test


def _ended(lines: Lines, text: str, chance: random.Random) -> None:
    lines[5][chance.choice(("component", "requirement", "reason"))] = text


def _finding(lines: Lines, text: str, chance: random.Random) -> None:
    lines[5]["findings"][0][chance.choice(("requirement", "expected", "got"))] = text


def _request(lines: Lines, text: str, chance: random.Random) -> None:
    lines[2]["faults_struck"] = [text]
    asked = {"op": chance.choice(("llm.count_tokens", text)), "ctx": {"deadline_ms": 1900000000000, "tenant": text}}
    lines[2]["request"] = chance.choice(({**asked, "args": {text: text}}, {"json_text": text}))


def _member(lines: Lines, text: str, chance: random.Random) -> None:
    lines[0][chance.choice((*HEADER, "dialects", "adapter", "report"))] = chance.choice((*SHAPES, text))


def _deviations(lines: Lines, text: str, _: random.Random) -> None:
    lines[0]["deviations"] = text


CHANGES = (_label, _declared, _headers, _test, _ended, _finding, _request, _member, _deviations)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of each value within a value."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


def put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """A value with another one at a path."""
    if not path:
        return new
    around = value
    for key in path[:-1]:
        around = around[key]
    around[path[-1]] = new
    return value


def changed(document: Any, chance: random.Random) -> Any:
    """A document in which some values are of another type, or gone."""
    document = copy.deepcopy(document)
    for _ in range(chance.choice((1, 1, 2, 4))):
        every = list(places(document))
        path = chance.choice(every)
        if path and chance.random() < 0.25:
            around = document
            for key in path[:-1]:
                around = around[key]
            del around[path[-1]]
        else:
            document = put(document, path, copy.deepcopy(chance.choice(SHAPES)))
    return document


def bytes_changed(data: bytes, chance: random.Random) -> bytes:
    """Bytes of which some were replaced, removed or added, or that are another thing altogether."""
    kind = chance.randrange(6)
    if kind == 0:
        return chance.choice(WHOLE)
    if kind == 1:
        return data[: chance.randrange(len(data) + 1)]
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.choice(PIECES) + data[at + chance.choice((0, 0, 1, 5)) :]


PIECES = (b"", b'"', b"\\", b"[" * 300, b"{" * 300, b"\x00", b"\xff", b"NaN", b"1e999", b"-Infinity", b"9" * 5000,
          b"\n", b"\r\n", b'"\\ud800"', b"[" * 3000, b"'", b"= ", b"1979-05-27T07:32:00Z", b"[[[[", b"]")  # fmt: skip

WHOLE = (b"", b"\n", b"null", b"[]", b"{}", b'"a":' + b"[" * 200_000, b"[" * 200_000, b'{"a":' * 50_000, b"NaN",
         b"1" * 5000, b"\xef\xbb\xbf{}", b"\xff\xfe{\x00", b"\x1f\x8b", gzip.compress(b"{}"), b'"' + b'\\"' * 100_000,
         b"[" * 300 + b'"' + b'\\"' * 100_000, b"a = " + b"[" * 5000, b"a = " + b"9" * 5000, b"---\n" + b"- " * 5000,
         json.dumps([{}] * 50_000).encode())  # fmt: skip
"""Whole files of hostile shape."""

Reader = Callable[[Path], object]
