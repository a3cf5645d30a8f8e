"""Checking goldens: each rule finds what breaks it, and nothing else does; the shipped goldens are clean."""

import copy
import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import mutated
from tables import documents, patched

from pytest_corpus import resources
from pytest_corpus.authoring.goldens.invariants import broken
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


def test_the_shipped_goldens_are_clean() -> None:
    """Every shipped golden passes every check."""
    assert check(SHIPPED) == []


QUERY = "vector/vector_query_success.json"

PLANTED: list[tuple[str, str, str, Damage]] = [
    *(
        (rule, file, path, partial(patched, changes=changes))
        for rule, file, path, changes in documents(Path(__file__).with_name("golden_planted.txt"))
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


@pytest.mark.parametrize(("file", "changes"), documents(Path(__file__).with_name("golden_allowed.txt")))
def test_what_the_documents_allow_passes(file: str, changes: dict[str, Any]) -> None:
    """Other legal answers, and whatever a user writes freely, are not findings."""
    assert found(file, partial(patched, changes=changes)) == []


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
    (b" " * (MAX_BYTES + 1), "size", "are the most"),
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


@pytest.mark.parametrize("file", sorted(BY_FILE))
def test_a_file_that_is_removed_or_renamed_is_found(file: str, copied: Path) -> None:
    """The name of any golden that is taken away or renamed is a finding, and so is the new name (R41)."""
    path = copied / file
    renamed = path.with_name(f"old_{path.name}")
    path.rename(renamed)
    try:
        moved = {(finding.rule, finding.file) for finding in check(copied)}
        assert moved == {("missing", file), ("orphaned", renamed.relative_to(copied).as_posix())}
        assert file in files(copied)
    finally:
        renamed.rename(path)


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
    assert [name for name, _, _ in broken(held, "llm")] in ([], ["string-size"])
