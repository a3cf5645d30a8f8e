"""A test's requests depend on seed and answers alone."""

import json
import re
from collections import defaultdict
from pathlib import Path

import pytest
from recording import lines_of, record

ONE_RUN = """
import pytest_corpus.kit.store.leftovers as leftovers
leftovers.new_run = lambda: "abcdefghjk"
"""
DEADLINE = re.compile(r'(deadline_ms\\*": ?)\d{12,14}')
FEW = "COM-CTX-*,COM-ERR-*,COM-OBS-*,LLM-COMPLETE-*,VEC-QUERY-*,EMB-EMBED-*,GRA-QUERY-*,*-2"

Requests = dict[tuple[str, ...], list[str]]


def requests(folder: Path, seed: str) -> Requests:
    """The requests of each test and each fact in a run with another order of sets and dictionaries."""
    folder.mkdir()
    (folder / "one_run.py").write_text(ONE_RUN)
    ended = record(folder, "pytest_corpus.reference:all", FEW, "-p", "one_run", PYTHONHASHSEED=seed)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    found: Requests = defaultdict(list)
    for line in lines_of(folder / "t.jsonl"):
        if line["kind"] == "exchange":
            asked = [each.get("request") for each in line.get("calls", [line])]
            key = (line["component"], line["test"], line.get("fact", ""))
            found[key].append(DEADLINE.sub(r"\1", json.dumps(asked)))
    return found


@pytest.mark.slow
def test_the_same_bytes_for_the_same_seed(tmp_path: Path) -> None:
    """Two runs send the same requests in the same order, but for deadlines, whatever the hashes of strings are."""
    one, other = (requests(tmp_path / seed, seed) for seed in ("1", "2"))
    assert len(one) > 400
    assert list(one) == list(other)
    assert [key for key in one if one[key] != other[key]] == []
