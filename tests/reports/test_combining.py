"""`report combine`: the reports of all shards of a suite, and none but these, become its complete report."""

import copy
from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pytest
from ledgers import RUN, take
from sound import DAY, FACTS, blocked, sound, violated, written

from pytest_corpus.reports import difference, json_report, reading
from pytest_corpus.reports.checking import combining, verification
from pytest_corpus.suites import inventory
from pytest_corpus.verdict.ledger import Ledger
from pytest_corpus.verdict.shards import Shard
from pytest_corpus.verdict.verdict import decide

EVERY = list(inventory.tests("llm", "dev"))

CHANGES: list[dict[str, Any]] = [
    {},
    {"LLM-STREAM-3": violated("LLM-STREAM-3")},
    {"COM-CTX-2": blocked("COM-ENV-1")},
    {"COM-OBS-1": {"outcome": "not_assessed", "reason": "no hook", "keyword": "metrics"}},
    {"LLM-TOOLS-5": {"outcome": "not_applicable", "reason": "tools are not denied"}},
]


def shard_of(whole: Ledger, shard: Shard) -> dict[str, Any]:
    """The report that a run of one shard writes."""
    own = {test for _, test in shard.tests({"llm": EVERY})}
    found = Ledger("a", ("llm",), dict(FACTS))
    found.expected.update(f"llm/{test}" for test in EVERY)
    found.mark_partial(shard.gap)
    for record in whole.records.values():
        if record.test in own:
            take(found, record)
    found.add_calls({"llm": shard.number}, {"llm": 10}, {"llm.complete 8": shard.number})
    start = f"2025-01-01T00:0{shard.number}:00+00:00"
    command = f"pytest --corpus-adapter=a --corpus-shard={shard}"
    run = replace(RUN, started_at=start, profile="dev", shard=shard, command=command)
    return json_report.build_report(found, decide(found, day=DAY), run)


def shards(changed: dict[str, Any] | None = None, of: int = 3) -> list[dict[str, Any]]:
    whole = sound(changed)
    return [shard_of(whole, Shard(number, of)) for number in range(1, of + 1)]


def combined(documents: list[dict[str, Any]]) -> dict[str, Any]:
    named = [(f"{number}.json", document) for number, document in enumerate(documents, start=1)]
    return combining.combine_reports(named, inventory.tests)


@pytest.mark.parametrize("changed", CHANGES, ids=[", ".join(changed) or "nothing" for changed in CHANGES])
def test_the_whole_is_what_one_run_writes(changed: dict[str, Any], tmp_path: Path) -> None:
    """Requirement by requirement, in any order of the shards, and `report check` finds nothing wrong."""
    whole, one = combined(shards(changed)[::-1]), written(sound(changed))
    assert whole["requirements"] == one["requirements"]
    assert (whole["verdict"], whole["complete"]) == (one["verdict"], True)
    found = difference.compare_reports(one, whole)
    assert not any(found[kind] for kind in difference.KINDS)
    assert not reading.schema_flaws(whole)
    json_report.write_report(whole, tmp_path / "whole.json")
    assert verification.find_faults(tmp_path / "whole.json", DAY, inventory.tests) == []


def test_calls_add_up_and_time_is_told() -> None:
    """Calls and tokens are those of all shards, the time is from the first start to the last end."""
    documents = shards()
    whole = combined(documents)
    told = whole["components"]["llm"]
    assert (told["calls"], told["tokens"], told["took_ms"]) == (6, 30, {"complete": {"8": 6}})
    assert (whole["started_at"], whole["duration_s"]) == ("2025-01-01T00:01:00+00:00", 121.235)
    assert whole["combined"] == [document["sha256"] for document in documents]
    assert ("shard" in whole, whole["command"]) == (False, "pytest --corpus-adapter=a")


def changed(*path: str, to: Any, seal: bool = True) -> Callable[[list[dict[str, Any]]], list[dict[str, Any]]]:
    """A change of one value in the last shard."""

    def change(given: list[dict[str, Any]]) -> list[dict[str, Any]]:
        last = copy.deepcopy(given[2])
        reduce(getitem, path[:-1], last)[path[-1]] = to
        return [*given[:2], json_report.add_digest(last) if seal else last]

    return change


def _lacking_a_test(given: list[dict[str, Any]]) -> list[dict[str, Any]]:
    first = next(entry for entry in given[2]["requirements"] if entry["tests"])
    entries = [{**each, "tests": each["tests"][1:]} if each is first else each for each in given[2]["requirements"]]
    return [*given[:2], json_report.add_digest({**given[2], "requirements": entries})]


def _spent(given: list[dict[str, Any]]) -> list[dict[str, Any]]:
    gaps = [*given[2]["gaps"], "the budget of 5 calls is spent"]
    return [*given[:2], json_report.add_digest({**given[2], "gaps": gaps})]


UNFIT: list[tuple[Callable[[list[dict[str, Any]]], list[dict[str, Any]]], str]] = [
    (lambda given: given[:2], "shard 3/3 missing"),
    (lambda given: given[1:2], "shards 1/3, 3/3 missing"),
    (lambda given: [*given, given[1]], "are both shard 2/3"),
    (lambda given: [*given[:2], shards(of=2)[1]], "of another division"),
    (lambda given: [*given[:2], written(sound())], "is not the report of a shard"),
    (changed("seed", to=8), "differ in the seed"),
    (changed("adapter", "version", to="2"), "differ in the adapter (version"),
    (changed("environment", "pytest-corpus", to="9.9"), "it was written by pytest-corpus 9.9"),
    (changed("environment", "python", to="3.0"), "differ in the environment (python"),
    (changed("spec", "catalogue", to="0.1"), "it is of catalogue 0.1"),
    (changed("seed", to=8, seal=False), "it was altered"),
    (_lacking_a_test, "1 test of shard 3/3 missing"),
    (_spent, "shard 3/3 is not whole: the budget of 5 calls is spent; run it again"),
]


@pytest.mark.parametrize(("spoilt", "why"), UNFIT, ids=[why for _, why in UNFIT])
def test_what_is_not_all_shards_is_refused(spoilt: Callable[..., list[dict[str, Any]]], why: str) -> None:
    """One sentence says what is missing, doubled or different."""
    with pytest.raises(combining.NotCombinable) as refused:
        combined(spoilt(shards()))
    assert why in str(refused.value)


def test_a_record_is_read_back_as_it_was() -> None:
    """The requirement that blocks a test is read from its reason."""
    whole = combined(shards({"COM-CTX-2": blocked("COM-ENV-1")}))
    (entry,) = (each for each in whole["requirements"] if each["id"] == "COM-CTX-2")
    assert (entry["status"], entry["blocked_by"]) == ("not_assessed", ["COM-ENV-1"])
