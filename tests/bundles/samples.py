"""Bundles for tests: written to a folder, changed key by key."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import forks
import pytest
from forks import PLUGIN

ALL = 'thresholds:\n  - {metric: pass_rate, operator: ">=", value: 0.9}\n'
HALF = 'thresholds:\n  - {metric: pass_rate, operator: ">=", value: 0.5}\n'
SEED = """\
name: qa
prompt_path: prompt.md
dataset_path: data.jsonl
"""

QUESTION_ANSWERING = {
    path.name: path.read_text("utf-8") for path in sorted((Path(__file__).parents[1] / "question-answering").iterdir())
}
"""The complete example of BEHAVIOR_BUNDLES, unchanged."""


def write(folder: Path, files: dict[str, str]) -> Path:
    """Write files to a folder; the path of its bundle.yaml."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder / "bundle.yaml"


def bundle(folder: Path, cases: list[dict[str, Any]], more: str = "provider: {name: mock}\n", **files: str) -> Path:
    """A bundle with these cases, and further lines in its bundle.yaml; the files have ``_`` for a dot."""
    lines = "".join(json.dumps(case) + "\n" for case in cases)
    named = {re.sub(r"_(\w+)$", r".\1", name): text for name, text in files.items()}
    return write(folder, {"bundle.yaml": SEED + more, "prompt.md": "Q: {{ q }}\n", "data.jsonl": lines, **named})


def echo(number: int, answer: Any = "yes") -> dict[str, Any]:
    """A case that the provider mock answers."""
    return {"id": f"case-{number}", "input": {"q": number}, "expected_output": answer}


MIXED = (
    '{"id": "case-0", "output": "yes"}\n{"id": "case-1", "output": "no"}\n{"id": "case-2", "output": "yes"}\n'
    '{"id": "case-3", "error": "UNAVAILABLE"}\n'
)
STOP = "def pytest_runtest_setup(item):\n    if item.name == 'case-2':\n        raise KeyboardInterrupt\n"


def mixed(pytester: pytest.Pytester, more: str) -> Path:
    """Four cases with mock: two pass, one fails, one has an error."""
    more = f"provider: {{name: mock, script: script.jsonl}}\n{more}"
    return bundle(pytester.path / "bundles" / "qa", [echo(n) for n in range(4)], more, script_jsonl=MIXED)


def run(pytester: pytest.Pytester, *given: str, apart: bool = False, fork: bool = True) -> pytest.RunResult:
    off = [
        part for name in ("randomly", "asyncio", "cov", "hypothesispytest", "anyio") for part in ("-p", f"no:{name}")
    ]
    if apart:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "executable", forks.forking_python() if fork else sys.executable)
            return pytester.runpytest_subprocess(*PLUGIN, *off, *given)
    return pytester.runpytest_inprocess(*PLUGIN, *off, *given, no_reraise_ctrlc=True)


def provider(pytester: pytest.Pytester, name: str, answer: str, more: str = "") -> None:
    """A conftest with a provider; `answer` is an expression that gives a function."""
    hook = f"def pytest_corpus_bundle_providers(config):\n    return {{'{name}': {answer}}}\n"
    pytester.makeconftest(hook + more)


def section(pytester: pytest.Pytester) -> dict[str, Any]:
    """The only section on a bundle in the report r.json."""
    [found] = json.loads((pytester.path / "r.json").read_text())["bundles"]
    return dict(found)


def text(result: pytest.RunResult) -> str:
    return "\n".join((*result.outlines, *result.errlines))
