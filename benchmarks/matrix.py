"""The cost of a matrix of reports: 4 adapters with 600 requirements each, built and rendered in every format.

Prints the median of elapsed time in milliseconds, and exits with 1 where one takes a second or more.

    python benchmarks/matrix.py [--rounds N]
"""

import argparse
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

from pytest_corpus.reports import formats, json_report, matrix
from pytest_corpus.spec.components import COMPONENTS
from pytest_corpus.spec.requirements import applicable_requirements
from pytest_corpus.verdict.ledger import Ledger, TestRecord
from pytest_corpus.verdict.verdict import decide

ADAPTERS, REQUIREMENTS = 4, 600
LIMIT_MS = 1000.0


def make_report(number: int) -> dict[str, Any]:
    """Return a report on all components with the measured number of requirements; every seventh one differs."""
    ledger = Ledger(f"provider-{number}", tuple(COMPONENTS))
    for component in COMPONENTS:
        for at, entry in enumerate(applicable_requirements(component)):
            outcome = "not_assessed" if (at + number) % 7 == 0 else "satisfied"
            test = TestRecord(ledger.adapter, component, entry.id, f"{component}/t.py::{entry.id}", outcome)  # type: ignore[arg-type]
            ledger.expected.add(test.key)
            ledger.add_run(test)
            ledger.add_report(test, agrees=True)
    run = json_report.RunFacts("2026-01-01T00:00:00+00:00", 1.0, 0, "must", None)
    document = json_report.build_report(ledger, decide(ledger), run)
    return json_report.add_digest({**document, "requirements": document["requirements"][:REQUIREMENTS]})


def measure_ms(work: Callable[[], object], rounds: int) -> float:
    """Return the median of the elapsed times, in milliseconds."""
    times = []
    for _ in range(rounds):
        before = time.perf_counter()
        work()
        times.append((time.perf_counter() - before) * 1000)
    return median(times)


def main() -> int:
    """Measure and print; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9, metavar="N")
    rounds = parser.parse_args().rounds
    reports = [(f"{number}.json", make_report(number)) for number in range(ADAPTERS)]
    worst = 0.0
    for suffix in formats.MATRIX_FORMATS:

        def work(suffix: str = suffix) -> str:
            return formats.render(matrix.build_matrix(reports), suffix, formats.MATRIX_FORMATS)

        took = measure_ms(work, rounds)
        worst = max(worst, took)
        print(f"matrix of {ADAPTERS} x {REQUIREMENTS}, {suffix:<6} {took:7.1f} ms, {len(work()) / 1024:.0f} KiB")
    print(f"{'within' if worst < LIMIT_MS else 'above'} {LIMIT_MS:.0f} ms")
    return 0 if worst < LIMIT_MS else 1


if __name__ == "__main__":
    sys.exit(main())
