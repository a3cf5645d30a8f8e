"""The schema linter: each rule finds what breaks it, and nothing else does; the shipped tree is clean."""

import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cli_runs import run_process
from hypothesis import given
from hypothesis import strategies as st
from tables import apply_changes, read_json_rows

from pytest_corpus import resources
from pytest_corpus.authoring.schema_rules import find_match
from pytest_corpus.schema_lint import RULES, files, lint
from pytest_corpus.schema_registry import ROOT_VARIABLE
from pytest_corpus.spec.schemas import BASE_URI, DIALECT, SCHEMAS, SchemaFile
from pytest_corpus.validation.schema.files import SchemaTable

SHIPPED = resources.folder("schemas")
CHUNK = "llm/llm.types.chunk.json"
MESSAGE = "llm/llm.types.message.json"
EMBEDDED_CHUNK = "embedding/embedding.types.chunk.json"
UNCHANGED = "llm/llm.response_format.json"

Document = dict[str, Any]
Damage = Callable[[Document], object]


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the shipped tree; who changes a file restores it."""
    root = tmp_path_factory.mktemp("lint") / "schemas"
    shutil.copytree(SHIPPED, root)
    return root


@pytest.fixture
def damaged(copied: Path) -> Iterator[Callable[[str, Damage], Path]]:
    """Changes documents of the copy; they are as they were after the test."""
    changed: list[str] = []

    def change(file: str, damage: Damage) -> Path:
        changed.append(file)
        document = json.loads((SHIPPED / file).read_text())
        damage(document)
        (copied / file).write_text(json.dumps(document))
        return copied

    yield change
    for file in changed:
        shutil.copyfile(SHIPPED / file, copied / file)


def found(root: Path) -> list[tuple[str, str, str]]:
    """Rule, file and path of each finding."""
    return [(finding.rule, finding.file, finding.path) for finding in lint(root)]


def ref(target: str) -> Damage:
    """A property with a reference."""
    return lambda it: it["properties"].update(x={"$ref": target})


def only_each_other(it: Document) -> None:
    """Two definitions of which one refers to the other, and nothing to that."""
    it["$defs"] = {"Inner": {"type": "string"}, "Outer": {"items": {"$ref": "#/$defs/Inner"}}}


PLANTED = read_json_rows(Path(__file__).with_name("lint_planted.txt"))


@pytest.mark.parametrize(
    ("rule", "file", "path", "changes"), PLANTED, ids=[f"{row[0]}-{n}" for n, row in enumerate(PLANTED)]
)
def test_a_rule_alone_finds_its_fault(
    rule: str, file: str, path: str, changes: dict[str, Any], damaged: Callable[[str, Damage], Path]
) -> None:
    """A planted fault is one rule's finding, at its place, and no other's."""
    findings = found(damaged(file, partial(apply_changes, changes=changes)))
    assert {one for one, _, _ in findings} == {rule}
    assert path in {where for _, _, where in findings}
    assert rule == "cycle" or file in {where for _, where, _ in findings}


def test_a_file_that_rests_on_a_replaced_type_needs_a_successor(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A schema of edition 1.0.0 that stands for 1.1.0 too is found where 1.1.0 has another file of what it rests on."""
    elder = SchemaFile("llm", "llm.stream.frame.data", ("1.0.0",))
    table = tuple(elder if schema.name == elder.name else schema for schema in SCHEMAS)
    monkeypatch.setattr("pytest_corpus.authoring.tree.table_of", lambda root: SchemaTable(table))
    findings = [finding for finding in lint(copied, rules=["edition"]) if finding.file == elder.file()]
    assert [finding.path for finding in findings] == ["/properties/data/$ref"]
    assert f"{CHUNK} is not the file of edition 1.1.0" in findings[0].message


def test_every_rule_has_a_planted_fault() -> None:
    """No rule goes untested; those of files and of reachability have tests of their own."""
    assert {row[0] for row in PLANTED} | {"missing", "orphaned", "size", "json", "reachable"} == set(RULES)


def test_definitions_that_only_use_each_other_are_dangling(damaged: Callable[[str, Damage], Path]) -> None:
    """A definition that only an unused one refers to is unused."""
    findings = found(damaged(CHUNK, only_each_other))
    assert findings == [("dangling", CHUNK, "/$defs/Inner"), ("dangling", CHUNK, "/$defs/Outer")]


def test_a_schema_that_nothing_uses_is_not_reachable(damaged: Callable[[str, Damage], Path]) -> None:
    """A file of the table to which the last reference is gone is a finding."""
    spec, root = "llm/llm.types.completion_spec.json", SHIPPED
    for file in sorted(path.relative_to(SHIPPED).as_posix() for path in SHIPPED.rglob("*.json")):
        if BASE_URI + spec in json.dumps({**json.loads((SHIPPED / file).read_text()), "$id": ""}):
            root = damaged(file, lambda it: it["allOf"].pop())
    assert [one for one in found(root) if one[0] != "widens"] == [("reachable", spec, "")]


