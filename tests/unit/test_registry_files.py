"""From which files schemas are read, and what that costs."""

import json
import shutil
import socket
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import Any

import jsonschema_rs
import pytest
from cli_runs import run_process
from sample_envelopes import ERROR, SUCCESS

from pytest_corpus import resources, schema_registry
from pytest_corpus.schema_registry import ROOT_VARIABLE, SchemaFileError, SchemaRegistry, UnknownSchemaError, registry
from pytest_corpus.spec.schemas import BASE_URI, DIALECT, SCHEMAS

SHIPPED = resources.folder("schemas")


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A copy of the shipped schemas, free to damage."""
    shutil.copytree(SHIPPED, tmp_path / "schemas")
    return tmp_path / "schemas"


# Files.


def test_the_root_can_be_given_or_named(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another folder is read when it is passed or when CORPUS_SCHEMAS_ROOT names it (SCHEMA 6.1)."""
    file = own / "llm" / "llm.response_format.json"
    changed = json.loads(file.read_text())
    changed["properties"]["type"]["enum"].append("yaml")
    file.write_text(json.dumps(changed))
    assert SchemaRegistry(own).is_valid("llm.response_format", {"type": "yaml"})
    assert not SchemaRegistry().is_valid("llm.response_format", {"type": "yaml"})
    monkeypatch.setenv(ROOT_VARIABLE, str(own))
    assert SchemaRegistry().root == own
    assert registry().is_valid("llm.response_format", {"type": "yaml"})
    monkeypatch.delenv(ROOT_VARIABLE)
    assert registry().root == SHIPPED


def written(root: Path, file: str, **schema: object) -> None:
    """A schema of one's own below a folder."""
    (root / file).parent.mkdir(exist_ok=True, parents=True)
    (root / file).write_text(json.dumps({"$schema": DIALECT, "$id": BASE_URI + file, "title": "Own", **schema}))


