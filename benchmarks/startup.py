"""What the plugin costs a `pytest` run that declares no adapter.

Collects a tiny generated project many times, in turns with the plugin and with `-p no:corpus`, in one
invocation, so that whatever else the machine does strikes both alike. Each pair runs in the opposite order of
the pair before it. Prints the medians, their difference and ratio, and whether the difference is within
5 ms; exits with 1 where it is not.

    python benchmarks/startup.py [--pairs N]

Run it with the interpreter of an environment in which pytest-corpus is installed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from importlib.metadata import entry_points, version
from pathlib import Path
from statistics import median, quantiles

LIMIT_MS = 5.0

PYTEST = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--co", "-q")
RUNS = {"with the plugin": PYTEST, "-p no:corpus": (*PYTEST, "-p", "no:corpus")}

PROJECT = {
    "pytest.ini": "[pytest]\n",
    "test_tiny.py": "def test_tiny() -> None:\n    assert 1 + 1 == 2\n",
}


def main() -> int:
    """Measure and print; the exit code: 0 where the cost is within the limit, 1 where it is not."""
    parser = argparse.ArgumentParser(description="The plugin's cost for a run that declares no adapter.")
    parser.add_argument("--pairs", type=int, default=40, help="pairs of runs (default 40)")
    pairs = parser.parse_args().pairs
    if pairs < 2:
        parser.error("--pairs: at least 2 are needed")
    if not any(point.name == "corpus" for point in entry_points(group="pytest11")):
        parser.error(f"pytest-corpus is not installed for {sys.executable}")
    times = _measured(pairs)
    print(f"python {sys.version.split()[0]}, pytest {version('pytest')}, {pairs} runs each\n")
    for name, taken in times.items():
        low, _, high = quantiles(taken, n=4)
        print(f"{name:<16} median {median(taken):7.1f} ms   middle half {low:.1f} to {high:.1f} ms")
    plugin, bare = times.values()
    difference = median(plugin) - median(bare)
    paired = median(one - other for one, other in zip(plugin, bare, strict=True))
    within = difference <= LIMIT_MS
    print(f"{'difference':<16} {difference:14.1f} ms   of neighbouring runs {paired:.1f} ms")
    print(f"{'ratio':<16} {median(plugin) / median(bare):14.3f}")
    print(f"\nthe plugin costs {'at most' if within else 'MORE THAN'} {LIMIT_MS:g} ms")
    return 0 if within else 1


def _measured(pairs: int) -> dict[str, list[float]]:
    """Milliseconds of every run, by kind; the two of a pair have the same index."""
    times: dict[str, list[float]] = {name: [] for name in RUNS}
    with tempfile.TemporaryDirectory(prefix="corpus-startup-") as folder:
        for name, text in PROJECT.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        for command in RUNS.values():
            _took(command, folder)
        order = list(RUNS)
        for _ in range(pairs):
            for name in order:
                times[name].append(_took(RUNS[name], folder))
            order.reverse()
    return times


def _took(command: tuple[str, ...], folder: str) -> float:
    """Milliseconds of one run; a run that does not collect the one test ends the measurement."""
    settings = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    started = time.perf_counter()
    run = subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True, check=False)
    taken = (time.perf_counter() - started) * 1000
    if run.returncode or "test_tiny.py::test_tiny" not in run.stdout:
        sys.exit(f"{' '.join(command)} failed:\n{run.stdout}{run.stderr}")
    return taken


if __name__ == "__main__":
    sys.exit(main())
