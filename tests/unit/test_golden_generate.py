"""Goldens made from their schemas, and what a changed schema means for those that are there."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tables import read_json_rows

from pytest_corpus import resources
from pytest_corpus.golden import Change, GoldenError, check, check_text, diff, generate, make_golden
from pytest_corpus.schema_registry import SchemaRegistry, registry
from pytest_corpus.spec.goldens import BY_FILE, COMMON, GOLDENS, OF_COMPONENT, Golden, goldens_of
from pytest_corpus.spec.operations import OPERATIONS

SHIPPED = resources.folder("golden")
COMPLETE = "llm/llm_complete_success.json"
STREAM = "llm/llm_stream.ndjson"

Damage = Callable[[dict[str, Any]], object]


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the shipped goldens."""
    shutil.copytree(SHIPPED, tmp_path / "golden")
    return tmp_path / "golden"


@pytest.fixture
def schemas(tmp_path: Path) -> Callable[[str, Damage], SchemaRegistry]:
    """Schemas of which some are changed."""
    root = tmp_path / "schemas"
    shutil.copytree(resources.folder("schemas"), root)

    def changed(file: str, damage: Damage) -> SchemaRegistry:
        document = json.loads((root / file).read_text())
        damage(document)
        (root / file).write_text(json.dumps(document))
        return SchemaRegistry(root)

    return changed


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda golden: golden.file)
def test_whichever_golden_is_missing_is_made_and_sound(golden: Golden, tmp_path: Path) -> None:
    """A golden that is generated passes every check, is written the same each time, and says what it is for."""
    (tmp_path / golden.component).mkdir()
    written, kept = generate([golden.file], root=tmp_path)
    assert (written, kept) == ([tmp_path / golden.file], [])
    assert check(tmp_path, names=[golden.file]) == []
    text = (tmp_path / golden.file).read_text()
    assert text == make_golden(golden)
    assert text.endswith("}\n")


def test_a_tree_that_lost_a_file_is_whole_again(copied: Path) -> None:
    """Generating without names writes what is missing and nothing else."""
    before = {path: path.read_bytes() for path in copied.rglob("*.*")}
    lost = [copied / COMPLETE, copied / STREAM]
    for path in lost:
        path.unlink()
    assert len(check(copied)) == 2
    written, kept = generate(root=copied)
    assert sorted(written) == lost
    assert len(kept) == len(GOLDENS) - 2
    assert check(copied) == []
    assert all(path.read_bytes() == content for path, content in before.items() if path not in lost)


def test_nothing_is_overwritten_unless_forced(copied: Path) -> None:
    """A file that is there, even an empty one or a link to nowhere, is kept without force."""
    (copied / COMPLETE).write_text("")
    (copied / STREAM).unlink()
    (copied / STREAM).symlink_to("nowhere")
    assert generate([COMPLETE, STREAM], root=copied) == ([], [copied / COMPLETE, copied / STREAM])
    assert (copied / COMPLETE).read_text() == ""
    assert generate([COMPLETE], root=copied, force=True) == ([copied / COMPLETE], [])
    assert check(copied, names=[COMPLETE]) == []


