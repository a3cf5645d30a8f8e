"""What the plugin costs a `pytest` run that declares no adapter.

Collects a tiny generated project many times, in turns with the plugin and with `-p no:corpus`, in one
invocation, so that whatever else the machine does strikes both alike. Each pair runs in the opposite order of
the pair before it, and all other installed plugins are switched off in both, for they only add noise. Prints
the medians of elapsed and of processor time, their differences and ratios, and whether the difference is
within 5 ms. Processor time decides where the system tells it: starting up is nothing but computing, and
elapsed time on a busy machine wavers by far more than what is to be measured. Exits with 1 beyond the limit.

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
from dataclasses import dataclass
from importlib.metadata import entry_points, version
from pathlib import Path
from statistics import median

try:
    import resource
except ImportError:  # Windows
    resource = None

LIMIT_MS = 5.0

PROJECT = {
    "pytest.ini": "[pytest]\n",
    "test_tiny.py": "def test_tiny() -> None:\n    assert 1 + 1 == 2\n",
}

NOT_PASSED_ON = ("PYTEST_ADDOPTS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD", "PYTEST_PLUGINS", "PYTHONDONTWRITEBYTECODE")
"""Settings of the caller under which a run would not be what a user's run is."""


@dataclass(frozen=True)
class Taken:
    """Milliseconds of one run; processor time is 0 where the system does not tell it."""

    elapsed: float
    processor: float


def main() -> int:
    """Measure and print; the exit code: 0 where the cost is within the limit, 1 where it is not."""
    parser = argparse.ArgumentParser(description="The plugin's cost for a run that declares no adapter.")
    parser.add_argument("--pairs", type=int, default=60, help="pairs of runs (default 60)")
    pairs = parser.parse_args().pairs
    if pairs < 1:
        parser.error("--pairs: at least 1 is needed")
    others = [point.name for point in entry_points(group="pytest11")]
    if "corpus" not in others:
        parser.error(f"pytest-corpus is not installed for {sys.executable}")
    others.remove("corpus")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--co", "-q"]
    command += [part for name in others for part in ("-p", f"no:{name}")]
    plugin, bare = _measured(command, [*command, "-p", "no:corpus"], pairs)
    print(f"python {sys.version.split()[0]}, pytest {version('pytest')}, {pairs} runs each, medians in ms\n")
    print(f"{'':<16}{'plugin':>10}{'no:corpus':>12}{'difference':>12}{'ratio':>8}")
    elapsed = _row("elapsed time", [run.elapsed for run in plugin], [run.elapsed for run in bare])
    cost = elapsed
    if all(run.processor for run in plugin + bare):
        cost = _row("processor time", [run.processor for run in plugin], [run.processor for run in bare])
    print(f"\nthe plugin costs {'at most' if cost <= LIMIT_MS else 'MORE THAN'} {LIMIT_MS:g} ms")
    return 0 if cost <= LIMIT_MS else 1


def _row(name: str, plugin: list[float], bare: list[float]) -> float:
    """Print one line of the table; the difference of the medians."""
    one, other = median(plugin), median(bare)
    print(f"{name:<16}{one:>10.1f}{other:>12.1f}{one - other:>12.1f}{one / other:>8.3f}")
    return one - other


def _measured(plugin: list[str], bare: list[str], pairs: int) -> tuple[list[Taken], list[Taken]]:
    """So many runs of both commands, in turns; a run of each before them fills the caches."""
    runs: tuple[list[Taken], list[Taken]] = ([], [])
    turns = [(plugin, runs[0]), (bare, runs[1])]
    with tempfile.TemporaryDirectory(prefix="corpus-startup-") as folder:
        for name, text in PROJECT.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        for command, _ in turns:
            _run(command, folder)
        for _ in range(pairs):
            for command, taken in turns:
                taken.append(_run(command, folder))
            turns.reverse()
    return runs


def _run(command: list[str], folder: str) -> Taken:
    """Time one run; one that does not collect the one test ends the measurement."""
    settings = {key: value for key, value in os.environ.items() if key not in NOT_PASSED_ON}
    processor, started = _children(), time.perf_counter()
    run = subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True, check=False)
    taken = Taken((time.perf_counter() - started) * 1000, (_children() - processor) * 1000)
    if run.returncode or "test_tiny.py::test_tiny" not in run.stdout:
        sys.exit(f"{' '.join(command)} failed:\n{run.stdout}{run.stderr}")
    return taken


def _children() -> float:
    """Seconds of processor time that ended child processes took; 0 on Windows, which does not tell."""
    if resource is None:
        return 0.0
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main())
