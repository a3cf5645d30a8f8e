"""The texts for a person: the summary, the catalogue."""

import ast
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest
from hypothesis import given
from ledgers import MUSTS, SHOULDS, ledger, ledgers, record, violation

from pytest_corpus.reports.catalogue import explain
from pytest_corpus.reports.terminal import Detail, build_summary, limit_to_run_part
from pytest_corpus.spec.obstacles import Obstacle, obstacle_of, remedy_for, with_remedy
from pytest_corpus.spec.requirements import catalogue
from pytest_corpus.verdict.ledger import Ledger
from pytest_corpus.verdict.verdict import decide, hint_of

ROOT = Path(__file__).parents[2] / "pytest_corpus"


def text(found: Ledger) -> str:
    return "\n".join(line.text for line in build_summary(found, decide(found)))


@given(ledgers())
def test_the_verdict_comes_last_and_every_violation_is_named(found: Ledger) -> None:
    """The last line is the verdict, or says that there is none; nothing else in it claims one.

    Each violated requirement is a line with id, level and source; no other line says so. In a part of a run that ran
    few, those of which no test ran stand in a line together.
    """
    verdict = decide(found)
    (part,) = verdict.components
    lines = [line.text for line in build_summary(found, verdict)]
    if verdict.complete:
        assert lines[-1] == f"  verdict: {verdict.verdict}"
    else:
        why = (
            "only a part of the suite ran"
            if found.expected - found.executed_tests
            else "not every test can be relied on"
        )
        assert lines[-1] == f"  no verdict: {why}"
        assert "conformant" not in "\n".join(lines)

    few = limit_to_run_part(verdict)[1]
    for status in part.statuses:
        word = "violated" if status.requirement.level == "MUST" else "not kept"
        named = [line for line in lines if line.startswith(f"    {word}  {status.requirement.id} (")]
        together = f"{status.requirement.id} ({status.requirement.level})" in few
        assert len(named) + together == (status.status == "violated")


def test_numbers() -> None:
    """Satisfied of applicable, with violated, not assessed and not applicable beside it."""
    lacking, denied = record(MUSTS[1], "not_assessed", keyword="metrics"), record(MUSTS[2], "not_applicable")
    lines = text(ledger(violation(MUSTS[0]), lacking, denied))
    count = len(MUSTS)
    expected = f"MUST   {count - 3}/{count - 1} satisfied, 1 violated, 1 not assessed, 1 not applicable"
    assert expected in lines
    assert f"SHOULD {len(SHOULDS)}/{len(SHOULDS)} satisfied, 0 violated" in lines


def test_keywords_are_named() -> None:
    """The requirements that a factory keyword would make assessable are one line for each keyword."""
    keywords = zip(MUSTS, ("metrics", "metrics", "provider"), strict=False)
    lines = text(ledger(*(record(entry, "not_assessed", keyword=keyword) for entry, keyword in keywords)))
    wanted = "not assessed: the factory does not accept"
    assert f"{wanted} 'metrics': {MUSTS[0].id}, {MUSTS[1].id}" in lines
    assert f"{wanted} 'provider': {MUSTS[2].id}" in lines


def test_blockers_and_reasons() -> None:
    """Requirements that block others are counted; any other reason is shown."""
    blocked = (record(entry, "not_assessed", blocked_by="COM-WIRE-1", reason="x") for entry in MUSTS[:2])
    lines = text(ledger(*blocked, record(MUSTS[2], "not_assessed", reason="the fault never fired")))
    assert "COM-WIRE-1 blocks 2 others" in lines
    assert f"not assessed  {MUSTS[2].id}: the fault never fired" in lines


def test_gaps_are_told() -> None:
    """Each gap is a line."""
    found = ledger(missing=(MUSTS[0].id,))
    found.mark_partial("a worker was lost")
    lines = text(found)
    assert "not complete: a worker was lost" in lines
    assert "tests did not run" in lines


def test_every_card() -> None:
    """Every requirement is explained with its sentence and source, none wider than a terminal."""
    for entry in catalogue().values():
        card = explain(entry.id.lower())
        assert card is not None
        flat = " ".join(card.split())
        assert " ".join(entry.text.split()) in flat
        assert ", ".join(entry.source) in flat
        assert all(need in card for need in entry.needs)
        if entry.hint:
            assert " ".join(entry.hint.split()) in flat


def obstacles() -> Iterator[str]:
    """The obstacles for which the tests of the suite are not assessed, as the sources spell them."""
    for path in (*ROOT.glob("suites/**/*.py"), *ROOT.glob("kit/**/*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and node.args:
                name = ast.unparse(node.func).rpartition(".")[2]
                if name in ("NotAssessed", "assessable"):
                    yield ast.unparse(node.args[name == "assessable"])


def test_every_obstacle_of_the_suite_is_a_row_of_the_table() -> None:
    """The text of a reason and its remedy stand in one table; the tests of the suite name its rows."""
    found = [*obstacles()]
    assert len(found) > 90
    assert {each for each in found if "Obstacle." not in each} <= {"cut", "otherwise"}


@pytest.mark.parametrize("obstacle", Obstacle, ids=lambda each: each.name)
def test_a_report_finds_the_remedy_by_the_reason(obstacle: Obstacle) -> None:
    """The row that a reason was made of is found again, whatever its values are."""
    values = {name: "a (value): of 2 'words'" for _, name, *_ in Formatter().parse(obstacle.text) if name}
    assert obstacle_of(obstacle.reason(**values)) is obstacle


def test_a_reason_is_followed_by_its_remedy() -> None:
    """Whatever leaves a requirement open, the line says what would make it assessable."""
    assert remedy_for("a reason that an older version gave") == "run again"
    assert with_remedy("a plugin changed it") == "a plugin changed it"
    open_one = record(MUSTS[0], "not_assessed", reason=Obstacle.NO_USAGE.text)
    assert "; to assess it, return `usage`, or offer count_tokens" in text(ledger(open_one))


def test_a_remedy_is_for_what_is_not_assessed() -> None:
    """A requirement that is not applicable needs no remedy."""
    found = ledger(record(MUSTS[0], "not_applicable", reason="no cache is claimed"))
    assert "to assess it" not in "\n".join(
        line.text for line in build_summary(found, decide(found), Detail(reasons=True))
    )


def test_the_hint_for_a_read_only_login_names_the_credentials() -> None:
    """If a plain call of an operation is refused with AUTH_ERROR, the adapter's code is not what is to change."""
    plain, other, denied = catalogue()["VEC-UPSERT-1"], catalogue()["VEC-UPSERT-9"], "the error AuthError / AUTH_ERROR"
    assert "credentials" in hint_of(plain, ["a success", denied])
    assert "credentials" in hint_of(other, [f"a plain vector.upsert is answered with {denied}"])
    assert hint_of(other, [denied]) == other.hint
    assert hint_of(plain, ["a success"]) == plain.hint