def test_every_file_below_the_root_is_loaded(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file below CORPUS_SCHEMAS_ROOT is listed, found by each of its names, and compiled (SCHEMA 6.1)."""
    written(own, "acme/acme.types.cat.json", properties={"paws": {"$ref": f"{BASE_URI}acme/deep/acme.paws.json"}})
    written(own, "acme/deep/acme.paws.json", maximum=4)
    written(own, "llm/llm.response_format.v1.1.json", properties={"type": {"enum": ["text", "json_object", "yaml"]}})
    written(own, "llm/llm.types.chunk.v2.0.json", required=["delta"])
    written(own, "top.json", type="string")
    (own / ".hidden.json").write_text("{}")
    (own / "notes.txt").write_text("")
    monkeypatch.setenv(ROOT_VARIABLE, str(own))
    listed = registry().list_schemas()
    new = {"acme.types.cat", "acme.paws", "llm.types.chunk.v2.0", "top"}
    assert listed.keys() - SchemaRegistry(SHIPPED).list_schemas().keys() == new
    for name in ("acme.types.cat", "acme.types.cat.json", "acme/acme.types.cat.json", listed["acme.types.cat"]):
        assert registry().is_valid(name, {"paws": 4}, "1.0.0")
        assert not schema_registry.get_validator(name).is_valid({"paws": 5})
    assert listed["top"] == f"{BASE_URI}top.json"
    assert registry().editions_met("llm.response_format", {"type": "yaml"}) == ("1.1.0",)
    assert not registry().is_valid("llm.types.chunk.v2.0", {"text": "", "is_final": True})
    assert registry().preload_all_schemas() == SchemaRegistry(SHIPPED).preload_all_schemas() + 5
    with pytest.raises(UnknownSchemaError, match=r"did you mean acme\.types\.cat"):
        registry().is_valid("acme.types.cats", {})


def test_the_shipped_folder_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    """The shipped files are known, so that no start pays for a walk through the folder."""
    monkeypatch.setattr(Path, "rglob", lambda *_: pytest.fail("the folder was searched"))
    assert SchemaRegistry().list_schemas()
    assert SchemaRegistry(SHIPPED).list_schemas()


CHUNK = "llm/llm.types.chunk.json"
BROKEN = "llm/llm.response_format.json"


@pytest.mark.parametrize(
    ("damage", "fault"),
    [
        (lambda file: file.unlink(), "there is no such file"),
        (lambda file: file.write_text("{"), "is not JSON"),
        (lambda file: file.write_text("[]"), "must be a JSON object with"),
        (lambda file: file.write_text('{"$id": "https://example.com/x.json"}'), "must be a JSON object with"),
        *(
            (partial(Path.write_text, data=json.dumps({"$id": BASE_URI + BROKEN, **damage})), "does not compile")
            for damage in ({"type": 7}, {"pattern": "("}, {"required": "a"})
        ),
        *(
            (partial(Path.write_text, data=json.dumps({"$id": BASE_URI + BROKEN, "$ref": ref})), "does not compile")
            for ref in ("https://example.com/x.json", "#/$defs/none")
        ),
    ],
)
def test_a_broken_file_is_named(
    own: Path, damage: Callable[[Path], object], fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that cannot serve is named with its fault, alone and among all; nothing reaches for the network."""
    asked: list[object] = []

    def resolve(*address: object, **_: object) -> list[object]:
        asked.append(address)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    damage(own / BROKEN)
    for call in (
        lambda: SchemaRegistry(own).get_validator("llm.response_format", "1.0.0"),
        SchemaRegistry(own).preload_all_schemas,
    ):
        with pytest.raises(SchemaFileError, match=fault) as caught:
            call()
        assert caught.value.path == own / BROKEN
    assert asked == []


def test_a_broken_file_leaves_the_others_alone(own: Path) -> None:
    """Files are read when they are needed: damage in one does not take the others down."""
    (own / CHUNK).unlink()
    assert SchemaRegistry(own).is_valid("llm.types.chunk", {"text": "", "is_final": True}, "1.1.0")
    with pytest.raises(SchemaFileError, match=r"llm\.types\.chunk\.json"):  # which others refer to
        SchemaRegistry(own).preload_all_schemas()


# Cost.


class Compilations:
    """Stands before the compiler and counts."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self._compile = jsonschema_rs.Draft202012Validator
        self._compile_many = jsonschema_rs.validator_map_for

    def one(self, schema: dict[str, Any], **options: Any) -> jsonschema_rs.Draft202012Validator:
        self.ids.append(schema["$id"])
        return self._compile(schema, **options)

    def many(self, schema: dict[str, Any], **options: Any) -> jsonschema_rs.ValidatorMap:
        self.ids += [wanted["$ref"] for wanted in schema["$defs"].values()]
        return self._compile_many(schema, **options)


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> Compilations:
    counter = Compilations()
    monkeypatch.setattr(jsonschema_rs, "Draft202012Validator", counter.one)
    monkeypatch.setattr(jsonschema_rs, "validator_map_for", counter.many)
    return counter


def test_nothing_compiles_twice(compilations: Compilations) -> None:
    """However it is named, a file compiles once; nothing compiles before it is asked for."""
    own = SchemaRegistry()
    assert compilations.ids == []
    for name in ("llm.types.chunk", "llm.types.chunk.json", f"{BASE_URI}llm/llm.types.chunk.v1.1.json"):
        own.is_valid(name, {})
        own.problems(name, {})
    assert compilations.ids == [f"{BASE_URI}llm/llm.types.chunk.v1.1.json"]
    own.preload_all_schemas()
    own.preload_all_schemas()
    assert sorted(compilations.ids) == sorted(BASE_URI + file for schema in SCHEMAS for file in schema.files)


def test_threads_share_one_compilation(compilations: Compilations) -> None:
    """Threads that ask at the same moment get the same validator, compiled once, and right verdicts."""
    own, threads = SchemaRegistry(), 16
    barrier = Barrier(threads)
    names = [schema.name for schema in SCHEMAS]

    def ask(number: int) -> tuple[list[int], bool, bool, int]:
        barrier.wait(timeout=30)
        mine = names[number % len(names) :] + names[: number % len(names)]
        validators = {name: id(own.get_validator(name)) for name in mine}
        return (
            [validators[name] for name in names],
            own.is_valid("llm.complete.success", SUCCESS),
            own.is_valid("llm.complete.success", ERROR),
            len(own.problems("llm.complete.success", {**SUCCESS, "ms": -1})),
        )

    with ThreadPoolExecutor(threads) as pool:
        answers = list(pool.map(ask, range(threads)))
    assert all(answer == answers[0] for answer in answers)
    assert answers[0][1:] == (True, False, 1)
    assert len(compilations.ids) == len(set(compilations.ids)) == len(names)


def test_threads_share_one_registry(monkeypatch: pytest.MonkeyPatch, own: Path) -> None:
    """The shared registry is made once, whoever asks first."""
    monkeypatch.setenv(ROOT_VARIABLE, str(own))
    barrier = Barrier(8)

    def ask(_: int) -> int:
        barrier.wait(timeout=30)
        return id(registry())

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(ask, range(8)))) == 1


def test_importing_the_module_is_cheap() -> None:
    """The import loads no schema library and no pytest; a verdict and its reasons need only the compiled one."""
    code = """
import sys
from pytest_corpus import schema_registry, stream_validator
def heavy():
    libraries = ("jsonschema", "jsonschema_rs", "referencing", "pytest", "hypothesis")
    print([library for library in libraries if library in sys.modules])
heavy()
schema_registry.registry().is_valid("llm.types.chunk", {})
heavy()
schema_registry.registry().problems("llm.types.chunk", {})
heavy()
"""
    root = Path(resources.__file__).parent.parent
    ran = run_process(sys.executable, "-c", code, cwd=root)
    assert ran.stdout.splitlines() == ["[]", "['jsonschema_rs']", "['jsonschema_rs']"]
