"""tools/machine_faults.py makes faults that can be told apart, and its judgements are of faults that it makes."""

import json
import sys
from pathlib import Path

import pytest
from cli_runs import run_process

ROOT = Path(__file__).parent.parent
TOOL = ROOT / "tools" / "machine_faults.py"
JUDGED: dict[str, dict[str, str]] = json.loads(TOOL.with_suffix(".json").read_text("utf-8"))


def run(*arguments: str) -> list[str]:
    return run_process(sys.executable, TOOL, *arguments, cwd=ROOT).stdout.splitlines()


@pytest.mark.parametrize("component", JUDGED)
def test_judgements_are_of_faults_that_are_made(component: str) -> None:
    """Every fault has a name of its own, and what was judged is still among them, with a sentence for a reason."""
    names = [line.partition("  ")[2] for line in run(component, "--list", "--count", "100000")]
    assert len(names) == len(set(names))
    assert [name for name in JUDGED[component] if name not in names] == []
    assert [name for name, reason in JUDGED[component].items() if not reason.endswith(".") or " " not in reason] == []


@pytest.mark.slow
def test_a_fault_is_tried_once_and_found(tmp_path: Path) -> None:
    """A fault that breaks a MUST is found, and a second run takes the result from the file."""
    fault = ("llm", "--only", "ReferenceLLM.completion: 'text' becomes", "--count", "100000")
    results = tmp_path / "results.jsonl"
    for _ in range(2):
        said = run(*fault, "--results", str(results))
        assert said[0].endswith("1 found, 0 judged to break no MUST, 0 not found")
        assert [json.loads(line)["found"] for line in results.read_text("utf-8").splitlines()] == ["LLM-COMPLETE-1"]
