"""Running a bundle outside of pytest: the same reading, asking and judging, in one process."""

import argparse
import importlib
import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from pytest_corpus.adapter.client import AdapterClient, Declaration
from pytest_corpus.adapter.exceptions import DeclarationError
from pytest_corpus.adapter.opening.factory import resolve, split_label
from pytest_corpus.adapter.usage.budget import Budget, parse
from pytest_corpus.bundles.errors import BundleError, suggestion
from pytest_corpus.bundles.loading.bundle import Bundle
from pytest_corpus.bundles.loading.bundle_file import load
from pytest_corpus.bundles.plugin_functions import functions
from pytest_corpus.bundles.providers.registry import make
from pytest_corpus.bundles.reporting import baselines, section
from pytest_corpus.bundles.reporting.case_message import message
from pytest_corpus.bundles.results import PASSED, CaseResult
from pytest_corpus.bundles.running.asking import Asking
from pytest_corpus.bundles.running.cassettes import MODES, Cassettes, mode_of
from pytest_corpus.bundles.running.pool import Pool
from pytest_corpus.bundles.running.provider_choice import SelectedProvider, choose
from pytest_corpus.bundles.running.store import MemoryStore, SpentBudget
from pytest_corpus.commands import FINDINGS, FINE, INTERRUPTED, CommandError
from pytest_corpus.commands import _console as console


def run(path: Path, given: argparse.Namespace) -> int:
    """Ask the cases of a bundle and print what they came to.

    Raises:
        CommandError: it cannot be run.
    """
    try:
        return _Session(given).run(load(path))
    except (BundleError, DeclarationError) as error:
        raise CommandError(str(error)) from None


