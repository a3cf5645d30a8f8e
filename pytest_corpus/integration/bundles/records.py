"""Stores of bundle results in the process that writes the reports; workers send their results there."""

import threading
from collections.abc import Container
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from pytest_corpus.bundles.loading.files import display_path
from pytest_corpus.bundles.reporting.section import Head, build_sections, collect_contents
from pytest_corpus.bundles.results import PASSED, CaseResult
from pytest_corpus.bundles.running.remote_store import RemoteJournal, RemoteStore, StoreClient, StoreServer
from pytest_corpus.bundles.running.shards import compute_digest
from pytest_corpus.bundles.running.store import AnswerJournal, CaseStore, SpentBudget
from pytest_corpus.bundles.session import BundleRun
from pytest_corpus.integration.bundles import options
from pytest_corpus.integration.declaring.properties import CHANNEL
from pytest_corpus.text.bounded import FileRefused
from pytest_corpus.text.values import from_json_value

NO_SOCKETS = "behaviour bundles cannot run on workers behind --tx=socket=...; start them with --tx=ssh=HOST"

_MAKING = threading.Lock()  # messages of different workers arrive in different threads


def results_of(config: pytest.Config) -> "BundleResults":
    """Return the bundle results of a pytest session, created on first use."""
    with _MAKING:
        if _KEY not in config.stash:
            config.stash[_KEY] = BundleResults(config)
        return config.stash[_KEY]


class BundleResults:
    """The stores of all bundles of a run, by bundle and provider. A worker uses the stores of the controller.

    Attributes:
        heads: the facts of each bundle's run.
        roots: the folder of each bundle.
        digests: the digest of each bundle, for shards.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.heads: dict[str, Head] = {}
        self.roots: dict[str, Path] = {}
        self.digests: dict[str, str] = {}
        self.stores: dict[str, CaseStore] = {}
        self.spent_budget = SpentBudget()
        self._root = config.rootpath
        given = getattr(config, "workerinput", None)
        if given is not None and CHANNEL not in given:
            raise pytest.UsageError(NO_SOCKETS)
        self._client = StoreClient(given[CHANNEL]) if given is not None else None
        self._shard = options.read_options(config).shard
        self.journal = self._journal(config)
        self.server = StoreServer(self.spent_budget, self.journal, self._begin_bundle)

    def _journal(self, config: pytest.Config) -> AnswerJournal | None:
        folder = config.getoption("corpus_bundle_resume")
        if not folder:
            return None
        if self._client is not None:
            return RemoteJournal(self._client)
        try:
            return AnswerJournal(config.invocation_params.dir / folder, self._shard)
        except FileRefused as error:
            raise pytest.UsageError(f"--corpus-bundle-resume={folder}: {error.path.name} {error.why}") from None
        except OSError as error:
            raise pytest.UsageError(f"--corpus-bundle-resume={folder}: {error.strerror}") from None

    def store(self, run: BundleRun) -> CaseStore:
        """Return the store of a bundle's run.

        The store's key contains the path from pytest's root folder to the bundle, because this path is the same on all
        machines.
        """
        path = run.bundle.path
        file = path.relative_to(self._root).as_posix() if path.is_relative_to(self._root) else str(path)
        key, about = f"{file} | {run.label}", {"head": asdict(run.head), "file": file}
        if self._shard:
            about["digest"] = compute_digest(run.bundle)
        store = CaseStore(run.selected, run.bundle.concurrency, self.spent_budget, self.journal)
        if self._client is not None:
            return RemoteStore(self._client, key, store, about, eager=not run.options.stops_early)
        self._begin_bundle(key, about, store)
        return store

    def _begin_bundle(self, key: str, about: dict[str, Any], store: CaseStore) -> None:
        path = self._root / about["file"]
        self.roots[key], self.stores[key] = path.parent, store
        self.heads[key] = replace(from_json_value(Head, about["head"]), file=display_path(path))
        self.digests[key] = about.get("digest", "")

    def is_judged(self, key: str, *, stops_early: bool) -> bool:
        """True if thresholds are judged, because the whole bundle ran and no failure ended the run early (R80)."""
        head, results = self.heads[key], self.stores[key].results
        sound = all(each.status == PASSED for each in results.values())
        return head.is_whole and len(results) == len(head.cases) and (sound or not stops_early)

    def sections(self, judged: Container[str]) -> dict[str, dict[str, Any]]:
        """Return the report section of each bundle, by key; thresholds are judged for the keys in `judged`."""
        found = build_sections({key: (head, self.results_in_order(key)) for key, head in self.heads.items()}, judged)
        for key, section in found.items() if self._shard else ():
            whole = replace(self.heads[key], selected=len(self.heads[key].cases))
            section["shard"] = {"digest": self.digests[key], "head": asdict(whole)}
        return found

    def results_in_order(self, key: str) -> list[CaseResult]:
        """Return the results of a bundle, in the order of its cases."""
        known = self.stores[key].results
        return [known[case] for case in self.heads[key].cases if case in known]

    def contents(self) -> list[dict[str, Any]]:
        """Return the recorded prompts and answers, for the HTML page."""
        found = ((self.heads[key], list(store.results.values())) for key, store in self.stores.items())
        return [each for head, results in found for each in collect_contents(head, results)]


_KEY = pytest.StashKey[BundleResults]()
