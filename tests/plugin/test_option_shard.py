"""`--corpus-shard`, and `report combine` on what its runs wrote."""

import pytest
from inner_runs import REFERENCE, Project, said, statuses

from pytest_corpus.cli import main
from pytest_corpus.suites import inventory
from pytest_corpus.verdict.shards import Shard


def test_a_shard_is_a_part_that_says_which(project: Project) -> None:
    """The tests of a shard run and no others; its report is partial and names the shard."""
    result = project.run(REFERENCE, "--corpus-shard=20/20", "--corpus-report=r.json")
    assert result.ret == 0, said(result)
    report = project.report()
    every = inventory.tests("llm", "dev")
    own = {test for _, test in Shard(20, 20).tests({"llm": list(every)})}
    assert {test["test"] for entry in report["requirements"] for test in entry["tests"]} == own
    assert (report["verdict"], report["shard"]) == ("partial", {"number": 20, "of": 20})
    missing = f"{len(every) - len(own)} of {len(every)} tests did not run"
    assert report["gaps"] == ["only shard 20 of 20 was to run", missing]
    assert "--corpus-shard=20/20" in report["command"]


@pytest.mark.slow
@pytest.mark.parametrize("adapter", [REFERENCE, "--corpus-adapter=mine:Broken"], ids=["conformant", "broken"])
def test_the_shards_together_are_the_whole_run(project: Project, adapter: str) -> None:
    """Combined, the reports of five shards have the statuses and the verdict of one run, and are verified."""
    project.adapter("@changes('llm.count_tokens')\ndef Broken(answer): answer['ms'] = -1\n")
    project.run_apart(adapter, "--corpus-report=one.json")
    names = [f"{number}.json" for number in range(1, 6)]
    for number, name in enumerate(names, start=1):
        project.run_apart(adapter, f"--corpus-shard={number}/5", f"--corpus-report={name}")
    assert main(["report", "combine", *reversed(names), "-o", "whole.json"]) == 0
    assert main(["report", "check", "whole.json"]) == 0
    assert main(["report", "diff", "one.json", "whole.json"]) == 0
    assert main(["report", "diff", "whole.json", "one.json"]) == 0
    one, whole = project.report("one.json"), project.report("whole.json")
    assert statuses(one) == statuses(whole)
    assert (one["verdict"], one["components"]["llm"]["totals"]) == (
        whole["verdict"],
        whole["components"]["llm"]["totals"],
    )
    assert one["command"] == whole["command"]
