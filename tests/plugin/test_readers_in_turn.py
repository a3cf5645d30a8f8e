"""Operations that show nodes are asked in turn: by look, by case and by seed."""

import pytest
import readers
from inner_runs import Project, said, violated

from pytest_corpus.adapter import inputs

SEEDS = range(5)

FAULTS = {readers.FilteredStay: "GRA-DELETE-6", readers.RolledBackStays: "GRA-TXN-2"}


@pytest.mark.slow
@pytest.mark.parametrize("reader", ["query", "stream_query", "bulk_vertices"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_one_reader_is_found_with_each_seed(
    project: Project, fault: type[readers.Ghosts], reader: str
) -> None:
    """An operation that alone shows what is not there is found by some case, whatever the seed."""
    for seed in SEEDS:
        scope = FAULTS[fault]
        result, report = project.judged(f"readers:{fault.__name__}_{reader}", scope, f"--corpus-seed={seed}")
        assert violated(report) == {scope}, said(result)


def turns(seed: int, name: str, case: int, count: int = 1) -> list[int]:
    inputs.begin_test(inputs.Run(seed=seed), name, case=case)
    return [inputs.next_in_rotation("reader") % 3 for _ in range(count)]


def test_cases_and_seeds_begin_with_another_turn() -> None:
    """The looks of a test, its cases in one run, and one case with several seeds ask each of three."""
    name = "graph/test_it.py::test_it"
    assert sorted(turns(0, name, 0, 3)) == [0, 1, 2]
    assert sorted(turns(0, f"{name}[{case}]", case)[0] for case in range(3)) == [0, 1, 2]
    assert sorted(turns(seed, f"{name}[one]", 7)[0] for seed in range(3)) == [0, 1, 2]
