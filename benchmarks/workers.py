"""The speed-up by eight workers for an adapter that takes 50 ms for each call.

The suite of each component runs both ways on `pytest_corpus.reference`, in folders of their own. Prints the seconds of
both, what they are to each other, and the verdicts, which must be the same; needs pytest-xdist.

    python benchmarks/workers.py [COMPONENT ...] [--workers N]
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

SECONDS = 0.05

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

FACTORY = """
def {component}(metrics, provider):
    return Slow(reference.{component}(metrics=metrics, provider=provider))
"""


def timed(component: str, workers: int) -> tuple[float, str]:
    """The seconds of a whole run of a component's suite, and its verdict."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "slow_adapter.py").write_text(ADAPTER + FACTORY.format(component=component))
        command = [
            sys.executable, "-m", "pytest", "-q", "-p", "no:asyncio", "-p", "no:cacheprovider", "-n", str(workers),
            f"--corpus-adapter=slow_adapter:{component}", "--corpus-report=r.json",
        ]  # fmt: skip
        before = time.perf_counter()
        subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=False)
        seconds = time.perf_counter() - before
        return seconds, json.loads(Path(folder, "r.json").read_text("utf-8"))["verdict"]


def main() -> int:
    """Measure and print; 1 where the verdicts differ."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("components", nargs="*", default=list(COMPONENTS), metavar="COMPONENT")
    parser.add_argument("--workers", type=int, default=8, metavar="N")
    given = parser.parse_args()
    differ = False
    for component in given.components:
        (alone, one), (together, other) = timed(component, 0), timed(component, given.workers)
        differ = differ or one != other
        print(
            f"{component:<10} one process {alone:6.1f} s   {given.workers} workers {together:6.1f} s   "
            f"{alone / together:.1f} times   {one}, {other}",
            flush=True,
        )
    return int(differ)


if __name__ == "__main__":
    sys.exit(main())
