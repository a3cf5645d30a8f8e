"""`pytest-corpus golden` as it is typed."""

import json
import shutil
from pathlib import Path

import pytest
from cli_runs import called
from tables import documents

from pytest_corpus import resources
from pytest_corpus.golden import ROOT_VARIABLE, check
from pytest_corpus.spec.goldens import GOLDENS

SHIPPED = resources.folder("golden")
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
    assert called("golden", "check") == (0, f"{len(GOLDENS)} files checked: no findings\n", "")


def test_check_finds(tree: Path) -> None:
    """A finding is a line, its count the last, and the exit code 1; JSON says the same."""
    (tree / REQUEST).unlink()
    code, out, _ = called("golden", "check")
    assert code == 1
    assert out.splitlines()[0].startswith(f"{REQUEST}: does not exist, but the table")
    assert out.endswith("files checked: 1 finding\n")
    code, out, _ = called("golden", "check", "--format", "json")
    (finding,) = json.loads(out)["findings"]
    assert code == 1
    assert (finding["file"], finding["rule"], finding["path"]) == (REQUEST, "missing", "")


@pytest.mark.parametrize("name", [REQUEST, "llm_complete_request.json", "llm_complete_request"])
def test_check_one_by_name(tree: Path, name: str) -> None:
    """A golden may be named by folder and file, by file, or by stem; what else is broken does not matter."""
    (tree / "graph/graph_row.json").unlink()
    assert called("golden", "check", name)[:2] == (0, "1 file checked: no findings\n")
    (tree / REQUEST).write_text("{}")
    code, out, _ = called("golden", "check", name)
    assert code == 1
    assert f"{REQUEST}: op: is missing" in out


def test_check_a_bad_file_by_path(tree: Path) -> None:
    """Lines about a file that is not a golden begin with the path as it was typed."""
    Path("llm_complete_request.json").write_bytes(b"")
    code, out, err = called("golden", "check", "./llm_complete_request.json")
    assert (code, err) == (1, "")
    assert out == "./llm_complete_request.json: is empty [json]\n1 file checked: 1 finding\n"


@pytest.mark.parametrize(("words", "said"), documents(Path(__file__).with_name("golden_mistakes.txt")))
def test_a_mistake_is_one_sentence(tree: Path, words: list[str], said: str) -> None:
    """A mistake ends with 2 and one line that says what to do; nothing is written."""
    Path("file").write_text("")
    code, out, err = called("golden", *words)
    assert (code, out) == (2, "")
    assert err.startswith("pytest-corpus golden ")
    assert said in err
    assert err.count("\n") == 1
    assert "\x1b" not in err
    assert check(tree) == []


def test_a_schema_that_is_broken_is_one_sentence(tree: Path) -> None:
    """A damaged schemas/ folder is named, not a traceback."""
    Path("schemas/llm").mkdir(parents=True)
    code, out, err = called("golden", "check", "--schemas", "schemas")
    assert (code, out) == (2, "")
    assert err.startswith("pytest-corpus golden check: schemas/")
    assert "cannot be read" in err


def test_generate_one_operation(tree: Path) -> None:
    """`--component llm --operation complete` writes the missing ones of that operation, and keeps the others."""
    kept = (tree / "llm/llm_complete_success.json").read_bytes()
    (tree / REQUEST).unlink()
    (tree / "graph/graph_row.json").unlink()
    code, out, err = called("golden", "generate", "--component", "llm", "--operation", "complete")
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == f"wrote {tree / REQUEST}"
    assert "which exists; --force overwrites it" in out
    assert out.endswith("1 written, 1 kept\n")
    assert (tree / "llm/llm_complete_success.json").read_bytes() == kept
    assert [finding.file for finding in check(tree)] == ["graph/graph_row.json"]


def test_generate_into_another_folder(tree: Path) -> None:
    """A new folder is made; all goldens that are written there are sound."""
    assert called("golden", "generate", "--output", "deep/new")[0] == 0
    assert check("deep/new") == []
    assert called("golden", "generate", "llm_complete_request", "--output", "deep/new", "--force")[1].startswith(
        "wrote "
    )
    assert called("golden", "generate", "--operation", "graph.traversal", "--output", "more")[0] == 0
    assert sorted(path.name for path in Path("more/graph").iterdir()) == [
        "graph_traversal_request.json",
        "graph_traversal_success.json",
    ]


def test_diff(tree: Path) -> None:
    """The changes by other schemas are listed golden by golden, with a patch; nothing is written."""
    shutil.copytree(resources.folder("schemas"), "schemas")
    assert called("golden", "diff", "--schemas", "schemas") == (0, "0 goldens changed by these schemas\n", "")
    path = Path("schemas/graph/graph.types.id.json")
    document = json.loads(path.read_text())
    document["properties"]["kind"] = {"const": "vertex"}
    document["required"].append("kind")
    path.write_text(json.dumps(document))
    code, out, _ = called("golden", "diff", "--schemas", "schemas")
    lines = out.splitlines()
    assert code == 1
    assert lines[0] == "graph/graph_id_value.json is no longer valid under graph.types.id (edition 1.0.0)"
    assert '+  "kind": "vertex"' in lines
    assert lines[-1] == "1 golden changed by these schemas"
    (change,) = json.loads(called("golden", "diff", "--schemas", "schemas", "--format", "json")[1])["changes"]
    assert change["file"] == "graph/graph_id_value.json"
    assert check(tree) == []
