"""Runs the suite in random orders, and reports requirements whose status differs from that in the usual order.

The orders differ in the number of tests in flight, too.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import importlib
import json
import multiprocessing
import os
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pytest_corpus.cli import main as command
from pytest_corpus.spec.components import COMPONENTS
from pytest_corpus.suites import inventory

ROOT = Path(__file__).parent.parent
REPORT = "report.json"
REFERENCE = "pytest_corpus.reference"

FORK = multiprocessing.get_context("fork")
HEAVY = ("jsonschema", "jsonschema_rs", "pytest_corpus.plugin")
"""Modules that are imported once, before the runs are forked."""

LIMIT_S = 300
"""The seconds after which a run counts as hanging."""

USUAL = 0
"""The number of the usual order."""

WIDTHS = ("auto", "1", "8", "32")
"""The numbers of tests in flight, in turn."""

ORDERS = {"reference": 25, "skeleton": 15, "example": 14}
"""The number of orders for each adapter of a kind: 202 in all."""


@dataclass(frozen=True, slots=True)
class Adapter:
    """An adapter and the folder that it is imported from."""

    kind: str
    factory: str
    folder: Path = ROOT


def _adapters() -> dict[str, Adapter]:
    examples = {"minimal": "minimal", "vector-sqlite": "vector_sqlite", "graph-networkx": "graph_networkx"}
    return {
        **{f"reference-{name}": Adapter("reference", f"pytest_corpus.reference:{name}") for name in COMPONENTS},
        **{f"skeleton-{name}": Adapter("skeleton", f"{name}_adapter:factory") for name in COMPONENTS},
        **{
            folder: Adapter("example", f"{module}:factory", ROOT / "examples" / folder)
            for folder, module in examples.items()
        },
    }


ADAPTERS = _adapters()


@dataclass(frozen=True, slots=True)
class Result:
    """The verdict of a run, and the status and the findings of each requirement."""

    verdict: str
    statuses: Mapping[str, str]
    said: Mapping[str, str]

    def differences(self, usual: Result) -> Iterator[str]:
        """Yield a line for each requirement with another status than in the usual order."""
        if self.verdict != usual.verdict:
            yield f"the verdict is {self.verdict}, in the usual order {usual.verdict}"
        for name in sorted({*self.statuses, *usual.statuses}):
            status, expected = self.statuses.get(name, "missing"), usual.statuses.get(name, "missing")
            if status != expected:
                yield f"{name} is {status}, in the usual order {expected}: {self.said.get(name, '')}"


class Shuffled:
    """A plugin that puts all tests in the order with a number."""

    def __init__(self, number: int) -> None:
        self._number = number

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Shuffle the tests."""
        random.Random(self._number).shuffle(items)


def main(given: Sequence[str] | None = None) -> int:
    """Run the orders and print the differences; return 1 if there are any."""
    parser = argparse.ArgumentParser(description="run the suite in random orders")
    parser.add_argument("adapters", nargs="*", metavar="ADAPTER", help=", ".join(ADAPTERS))
    parser.add_argument("--orders", type=int, metavar="N", help="orders for each adapter (default: 202 in all)")
    parser.add_argument("--first", type=int, default=1, metavar="N", help="the number of the first order (default: 1)")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="runs at the same time (default: 2)")
    options = parser.parse_args(given)
    names = options.adapters or list(ADAPTERS)
    if unknown := [name for name in names if name not in ADAPTERS]:
        parser.error(f"there is no adapter {unknown[0]!r}; use {', '.join(ADAPTERS)}")
    runs = differing = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            count = options.orders or ORDERS[ADAPTERS[name].kind]
            for number, lines in run_orders(
                name, range(options.first, options.first + count), Path(folder), options.jobs
            ):
                runs, differing = runs + 1, differing + bool(lines)
                for line in lines:
                    print(f"{name}, order {number}: {line}", flush=True)
            print(f"{name}: {count} orders", flush=True)
    print(f"{runs} orders, {differing} of them with other statuses than the usual order")
    return 1 if differing else 0


