"""The duration of the suite for adapters that show writes late, compared with prompt adapters."""

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests/plugin")]

import late_adapters  # noqa: E402 - the tests' own adapters


class Vector(late_adapters.LateVector):
    """A store that shows its writes 50 ms late."""

    late_s = 0.05


class Graph(late_adapters.LateGraph):
    """A graph that shows its writes 50 ms late."""

    late_s = 0.05


def serve_by_stdio(adapter: str) -> str:
    """Return the address of an adapter that is served over stdio."""
    return "cmd:" + shlex.join([str(Path(sys.executable).with_name("pytest-corpus")), "serve", adapter, "--stdio"])


REFERENCE = "pytest_corpus.reference"
ROWS = {
    "llm": ("late_adapters:late_metrics", f"{REFERENCE}:llm", 1.2),
    "embedding": ("late_adapters:late_embedding_metrics", f"{REFERENCE}:embedding", 1.2),
    "vector": ("late_adapters:late_vector_metrics", f"{REFERENCE}:vector", 1.2),
    "graph": ("late_adapters:late_graph_metrics", f"{REFERENCE}:graph", 1.2),
    "stdio": (serve_by_stdio("late_adapters:very_late_metrics"), serve_by_stdio(f"{REFERENCE}:llm"), 1.2),
    "vector-writes": ("lateness:Vector", f"{REFERENCE}:vector", 1.2),
    "graph-writes": ("lateness:Graph", f"{REFERENCE}:graph", 1.2),
}
"""For each name, the late adapter, the prompt adapter, and the largest allowed ratio."""


def measure_seconds(adapter: str, folder: str) -> float:
    """Return the seconds of a run of the suite."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:asyncio", "-p", "no:randomly", "-p", "no:cacheprovider"]
    settings = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    started = time.monotonic()
    suite = [*command, f"--corpus-adapter={adapter}"]
    run = subprocess.run(suite, cwd=folder, env=settings, capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(f"{adapter} failed:\n{run.stdout}{run.stderr}")
    return time.monotonic() - started


def main() -> int:
    """Measure and print; return 1 if a median is above its limit."""
    parser = argparse.ArgumentParser(description="The suite with late adapters, compared with prompt ones.")
    parser.add_argument("--rounds", type=int, default=3, help="pairs of runs (default 3)")
    parser.add_argument("row", nargs="*", default=list(ROWS), help=f"of {', '.join(ROWS)}")
    given = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory(prefix="corpus-late-") as folder:
        Path(folder, "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        for row in given.row:
            *pair, limit = ROWS[row]
            runs = []
            for turn in range(given.rounds):
                taken = {adapter: measure_seconds(adapter, folder) for adapter in pair[:: 1 if turn % 2 else -1]}
                runs.append([taken[adapter] for adapter in pair])
            ratio = median(late / prompt for late, prompt in runs)
            late, prompt = map(median, zip(*runs, strict=True))
            print(f"{row}: late {late:.1f} s, prompt {prompt:.1f} s, ratio {ratio:.2f}, limit {limit:g}", flush=True)
            failed |= ratio > limit
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
