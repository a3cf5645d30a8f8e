"""`report verify` refuses no report that a whole run wrote, whatever the adapter did."""

from datetime import UTC, datetime

from inner_runs import Project

from pytest_corpus.reports.checking.verification import faults
from pytest_corpus.suites import inventory

UNRULY = """
import random

class Unruly:
    # Takes no hook, breaks rules now and then and always, and raises now and then.
    def __init__(self):
        self.inner, self.chance = llm(), random.Random(3)

    async def handle(self, envelope):
        if self.chance.random() < 0.01:
            raise RuntimeError("now and then")
        answer = await self.inner.handle(envelope)
        if op_of(envelope) == "llm.complete" and answer.get("ok"):
            answer = {**answer, "extra": 1}
        if op_of(envelope) == "llm.count_tokens" and answer.get("ok"):
            answer = {**answer, "result": -1}
        return answer

    def handle_stream(self, envelope):
        return self.inner.handle_stream(envelope)
"""

DEVIATIONS = """
[[deviation]]
requirement = "COM-ENV-1"
reason = "The provider adds a key."
removal_plan = "Drop it."
expires = 2999-12-31
"""


def found(project: Project) -> list[str]:
    return faults(project.path / "r.json", datetime.now(UTC).date(), inventory.tests)


def test_of_an_unruly_adapter(project: Project) -> None:
    """With violations, deviations, what was not assessed, and blockers that themselves passed."""
    project.adapter(UNRULY)
    (project.path / "corpus-deviations.toml").write_text(DEVIATIONS)
    project.run("--corpus-adapter=mine:Unruly", "--corpus-report=r.json")
    report = project.report()
    met = {entry["status"] for entry in report["requirements"]}
    assert met == {"satisfied", "violated", "not_applicable", "not_assessed", "deviated"}
    assert (report["complete"], found(project)) == (True, [])


def test_of_a_repeated_run(project: Project) -> None:
    """With every test run twice."""
    result = project.run(
        "--corpus-client=pytest_corpus.reference:client", "--corpus-repeat=2", "--corpus-report=r.json"
    )
    assert (result.ret, found(project)) == (0, [])
