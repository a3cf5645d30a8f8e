"""Editions of the requirements, by made-up ones: 1.0 was released, 1.1 has one requirement more and another level."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_runs import call_command
from inner_runs import Project, said

from pytest_corpus.reports import difference, json_report
from pytest_corpus.spec.requirements import applicable_requirements, catalogue
from pytest_corpus.verdict import editions
from pytest_corpus.verdict.ledger import Ledger, TestRecord
from pytest_corpus.verdict.verdict import decide

RUN = json_report.RunFacts("2026-12-02T00:00:00+00:00", 1.0, 0, "must", None)

NEW, RAISED = "LLM-TOKENS-1", "LLM-COMPLETE-1"


def ledger(broken: str = "") -> Ledger:
    """A complete run that satisfies each requirement but one."""
    found = Ledger("a", ("llm",))
    for name in (entry.id for entry in applicable_requirements("llm")):
        record = TestRecord(
            "a", "llm", name, f"llm/test_{name}.py::test", "violated" if name == broken else "satisfied"
        )
        found.expected.update([record.key])
        found.add_run(record)
        found.add_report(record, agrees=True)
    return found


@pytest.fixture
def made_up(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of the editions."""
    folder = tmp_path_factory.mktemp("editions")
    lines = editions.current_edition_table().splitlines()
    first = [line for line in lines if not line.startswith(f"{NEW} ")]
    lowered = [line.replace('"MUST ', '"SHOULD ') if line.startswith(f"{RAISED} ") else line for line in first]
    for name, released, table in (("1.0", "2026-12-01", lowered), ("1.1", "", lines)):
        head = f'released = "{released}"\n\n[requirements]\n'
        (folder / f"{name}.toml").write_text(head + "\n".join(table) + "\n")
    monkeypatch.setattr(editions, "FOLDER", folder)
    editions.edition.cache_clear()
    yield folder
    editions.edition.cache_clear()


def flaws_of(edition: editions.Edition) -> list[str]:
    """The faults of a released edition: lost requirements, and sentences that changed without an erratum."""
    corrected, found = {each.requirement for each in edition.errata}, []
    for name, digest in edition.digests.items():
        entry = catalogue().get(name)
        if name not in corrected and (entry is None or digest != editions.digest_of(entry)):
            found.append(f"edition {edition.name}: {name} is gone or its sentence has changed; write an erratum")
    lost = sorted(corrected - edition.digests.keys())
    return found + [f"edition {edition.name}: there is an erratum of {name}, which it does not have" for name in lost]


def test_each_shipped_edition_is_kept() -> None:
    """A released one has what it had; one that can still change has what the catalogue has (`make docs`)."""
    for name in editions.names():
        edition = editions.edition(name)
        assert flaws_of(edition) == []
        if not edition.released:
            assert edition.levels == {entry.id: entry.level for entry in catalogue().values()}


@pytest.mark.usefixtures("made_up")
@pytest.mark.parametrize(("name", "broken", "verdict", "level"), [
    ("1.0", NEW, "conformant", "PREVIEW"),
    ("1.1", NEW, "nonconformant", "MUST"),
    ("1.0", RAISED, "conformant", "SHOULD"),
    ("1.1", RAISED, "nonconformant", "MUST"),
])  # fmt: skip
def test_a_verdict_is_of_an_edition(name: str, broken: str, verdict: str, level: str) -> None:
    """A demand of a later edition alone does not turn the verdict of an earlier one."""
    found = ledger(broken)
    decided = decide(found, edition=editions.edition(name))
    document = json_report.build_report(found, decided, RUN)
    assert document["verdict"] == verdict
    assert document["spec"]["edition"]["name"] == name
    [entry] = [each for each in document["requirements"] if each["id"] == broken]
    assert (entry["level"], entry["status"]) == (level, "violated")


@pytest.mark.usefixtures("made_up")
def test_an_old_edition_under_a_new_kit(project: Project) -> None:
    """The default is the newest released edition: a run fails by the later one alone, and tells a preview as one."""
    project.adapter()
    few = ("--corpus-adapter=mine:Miscounting", f"--corpus-requirement={NEW}", "--corpus-report=r.json")
    old = project.run(*few)
    assert old.ret == 0
    assert f"preview  {NEW} (PREVIEW)" in said(old)
    assert "edition 1.0" in said(old)
    before = project.report()
    new = project.run(*few, "--corpus-edition=1.1")
    assert new.ret == 1
    assert f"violated  {NEW} (MUST)" in said(new)
    found = difference.compare_reports(before, project.report())
    assert found["edition"] == {"old": "1.0", "new": "1.1"}
    assert "edition: 1.0 -> 1.1" in difference.describe_changes(found)
    unknown = project.run(*few, "--corpus-edition=7")
    assert unknown.ret == 4
    assert "--corpus-edition: there is no edition '7'; use 1.0 or 1.1" in said(unknown)


def test_a_released_edition_only_gets_errata(made_up: Path) -> None:
    """A sentence that was changed, and a requirement that went, need an erratum, which reports name."""
    path = made_up / "1.0.toml"
    gone, changed = 'GONE-1 = "MUST 0000000000000000"\n', "COM-WIRE-1"
    table = path.read_text().replace(editions.digest_of(catalogue()[changed]), "0" * 16) + gone
    path.write_text(table)
    editions.edition.cache_clear()
    flaws = flaws_of(editions.edition("1.0"))
    assert [(changed in each, "GONE-1" in each) for each in flaws] == [(True, False), (False, True)]
    errata = (
        f'[[errata]]\nrequirement = "{each}"\ndate = "2027-01-31"\nreason = "why"\n' for each in (changed, "GONE-1")
    )
    path.write_text(table + "".join(errata))
    editions.edition.cache_clear()
    assert flaws_of(editions.edition("1.0")) == []
    found = ledger()
    named = json_report.build_report(found, decide(found), RUN)["spec"]["edition"]["errata"]
    assert [each["requirement"] for each in named] == [changed, "GONE-1"]
    assert "2027-01-31  COM-WIRE-1: why" in call_command("edition", "list").out


@pytest.mark.usefixtures("made_up")
def test_the_command() -> None:
    """It lists editions and the changes between two, for people and as JSON."""
    listed = call_command("edition", "list").out.splitlines()
    assert listed[0].startswith("1.0  released 2026-12-01; ")
    assert listed[0].endswith("1 more in preview")
    assert listed[1].startswith("1.1  not released; ")
    facts = json.loads(call_command("edition", "list", "--format", "json").out)["editions"]
    assert [(each["current"], each["preview"]) for each in facts] == [(True, [NEW]), (False, [])]
    lines = call_command("edition", "diff", "1.0", "1.1").out
    assert f"added     {NEW} (MUST)" in lines
    assert f"level     {RAISED} (SHOULD -> MUST)" in lines
    changes = json.loads(call_command("edition", "diff", "1.0", "1.1", "--format", "json").out)["changes"]
    assert [each["kind"] for each in changes] == ["level", "added"]
    assert "have the same requirements" in call_command("edition", "diff", "1.1", "1.1").out
    assert call_command("edition", "diff", "1.0", "3").code == 2
