"""A requirement that was not checked is reported as not checked; a legal adapter is never failed."""

import pytest
from inner_runs import REFERENCE, Project, said, statuses, violated

from pytest_corpus.adapter.hooks import late_reports
from pytest_corpus.adapter.instance import AdapterInstance


def run(project: Project, declared: str, *options: str) -> pytest.RunResult:
    return project.run(f"--corpus-adapter={declared}", "--corpus-report=r.json", *options)


def test_without_hooks(project: Project) -> None:
    """A factory that takes no keyword is incomplete, never conformant; exit code 0; the keywords are named.

    The numbers say how many were not assessed beside how many are satisfied, and count none of those as passed.
    """
    project.adapter()
    result = run(project, "mine:hookless")
    report = project.report()
    assert result.ret == 0
    assert (report["verdict"], report["complete"]) == ("incomplete", True)
    assert violated(report) == set()
    open_ones = [entry for entry in report["requirements"] if entry["status"] == "not_assessed"]
    assert {entry.get("keyword") for entry in open_ones} == {"metrics", "provider"}
    for keyword in ("metrics", "provider"):
        (line,) = [
            line for line in result.outlines if f"not assessed: the factory does not accept '{keyword}':" in line
        ]
        for entry in open_ones:
            assert (entry["id"] in line) == (entry["keyword"] == keyword)
    assert "  verdict: incomplete" in result.outlines
    assert "not assessed" in result.outlines[-1]
    totals = report["components"]["llm"]["totals"]["must"]
    applicable = sum(totals.values()) - totals["not_applicable"]
    (line,) = [line for line in result.outlines if line.startswith("    MUST")]
    assert f"{totals['satisfied']}/{applicable} satisfied" in line
    assert f"{totals['not_assessed']} not assessed" in line


@pytest.mark.parametrize("keyword", ["metrics", "provider"])
def test_one_hook(project: Project, keyword: str) -> None:
    """With one of the hooks only what needs the other stays open."""
    project.adapter(f"def one({keyword}): return llm({keyword}={keyword})\n")
    run(project, "mine:one", "--corpus-requirement=COM-OBS-*,COM-FAULT-[1-9]")
    wanted = {"metrics": "COM-OBS-1", "provider": "COM-FAULT-1"}
    for needed, requirement in wanted.items():
        expected = "satisfied" if needed == keyword else "not_assessed"
        assert statuses(project.report())["llm", requirement] == expected


def test_hooks_taken_and_not_used(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Taking a keyword and ignoring it satisfies nothing that needs it."""
    monkeypatch.setattr(late_reports, "LATEST_S", 0.1)
    project.adapter("def ignoring(metrics, provider): return llm()\n")
    run(project, "mine:ignoring", "--corpus-requirement=COM-OBS-*,COM-FAULT-*,COM-DEADLINE-*")
    found = {requirement: status for (_, requirement), status in statuses(project.report()).items()}
    assert {found["COM-OBS-1"], found["COM-FAULT-1"]} <= {"violated", "not_assessed"}
    assert "satisfied" not in {status for name, status in found.items() if name.startswith("COM-FAULT")}


LOGGING = """
import logging

class Logging(Wrapped):
    async def handle(self, envelope):
        logging.getLogger("provider").error("asked for %s", envelope)
        return await self.inner.handle(envelope)
"""


def test_logs_that_cannot_be_heard(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Requirements on log records are not assessed, with the reason; the logs of this process are not the adapter's."""
    monkeypatch.setattr(AdapterInstance, "hears_logs", False)
    project.adapter(LOGGING)
    run(project, "mine:Logging", "--corpus-requirement=COM-LEAK-[1347]")
    found = {entry["id"]: entry for entry in project.report()["requirements"] if entry["tests"]}
    assert {name: entry["status"] for name, entry in found.items()} == {
        "COM-LEAK-1": "satisfied",
        "COM-LEAK-3": "not_assessed",
        "COM-LEAK-4": "satisfied",
        "COM-LEAK-7": "not_assessed",
    }
    for name in ("COM-LEAK-3", "COM-LEAK-7"):
        assert "the adapter runs in another process" in found[name]["reason"]


def test_a_fault_of_the_kit_is_not_the_adapters(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test of ours that crashes is red, blames us, and is not assessed."""
    from pytest_corpus.kit.component import Subject

    def crash(*args: object, **options: object) -> None:
        raise ZeroDivisionError("ours")

    monkeypatch.setattr(Subject, "send_stream", crash)
    result = project.run(REFERENCE, "--corpus-requirement=COM-STREAM-1,COM-CAP-2", "--corpus-report=r.json")
    assert result.ret == 1
    assert "This is a fault of pytest-corpus, not of the adapter." in said(result)
    assert statuses(project.report())["llm", "COM-STREAM-1"] == "not_assessed"
    assert violated(project.report()) == set()


def test_no_secret_of_an_exception_in_the_report(project: Project) -> None:
    """The message of a factory that cannot make a second instance does not reach the report."""
    project.adapter(
        "made = []\n"
        "def factory(provider):\n"
        "    made.append(1)\n"
        "    if len(made) > 1: raise RuntimeError('no second client for key sk-4f8z2')\n"
        "    return llm(provider=provider)\n"
    )
    run(project, "mine:factory", "--corpus-requirement=COM-FAULT-*,COM-CAP-2")
    assert statuses(project.report())["llm", "COM-FAULT-1"] in ("not_assessed", "satisfied")
    assert "sk-4f8z2" not in (project.path / "r.json").read_text("utf-8")


def test_features_that_are_not_offered_leave_the_bar_green(project: Project) -> None:
    """Their tests count as skipped, which is not yellow, and only the summary of the suite lists them."""
    given = ("--corpus-adapter=pytest_corpus.reference:llm", "--corpus-requirement=COM-CAP-[678]", "--color=yes", "-rs")
    result = project.run(*given)
    assert result.outlines[-1].startswith("\x1b[32m=")
    assert "3 skipped" in result.outlines[-1] or "2 skipped" in result.outlines[-1]
    assert [line for line in result.outlines if "not applicable  COM-CAP-7" in line]
    assert not [line for line in result.outlines if line.startswith("SKIPPED")]