class _Session:
    """One command: its options, its adapters and what it spent."""

    def __init__(self, given: argparse.Namespace) -> None:
        self._given = given
        self._limit = self._budget()
        if given.cassettes is not None and given.cassettes not in MODES:
            raise CommandError(f"--cassettes {given.cassettes}: {suggestion(given.cassettes, MODES)}")
        if given.update_baseline and not given.baseline:
            raise CommandError("--update-baseline: name the file with --baseline PATH")
        evidence = given.evidence or ("shape" if os.environ.get("CI") else "full")
        self._full = evidence == "full"
        self._spent_budget = SpentBudget()
        self._adapters = dict(_declared(spec) for spec in given.adapter or ())
        self._plugin = self._module()
        self._sections: list[dict[str, Any]] = []
        self._entries: dict[str, Any] = {}

    def run(self, bundle: Bundle) -> int:
        interrupted = False
        before = self._baseline()
        with ExitStack() as stack:
            for chosen in choose(bundle, self._given.provider or (), list(self._adapters)):
                interrupted = interrupted or not self._one(bundle, chosen, stack, before)
        self._keep_baseline(before)
        if self._given.format == "json":
            console.say_json(
                {
                    "bundles": self._sections,
                    "calls": self._spent_budget.spent.calls,
                    "tokens": self._spent_budget.spent.tokens,
                }
            )
        else:
            for each in self._sections:
                console.say(*section.lines(each))
            console.say(f"used: {self._spent_budget.spent}")
        if interrupted:
            return INTERRUPTED
        return FINDINGS if any(map(_is_red, self._sections)) else FINE

    def _one(self, bundle: Bundle, chosen: SelectedProvider, stack: ExitStack, before: dict[str, Any]) -> bool:
        """Run a bundle with one provider; whether that came to its end."""
        adapter = None
        if chosen.adapter:
            adapter = (chosen.adapter, stack.enter_context(_opened(self._adapters[chosen.adapter])))
        is_mock = chosen.choice.name == "mock"
        mode = "off" if is_mock else mode_of(self._given.cassettes, bundle.folder, os.environ)
        brought = self._of_plugin("providers", bundle)
        provider = make(chosen.choice, bundle.file, brought, adapter, plays=mode == "none")
        stack.callback(provider.close)
        tape = Cassettes(bundle.folder, mode) if mode != "off" else None
        asking = Asking(
            bundle, chosen.choice, provider, self._scorers(bundle), self._limit, tape, keeps_content=self._full
        )
        cases = bundle.cases[: self._given.limit] if self._given.limit else bundle.cases
        pool = Pool(asking, cases, MemoryStore(bundle.side_by_side, self._spent_budget), bundle.side_by_side)
        results: list[CaseResult] = []
        ended = True
        try:
            with console.Progress(len(cases), lambda number: console.plural(number, "case")) as progress:
                for number, case in enumerate(cases):
                    progress.at(number, case.id)
                    results.append(pool.result(case.id))
        except KeyboardInterrupt:
            ended = False
        finally:
            pool.drain()
        head = section.Head(
            bundle.file, bundle.name, bundle.version, provider.label, chosen.adapter,
            tuple(case.id for case in bundle.cases), len(cases), bundle.thresholds, section.metric_names(bundle), mode,
        )  # fmt: skip
        built = section.build(head, results, stopped=not ended)
        if tape is not None and head.whole and (unused := tape.unused(head.cases)):
            built["cassettes"]["unused"] = unused
        if ended and head.whole and self._given.baseline:
            key = baselines.name_of(bundle.path, provider.label, Path(self._given.baseline))
            self._entries[key] = baselines.entry({each.case: each.status for each in results}, built["metrics"])
            if not self._given.update_baseline:
                built["baseline"] = baselines.compare(self._entries[key], before.get(key))
        self._sections.append(built)
        if self._given.format != "json":
            for result in results:
                if result.status != PASSED:
                    sys.stdout.write(
                        message(bundle.file, provider.label, result, full=self._full, option="--evidence full") + "\n"
                    )
        return ended

    def _budget(self) -> Budget:
        try:
            return parse(self._given.budget) if self._given.budget else Budget()
        except ValueError as error:
            raise CommandError(f"--budget {self._given.budget}: {error}") from None

    # -- baseline and plugin ---------------------------------------------------------------------------

    def _baseline(self) -> dict[str, Any]:
        if not self._given.baseline:
            return {}
        path = Path(self._given.baseline)
        try:
            return baselines.read(path) if path.exists() or not self._given.update_baseline else {}
        except baselines.BaselineError as error:
            said = str(error).replace("--corpus-update-baseline", "--update-baseline")
            raise CommandError(f"--baseline {path}: {said}") from None

    def _keep_baseline(self, before: dict[str, Any]) -> None:
        if not self._given.update_baseline:
            return
        try:
            baselines.write(Path(self._given.baseline), self._entries, before)
        except OSError as error:
            raise CommandError(f"--baseline {self._given.baseline}: cannot be written: {error.strerror}") from None

    def _module(self) -> Any:
        if not self._given.plugin:
            return None
        if os.getcwd() not in sys.path:
            sys.path.insert(0, os.getcwd())
        try:
            return importlib.import_module(self._given.plugin)
        except Exception as error:  # noqa: BLE001 - foreign code
            said = f"--plugin {self._given.plugin}: cannot be imported: {type(error).__name__}: {error}"
            raise CommandError(said) from None

    def _of_plugin(self, kind: str, bundle: Bundle) -> dict[str, Any]:
        """What a function of the plugin gives; one that is written for pytest is given None for its config."""
        name = f"pytest_corpus_bundle_{kind}"
        found = getattr(self._plugin, name, None)
        if found is None:
            return {}

        def ask() -> list[Any]:
            config = {"config": None} if "config" in inspect.signature(found).parameters else {}
            given = found(**config)
            return [] if given is None else [given]

        return functions(name, ask, bundle.file)

    def _scorers(self, bundle: Bundle) -> dict[str, Any]:
        known = self._of_plugin("scorers", bundle) if bundle.contract.scorers else {}
        for scorer in bundle.contract.scorers:
            if scorer.name not in known:
                raise CommandError(f"the scorer {scorer.name!r} is not known; --plugin MODULE brings it")
        return known


def _is_red(section: Mapping[str, Any]) -> bool:
    """True if its gate does not hold; where only a part ran, whether a case of it did not pass (R80)."""
    cases = section["cases"]
    bad = section["verdict"] == "not_judged" and cases["failed"] + cases["error"]
    return bool(bad) or section["verdict"] == "failed"


def _declared(spec: str) -> tuple[str, Declaration]:
    label, factory = split_label(spec)
    return label or factory, Declaration(label or factory, resolve(factory), factory)


@contextmanager
def _opened(declaration: Declaration) -> Iterator[Callable[[], AdapterClient]]:
    """What opens an adapter when it is first called; it is closed at the end."""
    opened: list[AdapterClient] = []

    def client() -> AdapterClient:
        if not opened:
            opened.append(AdapterClient(declaration).open(("llm",)))
        return opened[0]

    try:
        yield client
    finally:
        for each in opened:
            each.close()
