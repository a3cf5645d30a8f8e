"""`pytest-corpus schema`: list, stats, show, lint and validate."""

import gzip
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from cli_runs import call_command, refusal_of, run_command
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_corpus import resources
from pytest_corpus.commands import CommandError
from pytest_corpus.commands._files import MAX_BYTES
from pytest_corpus.commands._validate import schema_for
from pytest_corpus.commands.schema import FOLDERS
from pytest_corpus.schema_registry import registry
from pytest_corpus.spec.goldens import GOLDENS
from pytest_corpus.spec.operations import OPERATIONS
from pytest_corpus.spec.schemas import BASE_URI, LATEST, SCHEMA_VERSIONS, SCHEMAS

GOLDEN = resources.folder("golden")
REQUEST = GOLDEN / "llm/llm_complete_request.json"
BAD = {"op": "llm.complete", "ctx": {}, "args": {"messages": [{"role": "asistant", "content": "a secret"}]}}


def written(path: Path, value: Any) -> Path:
    path.write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
    return path


@pytest.mark.parametrize("edition", SCHEMA_VERSIONS)
def test_list_has_every_schema_of_an_edition(edition: str) -> None:
    """`list --schema-version` has one line for each schema that the edition knows, with its file there."""
    ended = call_command("schema", "list", "--schema-version", edition)
    expected = [(schema.name, schema.file(edition)) for schema in SCHEMAS if edition in schema.editions]
    _, *rows, total = ended.out.splitlines()
    assert [(row.split()[0], row.split()[-1]) for row in rows] == expected
    assert total == f"{len(expected)} schemas in {registry().root}"
    assert ended.code == 0


@pytest.mark.parametrize("component", FOLDERS)
def test_list_of_one_component(component: str) -> None:
    """`list --component` leaves the others out, and as JSON gives what resolves to the same files."""
    shown = json.loads(call_command("schema", "list", "--component", component, "--format", "json").out)
    assert [row["name"] for row in shown["schemas"]] == [s.name for s in SCHEMAS if s.component == component]
    assert all(row["id"] == BASE_URI + row["file"] and not row["missing"] for row in shown["schemas"])
    assert shown["edition"] == LATEST


def test_stats_add_up() -> None:
    """`stats` counts the files, bytes and goldens that there are, and its total is their sum."""
    shown = json.loads(call_command("schema", "stats", "--format", "json").out)
    files = [path for path in registry().root.rglob("*.json") if path.parent.name in FOLDERS]
    assert shown["total"]["files"] == len(files)
    assert shown["total"]["bytes"] == sum(path.stat().st_size for path in files)
    assert shown["total"]["goldens"] == len(GOLDENS)
    for key, total in shown["total"].items():
        assert total == sum(row[key] for row in shown["components"].values())
    text = call_command("schema", "stats").out
    assert f"{shown['total']['bytes']:,}" in text.splitlines()[-1]


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.name)
def test_show_prints_the_file(schema: Any) -> None:
    """`show` prints a schema as it lies in its file, in each edition that has it."""
    for edition in schema.editions:
        ended = call_command("schema", "show", schema.name, "--schema-version", edition)
        assert ended.out == (registry().root / schema.file(edition)).read_text(encoding="utf-8")


def test_show_resolved_needs_no_other_schema() -> None:
    """With `--resolved` one document decides on every golden as the registry does, without any other."""
    import jsonschema

    for golden in GOLDENS:
        if golden.is_stream:
            continue
        value = json.loads((GOLDEN / golden.file).read_bytes())
        document = json.loads(call_command("schema", "show", golden.schema, "--resolved").out)
        validator = jsonschema.Draft202012Validator(document)
        assert validator.is_valid(value)
        assert not validator.is_valid([value, 1])
        assert all(uri == inner["$id"] for uri, inner in document.get("$defs", {}).items() if uri.startswith(BASE_URI))


