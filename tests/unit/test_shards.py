"""The tests of a suite, their division into shards and between workers."""

import pytest

from pytest_corpus.integration.collecting.collection_hooks import LONG, interleave
from pytest_corpus.integration.options.run_options import PROFILES
from pytest_corpus.spec.components import COMPONENTS
from pytest_corpus.suites import inventory
from pytest_corpus.verdict.shards import MOST_SHARDS, Shard, parse

SUITES = {name: list(inventory.tests(name, "dev")) for name in COMPONENTS}


@pytest.mark.parametrize("of", [1, 2, 5, MOST_SHARDS])
@pytest.mark.parametrize("names", [("llm",), COMPONENTS], ids=["llm", "all"])
def test_the_shards_are_the_suite(names: tuple[str, ...], of: int) -> None:
    """Each test is in one shard, no shard is empty, and a test stays together with all its parameters."""
    suites = {name: SUITES[name] for name in names}
    every = [pair for number in range(1, of + 1) for pair in Shard(number, of).tests(suites)]
    assert sorted(every) == sorted((name, test) for name in names for test in suites[name])
    whose: dict[object, int] = {}
    for number in range(1, of + 1):
        found = Shard(number, of).tests(suites)
        assert found
        for name, test in found:
            assert whose.setdefault((name, test.partition("[")[0]), number) == number


def test_shards_have_about_one_size() -> None:
    """Of five shards none has half as many tests again as it should."""
    sizes = [len(Shard(number, 5).tests(SUITES)) for number in range(1, 6)]
    assert max(sizes) < 1.5 * sum(sizes) / 5


@pytest.mark.parametrize("text", ["", "2", "0/5", "6/5", "2/5/1", "-1/5", "a/b", "1/99"])
def test_what_is_no_shard_is_refused(text: str) -> None:
    """The number of a shard, from 1 on, and their count."""
    with pytest.raises(ValueError, match="write NUMBER/OF"):
        parse(text)


def test_workers_begin_with_what_is_long() -> None:
    """Each worker's part has its share of the long tests at its head; the others keep their order."""
    names = [f"test_{number}" for number in range(40)]
    names[30], names[31], names[32] = sorted(LONG)[:3]
    order = interleave(range(40), names, 3)
    assert sorted(order) == list(range(40))
    assert [order[0], order[13], order[26]] == [30, 31, 32]
    rest = [number for number in order if number < 30]
    assert rest == sorted(rest)


def test_what_shares_its_calls_goes_to_one_worker() -> None:
    """Long tests of one suite that share their calls are neighbours."""
    shared = sorted(name for name, word in LONG.items() if word == "canaries")
    names = [f"{suite}.{name}" for name in shared for suite in ("llm", "graph")]
    order = interleave(range(40), [*names, *[f"llm.test_{number}" for number in range(len(names), 40)]], 4)
    assert [order[: len(shared)], order[10 : 10 + len(shared)]] == [[*range(part, len(names), 2)] for part in (0, 1)]


def test_fewer_tests_than_workers() -> None:
    """Nothing is lost where there is hardly anything to do."""
    assert sorted(interleave(range(2), [sorted(LONG)[0]] * 2, 8)) == [0, 1]
    assert interleave((), (), 8) == []


def test_the_long_ones_exist() -> None:
    """Every function that goes first is one of the suite."""
    known = {test.partition("[")[0].rpartition("::")[2] for suite in SUITES.values() for test in suite}
    assert known >= LONG.keys()


def test_only_stress_has_tests_of_its_own() -> None:
    """No other profile than `stress` collects the tests under load."""
    assert [name for name, profile in PROFILES.items() if profile.stress] == ["stress"]
    assert len(inventory.tests("llm", "stress")) > len(inventory.tests("llm", "dev"))
