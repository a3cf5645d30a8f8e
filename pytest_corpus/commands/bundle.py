"""`pytest-corpus bundle`: behaviour bundles without pytest: begun, checked, run."""

import argparse
from pathlib import Path

from pytest_corpus.commands import FINDINGS, FINE, CommandError
from pytest_corpus.commands import _console as console

SUMMARY = "behaviour bundles: init, validate, run"

FILE = "bundle.yaml"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The three subcommands."""
    commands = parser.add_subparsers(dest="what", required=True, metavar="COMMAND")
    begun = commands.add_parser("init", help="write a small bundle that passes with the provider mock")
    begun.add_argument("folder", metavar="DIR", help="a folder that is empty or not there yet")
    checked = commands.add_parser("validate", help="find everything that is wrong with a bundle; nothing is called")
    checked.add_argument("folder", metavar="DIR", nargs="+", help="a folder with a bundle.yaml")
    console.format_argument(checked)
    ran = commands.add_parser("run", help="ask all cases and hold the bundle to its thresholds")
    ran.add_argument("folder", metavar="DIR", help="a folder with a bundle.yaml")
    ran.add_argument("--provider", action="append", metavar="NAME[:MODEL]", help="who answers; repeatable")
    ran.add_argument("--adapter", action="append", metavar="SPEC", help="an LLM adapter for the provider corpus")
    ran.add_argument("--plugin", metavar="MODULE", help="a module with pytest_corpus_bundle_providers and ..._scorers")
    ran.add_argument("--limit", type=console.count, metavar="N", help="only the first N cases; nothing is judged")
    ran.add_argument("--cassettes", metavar="MODE", help="off, none, once, new or all")
    ran.add_argument("--baseline", metavar="PATH", help="compare with this baseline")
    ran.add_argument("--update-baseline", action="store_true", help="write the baseline instead")
    ran.add_argument("--budget", metavar="LIMITS", help="what may be used: calls=500,tokens=20000")
    ran.add_argument("--evidence", choices=("shape", "full"), help="full shows prompts and answers")
    console.format_argument(ran)


def run(given: argparse.Namespace) -> int:
    """Carry out one of them.

    Raises:
        CommandError: there is no bundle, or it cannot be run.
    """
    if given.what == "init":
        return _init(Path(given.folder))
    if given.what == "validate":
        return _validate(given)
    from pytest_corpus.commands import _bundle_run

    return _bundle_run.run(file_of(given.folder), given)


def file_of(given: str) -> Path:
    """The bundle.yaml that a folder, or its own path, names.

    Raises:
        CommandError: there is none.
    """
    path = Path(given)
    path = path / FILE if path.is_dir() else path
    if not path.is_file():
        raise CommandError(f"{given}: there is no {FILE}; `pytest-corpus bundle init {given}` writes one")
    return path.absolute()


def _validate(given: argparse.Namespace) -> int:
    from pytest_corpus.bundles.errors import BundleError
    from pytest_corpus.bundles.loading.bundle_file import load
    from pytest_corpus.bundles.providers.mock import read_script

    found = []
    for folder in given.folder:
        try:
            bundle = load(file_of(folder))
            read_script(bundle)
            found.append({"bundle": folder, "cases": len(bundle.cases), "problems": []})
        except BundleError as error:
            found.append({"bundle": folder, "cases": 0, "problems": [str(problem) for problem in error.problems]})
    if given.format == "json":
        console.say_json({"bundles": found})
    else:
        for each in found:
            problems = each["problems"]
            assert isinstance(problems, list)
            console.say(*(problems or [f"{each['bundle']}: sound, {console.plural(int(str(each['cases'])), 'case')}"]))
    return FINDINGS if any(each["problems"] for each in found) else FINE


FILES = {
    FILE: """\
name: "{name}"
version: "1.0"
description: Short answers to simple questions

prompt_path: prompt.md
dataset_path: dataset.jsonl

output_contract:
  schema_path: schema.json
  invariants:
    - "len(raw_output) < 500"

thresholds:
  - metric: pass_rate
    operator: ">="
    value: 0.9

provider:
  name: mock
""",
    "prompt.md": """\
Answer the question in one word.

Question: {{ question }}

Answer with a JSON object: {"answer": "..."}
""",
    "dataset.jsonl": """\
{"id": "capital-of-france", "input": {"question": "Capital of France?"}, "expected_output": {"answer": "Paris"}}
{"id": "two-and-two", "input": {"question": "What is 2 + 2?"}, "expected_output": {"answer": "4"}}
""",
    "schema.json": """\
{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "required": ["answer"],
  "properties": {"answer": {"type": "string", "minLength": 1}}
}
""",
}


def _init(folder: Path) -> int:
    from pytest_corpus.text.atomic_write import write_atomically

    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise CommandError(f"{folder}: is not empty; name a new folder")
        for name, text in FILES.items():
            plain = (
                "".join(char if char.isalnum() or char in "_-" else "-" for char in folder.resolve().name) or "bundle"
            )
            write_atomically(text.replace("{name}", plain) if name == FILE else text, folder / name)
    except OSError as error:
        raise CommandError(f"{folder}: cannot be written: {error.strerror or error}") from None
    console.say(f"{folder}: a bundle with 2 cases; run it with: pytest {folder / FILE}")
    return FINE
