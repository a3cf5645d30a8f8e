"""Standard error that a program writes during a call is shown with the findings of that call, masked."""

from pathlib import Path

import pytest
from cli_runs import conformance
from served_adapters import command

KEY = "sk-live-0123456789abcdef"

LOSES_RESULTS = """
import os, sys
from pytest_corpus.reference.llm.adapter import ReferenceLLM

class Loses(ReferenceLLM):
    async def handle(self, envelope):
        answer = await super().handle(envelope)
        if envelope["op"] == "llm.health":
            print("no result with", os.environ["VENDOR_API_KEY"], "for", envelope["ctx"].get("tenant"), file=sys.stderr)
            del answer["result"]
        return answer

def factory(metrics=None, provider=None):
    return Loses(metrics=metrics, provider=provider)
"""

DIES = LOSES_RESULTS.replace('del answer["result"]', "os._exit(3)").replace(
    "file=sys.stderr)", "'\\nthe last words', file=sys.stderr, flush=True)"
)


def said(folder: Path, source: str, *more: str) -> str:
    (folder / "faulty.py").write_text(source)
    asked = (f"--corpus-adapter=a={command('faulty:factory')}", "--corpus-requirement=COM-HEALTH-1", *more)
    ended = conformance(folder, *asked, VENDOR_API_KEY=KEY)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert KEY not in ended.stdout + ended.stderr
    return ended.stdout


@pytest.mark.parametrize("level", ["full", pytest.param("shape", marks=pytest.mark.slow)])
def test_the_lines_of_a_call_stand_with_its_finding(tmp_path: Path, level: str) -> None:
    """At the level `full` alone, and without what looks like a credential."""
    found = said(tmp_path, LOSES_RESULTS, f"--corpus-evidence={level}")
    assert ("no result with" in found) == (level == "full")


@pytest.mark.slow
def test_the_last_words_of_a_program_stand_with_the_call_that_ended_it(tmp_path: Path) -> None:
    """With its exit code."""
    found = said(tmp_path, DIES)
    assert "the program has ended, with exit code 3" in found
    assert "the last words" in found
