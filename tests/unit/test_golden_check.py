"""Checking goldens: each rule finds what breaks it, and nothing else does; `pytest-corpus golden` as it is typed."""

import copy
import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cli_runs import call_command, refusal_of
from hypothesis import given
from hypothesis import strategies as st
from instances import mutated
from tables import apply_changes, read_json_rows

from pytest_corpus import resources
from pytest_corpus.authoring.goldens.invariants import find_broken_rules
from pytest_corpus.golden import CONDITIONS, DERIVATIONS, MAX_BYTES, ROOT_VARIABLE, check, check_text, files
from pytest_corpus.schema_registry import SchemaRegistry
from pytest_corpus.spec.goldens import BY_FILE, GOLDENS
from pytest_corpus.spec.words import OBJECTS

SHIPPED = resources.folder("golden")
COMPLETE = "llm/llm_complete_success.json"
STREAM = "llm/llm_stream.ndjson"

Damage = Callable[[Any], object]


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the shipped goldens; who changes a file restores it."""
    root = tmp_path_factory.mktemp("goldens") / "golden"
    shutil.copytree(SHIPPED, root)
    return root


def found(file: str, damage: Damage) -> list[tuple[str, str]]:
    """Rule and path of each finding of a golden after a change."""
    document = json.loads((SHIPPED / file).read_text())
    damage(document)
    return [(one.rule, one.path) for one in check_text(BY_FILE[file], json.dumps(document).encode())]


QUERY = "vector/vector_query_success.json"

PLANTED: list[tuple[str, str, str, Damage]] = [
    *(
        (rule, file, path, partial(apply_changes, changes=changes))
        for rule, file, path, changes in read_json_rows(Path(__file__).with_name("golden_planted.txt"))
    ),
    ("best-first", QUERY, "result.matches", lambda it: it["result"]["matches"].reverse()),
    ("string-size", "llm/llm_types_message.json", "content", lambda it: it.update(content="\u00e9" * 600_000)),
]


@pytest.mark.parametrize(
    ("rule", "file", "path", "damage"), PLANTED, ids=[f"{row[0]}-{n}" for n, row in enumerate(PLANTED)]
)
def test_a_rule_alone_finds_its_fault(rule: str, file: str, path: str, damage: Damage) -> None:
    """A planted fault is one rule's one finding, at its place."""
    assert found(file, damage) == [(rule, path)]


def test_every_invariant_has_a_planted_fault() -> None:
    """No invariant goes untested, and each names its sentence."""
    assert {rule.name for rule in (*DERIVATIONS, *CONDITIONS)} < {row[0] for row in PLANTED}
    assert all(rule.source and rule.text for rule in (*DERIVATIONS, *CONDITIONS))


@pytest.mark.parametrize(("file", "changes"), read_json_rows(Path(__file__).with_name("golden_allowed.txt")))
def test_what_the_documents_allow_passes(file: str, changes: dict[str, Any]) -> None:
    """Other legal answers, and whatever a user writes freely, are not findings."""
    assert found(file, partial(apply_changes, changes=changes)) == []


STREAMS: tuple[tuple[str, Callable[[list[str]], list[str]], str], ...] = (
    ("json", lambda lines: [], "is empty"),
    ("stream", lambda lines: lines[:-1], "NO_TERMINAL"),
    ("stream", lambda lines: [*lines, lines[0]], "AFTER_TERMINAL"),
    ("stream", lambda lines: [lines[0].replace("STREAMING", "OK"), *lines[1:]], "FRAME_CODE"),
    ("stream", lambda lines: ["{", *lines], "FRAME_JSON"),
    ("stream", lambda lines: [lines[0].replace('"text"', '"txt"'), *lines[1:]], "CHUNK_SCHEMA"),
    ("stream", lambda lines: [*lines[:2], (SHIPPED / "llm/llm_stream_error.ndjson").read_text().splitlines()[-1]],
     "must end with success"),
    ("token-totals", lambda lines: [lines[0].replace('"total_tokens": 23', '"total_tokens": 24'), *lines[1:]],
     "must be 23"),
)  # fmt: skip


@pytest.mark.parametrize(("rule", "damage", "said"), STREAMS, ids=range(len(STREAMS)))
def test_a_stream_that_is_none_is_found(rule: str, damage: Callable[[list[str]], list[str]], said: str) -> None:
    """A golden stream is held to the rules of streams, and its frames to those of documents."""
    lines = damage((SHIPPED / STREAM).read_text().splitlines())
    findings = check_text(BY_FILE[STREAM], "\n".join(lines).encode())
    assert {finding.rule for finding in findings} == {rule}
    assert said in str(findings[0])