@pytest.mark.parametrize(("argv", "said"), [
    (["show", "llm.envelop.request"], "did you mean llm.envelope.request"),
    (["show", "nothing like it"], "pytest-corpus schema list shows them"),
    (["show", "vector.query.request", "--schema-version", "1.0.0"], "exists in 1.1.0"),
    (["check", "--schema", "llm.chunk.types", REQUEST], "there is no schema 'llm.chunk.types'"),
    (["check", "-", "-"], "name - once"),
])  # fmt: skip
def test_a_wrong_name_is_one_line(argv: list[object], said: str) -> None:
    """A name that does not exist ends with 2, one line, and what to do."""
    assert said in refusal_of("schema", *argv)


def test_another_root_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`CORPUS_SCHEMAS_ROOT` names the folder that is listed and checked with; what lacks there is said (SCHEMA 9.1)."""
    shutil.copytree(registry().root, tmp_path / "schemas")
    monkeypatch.setenv("CORPUS_SCHEMAS_ROOT", str(tmp_path / "schemas"))
    assert call_command("schema", "list").out.endswith(f"in {tmp_path / 'schemas'}\n")
    (tmp_path / "schemas/llm/llm.types.chunk.v1.1.json").unlink()
    ended = call_command("schema", "list")
    assert ended.code == 1
    assert [line.split()[0] for line in ended.out.splitlines() if line.endswith("  missing")] == ["llm.types.chunk"]
    assert json.loads(call_command("schema", "stats", "--format", "json").out)["components"]["llm"]["missing"] == 1
    (tmp_path / "schemas/llm/llm.complete.request.v1.1.json").write_text("{")
    ended = call_command("schema", "check", REQUEST)
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert "llm.complete.request.v1.1.json" in ended.err


def test_a_root_that_is_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """A `CORPUS_SCHEMAS_ROOT` that does not exist is one line that names it."""
    monkeypatch.setenv("CORPUS_SCHEMAS_ROOT", "/no/such/folder")
    for argv in (["list"], ["stats"]):
        assert "CORPUS_SCHEMAS_ROOT=/no/such/folder" in refusal_of("schema", *argv)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.op)
def test_a_request_is_told_by_its_op(operation: Any) -> None:
    """A request is held to its operation's schema, or where the edition has none to the component's envelope."""
    for edition in SCHEMA_VERSIONS:
        told = schema_for("any.json", {"op": operation.op}, edition)
        assert told in (operation.request, f"{operation.component}.envelope.request")
        assert told in registry().list_schemas(edition)
    assert schema_for("any.json", {"op": operation.op}, None) == operation.request


def test_all_goldens_are_told_and_valid() -> None:
    """`validate` on the golden folder finds a schema for every document and none that is not valid."""
    ended = call_command("schema", "check", GOLDEN, "--format", "json")
    shown = json.loads(ended.out)
    assert (ended.code, shown["valid"], shown["invalid"], shown["unreadable"]) == (0, True, 0, 0)
    assert len(shown["files"]) == len(GOLDENS)
    assert all(found["schemas"] for found in shown["files"])


@pytest.mark.parametrize(("value", "said"), [
    ({"ok": True, "code": "OK", "ms": 1, "result": {}}, "does not say which operation it answers"),
    ({"ok": True, "code": "STREAMING", "ms": 1, "chunk": {}}, "stream check"),
    ({"event": "data", "data": {}}, "stream check"),
    ({"$schema": "https://json-schema.org/draft/2020-12/schema"}, "is a schema"),
    ({"op": "llm.complet"}, "did you mean llm.complete?"),
    ({"op": "sk-abcdefgh12345678"}, "a string of 19 characters"),
    ({"text": "x"}, "nothing says which message it is"),
    ([], "nothing says which message it is"),
    (None, "nothing says which message it is"),
])  # fmt: skip
def test_nothing_is_guessed(value: Any, said: str) -> None:
    """If nothing tells the schema, that is said with the option that names it."""
    with pytest.raises(CommandError) as refused:
        schema_for("some.json", value, None)
    assert said in str(refused.value)
    assert "--schema NAME" in str(refused.value)


def test_an_error_envelope_is_told(tmp_path: Path) -> None:
    """Error envelopes are the same for all components, so none has to be named (SCHEMA 3.1)."""
    path = written(tmp_path / "e.json", {"ok": False, "code": "UNAVAILABLE", "error": "Unavailable", "message": "x"})
    ended = call_command("schema", "check", path)
    assert (ended.code, ended.err) == (1, "")
    assert "not a valid common.envelope.error" in ended.out
    assert "ms is missing" in ended.out


def test_a_refusal_says_what_is_wrong(tmp_path: Path) -> None:
    """A finding shows schema, edition, path, rule, the near choice, the rule's place and a golden; no content."""
    path = written(tmp_path / "bad.json", BAD)
    ended = call_command("schema", "check", path)
    assert ended.code == 1
    first, problem, compare = ended.out.splitlines()
    assert first == f"{path}: not a valid llm.complete.request (edition 1.1.0)"
    assert problem.startswith("  args.messages.0.role must be ")
    assert "did you mean assistant? [enum in llm/llm.types.message.v1.1.json#/properties/role/enum]" in problem
    assert compare == "  compare with golden/llm/llm_complete_request.json"
    assert "a secret" not in ended.out


