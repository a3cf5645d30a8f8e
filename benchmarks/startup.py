"""What the plugin costs a `pytest` run that declares no adapter.

Collects a tiny generated project many times, in turns with the plugin and with `-p no:corpus`, in one
invocation, so that whatever else the machine does strikes both alike. Each pair runs in the opposite order of
the pair before it, and all other installed plugins are switched off in both, for they only add noise.

Prints the medians of elapsed and of processor time with their differences and ratios, then whether the cost is
within 5 ms. That is judged by the median difference of neighbouring runs and its 95 % interval, in processor
time where the system tells it: starting up is nothing but computing, and on a busy machine elapsed time
wavers by far more than what is to be measured. Where the limit lies inside the interval, the machine was too
busy to tell. Exits with 1 where the whole interval is above the limit.

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

NOT_PASSED_ON = (
    "PYTEST_ADDOPTS",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD",
    "PYTEST_PLUGINS",
    "PYTHONDONTWRITEBYTECODE",
)
"""Settings of the caller under which a run would not be what a user's run is."""


@dataclass(frozen=True)
class Taken:
    """Milliseconds of one run; processor time is 0 where the system does not tell it."""

    elapsed: float
    processor: float


def main() -> int:
    """Measure and print; the exit code: 0 where the cost is within the limit, 1 where it is not."""
    parser = argparse.ArgumentParser(description="The plugin's cost for a run that declares no adapter.")
    parser.add_argument("--pairs", type=int, default=100, help="pairs of runs (default 100)")
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
    print(f"{'':<16}{'plugin':>10}{'no:corpus':>12}{'difference':>12}{'ratio':>8}   of neighbours (95 %)")
    low, high = _row("elapsed time", [run.elapsed for run in plugin], [run.elapsed for run in bare])
    if all(run.processor for run in plugin + bare):
        low, high = _row("processor time", [run.processor for run in plugin], [run.processor for run in bare])
    if high <= LIMIT_MS:
        print(f"\nwithin {LIMIT_MS:g} ms")
    elif low > LIMIT_MS:
        print(f"\nNOT within {LIMIT_MS:g} ms")
    else:
        print(f"\nwhether it is within {LIMIT_MS:g} ms cannot be told: let the machine be idle, or give more --pairs")
    return 1 if low > LIMIT_MS else 0


def _row(name: str, plugin: list[float], bare: list[float]) -> tuple[float, float]:
    """Print one line of the table; the interval in which the median difference of neighbours surely lies."""
    one, other = median(plugin), median(bare)
    differences = sorted(first - second for first, second in zip(plugin, bare, strict=True))
    low, high = _interval(differences)
    print(
        f"{name:<16}{one:>10.1f}{other:>12.1f}{one - other:>12.1f}{one / other:>8.3f}"
        f"   {median(differences):.1f} ({low:.1f} to {high:.1f})"
    )
    return low, high


def _interval(ordered: list[float]) -> tuple[float, float]:
    """The 95 % interval of a median, whatever the distribution: how many values fall below it is binomial."""
    count = len(ordered)
    reach = int(0.98 * count**0.5) + 1
    return ordered[max(0, count // 2 - reach)], ordered[min(count - 1, (count - 1) // 2 + reach)]


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