def run_orders(name: str, numbers: Sequence[int], folder: Path, jobs: int) -> Iterator[tuple[int, list[str]]]:
    """Yield each order of an adapter with its differences from the usual order."""
    adapter = ADAPTERS[name]
    if adapter.kind == "skeleton":
        made = folder / name
        with open(os.devnull, "w") as silent, redirect_stdout(silent), redirect_stderr(silent):
            command(["init", name.removeprefix("skeleton-"), str(made)])
        adapter = Adapter(adapter.kind, adapter.factory, made)
    component = name.rpartition("-")[2]
    prepared = partial(import_suites, [component] if component in COMPONENTS else COMPONENTS, REFERENCE)
    with concurrent.futures.ProcessPoolExecutor(jobs, FORK, initializer=prepared) as pool:
        usual = pool.submit(run_order, adapter, USUAL)
        running = {pool.submit(run_order, adapter, number): number for number in numbers}
        for done in concurrent.futures.as_completed(running):
            yield running[done], list(done.result().differences(usual.result()))


def import_suites(components: Sequence[str] = COMPONENTS, *more: str) -> None:
    """Import what every run needs, and further modules, so that forked runs need not import them."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    for name in (*HEAVY, *more):
        importlib.import_module(name)
    for component in components:
        inventory.tests(component, "ci")


def run_forked(run: Callable[..., None], *given: object, limit_s: float = LIMIT_S) -> int | None:
    """Run a function in a forked process; return its exit code, or None if it hangs."""
    process = FORK.Process(target=run, args=given)
    process.start()
    process.join(limit_s)
    if process.is_alive():
        process.kill()
        process.join()
        return None
    return process.exitcode


def enter_folder(folder: str | Path) -> None:
    """Change to the folder of a run and redirect its output."""
    silent = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(silent, stream)
    os.chdir(folder)


def run_order(adapter: Adapter, number: int) -> Result:
    """Return the result of one run."""
    with tempfile.TemporaryDirectory() as folder:
        code, report = run_forked(conformance_run, adapter, number, folder), Path(folder, REPORT)
        if code is None:
            return Result("hanging", {}, {})
        if not report.exists():
            return Result(f"missing (exit code {code})", {}, {})
        return _read(json.loads(report.read_text("utf-8")))


def _read(report: dict[str, Any]) -> Result:
    entries = {f"{entry['component']} {entry['id']}": entry for entry in report["requirements"]}
    return Result(
        report["verdict"] if report["complete"] else f"{report['verdict']}, incomplete",
        {name: entry["status"] for name, entry in entries.items()},
        {name: _said(entry) for name, entry in entries.items()},
    )


def _said(entry: dict[str, Any]) -> str:
    found = [f"expected {each['expected']}, got {each['got']}" for each in entry.get("findings", ())]
    return "; ".join([*found, *filter(None, (test.get("reason") for test in entry["tests"]))])


def conformance_run(adapter: Adapter, number: int, folder: str) -> None:
    """Run the suite in an empty folder, in one order."""
    enter_folder(folder)
    sys.path[:0] = [str(adapter.folder), str(ROOT / "skeletons" / "corpus-wire")]
    own = ["-q", "-p", "no:cacheprovider", "-p", "pytest_corpus.plugin", f"--rootdir={folder}"]
    plugins: list[object] = []
    if number % 2:
        own += ["-p", "pytest_randomly", "-p", "no:faulthandler", f"--randomly-seed={number}"]
    elif number:
        plugins.append(Shuffled(number))
    width = f"--corpus-concurrency={WIDTHS[number // 2 % len(WIDTHS)]}"
    given = [f"--corpus-adapter={adapter.factory}", f"--corpus-report={REPORT}", width]
    os._exit(int(pytest.main([*own, *given], plugins)))


if __name__ == "__main__":
    sys.exit(main())