def test_a_refusal_as_json(tmp_path: Path) -> None:
    """`--format json` gives the same in parts, in one document."""
    ended = call_command("schema", "check", written(tmp_path / "bad.json", BAD), REQUEST, "--format", "json")
    shown = json.loads(ended.out)
    assert (ended.code, ended.err) == (1, "")
    assert [found["valid"] for found in shown["files"]] == [False, True]
    (finding,) = shown["files"][0]["findings"]
    assert (finding["schema"], finding["edition"]) == ("llm.complete.request", "1.1.0")
    assert finding["golden"] == "llm/llm_complete_request.json"
    assert finding["problems"][0]["path"] == "args.messages.0.role"
    assert finding["problems"][0]["rule"] == "enum"


def test_a_valid_file_is_said_to_be_so() -> None:
    """One file alone, and with `--verbose` each, is named with the schema that it meets."""
    assert call_command("schema", "check", REQUEST).out == f"{REQUEST}: valid llm.complete.request (edition 1.1.0)\n"
    pinned = call_command("schema", "check", "--schema-version", "1.0.0", REQUEST).out
    assert pinned.endswith("valid llm.complete.request (edition 1.0.0)\n")
    assert call_command("schema", "check", REQUEST, REQUEST).out == "2 files, 2 documents, 0 not valid\n"
    assert call_command("schema", "check", "-v", REQUEST, REQUEST).out.count(": valid llm.complete.request") == 2


def test_the_named_schema_decides(tmp_path: Path) -> None:
    """`--schema` is taken at its word, by short name, file name and `$id`, whatever the message says."""
    for name in ("llm.types.message", "llm.types.message.json", f"{BASE_URI}llm/llm.types.message.json"):
        assert call_command("schema", "check", "--schema", name, REQUEST).code == 1
        message = written(tmp_path / "m.json", {"role": "user", "content": "x"})
        assert call_command("schema", "check", "--schema", name, message).code == 0


def test_lines(tmp_path: Path) -> None:
    """Of a file with a document a line each is judged, and findings name their line; blank lines are none."""
    good = json.dumps(json.loads(REQUEST.read_bytes()))
    lines = f"{good}\n\n{json.dumps(BAD)}\r\n{{\n{good}".encode()
    ended = call_command("schema", "check", written(tmp_path / "x.ndjson", lines))
    assert ended.code == 1
    found = [line for line in ended.out.splitlines() if line.startswith(str(tmp_path))]
    assert [line.partition(": ")[0].rpartition(":")[2] for line in found] == ["3", "4"]
    assert ended.out.endswith("1 file, 4 documents, 2 not valid\n")
    named = call_command("schema", "check", "--lines", written(tmp_path / "x.txt", lines), "--format", "json")
    assert [finding["line"] for finding in json.loads(named.out)["files"][0]["findings"]] == [3, 4]


