"""The smallest sequence of calls of a stateful finding: on the screen, in reports and transcripts, by `replay`."""

import os
import re
from pathlib import Path

import pytest
from cli_runs import ROOT, called, ran
from recording import lines_of, record

WRITES = ["upsert_nodes", "delete_nodes"]
FOUND = {
    "vector:EveryThirdUpdateIsLost": ["create_namespace", *["upsert"] * 4, "query"],
    "graph:DeletedTwiceStaysAway": [*WRITES, *WRITES, "upsert_nodes", "stream_query"],
    "graph:EdgeOfAnUpdatedNodeIsLost": ["upsert_nodes", "upsert_nodes", "upsert_edges", "upsert_nodes", "traversal"],
}
"""The operations of the story of each mutant."""

PATH = os.pathsep.join(map(str, (ROOT, ROOT / "tests")))


def steps(text: str) -> list[str]:
    """The operations of numbered steps, which have their numbers in order."""
    found = re.findall(r"(\d+)\. handle(?:_stream)? \{\W*op\W+(?:vector|graph)\.(\w+)", text)
    assert [int(number) for number, _ in found] == [*range(1, len(found) + 1)]
    return [op for _, op in found]


@pytest.mark.parametrize("mutant", FOUND)
def test_a_stateful_mutant(tmp_path: Path, mutant: str) -> None:
    """The steps are the same everywhere, and nothing is left behind."""
    few = "VEC-STATE-1" if mutant.startswith("vector") else "GRA-MODEL-1"
    ended = record(tmp_path, f"mutants.{mutant}", few, "--corpus-report=r.html", PYTHONPATH=PATH)
    assert steps(ended.stdout) == FOUND[mutant], ended.stdout
    assert steps((tmp_path / "r.html").read_text().replace("&quot;", '"')) == FOUND[mutant]
    listed = called("replay", tmp_path / "t.jsonl").out
    assert steps(listed) == FOUND[mutant]
    (tested,) = (line for line in lines_of(tmp_path / "t.jsonl") if line["kind"] == "test")
    (finding,) = tested["findings"]
    assert finding["story"]["said"] in listed
    assert finding["exchange"]["number"] == finding["story"]["exchanges"][-1]
    *_, totals, _ = lines_of(tmp_path / "t.jsonl")
    assert totals["left"] == {}
    shell = called("replay", tmp_path / "t.jsonl", "--as", "shell").out
    assert re.findall(r'loads.*?"op":"\w+\.(\w+)', shell) == FOUND[mutant]


def test_a_finding_that_is_sent_again_has_its_own_story(tmp_path: Path) -> None:
    """The steps are those of the new run; judging the record gives the same report."""
    mutant = "vector:EveryThirdUpdateIsLost"
    record(tmp_path, f"mutants.{mutant}", "VEC-STATE-1", PYTHONPATH=PATH)
    again = ran("replay", "t.jsonl", "--adapter", f"mutants.{mutant}", cwd=tmp_path, PYTHONPATH=PATH)
    assert again.out.startswith("STILL FAILING")
    assert steps(again.out) == FOUND[mutant]
    judged = ran("judge", "t.jsonl", "--attestation", "r.json", cwd=tmp_path)
    assert (judged.code, "judge:" in judged.err) == (1, False), judged
    assert steps(judged.out) == FOUND[mutant]
