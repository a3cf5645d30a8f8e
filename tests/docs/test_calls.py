"""The table of calls in docs/running.md says about what runs of the embedded adapters make."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import forks
import pytest
from cli_runs import environment, run_process

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

LIMITS = {"llm": 780, "vector": 1_800, "embedding": 1_200, "graph": 2_200}
"""The most calls of a whole run with the profile `dev`."""

GENERATING = 300
"""The most calls of a run that a model answers with a text: each costs tokens."""

BRIEF, LONG = 16, 64
"""The most `max_tokens` of a request that does not speak of length, and of one that asks for a long text."""

NEAR = 0.1
"""The part of the number by which a run may differ: the repetitions of a call depend on the machine a little."""

ROW = re.compile(r"\| (\w+) \|" + r" ([\d,]+) \|" * len(RUNS))


def table() -> dict[str, dict[str, int]]:
    """The calls that the page states, by component and run."""
    rows = [found for line in PAGE.read_text("utf-8").splitlines() if (found := ROW.fullmatch(line))]
    return {row[1]: {run: int(row[at].replace(",", "")) for at, run in enumerate(RUNS, start=2)} for row in rows}


def measured(component: str, run: str, folder: Path, *more: str) -> int:
    options = ("-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:xdist", "-q")
    adapter = f"--corpus-adapter=pytest_corpus.reference:{component}"
    argv = (forks.forking_python(), "-m", "pytest", *options, adapter, *RUNS[run], "--corpus-report=r.json", *more)
    run_process(*argv, cwd=folder, env=environment())
    calls: int = json.loads((folder / "r.json").read_text("utf-8"))["components"][component]["calls"]
    return calls


def test_the_table_has_every_component() -> None:
    """A row for each, within its limit: calls of an LLM are dear."""
    assert tuple(table()) == COMPONENTS
    assert all(row["quick"] < row["core"] < row["dev"] < row["stress"] for row in table().values())
    assert all(row["dev"] <= LIMITS[component] for component, row in table().items())
    for column, calls in (("dev", progress.CALLS), ("stress", progress.STRESS_CALLS)):
        assert {component: row[column] for component, row in table().items()} == calls


def test_the_number_of_calls_of_a_quick_run(tmp_path: Path) -> None:
    """The number of the smoke run of an LLM is about right."""
    assert measured("llm", "quick", tmp_path) == pytest.approx(table()["llm"]["quick"], rel=NEAR)


@pytest.mark.slow
@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("component", COMPONENTS)
def test_the_number_of_calls_of_each_run(component: str, run: str, tmp_path: Path) -> None:
    """Each number of the table is about right."""
    assert measured(component, run, tmp_path) == pytest.approx(table()[component][run], rel=NEAR)


@pytest.mark.parametrize(
    "component", ["llm", *(pytest.param(name, marks=pytest.mark.slow) for name in LIMITS if name != "llm")]
)
def test_a_run_stays_within_its_limit(component: str, tmp_path: Path) -> None:
    """A whole run makes no more calls than its limit; few calls of an LLM generate, and these are short.

    A call of a tool may not be cut, so a request with tools states no limit, nor one that is compared with such a one.
    """
    assert measured(component, "dev", tmp_path, "--corpus-transcript=t.jsonl") <= LIMITS[component]
    if component != "llm":
        return
    requests = [*completions(tmp_path / "t.jsonl")]
    answered = [args for args, is_success in requests if is_success]
    assert len(answered) <= GENERATING
    with_tools = [args["messages"] for args in answered if args.get("tools")]
    unlimited = [args for args in answered if "max_tokens" not in args]
    assert [args for args in unlimited if not args.get("tools") and args["messages"] not in with_tools] == []
    long = [args for args in answered if args.get("max_tokens", 0) > BRIEF]
    absurd = [args for args in long if args["max_tokens"] > 2**31]  # it speaks of nothing but length
    assert len(absurd) <= 2
    assert max(args["max_tokens"] for args in long if args not in absurd) <= LONG
    assert len(long) <= len(answered) // 8, "requests that speak of length are few"


def completions(path: Path) -> Iterator[tuple[dict[str, Any], bool]]:
    """The arguments of each request for a completion or a stream, and whether it was answered with a success."""
    for line in map(json.loads, path.read_text("utf-8").splitlines()):
        for call in line.get("calls", [line]) if line["kind"] == "exchange" else ():
            request, frames = call.get("request"), call.get("frames") or [{}]
            args = request.get("args") if isinstance(request, dict) else None
            if isinstance(args, dict) and request.get("op") in ("llm.complete", "llm.stream"):
                body = frames[-1].get("body")
                yield args, isinstance(body, dict) and body.get("ok") is True
