"""The GitHub Action and the GitLab component: their scripts, run in a shell as a runner would.

A runner is imitated as far as scripts see one: the variables, the output file, and the folder with the checkout. What
pip would install is printed instead.
"""

import json
import os
import re
import subprocess
import tomllib
from collections.abc import Mapping
from pathlib import Path

import forks
import pytest
import yaml

from pytest_corpus import cli
from pytest_corpus.reports import json_report
from pytest_corpus.verdict.ledger import Ledger
from pytest_corpus.verdict.verdict import decide

ROOT = Path(__file__).resolve().parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
SCRIPTS = {step["name"]: step for step in ACTION["runs"]["steps"] if "run" in step}
PROGRAMS = {
    "python": 'case "$*" in "-m pip"*) shift 3; printf "pip:%s\\n" "$@";; *) exec "{python}" "$@";; esac',
    "pytest": 'exec "{python}" -m pytest "$@"',
    "pytest-corpus": 'exec "{python}" -c "from pytest_corpus.cli import main; raise SystemExit(main())" "$@"',
}
BROKEN = """
async def _lazy(envelope):
    return {"ok": True}

sound = factory

def factory(metrics=None, provider=None):
    adapter = sound(metrics, provider)
    adapter.handle = _lazy
    return adapter
"""
EMPTY = Ledger("mine")
EXAMPLE = json_report.build_report(
    EMPTY, decide(EMPTY), json_report.RunFacts("2026-01-01T00:00:00Z", 1.0, 0, "must", None)
)
QUICK = "-q -x -p no:randomly -p no:cacheprovider"


def install(folder: Path) -> str:
    """Write the programs of the scripts to a folder; the path on which they are found first."""
    folder.mkdir(exist_ok=True)
    for name, script in PROGRAMS.items():
        path = folder / name
        path.write_text(f"#!/bin/sh\n{script.replace('{python}', forks.forking_python())}\n")
        path.chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


@pytest.fixture
def checkout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A fresh folder with the adapter that `pytest-corpus init` writes."""
    assert cli.main(["init", "llm", str(tmp_path / "mine")]) == 0
    capsys.readouterr()
    return tmp_path / "mine"


def run(
    checkout: Path, name: str, workflow: Mapping[str, str] | None = None, **inputs: str
) -> subprocess.CompletedProcess[str]:
    """Run a script of the action, with its inputs and the variables of a workflow, in bash as GitHub starts it."""
    given = {key: str(each["default"]) for key, each in ACTION["inputs"].items()} | inputs
    step = SCRIPTS[name]
    settings = {key: expanded(value, given) for key, value in step.get("env", {}).items()}
    runner = {
        "PATH": install(checkout.parent / "bin"),
        "PYTHONPATH": str(ROOT),
        "GITHUB_ACTIONS": "true",
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_OUTPUT": str(checkout.parent / "output"),
        "GITHUB_STEP_SUMMARY": str(checkout.parent / "summary.md"),
        "CI": "true",
    }
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(
        command,
        cwd=checkout,
        env=runner | dict(workflow or {}) | settings,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def expanded(value: str, inputs: Mapping[str, str]) -> str:
    """A value with the expressions that the action uses: an input, or a choice by `sign`."""
    if choice := re.fullmatch(r"\$\{\{ inputs\.sign == 'true' && '(.*)' \|\| '(.*)' \}\}", value):
        return choice[1] if inputs["sign"] == "true" else choice[2]
    value = re.sub(r"\$\{\{ github\.[\w.]+ \}\}", "5", value)
    return re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: inputs[found[1]], value)


def test_an_adapter_that_conforms(checkout: Path) -> None:
    """The scripts are green, the attestation is whole, and the verdict is an output of the step."""
    done = run(checkout, "Run the suite", arguments=QUICK, reports="the reports")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (checkout.parent / "output").read_text() == "verdict=conformant\n"
    assert "whole and unaltered" in done.stdout
    assert (checkout.parent / "summary.md").read_text().strip()
    assert {path.name for path in (checkout / "the reports").iterdir()} == {
        "attestation.json",
        "attestation.html",
        "badge.svg",
    }


def test_an_adapter_that_does_not(checkout: Path) -> None:
    """A violated MUST makes the step red, and what ran is kept; the run that `-x` ends has no verdict."""
    with (checkout / "llm_adapter" / "__init__.py").open("a") as file:
        file.write(BROKEN)
    done = run(checkout, "Run the suite", arguments=QUICK)
    assert done.returncode == 1, done.stdout + done.stderr
    assert (checkout.parent / "output").read_text() == "verdict=partial\n"
    assert "::error" in done.stdout


def test_nothing_to_test(checkout: Path) -> None:
    """A wrong name is red, with a sentence and without a verdict."""
    done = run(checkout, "Run the suite", adapter="mypkg:factory", arguments=QUICK)
    assert done.returncode == 4
    assert not (checkout.parent / "output").exists()
    assert "mypkg" in done.stderr + done.stdout


@pytest.mark.parametrize("sign", ["true", "false"])
def test_what_is_installed(checkout: Path, sign: str) -> None:
    """The version that the workflow names, from its own checkout, with the extras that the steps need."""
    done = run(checkout, "Install", sign=sign, install="-e .[test] 'other'")
    extras = "xdist,http,sigstore" if sign == "true" else "xdist,http"
    assert done.stdout.splitlines()[-4:] == [f"pip:{ROOT}[{extras}]", "pip:-e", "pip:.[test]", "pip:'other'"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(extras.split(",")) <= project["optional-dependencies"].keys()


def test_no_input_reaches_a_script_as_text() -> None:
    """Expressions stand in variables only, where a shell does not read them as commands."""
    assert not [name for name, step in SCRIPTS.items() if "${{" in step["run"]]


def test_the_component_of_gitlab() -> None:
    """Its inputs are those of the action, but for what only one of the two has, and its scripts use each."""
    spec, pipeline = yaml.safe_load_all((ROOT / "templates" / "conformance.yml").read_text())
    ours, action = set(spec["spec"]["inputs"]), set(ACTION["inputs"])
    assert ours - action == {"package", "stage", "image"}
    assert action - ours == {"reports", "python-version", "comment", "working-directory", "cache"}
    assert set(re.findall(r"\$\[\[ inputs\.(\w+) \]\]", json.dumps(pipeline))) == ours
    assert "CORPUS_TEST_ENV" not in pipeline["conformance"]["variables"]


ENVIRONMENTS = [
    ("", None, "ci"),
    ("", "production", "production"),
    ("staging", None, "staging"),
    ("staging", "production", "staging"),
]
"""The input, the caller's CORPUS_TEST_ENV, and the environment of the run."""


