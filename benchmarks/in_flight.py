"""The duration of the suite with concurrent tests, compared with one test at a time, for slow adapters."""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TESTS = Path(__file__).parent.parent / "tests/plugin"

ROWS = {
    "llm-50": ("llm", 50, 5.0),
    "llm-200": ("llm", 200, 14.0),
    "vector-50": ("vector", 50, 11.0),
    "embedding-50": ("embedding", 50, 9.0),
    "graph-50": ("graph", 50, 9.0),
}
"""For each name, the component, the milliseconds of a call, and the ratio to reach."""

ESTIMATED = re.compile(r"about (\d+) s, or (\d+) s one test at a time")


def run_suite(folder: str, component: str, slow_ms: int, *given: str) -> subprocess.CompletedProcess[bytes]:
    """Run the suite in a folder."""
    Path(folder, "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", *(f"-pno:{name}" for name in ("asyncio", "randomly", "xdist"))]
    settings = {**os.environ, "PYTHONPATH": str(TESTS), "CORPUS_SLOW_MS": str(slow_ms)}
    suite = [f"--corpus-adapter=slow_adapters:{component}", "--corpus-max-namespaces=64"]
    return subprocess.run([*command, *suite, *given], cwd=folder, env=settings, capture_output=True, check=False)


def estimate_seconds(component: str, slow_ms: int) -> tuple[float, float]:
    """Return the seconds that `--corpus-estimate` predicts, with concurrent tests and with one test at a time."""
    with tempfile.TemporaryDirectory(prefix="corpus-in-flight-") as folder:
        said = run_suite(folder, component, slow_ms, "--corpus-estimate").stdout.decode()
    found = ESTIMATED.search(said)
    if found is None:
        sys.exit(f"{component} has no estimate:\n{said}")
    return float(found[1]), float(found[2])


def measure_run(component: str, slow_ms: int, width: str) -> tuple[float, dict[str, str]]:
    """Return the seconds of a run, and the status of each requirement."""
    with tempfile.TemporaryDirectory(prefix="corpus-in-flight-") as folder:
        started = time.monotonic()
        ended = run_suite(folder, component, slow_ms, f"--corpus-concurrency={width}", "--corpus-report=r.json")
        seconds = time.monotonic() - started
        if ended.returncode:
            sys.exit(f"{component} failed:\n{ended.stdout.decode()}{ended.stderr.decode()}")
        report = json.loads(Path(folder, "r.json").read_text(encoding="utf-8"))
    return seconds, {entry["id"]: entry["status"] for entry in report["requirements"]}


def main() -> int:
    """Measure and print; return 1 if a goal is missed."""
    parser = argparse.ArgumentParser(description="The suite with several tests in flight.")
    parser.add_argument("--concurrency", default="auto", help="the width (default auto)")
    parser.add_argument("row", nargs="*", default=list(ROWS), help=f"of {', '.join(ROWS)}")
    given, failed = parser.parse_args(), False
    for row in given.row:
        component, slow_ms, goal = ROWS[row]
        one_s, one = measure_run(component, slow_ms, "1")
        several_s, several = measure_run(component, slow_ms, given.concurrency)
        same, (guess_s, guess_one_s) = one == several, estimate_seconds(component, slow_ms)
        print(f"{row}: {one_s:.1f} s, {several_s:.1f} s: {one_s / several_s:.1f} times as fast", flush=True)
        print(f"  goal {goal}; statuses {'are the same' if same else 'differ'}", flush=True)
        print(f"  estimated: {guess_one_s / one_s:.2f} and {guess_s / several_s:.2f} of these times", flush=True)
        failed |= not same or one_s / several_s < goal
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