def test_a_folder_stands_for_its_files(tmp_path: Path) -> None:
    """Below a folder all JSON files count, in order; hidden ones, other files and links to folders do not."""
    (tmp_path / "b/.hidden").mkdir(parents=True)
    for name in ("b/two.json", "a.jsonl", "b/.hidden/no.json", ".no.json", "b/no.txt"):
        written(tmp_path / name, BAD)
    (tmp_path / "b/again").symlink_to(tmp_path)
    shown = json.loads(call_command("schema", "check", tmp_path, "--format", "json").out)
    assert [found["file"] for found in shown["files"]] == [str(tmp_path / "a.jsonl"), str(tmp_path / "b/two.json")]


def test_many_problems_are_counted(tmp_path: Path) -> None:
    """Of a document with more problems than `--max-errors` the others are counted."""
    path = written(tmp_path / "v.json", {"id": "a", "vector": ["x"] * 9})
    ended = call_command("schema", "check", "--schema", "vector.types.vector", "--max-errors", 2, path)
    assert len([line for line in ended.out.splitlines() if line.startswith("  vector.")]) == 2
    assert "and 7 more" in ended.out


NO_JSON = {
    "empty": (b"", "is empty"),
    "blank": (b" \n\t", "holds nothing but white space"),
    "binary": (b"\x7fELF\x00\x01", "is binary, not JSON: byte 5 is NUL"),
    "truncated": (REQUEST.read_bytes()[:60], "ends in the middle of the JSON document, after 60 bytes"),
    "latin-1": (b'{\n"a": "\xe9"}', "is not UTF-8 at byte 9, in line 2"),
    "utf-16": ('{"a": 1}'.encode("utf-16"), "is UTF-16; save it as UTF-8"),
    "gzip": (gzip.compress(b"{}", mtime=0), "is compressed with gzip"),
    "byte order mark": (b"\xef\xbb\xbf{}", "begins with a byte order mark"),
    "key twice": (b'{"a": 1, "b": {"c": 1, "c": 2}}', "b.c appears twice in one object"),
    "deep": (b"[" * 9999 + b"]" * 9999, "is nested deeper than 200 levels"),
    "NaN": (b'{"a": NaN}', "a is not finite"),
    "syntax": (b'{"a": 1,\n "b" 2}', "at line 2, column"),
    "two": (b'{"a": 1}\n{"b": 2}\n', "use --lines"),
}


@pytest.mark.parametrize("kind", NO_JSON)
@pytest.mark.parametrize("name", ["x.json", "-"])
def test_a_file_that_is_no_json_is_one_line(kind: str, name: str, tmp_path: Path) -> None:
    """A file without sound JSON is a finding of one line, which says why and where; from stdin too."""
    data, said = NO_JSON[kind]
    file = written(tmp_path / name, data) if name != "-" else name
    ended = run_command("schema", "check", file, stdin=data) if name == "-" else call_command("schema", "check", file)
    assert (ended.code, ended.err, ended.out.count("\n")) == (1, "", 1)
    assert ended.out.startswith(f"{'stdin' if name == '-' else file}: ")
    assert said in ended.out


@pytest.mark.parametrize("command", [("schema", "check"), ("stream", "check", "--component", "llm")])
@pytest.mark.parametrize(
    ("name", "said"),
    [("missing.json", "there is no such file"), ("a\x1b[2J.json", "a\\x1b[2J.json: there is no such file")],
)
def test_a_file_that_is_not_there(command: tuple[str, ...], name: str, said: str) -> None:
    """A file that does not exist is a usage error of one line, in which no name moves the cursor."""
    ended = call_command(*command, name)
    assert (ended.code, ended.out.count("\n"), ended.err.count("\n")) == (2, 0, 1)
    assert said in ended.err
    assert "\x1b" not in ended.err


