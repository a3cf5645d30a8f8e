"""The signs of true reports: the tests that suites carry are known, and no report of a whole run is refused."""

from datetime import UTC, datetime

import pytest
from inner_runs import Project

from pytest_corpus.integration.collecting import nodes as collect
from pytest_corpus.reports.checking.verification import find_faults
from pytest_corpus.suites import CHAPTERS, CLIENT_CHAPTERS, inventory

UNRULY = """
import random

class Unruly(Wrapped):
    # Takes no hook, breaks rules now and then and always, and raises now and then.
    def __init__(self):
        super().__init__()
        self.chance = random.Random(3)

    async def handle(self, envelope):
        if self.chance.random() < 0.01:
            raise RuntimeError("now and then")
        answer = await self.inner.handle(envelope)
        if op_of(envelope) == "llm.complete" and answer.get("ok"):
            answer = {**answer, "extra": 1}
        if op_of(envelope) == "llm.count_tokens" and answer.get("ok"):
            answer = {**answer, "result": -1}
        return answer
"""

DEVIATIONS = """
[[deviation]]
requirement = "COM-ENV-1"
reason = "The provider adds a key."
removal_plan = "Drop it."
expires = 2999-12-31
"""


def found(project: Project) -> list[str]:
    return find_faults(project.path / "r.json", datetime.now(UTC).date(), inventory.tests)


def test_of_an_unruly_adapter(project: Project) -> None:
    """With violations, deviations, what was not assessed, and blockers that themselves passed."""
    project.adapter(UNRULY)
    (project.path / "corpus-deviations.toml").write_text(DEVIATIONS)
    _, report = project.judged("mine:Unruly")
    met = {entry["status"] for entry in report["requirements"]}
    assert met == {"satisfied", "violated", "not_applicable", "not_assessed", "deviated"}
    assert (report["complete"], found(project)) == (True, [])


def test_of_a_repeated_run(project: Project) -> None:
    """With every test run twice."""
    result = project.run(
        "--corpus-client=pytest_corpus.reference:client", "--corpus-repeat=2", "--corpus-report=r.json"
    )
    assert (result.ret, found(project)) == (0, [])


CLIENT = "--corpus-client=pytest_corpus.reference:client"
ADAPTER = "--corpus-adapter=pytest_corpus.reference:all"


class Collected:
    """A plugin that notes the tests of the suite, by component, with the requirement of each."""

    def __init__(self) -> None:
        self.found: dict[str, dict[str, str]] = {}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            own = collect.owner(item)
            assert own is not None
            self.found.setdefault(own[1], {})[collect.name_of_test(item)] = collect.requirement_of(item)


@pytest.mark.parametrize("profile", ["dev", "stress"])
def test_what_is_told_is_what_is_collected(project: Project, profile: str) -> None:
    """Names, parameters and requirements of every suite are those with which pytest collects it."""
    collected = Collected()
    arguments = project.arguments(("--collect-only", "-q", f"--corpus-profile={profile}"), ())
    everything = [each for each in arguments if not each.startswith("--corpus-components")]
    components = f"--corpus-components={','.join(CHAPTERS)}"
    project.pytester.inline_run(*everything, ADAPTER, CLIENT, components, plugins=[collected])
    assert set(collected.found) == {*CHAPTERS, *CLIENT_CHAPTERS}
    for component, found in collected.found.items():
        assert inventory.tests(component, profile) == found
