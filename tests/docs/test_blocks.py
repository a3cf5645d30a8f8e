"""Every block of code that a page shows works: Python is run, data is read by what it is for."""

import ast
import asyncio
import inspect
import json
import sys
import tomllib
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from blocks import ROOT, Block, blocks

from pytest_corpus.validation.schema.registry import registry
from pytest_corpus.verdict import deviations

GOLDEN = ROOT / "golden"

LANGUAGES = {"python", "sh", "json", "yaml", "toml", "ini", "text"}
"""What a block may be in; `text` is output and drawings, and a block in braces is Sphinx's."""

ELSEWHERE = {"CONTRIBUTING.md": "tests/unit/test_contributing.py follows the page in a copy of the project"}
"""Pages whose Python is run by another test."""

PYTHON = [block for block in blocks("python") if block.page not in ELSEWHERE]


def document(name: str) -> Any:
    """A golden message."""
    return json.loads((GOLDEN / name).read_text("utf-8"))


class Silent:
    """Takes whatever it is told, as a metrics sink does."""

    def observe(self, *, component: str, op: str, ms: float, ok: bool, code: str, extra: dict[str, str]) -> None: ...

    def counter(self, *, component: str, name: str, value: int, extra: dict[str, str]) -> None: ...


def prepared(page: str) -> dict[str, Any]:
    """The names that a page's Python takes for granted."""
    if page == "docs/adapter-guide.md":
        return {"metrics": Silent()}
    if page == "docs/validation.md":
        from pytest_corpus.stream_validator import StreamValidationEngine, ValidationConfig

        async def pieces() -> AsyncIterator[bytes]:
            yield (GOLDEN / "llm" / "llm_stream.ndjson").read_bytes()

        return {
            "request": document("llm/llm_complete_request.json"),
            "body": (GOLDEN / "llm" / "llm_stream.ndjson").read_bytes(),
            "response": SimpleNamespace(aiter_bytes=pieces),
            "StreamValidationEngine": StreamValidationEngine,
            "ValidationConfig": ValidationConfig,
        }
    if page == "docs/wire.md":
        return {"envelope": document("llm/llm_complete_request.json")}
    if page == "docs/goldens.md":
        return {"v1": {"op": "llm.complete", "ctx": {}, "args": {"prompt": "hi"}, "schema_version": "1.0.0"}}
    return {}


def run(block: Block, names: dict[str, Any]) -> None:
    """Run Python that may await at its top, as in a coroutine."""
    code = compile(block.text, str(block), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    if code.co_flags & inspect.CO_COROUTINE:

        async def awaited() -> None:
            await eval(code, names)

        asyncio.run(awaited())
    else:
        exec(code, names)


def pages_of(found: list[Block]) -> list[Any]:
    """The blocks of each page together, in their order."""
    pages = dict.fromkeys(block.page for block in found)
    return [pytest.param([block for block in found if block.page == page], id=page) for page in pages]


def test_every_block_says_what_it_is() -> None:
    """A block has a language that these tests know; nothing is code by its margin alone."""
    strange = [str(block) for block in blocks() if block.language not in LANGUAGES and block.language[:1] != "{"]
    assert strange == []


@pytest.mark.parametrize("found", pages_of(PYTHON))
def test_python_runs(found: list[Block], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The blocks of a page run one after the other, as a reader pastes them."""
    (tmp_path / "my").mkdir()
    (tmp_path / "my" / "schemas").symlink_to(ROOT / "schemas")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "shown", SimpleNamespace())
    names: dict[str, Any] = {"__name__": "shown", **prepared(found[0].page)}
    for block in found:
        run(block, names)


def test_the_shown_mapping_of_faults_is_the_one_that_the_suite_asks_for() -> None:
    """The faults of a provider in docs/adapter-guide.md, and their classes, are those of `spec/errors.py`."""
    from pytest_corpus.spec.errors import FAULTS, is_a

    names: dict[str, Any] = {"metrics": Silent()}
    for block in blocks("python"):
        if block.page == "docs/adapter-guide.md":
            run(block, names)
    page = (ROOT / "docs" / "adapter-guide.md").read_text("utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("| `")]
    table = {row[0].strip("`"): row[1:] for row in rows if len(row) == 3}
    for fault in FAULTS:
        happens, becomes = table[fault.kind]
        assert fault.http_status is None or str(fault.http_status) in happens
        assert becomes.startswith(fault.canonical or "no error")
        if fault.http_status is not None:
            made = names["envelope_of"](SimpleNamespace(http_status=fault.http_status, retry_after_ms=5), 1)
            assert is_a(made["error"], str(fault.canonical))
            assert made["retry_after_ms"] == 5
            assert registry().is_valid("common.envelope.error", made)


@pytest.mark.parametrize("found", pages_of(blocks("json")))
def test_json_can_be_read(found: list[Block]) -> None:
    """Each block is a document, or a stream with one on each line."""
    for block in found:
        try:
            json.loads(block.text)
        except ValueError:
            for line in block.text.splitlines():
                json.loads(line)


def test_declared_deviations_are_read_as_shown(tmp_path: Path) -> None:
    """The file that docs/running.md shows is one that a run takes."""
    (block,) = (block for block in blocks("toml") if block.page == "docs/running.md")
    path = tmp_path / "corpus-deviations.toml"
    path.write_text(block.text, "utf-8")
    (entry,) = deviations.read(path)
    assert entry.covers("LLM-STREAM-3", "mypkg:factory")


@pytest.mark.parametrize("block", blocks("toml"), ids=str)
def test_toml_can_be_read(block: Block) -> None:
    """Each block is a document."""
    assert tomllib.loads(block.text)


@pytest.mark.parametrize("block", blocks("yaml"), ids=str)
def test_files_of_ci_servers_can_be_read(block: Block) -> None:
    """Each is a mapping; what it runs is looked at with the other commands."""
    assert isinstance(yaml.safe_load(block.text), dict)
