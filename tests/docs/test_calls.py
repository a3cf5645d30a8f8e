"""The table of calls in docs/running.md says about what runs of the embedded adapters make."""

import json
import re
from pathlib import Path

import forks
import pytest
from cli_runs import environment, process

from pytest_corpus.integration.concluding import progress
from pytest_corpus.spec.components import COMPONENTS

PAGE = Path(__file__).parents[2] / "docs" / "running.md"

RUNS = {
    "quick": ("--corpus-profile=quick",),
    "core": ("-m", "core"),
    "dev": ("--corpus-profile=dev",),
    "stress": ("--corpus-profile=stress",),
}
"""The columns of the table, and what a run of each is told."""

NEAR = 0.1
"""So much of the number a run may differ by: how often a call is repeated depends on the machine a little."""

ROW = re.compile(r"\| (\w+) \|" + r" ([\d,]+) \|" * len(RUNS))


def table() -> dict[str, dict[str, int]]:
    """The calls that the page states, by component and run."""
    rows = [found for line in PAGE.read_text("utf-8").splitlines() if (found := ROW.fullmatch(line))]
    return {row[1]: {run: int(row[at].replace(",", "")) for at, run in enumerate(RUNS, start=2)} for row in rows}


def measured(component: str, run: str, folder: Path) -> int:
    options = ("-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:xdist", "-q")
    adapter = f"--corpus-adapter=pytest_corpus.reference:{component}"
    argv = (forks.python(), "-m", "pytest", *options, adapter, *RUNS[run], "--corpus-report=r.json")
    process(*argv, cwd=folder, env=environment())
    calls: int = json.loads((folder / "r.json").read_text("utf-8"))["components"][component]["calls"]
    return calls


def test_the_table_has_every_component() -> None:
    """A row for each; an LLM costs fewer than 1,200 calls, for its calls are dear."""
    assert tuple(table()) == COMPONENTS
    assert all(row["quick"] < row["core"] < row["dev"] < row["stress"] for row in table().values())
    assert table()["llm"]["dev"] < 1200
    for column, calls in (("dev", progress.CALLS), ("stress", progress.STRESS_CALLS)):
        assert {component: row[column] for component, row in table().items()} == calls


def test_a_quick_run_makes_so_many_calls(tmp_path: Path) -> None:
    """The number of the smoke run of an LLM is about right."""
    assert measured("llm", "quick", tmp_path) == pytest.approx(table()["llm"]["quick"], rel=NEAR)


@pytest.mark.slow
@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("component", COMPONENTS)
def test_a_run_makes_so_many_calls(component: str, run: str, tmp_path: Path) -> None:
    """So is every number."""
    assert measured(component, run, tmp_path) == pytest.approx(table()[component][run], rel=NEAR)
