"""A verdict is never better than what was seen: what blocks is found, and what nobody looked at is not kept."""

from typing import Any

import pytest
from inner_runs import REFERENCE, Project, statuses, violated

from pytest_corpus.adapter.hooks import late_reports
from pytest_corpus.kit import expect

OBSERVING = """
class Sink:
    def __init__(self, inner): self.inner = inner
    def observe(self, **given):
        for _ in range(TIMES): self.inner.observe(**given)
    def counter(self, **given):
        if TIMES: self.inner.counter(**given)

def factory(metrics, provider): return llm(Sink(metrics), provider)
"""


def entry(report: dict[str, Any], requirement: str) -> dict[str, Any]:
    (found,) = [each for each in report["requirements"] if each["id"] == requirement]
    return dict(found)


def test_an_operation_that_failed_once_is_found(project: Project) -> None:
    """The answer to the suite's first plain request counts, though the operation works from then on."""
    project.adapter(
        "answers = [refused('BAD_REQUEST', 'BadRequest')]\n"
        "@before('llm.count_tokens')\n"
        "def Once(adapter, envelope): return answers.pop() if answers else None\n"
        "def hookless(): return Once()\n"
    )
    result, report = project.judged("mine:hookless", "LLM-TOKENS-7,COM-CAP-6")
    assert violated(report) == {"COM-CAP-6"}
    assert entry(report, "LLM-TOKENS-7").get("blocked_by") == ["COM-CAP-6"]
    assert result.ret == 1


@pytest.mark.parametrize("times", [0, 2], ids=["never", "twice"])
def test_labels_that_were_not_looked_at_are_not_true(
    project: Project, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """With no observation, or with two, nothing that is said of the one observation is satisfied."""
    monkeypatch.setattr(late_reports, "LATEST_S", 0.1)
    project.adapter(f"TIMES = {times}\n{OBSERVING}")
    result, report = project.judged("mine:factory", "COM-OBS-*,COM-LEAK-2")
    silent = times == 0
    assert violated(report) == {"COM-OBS-1", "COM-OBS-2", "COM-OBS-3", *(["COM-OBS-11"] if silent else [])}
    labels = [f"COM-OBS-{number}" for number in (4, 5, 6, 7, 8, 9, 10)]
    labels += ["COM-OBS-12", "COM-OBS-13", "COM-OBS-14", "COM-LEAK-2"] if silent else []
    found = {name: statuses(report)["llm", name] for name in labels}
    assert found == dict.fromkeys(labels, "not_assessed")
    assert entry(report, "COM-OBS-8")["blocked_by"] == ["COM-OBS-1"]
    assert result.ret == 1


def test_names_of_errors_that_are_missing_were_not_looked_at(project: Project) -> None:
    """If errors have no `code`, that is one finding, and nothing is said of how codes are spelled."""
    project.adapter(
        "class Codeless(Wrapped):\n"
        "    async def handle(self, envelope):\n"
        "        answer = await self.inner.handle(envelope)\n"
        "        return answer if answer['ok'] else {**answer, 'code': None}\n"
    )
    _, report = project.judged("mine:Codeless", "COM-ERR-*")
    assert violated(report) == {"COM-ERR-2"}
    for requirement in ("COM-ERR-3", "COM-ERR-4", "COM-ERR-10"):
        assert entry(report, requirement)["blocked_by"] == ["COM-ERR-2"]


def test_a_test_that_looks_at_nothing_decides_nothing(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A body that comes to its end without an expectation is not assessed, and says so."""
    monkeypatch.setattr(expect, "refusal", lambda *_, **__: None)
    project.run(REFERENCE, "--corpus-requirement=LLM-SAMPLING-7,LLM-SAMPLING-6", "--corpus-report=r.json")
    report = project.report()
    found = entry(report, "LLM-SAMPLING-7")
    assert found["status"] == "not_assessed"
    assert found["reason"].startswith("no answer contains what this requirement is about")
    assert entry(report, "LLM-SAMPLING-6")["status"] == "satisfied"


def test_a_baseline_is_no_look(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """That an operation works at all is not what a test of it looks at."""
    monkeypatch.setattr(expect, "refusal", lambda *_, **__: None)
    project.run(REFERENCE, "--corpus-requirement=LLM-TOKENS-6", "--corpus-report=r.json")
    assert {test["outcome"] for test in entry(project.report(), "LLM-TOKENS-6")["tests"]} == {"not_assessed"}


@pytest.mark.parametrize("says", ["NotSupported", "TextTooLong"])
def test_truncation_that_is_not_offered_blocks_nothing(project: Project, says: str) -> None:
    """If truncation is denied, either refusal of a text that is too long is right (R29), and no finding."""
    code = {"NotSupported": "NOT_SUPPORTED", "TextTooLong": "TEXT_TOO_LONG"}[says]
    project.adapter(
        "class Whole(Wrapped):\n"
        "    component = 'embedding'\n"
        "    def __init__(self): super().__init__()\n"
        "    async def handle(self, envelope):\n"
        "        answer = await self.inner.handle(envelope)\n"
        "        if op_of(envelope) == 'embedding.capabilities' and answer['ok']:\n"
        "            told = {**answer['result'], 'supports_truncation': False, 'supports_streaming': False}\n"
        "            return {**answer, 'result': told}\n"
        "        if op_of(envelope) == 'embedding.embed' and isinstance(envelope.get('args'), dict):\n"
        "            text = envelope['args'].get('text')\n"
        f"            if isinstance(text, str) and len(text) > 512: return refused('{code}', '{says}')\n"
        "        return answer\n"
    )
    _, report = project.judged("mine:Whole", "EMB-TRUNC-3,EMB-TRUNC-13")
    assert violated(report) == set()
    assert statuses(report)["embedding", "EMB-TRUNC-3"] == "not_applicable"