@pytest.mark.parametrize(("given", "inherited", "expected"), ENVIRONMENTS)
def test_the_environment_is_the_callers(given: str, inherited: str | None, expected: str) -> None:
    """The input decides, else the variable of the workflow or the pipeline; `ci` only if neither names one."""
    _, pipeline = yaml.safe_load_all((ROOT / "templates" / "conformance.yml").read_text())
    job = pipeline["conformance"]
    (line,) = {each.strip() for each in SCRIPTS["Run the suite"]["run"].splitlines() if "CORPUS_TEST_ENV" in each}
    assert line in job["script"]
    for variables in (SCRIPTS["Run the suite"]["env"], job["variables"]):
        (name,) = (key for key, value in variables.items() if "inputs.environment" in value)
        env = {"PATH": os.environ["PATH"], name: given} | ({"CORPUS_TEST_ENV": inherited} if inherited else {})
        done = subprocess.run(
            ["bash", "-c", f'{line}\nprintf %s "$CORPUS_TEST_ENV"'], env=env, capture_output=True, text=True, check=True
        )
        assert done.stdout == expected


GH = """#!/bin/sh
printf '%s\\n' "$*" >> "$CALLS"
case "$*" in
  "run list"*) printf '%s' "$RUN";;
  "run download"*) mkdir -p "$7"; cp base.json "$7/attestation.json";;
  "api --paginate"*) printf '%s' "$FOUND";;
  *"--field"*) for each; do case "$each" in body=@*) cp "${each#body=@}" posted;; esac; done;;
esac
"""


@pytest.mark.parametrize("base", ["7", ""])
@pytest.mark.parametrize("earlier", ["31", ""])
def test_one_comment_is_written_and_updated(checkout: Path, base: str, earlier: str) -> None:
    """The comment compares with the last run of the base branch, if that has a report, and replaces an earlier one."""
    folder = checkout / "conformance"
    folder.mkdir()
    for path in (folder / "attestation.json", checkout / "base.json"):
        path.write_text(json_report.render(EXAMPLE), "utf-8")
    (checkout.parent / "bin").mkdir()
    gh = checkout.parent / "bin" / "gh"
    gh.write_text(GH)
    gh.chmod(0o755)
    workflow = {"CALLS": "calls", "RUN": base, "FOUND": earlier, "GITHUB_REPOSITORY": "o/r", "GITHUB_WORKFLOW": "w",
                "GITHUB_BASE_REF": "main"}  # fmt: skip
    done = run(checkout, "Comment on the pull request", workflow)
    assert done.returncode == 0, done.stdout + done.stderr
    last = (checkout / "calls").read_text().splitlines()[-1]
    assert ("--method PATCH repos/o/r/issues/comments/31 " in last) == bool(earlier)
    body = (checkout / "posted").read_text()
    assert body.startswith("<!-- pytest-corpus ")
    assert ("There is no report of the base branch" in body) == (not base)


def test_every_action_is_pinned() -> None:
    """Each action that ours uses is named by the digest of a commit, with its version as a comment."""
    used = re.findall(r"uses: (.*)", (ROOT / "action.yml").read_text())
    assert len(used) == 3
    assert all(re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", each) for each in used)


def test_a_workflow_that_says_production_gets_no_writes(checkout: Path) -> None:
    """The action passes its variable on to the suite."""
    done = run(checkout, "Run the suite", {"CORPUS_TEST_ENV": "production"}, arguments=QUICK)
    assert "CORPUS_TEST_ENV is production" in done.stdout + done.stderr, done.stdout + done.stderr