@pytest.mark.parametrize(("text", "rule", "said"), [
    (b"", "json", "is empty"),
    (b'{"ok": true, "ok": true}', "json", "appears twice"),
    (b" " * (MAX_BYTES + 1), "size", "is larger than 10 MiB"),
])  # fmt: skip
def test_a_file_that_is_no_json_is_one_line(copied: Path, text: bytes, rule: str, said: str) -> None:
    """An empty, ambiguous or huge golden is one finding in one line."""
    path = copied / COMPLETE
    path.write_bytes(text)
    try:
        (finding,) = check(copied)
        assert (finding.file, finding.rule) == (COMPLETE, rule)
        assert said in finding.message
        assert "\n" not in str(finding)
    finally:
        shutil.copyfile(SHIPPED / COMPLETE, path)


@pytest.mark.parametrize("start", range(5))
def test_a_file_that_is_removed_or_renamed_is_found(start: int, tmp_path: Path) -> None:
    """The name of any golden that is taken away or renamed is a finding, and so is the new name (R41)."""
    root = Path(shutil.copytree(SHIPPED, tmp_path / "golden"))
    renamed = {file: file.replace("/", "/old_") for file in sorted(BY_FILE)[start::5]}
    for file, name in renamed.items():
        (root / file).rename(root / name)
    found = {(finding.rule, finding.file) for finding in check(root)}
    assert found == {("missing", file) for file in renamed} | {("orphaned", name) for name in renamed.values()}
    assert renamed.keys() <= set(files(root))


