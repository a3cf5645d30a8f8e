"""The processor time of the whole suite, compared with the same number of empty tests.

The suite runs on the embedded reference adapters, which answer at once, so that the rest is what the suite itself
takes. The two runs alternate, in folders of their own; each round gives a ratio, and the median counts. Exits with 1 if
it is above the limit.

    python benchmarks/suite_cpu.py [--rounds N] [--adapter SPEC]
"""

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

LIMIT = 3.0
TESTS_IN_A_MODULE = 50
NOT_PASSED_ON = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTHONDONTWRITEBYTECODE")
"""Environment variables that would change the runs, so they are removed."""

PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:asyncio", "-p", "no:randomly", "-p", "no:cacheprovider"]


def main() -> int:
    """Measure and print; return 1 if the median exceeds the limit."""
    parser = argparse.ArgumentParser(description="Processor time of the suite, compared with empty tests.")
    parser.add_argument("--rounds", type=int, default=5, help="pairs of runs (default 5)")
    parser.add_argument("--adapter", default="pytest_corpus.reference:all", help="the adapter under test")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="corpus-cpu-") as folder:
        conformance, empty = Path(folder, "conformance"), Path(folder, "empty")
        for each in (conformance, empty):
            each.mkdir()
            (each / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        suite = [*PYTEST, f"--corpus-adapter={given.adapter}"]
        number, _ = measure_tests(suite, conformance)
        write_tests(empty, number)
        measure_tests(PYTEST, empty)
        pairs = []
        for turn in range(given.rounds):
            runs = [(suite, conformance), (PYTEST, empty)]
            seconds = [measure_tests(*run)[1] for run in (runs if turn % 2 == 0 else runs[::-1])]
            pairs.append(seconds if turn % 2 == 0 else seconds[::-1])
    ratios = [ours / bare for ours, bare in pairs]
    ours, bare = (median(side) for side in zip(*pairs, strict=True))
    print(f"{number} tests: suite {ours:.1f} s, empty tests {bare:.1f} s of processor time")
    print(f"ratio {median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}), limit {LIMIT:g}")
    return 1 if median(ratios) > LIMIT else 0


def write_tests(folder: Path, number: int) -> None:
    """Write a number of empty tests."""
    for first in range(0, number, TESTS_IN_A_MODULE):
        names = range(first, min(number, first + TESTS_IN_A_MODULE))
        source = "\n\n".join(f"def test_{each}() -> None:\n    pass\n" for each in names)
        (folder / f"test_{first}.py").write_text(source, encoding="utf-8")


def measure_tests(command: list[str], folder: Path) -> tuple[int, float]:
    """Run tests; return their number, and the seconds of processor time."""
    settings = {key: value for key, value in os.environ.items() if key not in NOT_PASSED_ON}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if run.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{run.stdout}{run.stderr}")
    number = sum(int(each) for each in re.findall(r"(\d+) (?:passed|not applicable)", run.stdout.splitlines()[-1]))
    return number, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    sys.exit(main())
