"""The speed-up by eight workers for an adapter that takes 50 ms for each call, and the calls that they add.

The suite of each component runs both ways on `pytest_corpus.reference`, in folders of their own. Prints the seconds and
the calls of both, what they are to each other, and the verdicts, which must be the same. Workers may make 5 % more
calls. Needs pytest-xdist.

    python benchmarks/workers.py [COMPONENT ...] [--workers N] [--ms N]
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pytest_corpus.spec.components import COMPONENTS

ADAPTER = """
import asyncio
from pytest_corpus import reference

SECONDS = {ms} / 1000

class Slow:
    def __init__(self, inner):
        self.inner = inner

    async def handle(self, envelope):
        await asyncio.sleep(SECONDS)
        return await self.inner.handle(envelope)

    async def handle_stream(self, envelope):
        await asyncio.sleep(SECONDS)
        async for frame in self.inner.handle_stream(envelope):
            yield frame

    async def aclose(self):
        await self.inner.aclose()
"""

MOST = 1.05
"""The most calls of a run with workers, as a multiple of the calls of one process."""

FACTORY = """
def {component}(metrics, provider):
    return Slow(reference.{component}(metrics=metrics, provider=provider))
"""


def timed(component: str, workers: int, ms: float) -> tuple[float, str, int]:
    """The seconds of a whole run of a component's suite, its verdict, and its calls."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "slow_adapter.py").write_text(ADAPTER.format(ms=ms) + FACTORY.format(component=component))
        command = [
            sys.executable, "-m", "pytest", "-q", "-p", "no:asyncio", "-p", "no:cacheprovider", "-n", str(workers),
            f"--corpus-adapter=slow_adapter:{component}", "--corpus-report=r.json",
        ]  # fmt: skip
        before = time.perf_counter()
        subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=False)
        seconds = time.perf_counter() - before
        report = json.loads(Path(folder, "r.json").read_text("utf-8"))
        return seconds, report["verdict"], report["components"][component]["calls"]


def main() -> int:
    """Measure and print; 1 if the verdicts differ, or if workers make too many calls."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("components", nargs="*", default=list(COMPONENTS), metavar="COMPONENT")
    parser.add_argument("--workers", type=int, default=8, metavar="N")
    parser.add_argument(
        "--ms", type=float, default=50.0, metavar="N", help="the time of a call; 0: tests run one by one"
    )
    given = parser.parse_args()
    failed = False
    for component in given.components:
        (alone_s, one, calls), (shared_s, other, more) = (timed(component, n, given.ms) for n in (0, given.workers))
        failed |= one != other or more > MOST * calls
        print(
            f"{component:<10} one process {alone_s:6.1f} s   {given.workers} workers {shared_s:6.1f} s   "
            f"{alone_s / shared_s:.1f} times   {calls} and {more} calls ({more / calls - 1:+.1%})   {one}, {other}",
            flush=True,
        )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