def test_nothing_is_half_written(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a file cannot be put in place, the old one stays and no other is left behind."""

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    before = {path: path.read_bytes() for path in copied.rglob("*") if path.is_file()}
    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="No space left"):
        generate([COMPLETE], root=copied, force=True)
    assert {path: path.read_bytes() for path in copied.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("op", [operation.op for operation in OPERATIONS])
def test_every_operation_has_messages_that_can_be_made(op: str) -> None:
    """Requests, successes and streams of each operation can be made, also of those without a golden."""
    rows = goldens_of(op)
    assert len(rows) >= 2 or op == "llm.stream"
    for row in rows:
        assert row.op == op
        assert check_text(row, make_golden(row).encode()) == []


@pytest.mark.parametrize(("file", "said"), read_json_rows(Path(__file__).with_name("golden_made.txt")))
def test_what_is_made_is_realistic(file: str, said: str) -> None:
    """The made messages read like messages: models, roles, unit vectors, counts that agree, and no noise."""
    text = make_golden(BY_FILE[file])
    assert said in text
    assert "null" not in text


def test_a_made_stream_grows() -> None:
    """A made stream has frames that add up: time and tokens grow, and the parts are the completion."""
    frames = [json.loads(line) for line in make_golden(BY_FILE[STREAM]).splitlines()]
    assert "".join(frame["chunk"]["text"] for frame in frames) == OF_COMPONENT["llm"]["text"]
    for grows in (
        [frame["ms"] for frame in frames],
        [frame["chunk"]["usage_so_far"]["total_tokens"] for frame in frames],
    ):
        assert grows == sorted(set(grows))
    assert [frame["chunk"]["is_final"] for frame in frames] == [False, False, True]


def test_request_ids_differ() -> None:
    """No two made requests have the same correlation id."""
    requests = [golden for golden in GOLDENS if golden.schema.endswith(".envelope.request")]
    ids = [json.loads(make_golden(golden))["ctx"]["request_id"] for golden in requests]
    assert len(set(ids)) == len(ids)


def test_the_examples_agree() -> None:
    """The table of examples keeps the invariants itself."""
    usage = OF_COMPONENT["llm"]["usage"]
    assert usage == {key: COMMON[key] for key in usage}
    assert sum(value**2 for value in OF_COMPONENT["vector"]["vector"]) == pytest.approx(1)


def test_a_schema_that_nothing_meets_is_told(schemas: Callable[[str, Damage], SchemaRegistry], tmp_path: Path) -> None:
    """If no valid document is found, one sentence says so and nothing is written."""
    impossible = schemas("llm/llm.types.completion.json", lambda it: it["properties"].update(text={"not": {}}))
    with pytest.raises(GoldenError, match=r"llm_types_completion.json cannot be made from its schemas"):
        generate(["llm/llm_health_request.json", "llm/llm_types_completion.json"], root=tmp_path, schemas=impossible)
    assert list(tmp_path.rglob("*.json")) == list((tmp_path / "schemas").rglob("*.json"))


@pytest.mark.parametrize(("damage", "said"), [
    (lambda it: it.update({"allOf": [{"$ref": "#"}]}), "cannot be"),
    (lambda it: it["properties"]["id"].update(pattern=r"^\cA\p{Lu}$"), "lint the schemas"),
], ids=["a circle of references", "a pattern of ECMA 262 alone"])  # fmt: skip
def test_a_schema_that_cannot_be_followed_is_named(
    schemas: Callable[[str, Damage], SchemaRegistry], damage: Damage, said: str
) -> None:
    """One sentence says so."""
    with pytest.raises(GoldenError, match=said):
        make_golden(BY_FILE["graph/graph_id_value.json"], schemas=schemas("graph/graph.types.id.json", damage))


def changes(schemas: SchemaRegistry, root: Path = SHIPPED) -> dict[str, Change]:
    return {change.file: change for change in diff(root, schemas=schemas, before=registry())}


def test_without_a_change_nothing_changes() -> None:
    """The same schemas change no golden."""
    assert diff(SHIPPED, schemas=SchemaRegistry(resources.folder("schemas"))) == []


def patched(change: Change) -> tuple[list[str], list[str]]:
    """The lines that a patch takes away and those that it adds."""
    body = [line for line in change.patch.splitlines() if not line.startswith(("---", "+++"))]
    taken, added = ([line[1:].strip() for line in body if line.startswith(sign)] for sign in "-+")
    return taken, added


def test_a_new_required_key_is_added(schemas: Callable[[str, Damage], SchemaRegistry]) -> None:
    """A golden that lacks a key that is required from now on stops to be valid, and the patch adds the key alone."""

    def require(it: dict[str, Any]) -> None:
        it["properties"]["region"] = {"enum": ["eu", "us"]}
        it["required"].append("region")

    schemas("llm/llm.types.completion.json", require)
    found = changes(schemas("llm/llm.types.completion.v1.1.json", require))
    change = found["llm/llm_types_completion.json"]
    assert change.stops == (("llm.types.completion", "1.0.0"), ("llm.types.completion", "1.1.0"))
    assert change.starts == ()
    assert any("region is missing" in problem for problem in change.problems)
    taken, added = patched(change)
    assert added == ['"finish_reason": "stop",', '"region": "eu"']
    assert taken == ['"finish_reason": "stop"']
    assert found.keys() == {"llm/llm_types_completion.json", "llm/llm_stream_frame_end.json", COMPLETE}


def test_a_golden_that_no_edition_lets_be_is_told(schemas: Callable[[str, Damage], SchemaRegistry]) -> None:
    """If editions contradict each other, the patch is one line that says so."""
    found = changes(schemas("llm/llm.types.completion.json", lambda it: it["required"].append("region")))
    patch = found["llm/llm_types_completion.json"].patch
    assert patch.startswith("# llm/llm_types_completion.json cannot be made from its schemas")
    assert patch.count("\n") == 1


def test_a_key_that_is_forbidden_is_taken_away(schemas: Callable[[str, Damage], SchemaRegistry]) -> None:
    """Keys that closed objects no longer allow are removed, and the rest of the golden stays as it is."""
    found = changes(schemas("llm/llm.types.chunk.v1.1.json", lambda it: it["properties"].pop("usage_so_far")))
    taken, added = patched(found["llm/llm_stream_chunk.json"])
    assert '"usage_so_far": {' in taken
    assert added == ['"model": "gpt-4.1-mini"']
    stream = found[STREAM]
    assert stream.patch.count("\n+{") == 4
    assert '"text": "Mont Blanc"' in stream.patch


def test_a_value_out_of_bounds_is_replaced(schemas: Callable[[str, Damage], SchemaRegistry]) -> None:
    """Of a value that is not valid any more the nearest example is offered."""
    found = changes(
        schemas("llm/llm.sampling.params.json", lambda it: it["properties"]["temperature"].update(minimum=1))
    )
    taken, added = patched(found["llm/llm_sampling_params.json"])
    assert taken == ['"temperature": 0.2,']
    assert json.loads("{" + added[0].rstrip(",") + "}")["temperature"] >= 1


def test_a_golden_that_becomes_valid_is_told(schemas: Callable[[str, Damage], SchemaRegistry]) -> None:
    """A schema that widens makes goldens valid under it; there is nothing to patch."""
    narrow = schemas("llm/llm.types.token_usage.json", lambda it: it["properties"]["prompt_tokens"].update(maximum=1))
    (change,) = (
        change
        for change in diff(SHIPPED, schemas=registry(), before=narrow)
        if change.file == "llm/llm_types_token_usage.json"
    )
    assert (change.stops, change.starts, change.patch) == ((), (("llm.types.token_usage", "1.0.0"),), "")


def test_what_cannot_be_read_is_passed_over(copied: Path, schemas: Callable[[str, Damage], SchemaRegistry]) -> None:
    """A golden that is missing or broken is a matter of the check."""
    (copied / COMPLETE).unlink()
    (copied / "llm/llm_types_token_usage.json").write_text("{")
    (copied / STREAM).write_text("")
    narrow = schemas("llm/llm.types.token_usage.json", lambda it: it["properties"]["prompt_tokens"].update(maximum=1))
    assert not {COMPLETE, STREAM, "llm/llm_types_token_usage.json"} & changes(narrow, copied).keys()
