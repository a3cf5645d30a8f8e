"""Cases run concurrently, up to a limit: each with its time limit, none twice.

Each case runs in a daemon thread, so that a provider that blocks can be given up and cannot keep the process alive. New
cases are started only while a caller waits for a result.
"""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_corpus.bundles.loading.bundle import Case
from pytest_corpus.bundles.results import CaseResult
from pytest_corpus.bundles.running.asking import Asking, CaseProgress
from pytest_corpus.bundles.running.store import Store

POLL_S = 0.02
"""The interval between looks for results of other processes."""

MOST_HANGING = 100
"""Calls that were given up and still hang; with more of them no further case is asked."""


@dataclass
class _Running:
    case: Case
    progress: CaseProgress
    thread: threading.Thread | None = None


class Pool:
    """Asks the cases of one bundle with one provider."""

    def __init__(self, asking: Asking, cases: Sequence[Case], store: Store, limit: int) -> None:
        self._asking, self._store, self._limit = asking, store, limit
        self._cases = {case.id: case for case in cases}
        self._waiting = dict.fromkeys(self._cases)
        self._running: dict[str, _Running] = {}
        self._hanging: list[threading.Thread] = []
        self._changed = threading.Condition()

    def result(self, case: str) -> CaseResult:
        """The result of a case, which is asked now unless it was before."""
        while True:
            if (found := self._store.fetch(case)) is not None:
                return found
            with self._changed:
                self._give_up()
                self._begin(case)
                if self._store.fetch(case) is None:
                    self._changed.wait(self._patience())

    def drain(self) -> None:
        """Wait for nothing any more: cases that run are given up."""
        with self._changed:
            for running in self._running.values():
                running.progress.over = True

    def _patience(self) -> float:
        ends = [running.progress.deadline for running in self._running.values()]
        until = min(ends, default=time.monotonic() + 1) - time.monotonic()
        return max(0.001, min(until, POLL_S) if self._store.shared or not self._running else until)

    def _begin(self, first: str) -> None:
        """Begin with the case that is waited for, and with others as far as there is room."""
        order = [first, *self._waiting] if self._limit > 1 else [first]
        for case in order:
            if case not in self._waiting:
                continue
            if len(self._running) >= self._limit or not self._store.take_slot():
                return
            del self._waiting[case]
            if self._store.claim(case):
                self._start(self._cases[case])
            else:
                self._store.free_slot()

    def _start(self, case: Case) -> None:
        self._hanging = [thread for thread in self._hanging if thread.is_alive()]
        if len(self._hanging) >= MOST_HANGING:
            self._store.keep(self._asking.broken(case, f"{MOST_HANGING} calls hang; no further one is made"))
            self._store.free_slot()
            return
        running = _Running(case, CaseProgress(time.monotonic() + self._asking.bundle.timeout))
        self._running[case.id] = running
        running.thread = threading.Thread(target=self._carry_out, args=(running,), name="corpus-bundle", daemon=True)
        running.thread.start()

    def _carry_out(self, running: _Running) -> None:
        try:
            result = self._asking.ask(running.case, self._store, running.progress)
        except BaseException as error:  # noqa: BLE001 - whatever it is, the case has a result
            said = f"asking raised {type(error).__name__}"
            result = self._asking.broken(running.case, said, running.progress.calls)
        with self._changed:
            if self._running.pop(running.case.id, None) is not None:
                self._store.keep(result)
                self._store.free_slot()
                self._changed.notify_all()

    def _give_up(self) -> None:
        now = time.monotonic()
        for name, running in list(self._running.items()):
            if running.progress.deadline <= now:
                del self._running[name]
                assert running.thread is not None
                self._hanging.append(running.thread)
                self._store.keep(self._asking.given_up(running.case, running.progress))
                self._store.free_slot()