def test_a_folder_without_json(tmp_path: Path) -> None:
    """A folder in which there is nothing to check is said to be so, and the other arguments are checked."""
    ended = call_command("schema", "check", tmp_path, REQUEST)
    assert ended.code == 2
    assert f"{tmp_path}: there is no .json, .ndjson or .jsonl file" in ended.err
    assert ended.out == "2 files, 1 document, 0 not valid, 1 file could not be checked\n"


def test_the_others_are_checked(tmp_path: Path) -> None:
    """One file that cannot be read keeps no other from being checked, and the exit code is 2."""
    bad = written(tmp_path / "bad.json", BAD)
    ended = call_command("schema", "check", tmp_path / "no.json", bad, REQUEST)
    assert ended.code == 2
    assert f"{bad}: not a valid" in ended.out
    assert ended.out.endswith("3 files, 2 documents, 1 not valid, 1 file could not be checked\n")


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    """A document above the limit is refused with the limit and what to do; a line of it does not stop the others."""
    huge = tmp_path / "huge.json"
    with huge.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    line = refusal_of("schema", "check", huge)
    assert "measures more than 64.0 MiB" in line
    assert "--max-bytes" in line
    lines = written(tmp_path / "x.ndjson", b" " * 4000 + b"\n" + json.dumps(BAD).encode())
    ended = call_command("schema", "check", "--max-bytes", 1000, lines)
    assert ended.code == 1
    assert ended.out.startswith(f"{lines}:1: measures more than 1000 bytes")
    assert f"{lines}:2: not a valid" in ended.out


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
def test_a_file_without_end() -> None:
    """A device is not read, whether it is taken for one document or for lines; the output of a program is."""
    for more in ((), ("--lines",)):
        ended = call_command("schema", "check", *more, "--max-bytes", 100_000, "/dev/zero")
        assert (ended.code, ended.err.count("\n")) == (2, 1)
    reading, writing = os.pipe()
    os.write(writing, REQUEST.read_bytes())
    os.close(writing)
    ended = call_command("schema", "check", f"/dev/fd/{reading}")
    os.close(reading)
    assert ended.code == 0, ended


@given(st.binary(max_size=60) | st.text(alphabet='{}[]",:1ab\\ \n', max_size=30).map(str.encode))
@example(b'{"op": 1}')
@example(b'"\\ud800"')
@example(b"1e999")
def test_no_file_brings_it_down(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    """Whatever a file holds, the answer is one JSON document and an exit code that agrees with it."""
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_bytes(data)
    for more in ([], ["--lines"], ["--schema", "common.operation_context"]):
        ended = call_command("schema", "check", path, "--format", "json", *more)
        shown = json.loads(ended.out)
        expected = 2 if shown["unreadable"] else 1 if shown["invalid"] else 0
        assert ended.code == expected
        assert shown["valid"] == (expected == 0)


def test_lint_says_what_is_wrong_with_a_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`schema lint` ends with 0 on the shipped schemas, with 1 and a line of a missing file, and with 2 on a slip."""
    assert call_command("schema", "lint").out.endswith("checked: no findings\n")
    root = tmp_path / "schemas"
    shutil.copytree(resources.folder("schemas"), root)
    (root / "llm" / "llm.types.message.json").unlink()
    monkeypatch.setenv("CORPUS_SCHEMAS_ROOT", str(root))
    ended = call_command("schema", "lint", "--rule", "missing")
    assert (ended.code, "llm/llm.types.message.json: does not exist" in ended.out) == (1, True)
    ended = call_command("schema", "lint", "--rule", "nothing")
    assert (ended.code, "there is no rule 'nothing'; use missing, " in ended.err) == (2, True)
