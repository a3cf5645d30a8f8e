"""`--corpus-estimate`: the cost of a run, before it is paid."""

import re

import pytest
from inner_runs import Project, said

from pytest_corpus.integration.concluding.progress import CALLS, COSTS, MOST_CALLS
from pytest_corpus.spec.components import COMPONENTS

ESTIMATE = "--corpus-estimate"


def lines(result: pytest.RunResult) -> list[str]:
    """The lines of the estimate."""
    return [line for line in result.outlines if line.startswith("corpus estimate ")]


@pytest.mark.parametrize("component", COMPONENTS)
def test_each_component_has_its_cost(project: Project, component: str) -> None:
    """No test runs, no report is written, and the exit code says that nothing is wrong."""
    adapter = f"--corpus-adapter=pytest_corpus.reference:{component}"
    result = project.run(adapter, ESTIMATE, "--corpus-report=r.json")
    assert result.ret == 0, said(result)
    [line] = lines(result)
    assert f"{component}: about {CALLS[component]} calls" in line
    assert ("generate a text" in line) is (component == "llm")
    assert "one test at a time" in line
    assert not project.path.joinpath("r.json").exists()
    assert "verdict" not in said(result)


def test_a_slow_adapter_has_two_times(project: Project) -> None:
    """That of a run with many tests in flight, and that of one with one at a time."""
    [line] = lines(project.run("--corpus-adapter=slow_adapters:llm", ESTIMATE))
    found = re.search(r"about (\d+) s, or (\d+) s one test at a time", line)
    assert found, line
    assert int(found[1]) < int(found[2])
    [line] = lines(project.run("--corpus-adapter=slow_adapters:llm", ESTIMATE, "--corpus-concurrency=1"))
    assert re.search(r": about \d+ s, one test at a time$", line), line


def test_a_part_of_the_suite_costs_its_share(project: Project) -> None:
    """As the options select it."""
    [line] = lines(project.run("--corpus-adapter=slow_adapters:llm", ESTIMATE, "--corpus-requirement=LLM-STREAM-*"))
    calls = re.search(r"about (\d+) calls", line)
    assert calls
    assert 0 < int(calls[1]) < CALLS["llm"] / 4


@pytest.mark.parametrize(("component", "most"), [("llm", MOST_CALLS), ("vector", 16), ("embedding", 10), ("graph", 11)])
def test_it_makes_few_calls(project: Project, component: str, most: int) -> None:
    """Ten; a first query may need vectors to find, and what was written is deleted."""
    module = project.adapter(f"""
class Counting(Wrapped):
    component = "{component}"
    async def handle(self, envelope):
        with open("made.txt", "a") as file:
            file.write(".")
        return await self.inner.handle(envelope)
""")
    assert lines(project.run(f"--corpus-adapter={module}:Counting", ESTIMATE))
    assert len(project.path.joinpath("made.txt").read_text("utf-8")) <= most


def test_a_plain_call_that_fails_is_said(project: Project) -> None:
    """The time is not known then."""
    module = project.adapter("""
class Down(Wrapped):
    async def handle(self, envelope):
        answer = await self.inner.handle(envelope)
        if envelope["op"] == "llm.capabilities":
            return answer
        return refused("UNAVAILABLE", "Unavailable")
""")
    [line] = lines(project.run(f"--corpus-adapter={module}:Down", "--corpus-components=llm", ESTIMATE))
    assert "how long they take is not known, because a plain call fails" in line


def test_workers_are_refused(project: Project) -> None:
    """No test runs, so there is nothing for them to do."""
    result = project.run("-pxdist", "-n2", "--corpus-adapter=pytest_corpus.reference:llm", ESTIMATE)
    assert result.ret == 4
    assert "leave out -n" in said(result)


def test_every_component_is_known() -> None:
    """Each has a row."""
    assert tuple(COSTS) == COMPONENTS
