"""The time that the suite takes for an adapter whose metrics come late, compared with one that reports at once.

The adapters are the embedded references; a thread exports their observations and counters 30 ms after each call. The
two runs of a component alternate; each round gives a ratio, and the median counts. Exits with 1 if one is above the
limit.

    python benchmarks/late_reports.py [--rounds N] [COMPONENT ...]
"""

import argparse
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from pytest_corpus import reference
from pytest_corpus.spec.components import COMPONENTS

LIMIT = 1.2
LATE_S = 0.03


class Exporter:
    """Passes reports on from a thread of its own."""

    def __init__(self, metrics: Any) -> None:
        self._metrics = metrics
        self._queue: queue.Queue[tuple[float, str, dict[str, Any]]] = queue.Queue()
        threading.Thread(target=self._run, daemon=True).start()

    def observe(self, **given: Any) -> None:
        """Pass an observation on later."""
        self._queue.put((time.monotonic() + LATE_S, "observe", given))

    def counter(self, **given: Any) -> None:
        """Pass a counter on later."""
        self._queue.put((time.monotonic() + LATE_S, "counter", given))

    def _run(self) -> None:
        while True:
            due, kind, given = self._queue.get()
            time.sleep(max(0.0, due - time.monotonic()))
            getattr(self._metrics, kind)(**given)


def late(component: str) -> Callable[..., Any]:
    """A factory of the reference adapter of a component that reports late."""

    def factory(metrics: Any = None, provider: Any = None) -> Any:
        return getattr(reference, component)(Exporter(metrics) if metrics is not None else None, provider)

    return factory


llm, vector, embedding, graph = map(late, ("llm", "vector", "embedding", "graph"))


def seconds(adapter: str, folder: str) -> float:
    """The time of a run of the suite."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:asyncio", "-p", "no:randomly", "-p", "no:cacheprovider"]
    settings = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    started = time.monotonic()
    suite = [*command, f"--corpus-adapter={adapter}"]
    run = subprocess.run(suite, cwd=folder, env=settings, capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(f"{adapter} failed:\n{run.stdout}{run.stderr}")
    return time.monotonic() - started


def main() -> int:
    """Measure and print; return 1 if a median is above the limit."""
    parser = argparse.ArgumentParser(description="The suite with late metrics, compared with prompt ones.")
    parser.add_argument("--rounds", type=int, default=3, help="pairs of runs (default 3)")
    parser.add_argument("component", nargs="*", default=COMPONENTS)
    given = parser.parse_args()
    worst = 0.0
    with tempfile.TemporaryDirectory(prefix="corpus-late-") as folder:
        Path(folder, "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        for component in given.component:
            prompt_adapter, late_adapter = f"pytest_corpus.reference:{component}", f"late_reports:{component}"
            seconds(prompt_adapter, folder)
            pairs = []
            for turn in range(given.rounds):
                order = [late_adapter, prompt_adapter][:: 1 if turn % 2 else -1]
                taken = {adapter: seconds(adapter, folder) for adapter in order}
                pairs.append((taken[late_adapter], taken[prompt_adapter]))
            ratio = median(slow / prompt for slow, prompt in pairs)
            slow, prompt = (median(side) for side in zip(*pairs, strict=True))
            print(f"{component}: late {slow:.1f} s, prompt {prompt:.1f} s, ratio {ratio:.2f}, limit {LIMIT:g}")
            worst = max(worst, ratio)
    return 1 if worst > LIMIT else 0


if __name__ == "__main__":
    sys.exit(main())
