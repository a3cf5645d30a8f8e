"""Stores that several processes share: each case asked once, budgets over all, processes that are lost."""

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from samples import bundle, echo

from pytest_corpus.adapter.usage import Budget
from pytest_corpus.bundles.loading.bundle import Bundle, ProviderChoice
from pytest_corpus.bundles.loading.bundle_file import load_bundle
from pytest_corpus.bundles.providers.hook import HookProvider
from pytest_corpus.bundles.providers.protocol import CompletionRequest
from pytest_corpus.bundles.results import CaseResult
from pytest_corpus.bundles.running.asking import CaseRunner
from pytest_corpus.bundles.running.pool import Pool
from pytest_corpus.bundles.running.remote_store import RemoteStore, StoreClient, StoreServer
from pytest_corpus.bundles.running.store import CaseStore, SpentBudget


class Wire:
    """A channel between a worker and the server of the stores, within one process."""

    def __init__(self, server: StoreServer) -> None:
        self.server, self.sent = server, list[Any]()
        self.worker = Wire.__new__(Wire)
        self.worker.send = self._arrive  # type: ignore[method-assign]

    def send(self, item: Any) -> None:
        self.server.handle_message(self.worker, item)

    def setcallback(self, callback: Callable[[Any], None], endmarker: object) -> None:
        assert endmarker is None
        self.callback = callback

    def _arrive(self, item: Any) -> None:
        self.sent.append(json.loads(item))
        self.callback(item)


def made(folder: Path, count: int = 1, more: str = "") -> Bundle:
    return load_bundle(bundle(folder, [echo(number) for number in range(count)], "provider: {name: mock}\n" + more))


def shared(server: StoreServer, found: Bundle, *, eager: bool = False) -> tuple[Wire, RemoteStore]:
    """The store of a further worker."""
    wire, local = Wire(server), CaseStore([case.id for case in found.cases], 2, SpentBudget())
    return wire, RemoteStore(StoreClient(wire), "key", local, {}, eager=eager)


def test_each_case_is_asked_once_in_all(tmp_path: Path) -> None:
    """Two workers' stores on one server: no case is claimed twice, and slots are counted over both."""
    found = made(tmp_path / "b", 30, "parallel: true\nmax_parallel: 2\n")
    calls: list[str] = []
    busy = [0, 0]  # calls at this moment, and the most of them

    def answer(request: CompletionRequest) -> str:
        busy[:] = busy[0] + 1, max(busy[1], busy[0] + 1)
        calls.append(request.case)
        time.sleep(0.002)
        busy[0] -= 1
        return "yes"

    server = StoreServer(SpentBudget(), None, lambda *_: None)
    asking = CaseRunner(found, ProviderChoice("fn"), HookProvider("fn", None, answer))
    pools = [Pool(asking, found.cases, shared(server, found)[1]) for _ in range(2)]
    threads = [threading.Thread(target=lambda p=p: [p.result(c.id) for c in found.cases]) for p in pools]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sorted(calls) == sorted(case.id for case in found.cases)
    assert server.spent_budget.spent.calls == 30
    assert busy[1] <= 2


def test_a_budget_counts_for_all_workers(tmp_path: Path) -> None:
    """Ten calls in all, however many workers make them."""
    server, limit = StoreServer(SpentBudget(), None, lambda *_: None), Budget(calls=10)
    budgets = [shared(server, made(tmp_path / "b"))[1].spent_budget for _ in range(3)]
    assert [bool(budgets[number % 3].spend(limit)) for number in range(12)] == [False] * 10 + [True] * 2


def test_a_lost_process_is_noticed(tmp_path: Path) -> None:
    """A case whose process is gone has an error, and is not asked again; its place is free again."""
    found = made(tmp_path / "b", 3)
    server = StoreServer(SpentBudget(), None, lambda *_: None)
    (wire, lost), (rest, other) = shared(server, found), shared(server, found)
    for store in (lost, other):
        store.begin(lambda _: None, lambda: None)
    for store, case in ((lost, "case-0"), (lost, "case-1"), (other, "case-2")):
        assert store.next(case) is None
    assert wire.sent == [["case", "key", "case-0"], ["case", "key", "case-1"]]
    assert rest.sent == []
    server.handle_message(wire.worker, None)
    assert rest.sent == [["case", "key", "case-2"]]
    result = (other.next("case-0"), other.next("case-0"))[1]
    assert isinstance(result, CaseResult)
    assert result.status == "error"


def test_cases_go_out_before_anybody_waits(tmp_path: Path) -> None:
    """Each goes to the worker that asks the fewest, and to the other one if that is lost or asks for no more."""
    found = made(tmp_path / "b", 4)
    server = StoreServer(SpentBudget(), None, lambda *_: None)
    (wire, lost), (rest, other) = (shared(server, found, eager=True) for _ in range(2))
    for store in (lost, other):
        store.begin(lambda _: None, lambda: None)
    assert ([each[2] for each in wire.sent], rest.sent) == (["case-0", "case-1"], [])
    lost.keep(CaseResult("case-0", "passed"))
    server.handle_message(wire.worker, None)
    assert [each[2] for each in rest.sent] == ["case-2", "case-3"]


def test_a_case_that_hangs_is_given_up_if_nobody_waits_there(tmp_path: Path) -> None:
    """Another worker may wait for it."""
    found, kept = made(tmp_path / "b", 1, "timeout: 0.2\n"), list[CaseStore]()
    server = StoreServer(SpentBudget(), None, lambda *opened: kept.append(opened[2]))
    release = threading.Event()
    asking = CaseRunner(found, ProviderChoice("fn"), HookProvider("fn", None, lambda _: str(release.wait(20))))
    pool = Pool(asking, found.cases, shared(server, found, eager=True)[1])
    until = time.monotonic() + 10
    while not kept[0].results and time.monotonic() < until:
        time.sleep(0.05)
    release.set()
    pool.abandon_cases()
    assert [each.status for each in kept[0].results.values()] == ["error"]


def test_a_worker_ends_only_after_its_last_result_was_sent(tmp_path: Path) -> None:
    """Other workers may wait for a result that is still on its way when its case has ended."""
    found = made(tmp_path / "b", 2, "parallel: true\nmax_parallel: 2\n")
    kept: list[str] = []

    class Slow(CaseStore):
        def keep(self, result: CaseResult) -> None:
            time.sleep(0.2 if result.case == "case-1" else 0)
            kept.append(result.case)
            super().keep(result)

    asking = CaseRunner(found, ProviderChoice("fn"), HookProvider("fn", None, lambda _: "yes"))
    pool = Pool(asking, found.cases, Slow(["case-0", "case-1"], 2, SpentBudget()))
    pool.result("case-0")
    pool.finish()
    assert sorted(kept) == ["case-0", "case-1"]