@pytest.mark.parametrize(("file", "changes"), read_json_rows(Path(__file__).with_name("lint_allowed.txt")))
def test_what_json_schema_allows_passes(
    file: str, changes: dict[str, Any], damaged: Callable[[str, Damage], Path]
) -> None:
    """Annotations, data that looks like a schema, relative references, anchors and plain patterns are fine."""
    root = damaged(file, partial(apply_changes, changes=changes))
    assert lint(root, rules=RULES.keys() - {"widens"}) == []


def test_a_name_with_a_slash_is_followed(damaged: Callable[[str, Damage], Path]) -> None:
    """References into names that JSON pointers escape resolve."""
    root = damaged(CHUNK, lambda it: it["properties"].update({"a/b~c": {}, "x": {"$ref": "#/properties/a~1b~0c"}}))
    assert {(finding.rule, finding.file) for finding in lint(root, rules=["naming", "ref"])} == {("naming", CHUNK)}


def rounds(rows: list[tuple[str, dict[str, Any]]]) -> list[dict[str, dict[str, Any]]]:
    """The changes by file, each of one file in another round: a lint of the tree judges a round."""
    found: list[dict[str, dict[str, Any]]] = []
    for file, changes in rows:
        place = next((each for each in found if file not in each), None)
        if place is None:
            found.append(place := {})
        place[file] = changes
    return found


@pytest.mark.parametrize("changed", rounds(read_json_rows(Path(__file__).with_name("lint_narrowed.txt"))), ids=len)
def test_a_later_edition_that_narrows_is_found(
    changed: dict[str, dict[str, Any]], damaged: Callable[[str, Damage], Path], copied: Path
) -> None:
    """Each way in which edition 1.1.0 refuses what 1.0.0 accepts is a finding in the file with the rule."""
    for file, changes in changed.items():
        damaged(file, partial(apply_changes, changes=changes))
    assert {finding.file for finding in lint(copied, rules=["widens"])} == changed.keys()


def shared_properties(elder: str, newer: str) -> set[str]:
    """The properties that both files have at the top."""
    first, second = (json.loads((SHIPPED / file).read_text()).get("properties", {}) for file in (elder, newer))
    return first.keys() & second.keys()


def forbid(names: set[str], it: Document) -> None:
    """No value of these properties is valid any more."""
    it["properties"] |= {name: {"not": {}} for name in names}


@pytest.mark.slow
def test_no_property_can_be_narrowed_unseen(damaged: Callable[[str, Damage], Path]) -> None:
    """Every property of every schema that edition 1.1.0 changed: to forbid it is found, at its place."""
    unseen, seen = [], 0
    for schema in SCHEMAS:
        names = shared_properties(schema.files[0], schema.files[-1]) if len(schema.own) > 1 else set()
        if not names:
            continue
        file = schema.files[-1]
        root = damaged(file, partial(forbid, names))
        findings = {finding.path for finding in lint(root, rules=["widens"]) if finding.file == file}
        unseen += [f"{file}: {name}" for name in names if f"/properties/{name}/not" not in findings]
        seen += len(names)
        damaged(file, lambda it: None)
    assert unseen == []
    assert seen > 80


BROKEN_FILES: tuple[tuple[str, bytes, str], ...] = (
    ("json", b"", "is empty"),
    ("json", b"{", "is not JSON"),
    ("json", b"[]", "is not a JSON object"),
    ("json", b'{"title": "\xff"}', "is not UTF-8 at byte 12"),
    ("json", b'{"a": 1, "a": 2}', "appears twice"),
    ("size", b" " * (5 * 1024 * 1024 + 1), "is larger than 5 MiB"),
)


@pytest.mark.parametrize(("rule", "text", "said"), BROKEN_FILES, ids=range(len(BROKEN_FILES)))
def test_a_file_that_is_no_json_is_one_finding(
    rule: str, text: bytes, said: str, damaged: Callable[[str, Damage], Path]
) -> None:
    """An empty, truncated, huge or ambiguous file is one finding in one line, whatever refers to it."""
    root = damaged(MESSAGE, lambda it: None)
    (root / MESSAGE).write_bytes(text)
    (finding,) = lint(root)
    assert (finding.rule, finding.file) == (rule, MESSAGE)
    assert said in finding.message
    assert "\n" not in str(finding)


@pytest.mark.parametrize("name", ["notes.txt", "llm/llm.new.yaml"])
def test_a_stray_file_is_orphaned(name: str, copied: Path) -> None:
    """A file that is not a schema is one finding; hidden files are ignored."""
    stray, hidden = copied / name, copied / ".DS_Store"
    stray.write_text("{}")
    hidden.write_text("")
    try:
        assert found(copied) == [("orphaned", name, "")]
        assert name in files(copied)
    finally:
        stray.unlink()
        hidden.unlink()