def test_the_environment_names_the_folder(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CORPUS_GOLDEN_ROOT is honoured, and an argument goes before it; what is not a folder is refused by name."""
    (copied / "llm/llm_new.json").write_text("{}")
    monkeypatch.setenv(ROOT_VARIABLE, str(copied))
    try:
        assert [str(finding.file) for finding in check()] == ["llm/llm_new.json"]
        assert check(SHIPPED) == []
        monkeypatch.setenv(ROOT_VARIABLE, str(copied / "none"))
        with pytest.raises(NotADirectoryError, match="which CORPUS_GOLDEN_ROOT names, is not a folder"):
            check()
    finally:
        (copied / "llm/llm_new.json").unlink()


def test_a_broken_schema_touches_its_goldens_alone(tmp_path: Path) -> None:
    """If a schema file is missing, the goldens that need it say so, and the others are checked."""
    root = tmp_path / "schemas"
    shutil.copytree(resources.folder("schemas"), root)
    (root / "graph/graph.types.id.json").unlink()
    (finding,) = check(SHIPPED, schemas=SchemaRegistry(root))
    assert finding.file == "graph/graph_id_value.json"
    assert "lint them first" in finding.message


def test_a_finding_shows_no_content() -> None:
    """The content of a golden, which may be a user's own, is not repeated."""
    for file in ("llm/llm_types_message.json", "vector/vector_types_vector.json"):
        document = json.loads((SHIPPED / file).read_text())
        document |= {"content": ["sk-secret"], "vector": "sk-secret", "id": {"sk": "sk-secret"}}
        findings = check_text(BY_FILE[file], json.dumps(document).encode())
        assert findings
        assert not any("sk-secret" in str(finding) for finding in findings)


@given(data=st.data())
def test_any_mutation_is_told_in_findings(data: st.DataObject) -> None:
    """Checking any golden ends in findings of one line, never in an exception."""
    golden = data.draw(st.sampled_from([row for row in GOLDENS if not row.is_stream]))
    document = data.draw(mutated(json.loads((SHIPPED / golden.file).read_text())))
    for finding in check_text(golden, json.dumps(document).encode()):
        assert finding.file == golden.file
        assert "\n" not in finding.message


@given(free=st.sampled_from(sorted(OBJECTS)), rule=st.sampled_from(PLANTED))
def test_what_is_written_freely_is_not_judged(free: str, rule: tuple[str, str, str, Damage]) -> None:
    """A broken document below a key of the user's own is not judged."""
    document = json.loads((SHIPPED / rule[1]).read_text())
    rule[3](document)
    held = {free: copy.deepcopy(document)}
    assert [name for name, _, _ in find_broken_rules(held, "llm")] in ([], ["string-size"])


REQUEST = "llm/llm_complete_request.json"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An own copy of the goldens, which the environment names, and an empty current folder."""
    shutil.copytree(SHIPPED, tmp_path / "own")
    (tmp_path / "here").mkdir()
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path / "own"))
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "own"


def test_check_all(tree: Path) -> None:
    """Without files all are checked; fine is 0, and one line."""
    assert call_command("golden", "check") == (0, f"{len(GOLDENS)} files checked: no findings\n", "")


def test_check_finds(tree: Path) -> None:
    """A finding is a line, its count the last, and the exit code 1; JSON says the same."""
    (tree / REQUEST).unlink()
    code, out, _ = call_command("golden", "check")
    assert code == 1
    assert out.splitlines()[0].startswith(f"{REQUEST}: does not exist, but the table")
    assert out.endswith("files checked: 1 finding\n")
    code, out, _ = call_command("golden", "check", "--format", "json")
    (finding,) = json.loads(out)["findings"]
    assert code == 1
    assert (finding["file"], finding["rule"], finding["path"]) == (REQUEST, "missing", "")


@pytest.mark.parametrize("name", [REQUEST, "llm_complete_request.json", "llm_complete_request"])
def test_check_one_by_name(tree: Path, name: str) -> None:
    """A golden may be named by folder and file, by file, or by stem; what else is broken does not matter."""
    (tree / "graph/graph_row.json").unlink()
    assert call_command("golden", "check", name)[:2] == (0, "1 file checked: no findings\n")
    (tree / REQUEST).write_text("{}")
    code, out, _ = call_command("golden", "check", name)
    assert code == 1
    assert f"{REQUEST}: op: is missing" in out


def test_check_a_bad_file_by_path(tree: Path) -> None:
    """Lines about a file that is not a golden begin with the path as it was typed."""
    Path("llm_complete_request.json").write_bytes(b"")
    code, out, err = call_command("golden", "check", "./llm_complete_request.json")
    assert (code, err) == (1, "")
    assert out == "./llm_complete_request.json: is empty [json]\n1 file checked: 1 finding\n"


@pytest.mark.parametrize(("words", "said"), read_json_rows(Path(__file__).with_name("golden_mistakes.txt")))
def test_a_mistake_is_one_sentence(tree: Path, words: list[str], said: str) -> None:
    """A mistake ends with 2 and one line that says what to do; nothing is written."""
    Path("file").write_text("")
    line = refusal_of("golden", *words)
    assert line.startswith("pytest-corpus golden ")
    assert said in line
    assert check(tree) == []


def test_a_schema_that_is_broken_is_one_sentence(tree: Path) -> None:
    """A damaged schemas/ folder is named, not a traceback."""
    Path("schemas/llm").mkdir(parents=True)
    line = refusal_of("golden", "check", "--schemas", "schemas")
    assert line.startswith("pytest-corpus golden check: schemas/")
    assert "there is no such file" in line


def test_generate_one_operation(tree: Path) -> None:
    """`--component llm --operation complete` writes the missing ones of that operation, and keeps the others."""
    kept = (tree / "llm/llm_complete_success.json").read_bytes()
    (tree / REQUEST).unlink()
    (tree / "graph/graph_row.json").unlink()
    code, out, err = call_command("golden", "generate", "--component", "llm", "--operation", "complete")
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == f"wrote {tree / REQUEST}"
    assert "which exists; --force overwrites it" in out
    assert out.endswith("1 written, 1 kept\n")
    assert (tree / "llm/llm_complete_success.json").read_bytes() == kept
    assert [finding.file for finding in check(tree)] == ["graph/graph_row.json"]


def test_generate_into_another_folder(tree: Path) -> None:
    """A new folder is made; all goldens that are written there are sound."""
    assert call_command("golden", "generate", "--output", "deep/new")[0] == 0
    assert check("deep/new") == []
    assert call_command("golden", "generate", "llm_complete_request", "--output", "deep/new", "--force")[1].startswith(
        "wrote "
    )
    assert call_command("golden", "generate", "--operation", "graph.traversal", "--output", "more")[0] == 0
    assert sorted(path.name for path in Path("more/graph").iterdir()) == [
        "graph_traversal_request.json",
        "graph_traversal_success.json",
    ]


def test_diff(tree: Path) -> None:
    """The changes by other schemas are listed golden by golden, with a patch; nothing is written."""
    shutil.copytree(resources.folder("schemas"), "schemas")
    assert call_command("golden", "diff", "--schemas", "schemas") == (0, "0 goldens changed by these schemas\n", "")
    path = Path("schemas/graph/graph.types.id.json")
    document = json.loads(path.read_text())
    document["properties"]["kind"] = {"const": "vertex"}
    document["required"].append("kind")
    path.write_text(json.dumps(document))
    code, out, _ = call_command("golden", "diff", "--schemas", "schemas")
    lines = out.splitlines()
    assert code == 1
    assert lines[0] == "graph/graph_id_value.json is no longer valid under graph.types.id (edition 1.0.0)"
    assert '+  "kind": "vertex"' in lines
    assert lines[-1] == "1 golden changed by these schemas"
    (change,) = json.loads(call_command("golden", "diff", "--schemas", "schemas", "--format", "json")[1])["changes"]
    assert change["file"] == "graph/graph_id_value.json"
    assert check(tree) == []
