"""Every requirement has a mutant that its tests turn red, and hardly anything else with it."""

from collections.abc import Iterator
from importlib import import_module

import pytest
from edits import unknown_names
from thinning import thin_out

from pytest_corpus.spec.components import WIRE
from pytest_corpus.spec.requirements import applicable_requirements, catalogue
from pytest_corpus.spec.transports import TRANSPORT_GROUPS

from . import REFERENCES, ROOMS, Mutant, mutants
from .conftest import NEXT
from .runner import WHOLE, Laboratory, Report

MUTANTS = {mutant.name: mutant for mutant in mutants()}

FIRST = {mutant.requirement: name for name, mutant in reversed(MUTANTS.items())}
"""One mutant of each requirement."""


def with_requirement(name: str) -> str:
    """The id of a mutant's tests, by which `-k` finds it: `LLM-STREAM-3-llm-NoTerminal`."""
    return f"{MUTANTS[name].requirement}-{name}"


IN_THE_WHOLE_SUITE = ("test_a_control_is_conformant", "test_mutant_in_the_whole_suite")

FOUNDATIONS = "COM-WIRE-[123],COM-CAP-[12]"

CONTROLS = sorted({mutant.control for mutant in MUTANTS.values()} - set(REFERENCES.values()))


@pytest.fixture(scope="session")
def laboratory() -> Iterator[Laboratory]:
    with Laboratory() as laboratory:
        yield laboratory


@pytest.fixture
def report(request: pytest.FixtureRequest, laboratory: Laboratory) -> Report:
    """The report on the adapter that a test is about; the run of the next test begins at the same time."""
    begun = laboratory.begin(*work(request.node))
    following = request.node.stash[NEXT]
    if (
        isinstance(following, pytest.Function)
        and following.path == request.node.path
        and hasattr(following, "callspec")
    ):
        laboratory.begin(*work(following))
    return begun.result()


def work(item: pytest.Function) -> tuple[str, str]:
    """The adapter that a test is about, by the test's parameter, and the scope of the run."""
    [given] = map(str, item.callspec.params.values())
    if given in REFERENCES:
        return REFERENCES[given], WHOLE
    mutant = MUTANTS.get(given)
    asked = [mutant] if mutant else [mutant for mutant in MUTANTS.values() if mutant.control == given]
    scope = ",".join([*dict.fromkeys(each.requirement for each in asked), FOUNDATIONS])
    return mutant.factory if mutant else given, WHOLE if item.originalname in IN_THE_WHOLE_SUITE else scope


@pytest.mark.parametrize("component", REFERENCES)
def test_the_reference_violates_nothing(report: Report, component: str) -> None:
    """The unmutated adapter is conformant, all of the suite ran, and it decides every sentence on the component."""
    assert (report.violated, report.errors) == ([], []), str(report)
    assert (report.verdict, report.complete) == ("conformant", True)
    assert [entry.id for entry in applicable_requirements(component) if not report.tests[entry.id]] == []


@pytest.mark.parametrize("room", [*ROOMS, "basic_faults"])
def test_every_name_in_a_row_is_known(room: str) -> None:
    """Rows are text that no linter reads: their methods use no name that is not defined."""
    files = import_module(f"{__package__}.{room}").ROOM.files
    made = [file.make(name) for file in files for name in file.rows]
    assert {each.__name__: unknown_names(each) for each in made if unknown_names(each)} == {}


def test_every_requirement_has_a_mutant() -> None:
    """A sentence without a mutant might have a test that cannot fail.

    Those of clients are in test_option_client.py, those of transports in test_broken_servers.py.
    """
    caught = {mutant.requirement for mutant in MUTANTS.values()}
    every = [entry for entry in catalogue().values() if entry.components != WIRE]
    adapters = [entry.id for entry in every if not TRANSPORT_GROUPS.keys() & set(entry.needs)]
    assert [entry for entry in adapters if entry not in caught] == []


@pytest.mark.parametrize("control", CONTROLS)
def test_a_control_violates_nothing(report: Report, control: str) -> None:
    """A legal variant keeps, until it is mutated, what its mutants do not."""
    assert (report.violated, report.errors) == ([], []), str(report)


@pytest.mark.slow
@pytest.mark.parametrize("control", CONTROLS)
def test_a_control_is_conformant(report: Report, control: str) -> None:
    """In the whole suite, too, a legal variant violates nothing until it is mutated."""
    assert (report.violated, report.errors) == ([], []), str(report)
    assert (report.verdict, report.complete) == ("conformant", True)


@pytest.mark.parametrize("name", thin_out(FIRST.values(), 6))
def test_mutant(report: Report, laboratory: Laboratory, name: str) -> None:
    """A mutant violates the requirement it was made for; what its own tests miss, the whole suite shows."""
    mutant = MUTANTS[name]
    if mutant.requirement not in report.violated:
        report = laboratory.report(mutant.factory)
    assert_caught(mutant, report)


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTANTS, ids=with_requirement)
def test_mutant_in_the_whole_suite(report: Report, name: str) -> None:
    """In the whole suite, too, every mutant violates its requirement, and at most three others."""
    assert_caught(MUTANTS[name], report)
    assert report.complete, f"{name}: the run is not complete"


def assert_caught(mutant: Mutant, report: Report) -> None:
    """The requirement that a mutant was made for is violated, at most three others are, and the suite held.

    No requirement that blocks another one is kept.
    """
    status = report.statuses.get(mutant.requirement, "not in the report")
    said = f"{mutant.name} ({mutant.description}) should violate {mutant.requirement}, which is {status}; {report}"
    others = [requirement for requirement in report.violated if requirement != mutant.requirement]
    assert mutant.requirement in report.violated, said
    assert len(others) <= mutant.others, f"{said}\n{len(others)} other requirements are violated"
    assert report.errors == [], f"{said}\nthe suite itself fails"
    assert report.misplaced == [], f"{said}\nfindings show other calls: {'; '.join(report.misplaced)}"
    kept = [by for by in report.blockers if report.statuses.get(by) in ("satisfied", "not_applicable")]
    assert kept == [], f"{said}\nthese block others, and are kept: {', '.join(kept)}"
