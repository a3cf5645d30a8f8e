"""Runs with a transcript, in processes of their own, and what a transcript has."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from cli_runs import environment

KEY = "env-value-4711-0815"
FEW = "LLM-TOKENS-*,COM-CAP-*,LLM-STREAM-1"

FAULTY = """
import logging, os

class Counts(Wrapped):
    async def handle(self, envelope):
        answer = await self.inner.handle(envelope)
        if op_of(envelope) == "llm.count_tokens" and answer["ok"]:
            logging.getLogger("mine").error("the key is %s", os.environ.get("ACME_API_KEY", ""))
            answer["result"] = -1
        return answer
"""


def record(folder: Path, adapter: str, few: str, *more: str, **given: str) -> subprocess.CompletedProcess[str]:
    """Run a few requirements; the transcript is `t.jsonl` and the report `r.json` unless they are named."""
    named = any(each.startswith("--corpus-transcript") for each in more)
    inherited = {key: value for key, value in environment(**given).items() if key not in ("PYTEST_ADDOPTS", "CI")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:asyncio",
         f"--corpus-adapter={adapter}", f"--corpus-requirement={few}", "--corpus-seed=7", "--corpus-report=r.json",
         *(() if named else ("--corpus-transcript=t.jsonl",)), *more],
        cwd=folder, check=False, capture_output=True, text=True, timeout=300,
        env={**inherited, "CORPUS_TEST_ENV": "local", "PYTHONPATH": f"{inherited['PYTHONPATH']}{os.pathsep}{folder}"},
    )  # fmt: skip


def lines_of(path: Path) -> list[dict[str, Any]]:
    """The lines of a transcript."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def statuses(path: Path) -> dict[tuple[str, str], str]:
    """The status of each requirement in a report."""
    entries = json.loads(path.read_text("utf-8"))["requirements"]
    return {(entry["component"], entry["id"]): entry["status"] for entry in entries}
