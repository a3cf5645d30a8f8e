"""Bundles for tests: written to a folder, changed key by key."""

import json
import re
from pathlib import Path
from typing import Any

SEED = """\
name: qa
prompt_path: prompt.md
dataset_path: data.jsonl
"""

QUESTION_ANSWERING = {
    "bundle.yaml": """\
name: question-answering
version: "1.0"
description: Tests Q&A response format and accuracy

prompt_path: prompt.md
dataset_path: questions.jsonl

output_contract:
  schema_path: schema.json
  invariants:
    - "len(raw_output) < 500"
    - "output.get('confidence', 0) >= 0.5"

thresholds:
  - metric: pass_rate
    operator: ">="
    value: 0.85
  - metric: schema_valid_rate
    operator: ">="
    value: 0.95

provider:
  name: openai
  model: gpt-4o-mini
  temperature: 0.0
""",
    "prompt.md": """\
Answer the following question concisely and accurately.

Question: {{ question }}

Respond with a JSON object containing:
- "answer": Your concise answer
- "confidence": A number from 0 to 1

JSON response only, no additional text.
""",
    "questions.jsonl": """\
{"input": {"question": "What is the capital of Japan?"}}
{"input": {"question": "How many planets are in our solar system?"}}
{"input": {"question": "Who wrote Romeo and Juliet?"}}
""",
    "schema.json": """\
{
  "$schema": "http://json-schema.org/draft-07/schema#",
  "type": "object",
  "required": ["answer", "confidence"],
  "properties": {
    "answer": { "type": "string" },
    "confidence": { "type": "number", "minimum": 0, "maximum": 1 }
  }
}
""",
}
"""The complete example of BEHAVIOR_BUNDLES, unchanged."""


def write(folder: Path, files: dict[str, str]) -> Path:
    """Write files to a folder; the path of its bundle.yaml."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder / "bundle.yaml"


def bundle(folder: Path, cases: list[dict[str, Any]], more: str = "provider: {name: mock}\n", **files: str) -> Path:
    """A bundle with these cases, and further lines in its bundle.yaml; the files have ``_`` for a dot."""
    lines = "".join(json.dumps(case) + "\n" for case in cases)
    named = {re.sub(r"_(\w+)$", r".\1", name): text for name, text in files.items()}
    return write(folder, {"bundle.yaml": SEED + more, "prompt.md": "Q: {{ q }}\n", "data.jsonl": lines, **named})


def echo(number: int, answer: Any = "yes") -> dict[str, Any]:
    """A case that the provider mock answers."""
    return {"id": f"case-{number}", "input": {"q": number}, "expected_output": answer}
