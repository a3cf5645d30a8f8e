"""Records a run of every mutant, and replays its findings on the mutant and on the adapter without the mistake.

    python tools/replays.py --only LLM-STREAM llm-NoTerminal

Each finding must be STILL FAILING on the mutant and FIXED on the other. Prints those that are not.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "tests")]

import pytest  # noqa: E402
from mutants import Mutant, mutants  # noqa: E402
from orders import REFERENCE, begin, forked, prepare  # noqa: E402

from pytest_corpus.commands import replay  # noqa: E402
from pytest_corpus.spec.components import COMPONENTS  # noqa: E402

ENOUGH = 0.95
"""The share of findings that a replay must decide as it should."""


def main() -> int:
    """Replay the findings of each mutant; 1 if too few come to what they should."""
    parser = argparse.ArgumentParser(description="replay the findings of every mutant")
    parser.add_argument("--only", nargs="+", default=[""], metavar="TEXT", help="begins a requirement or ends a name")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="each N-th mutant (default: 1)")
    options = parser.parse_args()
    prepare(COMPONENTS, REFERENCE)
    importlib.import_module("mutants")
    chosen = [each for each in mutants() if any(is_named(each, text) for text in options.only)][:: options.every]
    counts: Counter[tuple[str, str]] = Counter()
    for number, mutant in enumerate(chosen, 1):
        found = list(results(mutant))
        counts.update((where, result) for where, result, _ in found)
        wrong = [line for where, result, line in found if result != WANTED[where]]
        said = "" if found else ": nothing found with its requirement alone"
        print(f"{number}/{len(chosen)} {mutant.requirement} {mutant.name}{said}", *wrong, sep="\n    ", flush=True)
    shares = {where: counts[where, wanted] / max(1, counts_of(counts, where)) for where, wanted in WANTED.items()}
    for where, wanted in WANTED.items():
        print(f"on the {where}: {counts[where, wanted]} of {counts_of(counts, where)} {wanted}")
    return 0 if min(shares.values()) >= ENOUGH else 1


WANTED = {"mutant": replay.FAILING, "control": replay.FIXED}


def is_named(mutant: Mutant, text: str) -> bool:
    return mutant.requirement.startswith(text) or mutant.name == text


def counts_of(counts: Counter[tuple[str, str]], where: str) -> int:
    return sum(count for (place, _), count in counts.items() if place == where)


def results(mutant: Mutant) -> Iterator[tuple[str, str, str]]:
    """The result of each finding on the mutant and on its control, with a line that says all of it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "t.jsonl"
        own = [f"--corpus-requirement={mutant.requirement}", "-o", "corpus_call_timeout=3"]
        named = [f"--corpus-adapter={mutant.factory}", f"--corpus-components={mutant.component}"]
        settings = replay.settings_arguments(folder)
        run_pytest("record", [*settings, *own, *named, f"--corpus-transcript={path}", "-q"], folder)
        found = list(replay.findings(transcript := replay.open_transcript(path))) if path.exists() else []
        if found:
            for where, adapter in (("mutant", mutant.factory), ("control", mutant.control)):
                try:
                    for each, said in replay._send_again(transcript, found, adapter, []):
                        yield where, said["result"], f"{where}: {said['result']} {each}: {said['why']}"
                except replay.CommandError as error:
                    yield where, "ERROR", f"{where}: {error}"


def run_pytest(_command: str, passed: list[str], folder: Path, _output: object = None) -> int:
    """Run pytest in a process that is forked from this one, which has imported the suite."""
    return forked(_forked, passed, folder) or 0


def _forked(passed: list[str], folder: Path) -> None:
    begin(folder)
    os._exit(int(pytest.main(passed)))


replay.run_pytest = run_pytest  # type: ignore[assignment]

if __name__ == "__main__":
    sys.exit(main())
