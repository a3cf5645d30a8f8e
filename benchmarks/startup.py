"""The cost of the plugin in a `pytest` run that declares no adapter, in processor time.

Collects a tiny generated project many times, in turns with the plugin and with `-p no:corpus`; each pair runs in the
opposite order of the pair before it, and all other installed plugins are switched off in both.

The cost is the median difference of neighbouring runs, with its 95 % interval. It is measured until the limit lies
outside the interval, or the time is up. Exits with 1 if the whole interval is above the limit.

    python benchmarks/startup.py [--seconds N]

Run it with the interpreter of an environment in which pytest-corpus is installed.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from importlib.metadata import entry_points, version
from pathlib import Path
from statistics import median

LIMIT_MS = 4.0

BATCH = 20
"""The number of pairs of runs after which the result is checked."""

PROJECT = {"pytest.ini": "[pytest]\n", "test_tiny.py": "def test_tiny() -> None:\n    assert 1 + 1 == 2\n"}

NOT_PASSED_ON = ("PYTEST_ADDOPTS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD", "PYTEST_PLUGINS", "PYTHONDONTWRITEBYTECODE")
"""Environment variables that would change the runs, so they are removed."""


def main() -> int:
    """Measure and print; return 1 if the cost certainly exceeds the limit."""
    parser = argparse.ArgumentParser(description="The plugin's cost for a run that declares no adapter.")
    parser.add_argument("--seconds", type=float, default=120, help="after which to give up (default 120)")
    until = time.monotonic() + parser.parse_args().seconds
    others = [point.name for point in entry_points(group="pytest11")]
    if "corpus" not in others:
        parser.error(f"pytest-corpus is not installed for {sys.executable}")
    others.remove("corpus")
    bare = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--co", "-q"]
    bare += [part for name in others for part in ("-p", f"no:{name}")]
    commands = (bare, [*bare, "-p", "no:corpus"])
    pairs: list[list[float]] = []
    low, high = 0.0, float("inf")
    with tempfile.TemporaryDirectory(prefix="corpus-startup-") as folder:
        for name, text in PROJECT.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        for command in commands:
            processor_ms(command, folder)
        while low <= LIMIT_MS < high and (not pairs or time.monotonic() < until):
            for number in range(BATCH):
                order = 1 if number % 2 else -1
                pairs.append([processor_ms(command, folder) for command in commands[::order]][::order])
            low, high = median_interval([ours - without for ours, without in pairs])
    ours, without = (median(side) for side in zip(*pairs, strict=True))
    print(f"python {sys.version.split()[0]}, pytest {version('pytest')}: {len(pairs)} pairs of runs, processor time")
    cost = median(one - other for one, other in pairs)
    print(f"with {ours:.1f} ms, without {without:.1f} ms, neighbours {cost:.1f} ms ({low:.1f} to {high:.1f})")
    verdict = "within" if high <= LIMIT_MS else "NOT within" if low > LIMIT_MS else "on this machine not surely within"
    print(f"{verdict} {LIMIT_MS:g} ms")
    return int(low > LIMIT_MS)


def median_interval(differences: list[float]) -> tuple[float, float]:
    """Return the 95 % confidence interval of a median, which needs no assumption on the distribution."""
    ordered, count = sorted(differences), len(differences)
    reach = int(0.98 * count**0.5) + 1
    return ordered[max(0, count // 2 - reach)], ordered[min(count - 1, (count - 1) // 2 + reach)]


def processor_ms(command: list[str], folder: str) -> float:
    """Return the milliseconds of processor time of a run. Ends the process unless the run collects exactly one test."""
    settings = {key: value for key, value in os.environ.items() if key not in NOT_PASSED_ON}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if run.returncode or "test_tiny.py::test_tiny" not in run.stdout:
        sys.exit(f"{' '.join(command)} failed:\n{run.stdout}{run.stderr}")
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


if __name__ == "__main__":
    sys.exit(main())