@pytest.mark.parametrize("name", ["llm/llm.new.json", "llm.types.chunk.json", "llm/a/b.json", "own/own.types.x.json"])
def test_a_new_schema_is_linted_as_the_others(name: str, copied: Path) -> None:
    """A schema of one's own below the root is held to the rules, wherever it lies (SCHEMA 6.1)."""
    new = copied / name
    new.parent.mkdir(exist_ok=True)
    sound = {"$schema": DIALECT, "$id": BASE_URI + name, "title": "New", "$ref": BASE_URI + UNCHANGED}
    try:
        new.write_text(json.dumps(sound))
        assert found(copied) == []
        assert name in files(copied)
        new.write_text(json.dumps({**sound, "$ref": BASE_URI + CHUNK, "properties": {"x": {"pattern": "("}}}))
        assert {(rule, file) for rule, file, _ in found(copied)} == {("pattern", name), ("edition", name)}
        new.write_text("{}")
        assert {(rule, file) for rule, file, _ in found(copied)} == {(rule, name) for rule in ("draft", "id", "naming")}
    finally:
        new.unlink()


def test_the_shipped_tree_has_the_files_of_the_table_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the tree that is shipped a new file needs its row."""
    root = tmp_path / "schemas"
    shutil.copytree(SHIPPED, root)
    (root / "llm" / "llm.new.json").write_text("{}")
    monkeypatch.setattr("pytest_corpus.validation.schema.files._shipped_root", lambda: root)
    assert found(root) == [("orphaned", "llm/llm.new.json", "")]


@pytest.mark.parametrize("start", range(8))
def test_a_file_that_is_removed_or_renamed_is_found(start: int, tmp_path: Path) -> None:
    """Each file that is taken away is a finding by its name; if it is renamed, the new name is another."""
    gone, root = files(SHIPPED)[start::8], Path(shutil.copytree(SHIPPED, tmp_path / "schemas"))
    renamed = {file: file.replace(".json", ".old.json") for file in gone}
    for file, name in renamed.items():
        (root / file).rename(root / name)
    moved = {(finding.rule, finding.file) for finding in lint(root, rules=["missing", "id"])}
    assert moved == {("missing", file) for file in gone} | {("id", name) for name in renamed.values()}
    for name in renamed.values():
        (root / name).unlink()
    assert [finding.file for finding in lint(root, rules=["missing", "orphaned"])] == list(gone)
    assert set(gone) <= set(files(root))


def test_the_environment_names_the_tree(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CORPUS_SCHEMAS_ROOT is honoured, and an argument goes before it."""
    path = copied / CHUNK
    path.unlink()
    monkeypatch.setenv(ROOT_VARIABLE, str(copied))
    try:
        assert [finding.file for finding in lint()] == [CHUNK]
        assert lint(SHIPPED) == []
    finally:
        shutil.copyfile(SHIPPED / CHUNK, path)


@pytest.mark.parametrize("root", ["none", "file"])
def test_a_root_that_is_no_folder_is_refused(root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence names the folder, and the variable where that named it."""
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match="is not a folder"):
        lint(tmp_path / root)
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path / root))
    with pytest.raises(NotADirectoryError, match=f"{root}, which CORPUS_SCHEMAS_ROOT names"):
        lint()


def test_a_finding_is_one_line(damaged: Callable[[str, Damage], Path]) -> None:
    """Keys and references that hold line ends or escapes do not break out of the line."""
    (finding,) = lint(damaged(EMBEDDED_CHUNK, ref("a\nb\x1b[2J")))
    assert finding.rule == "ref"
    assert str(finding).isprintable()


def test_lint_leaves_nothing_behind(damaged: Callable[[str, Damage], Path], tmp_path: Path) -> None:
    """Also where strings have to be found for a pattern of one's own, no file is written."""
    elder = damaged(CHUNK, lambda it: it["properties"]["text"].update(pattern="^[A-Z]{3}-[0-9]{4}$"))
    code = f"from pytest_corpus.schema_lint import lint; print(len(lint({str(elder)!r})))"
    ran = run_process(sys.executable, "-c", code, cwd=tmp_path)
    assert ran.stdout == "0\n"
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_rule_is_refused() -> None:
    """A rule that does not exist is a mistake of the caller."""
    with pytest.raises(KeyError):
        lint(SHIPPED, rules=["no-such-rule"])


def test_every_rule_names_its_sentence() -> None:
    """Each rule says what it asks for, and by which document."""
    for name, rule in RULES.items():
        assert rule.name == name
        assert rule.text
        assert any(document in rule.source for document in ("SCHEMA", "SPECIFICATION"))


@given(st.from_regex(r"([a-c]|\[\^?[x-z]\]|\(x\|y\)|[A-D0-3]|\.)([+*?]|\{2,3\})?", fullmatch=True), st.integers(1, 3))
def test_a_string_is_found_for_any_plain_pattern(part: str, times: int) -> None:
    """Of a schema with any pattern, instances are made with a string that matches it."""
    pattern = f"^{part * times}$"
    found_one = find_match((pattern,))
    assert found_one is not None
    assert re.search(pattern, found_one)
