"""A test's requests depend on seed and answers alone; the smallest sequence of calls of a stateful finding."""

import json
import re
from collections import defaultdict
from html import unescape
from pathlib import Path

import pytest
from cli_runs import MUTANTS_TOO, call_command, run_command
from recording import lines_of, record

from pytest_corpus.adapter import inputs
from pytest_corpus.suites import CHAPTERS, inventory

RUN = "abcdefghjk"
FEW = "COM-CTX-*,COM-ERR-*,COM-OBS-*,LLM-COMPLETE-*,VEC-QUERY-*,EMB-EMBED-*,EMB-BATCH-*,GRA-QUERY-*,GRA-EDGE-*,*-2"

ONE_RUN = f"""
import os, random, re, json
import pytest
import pytest_corpus.kit.store.leftovers as leftovers
from pytest_corpus import reference

leftovers.new_run = lambda: "{RUN}"

@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    if os.environ["ORDER"]:
        random.Random(os.environ["ORDER"]).shuffle(items)

class Same:
    '''An LLM that answers the same whichever process asks.'''
    def __init__(self, inner):
        self.inner = inner
    async def handle(self, envelope):
        return await self.inner.handle(plain(envelope))
    def handle_stream(self, envelope):
        return self.inner.handle_stream(plain(envelope))

def plain(envelope):
    return json.loads(re.sub("((?:corpusrun{RUN})|{RUN})[0-9a-z]", r"\\1", json.dumps(envelope), flags=re.IGNORECASE))

def factory(metrics=None, provider=None):
    made = reference.all(metrics, provider)
    return {{**made, "llm": Same(made["llm"])}}
"""
VARYING = (
    (re.compile(r'(deadline_ms\\*": ?)\d{12,14}'), r"\1"),
    (re.compile(f"((?:corpusrun{RUN})|{RUN})[0-9a-z]", re.IGNORECASE), r"\1"),
    (re.compile(r'(tenant\\*": ?\\*")[0-9a-z]+'), r"\1"),
    (re.compile(r"(doomed)\d+"), r"\1"),
)
"""Deadlines, the mark of a process in names and in tenants that belong to facts, and namespaces to delete.

A namespace whose deletion was refused is used again by the next test that deletes one.
"""

Requests = dict[tuple[str, ...], list[str]]


def requests(folder: Path, order: str, hash_seed: str, *more: str) -> Requests:
    """The requests of each test, without those of facts and of cleaning up."""
    folder.mkdir()
    (folder / "one_run.py").write_text(ONE_RUN)
    ended = record(folder, "one_run:factory", FEW, "-p", "one_run", *more, ORDER=order, PYTHONHASHSEED=hash_seed)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    found: Requests = defaultdict(list)
    for line in lines_of(folder / "t.jsonl"):
        if line["kind"] == "test":
            found[line["test"], str(line["repetition"])] += []
        if line["kind"] == "exchange" and "fact" not in line:
            text = json.dumps([line["entry_point"], *(each.get("request") for each in line.get("calls", [line]))])
            for pattern, same in VARYING:
                text = pattern.sub(same, text)
            found[line["test"], str(line["repetition"])].append(text)
    return found


@pytest.mark.slow
def test_the_same_bytes_for_the_same_seed(tmp_path: Path) -> None:
    """Each test sends the same requests in any order of tests, with any hashes of strings and number of workers."""
    usual = requests(tmp_path / "usual", "", "1")
    assert len(usual) > 800
    assert sum(map(len, usual.values())) > 1000
    for name, other in {"order": ("8", "2"), "workers": ("", "3", "-n", "2")}.items():
        found = requests(tmp_path / name, *other)
        assert found.keys() == usual.keys()
        assert {test: name for test in usual if found[test] != usual[test]} == {}


def test_no_two_tests_are_given_the_same_numbers() -> None:
    """The scopes of all tests have numbers of their own, without which names of two tests might meet."""
    tests = [test for component in CHAPTERS for test in inventory.tests(component, "stress")]
    assert len(tests) > 2500
    given = set()
    for test in tests:
        inputs.begin_test(inputs.Run(), f"{test} 0 1")
        given.add(inputs.unique_number())
    assert len(given) == len(set(tests))


WRITES = ["upsert_nodes", "delete_nodes"]
FOUND = {
    "vector:EveryThirdUpdateIsLost": ["create_namespace", *["upsert"] * 4, "query"],
    "graph:DeletedTwiceStaysAway": [*WRITES, *WRITES, "upsert_nodes", "query"],
    "graph:EdgeOfAnUpdatedNodeIsLost": ["upsert_nodes", "upsert_nodes", "upsert_edges", "upsert_nodes", "traversal"],
}
"""The operations of the story of each mutant."""


def steps(text: str) -> list[str]:
    """The operations of numbered steps, which have their numbers in order."""
    found = re.findall(r"(\d+)\. handle(?:_stream)? \{\W*op\W+(?:vector|graph)\.(\w+)", text)
    assert [int(number) for number, _ in found] == [*range(1, len(found) + 1)]
    return [op for _, op in found]


@pytest.mark.parametrize("mutant", FOUND)
def test_a_stateful_mutant(tmp_path: Path, mutant: str) -> None:
    """The steps are the same everywhere, and nothing is left behind."""
    few = "VEC-STATE-1" if mutant.startswith("vector") else "GRA-MODEL-1"
    ended = record(tmp_path, f"mutants.{mutant}", few, "--corpus-report=r.html", PYTHONPATH=MUTANTS_TOO)
    assert steps(ended.stdout) == FOUND[mutant], ended.stdout
    assert steps(unescape((tmp_path / "r.html").read_text())) == FOUND[mutant]
    listed = call_command("replay", tmp_path / "t.jsonl").out
    assert steps(listed) == FOUND[mutant]
    (tested,) = (line for line in lines_of(tmp_path / "t.jsonl") if line["kind"] == "test")
    (finding,) = tested["findings"]
    assert finding["story"]["said"] in listed
    assert finding["exchange"]["number"] == finding["story"]["exchanges"][-1]
    *_, totals, _ = lines_of(tmp_path / "t.jsonl")
    assert totals["left"] == {}
    shell = call_command("replay", tmp_path / "t.jsonl", "--as", "shell").out
    assert re.findall(r'loads.*?"op":"\w+\.(\w+)', shell) == FOUND[mutant]


def test_a_finding_that_is_sent_again_has_its_own_story(tmp_path: Path) -> None:
    """The steps are those of the new run; judging the record gives the same report."""
    mutant = "vector:EveryThirdUpdateIsLost"
    record(tmp_path, f"mutants.{mutant}", "VEC-STATE-1", PYTHONPATH=MUTANTS_TOO)
    again = run_command("replay", "t.jsonl", "--adapter", f"mutants.{mutant}", cwd=tmp_path, PYTHONPATH=MUTANTS_TOO)
    assert again.out.startswith("STILL FAILING")
    assert steps(again.out) == FOUND[mutant]
    judged = run_command("judge", "t.jsonl", "--attestation", "r.json", cwd=tmp_path)
    assert (judged.code, "judge:" in judged.err) == (1, False), judged
    assert steps(judged.out) == FOUND[mutant]
