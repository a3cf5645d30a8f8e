"""Runs with a transcript, in processes of their own, and what a transcript has."""

import json
import subprocess
from pathlib import Path
from typing import Any

from cli_runs import run_suite

KEY = "env-value-4711-0815"
FEW = "LLM-TOKENS-*,COM-CAP-*,LLM-STREAM-1"

FAULTY = """
import logging, os

@changes("llm.count_tokens")
def Counts(answer):
    logging.getLogger("mine").error("the key is %s", os.environ.get("ACME_API_KEY", ""))
    answer["result"] = -1
"""


def record(folder: Path, adapter: str, few: str, *more: str, **given: str) -> subprocess.CompletedProcess[str]:
    """Run a few requirements; the transcript is `t.jsonl` and the report `r.json` unless they are named."""
    named = any(each.startswith("--corpus-transcript") for each in more)
    asked = (f"--corpus-adapter={adapter}", f"--corpus-requirement={few}", "--corpus-seed=7", "--corpus-report=r.json")
    transcript = () if named else ("--corpus-transcript=t.jsonl",)
    return run_suite(folder, *asked, *transcript, *more, **given)


def lines_of(path: Path) -> list[dict[str, Any]]:
    """The lines of a transcript."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
