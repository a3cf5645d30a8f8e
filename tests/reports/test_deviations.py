"""Declared deviations: the file, what it changes in a verdict, and when it does not hold."""

import contextlib
import tempfile
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from ledgers import MUSTS, SHOULDS, ledger, violation

from pytest_corpus.verdict import deviations
from pytest_corpus.verdict.deviations import Deviation, DeviationError
from pytest_corpus.verdict.ledger import Ledger
from pytest_corpus.verdict.verdict import decide

DAY = date(2026, 6, 1)
MUST, OTHER = MUSTS[0].id, MUSTS[1].id

GOOD = f"""
[[deviation]]
requirement = "{MUST}"
reason = "the provider cannot"
removal_plan = "with release 2"
expires = 2026-06-30
"""


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "corpus-deviations.toml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def declared(requirement: str = MUST, **changed: object) -> Deviation:
    fields: dict[str, object] = {"reason": "r", "removal_plan": "p", "expires": DAY}
    return Deviation(requirement, **{**fields, **changed})  # type: ignore[arg-type]


def test_a_complete_entry_is_read(tmp_path: Path) -> None:
    """All keys of an entry are kept; the adapter is any, the issue none, unless given."""
    text = GOOD + GOOD.replace(MUST, OTHER) + 'adapter = "x:*"\nissue = "https://example.org/1"\n'
    first, second = deviations.read(write(tmp_path, text))
    assert first == Deviation(MUST, "the provider cannot", "with release 2", date(2026, 6, 30), "*", "")
    assert (second.adapter, second.issue) == ("x:*", "https://example.org/1")


@pytest.mark.parametrize(("text", "wanted"), [
    ("[[deviation", "it is not TOML"),
    (b"\xff\xfe", "it is not UTF-8 (byte 0)"),
    ("[deviations]\n", "no key 'deviations'"),
    ("[deviation]\n", "double brackets"),
    ("deviation = [1]\n", "entry 1 is not a table"),
    (GOOD.replace(MUST, "LLM-STREM-1"), "no requirement 'LLM-STREM-1'; did you mean"),
    (GOOD.replace("reason", "raison"), "unknown key 'raison'"),
    (GOOD.replace('reason = "the provider cannot"\n', ""), "has no 'reason'"),
    (GOOD.replace("with release 2", " "), "has no 'removal_plan'"),
    (GOOD.replace("with release 2", "todo: think"), "'removal_plan' that is still to be written"),
    (GOOD.replace("2026-06-30", '"soon"'), "has no 'expires'"),
    (GOOD.replace("expires = 2026-06-30", ""), "has no 'expires'"),
    (GOOD + GOOD, f"{MUST} is declared twice"),
])  # fmt: skip
def test_an_entry_that_is_not_complete(tmp_path: Path, text: str | bytes, wanted: str) -> None:
    """Whatever is wrong with a file is one sentence that says where."""
    with pytest.raises(DeviationError) as raised:
        deviations.read(write(tmp_path, text))
    assert wanted in str(raised.value)
    assert "\n" not in str(raised.value)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    """No content of the file ends in anything but entries or the one documented error."""
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(DeviationError):
        deviations.read(write(Path(folder), data))


def test_a_declared_violation_is_deviated() -> None:
    """A violated MUST that is declared is `deviated`, and the component conformant with deviations."""
    found = decide(ledger(violation(MUST)), deviations=[declared()], day=DAY)
    assert found.verdict == "conformant_with_deviations"
    (status,) = (s for s in found.components[0].statuses if s.requirement.id == MUST)
    assert (status.status, status.deviation) == ("deviated", declared())
    assert status.findings
    assert found.faults == ()


@pytest.mark.parametrize(("found", "entry", "day", "verdict", "fault"), [
    (ledger(violation(MUST), violation(OTHER)), declared(), DAY, "nonconformant", ""),
    (ledger(violation(MUST)), declared(adapter="b*"), DAY, "nonconformant", ""),
    (ledger(violation(MUST)), declared(), DAY + timedelta(days=1), "nonconformant",
     f"the deviation of {MUST} expired on {DAY}: renew or remove it"),
    (ledger(), declared(), DAY, "conformant", f"{MUST} is kept now: remove its deviation"),
], ids=["of another requirement", "of another adapter", "expired", "not needed"])  # fmt: skip
def test_a_deviation_that_excuses_nothing(found: Ledger, entry: Deviation, day: date, verdict: str, fault: str) -> None:
    """One of another requirement or adapter changes nothing; one that expired, or is not needed, is a fault."""
    decided = decide(found, deviations=[entry], day=day)
    assert (decided.verdict, decided.faults) == (verdict, (fault,) if fault else ())


def test_a_partial_run_calls_no_deviation_needless() -> None:
    """If not all tests ran, a requirement without a finding proves nothing."""
    short = ledger()
    short.mark_partial("tests were deselected")
    assert decide(short, deviations=[declared()], day=DAY).faults == ()


def test_a_deviated_should() -> None:
    """A SHOULD that is declared counts as a deviation only where a SHOULD counts."""
    entry = declared(SHOULDS[0].id)
    assert decide(ledger(violation(SHOULDS[0])), deviations=[entry], day=DAY).verdict == "conformant"
    strict = decide(ledger(violation(SHOULDS[0])), "should", deviations=[entry], day=DAY)
    assert strict.verdict == "conformant_with_deviations"


def test_a_draft_does_not_count(tmp_path: Path) -> None:
    """A draft is TOML with a reason still to be written, which is refused until it is."""
    path = tmp_path / "corpus-deviations.toml"
    assert deviations.append(path, {(MUST, "a"), (OTHER, "a")}, DAY) == 2
    with pytest.raises(DeviationError, match="still to be written"):
        deviations.read(path)
    assert deviations.read(path, drafting=True) == ()
    written = path.read_text().replace("TODO: ", "")
    assert {entry.requirement for entry in deviations.read(write(tmp_path, written))} == {MUST, OTHER}


def test_drafting_keeps_what_is_there(tmp_path: Path) -> None:
    """Entries and comments stay; what is named already is not drafted again."""
    path = write(tmp_path, "# ours\n" + GOOD)
    assert deviations.append(path, {(MUST, "a"), (OTHER, "a")}, DAY) == 1
    assert path.read_text().startswith("# ours\n" + GOOD)
    assert deviations.append(path, {(MUST, "a"), (OTHER, "a")}, DAY) == 0


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30))
@example("todo:factory")
def test_a_draft_names_its_adapter_and_no_other(name: str) -> None:
    """Whatever an adapter is called, the drafted glob covers it, and not a longer name."""
    text = deviations.draft([(MUST, name)], DAY).replace("TODO: ", "")
    with tempfile.TemporaryDirectory() as folder:
        (entry,) = deviations.read(write(Path(folder), text)) if name.strip() == name else (declared(adapter=name),)
    if name.strip() == name:
        assert entry.covers(MUST, name)
        assert not entry.covers(MUST, name + "x")
