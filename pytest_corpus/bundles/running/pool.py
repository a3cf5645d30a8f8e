"""Cases run concurrently, up to a limit: each with its time limit, none twice.

Each case runs in a daemon thread, so that a provider that blocks can be given up and cannot keep the process alive. New
cases are started only while a caller waits for a result.
"""

import math
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass

from pytest_corpus.bundles.loading.bundle import Case
from pytest_corpus.bundles.results import CaseResult
from pytest_corpus.bundles.running.asking import Asking, CaseProgress
from pytest_corpus.bundles.running.store import Store

FIRST_POLL_S, LAST_POLL_S = 0.02, 0.16
"""The intervals between looks for results of other processes: each is twice the one before."""

MOST_HANGING = 100
"""Calls that were given up and still hang; with more of them no further case is asked."""


@dataclass
class _Running:
    case: Case
    progress: CaseProgress
    thread: threading.Thread | None = None


class Pool:
    """Asks the cases of one bundle with one provider."""

    def __init__(self, asking: Asking, cases: Iterable[Case], store: Store) -> None:
        self._asking, self._store = asking, store
        self._cases = {case.id: case for case in cases}
        self._running: dict[str, _Running] = {}
        self._hanging: list[threading.Thread] = []
        self._changed = threading.Condition()

    def result(self, wanted: str) -> CaseResult:
        """The result of a case; it and others are asked now, as far as there is room."""
        longest = FIRST_POLL_S
        while True:
            with self._changed:
                self._give_up()
                found = self._store.next(wanted)
                if isinstance(found, CaseResult):
                    return found
                if found is not None:
                    self._start(self._cases[found])
                elif not self._changed.wait(self._patience(longest)):
                    longest = min(2 * longest, LAST_POLL_S)

    def finish(self) -> None:
        """Wait for the cases that run: other processes may wait for them too."""
        with self._changed:
            while self._running:
                self._give_up()
                self._changed.wait(self._patience(LAST_POLL_S))

    def drain(self) -> None:
        """Wait for nothing any more: cases that run are given up."""
        with self._changed:
            for running in self._running.values():
                running.progress.over = True

    def _patience(self, longest: float) -> float:
        until = min((each.progress.deadline for each in self._running.values()), default=math.inf) - time.monotonic()
        return max(0.001, min(until, longest if self._store.shared else 1))

    def _start(self, case: Case) -> None:
        self._hanging = [thread for thread in self._hanging if thread.is_alive()]
        if len(self._hanging) >= MOST_HANGING:
            self._store.keep(self._asking.broken(case, f"{MOST_HANGING} calls hang; no further one is made"))
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
                self._changed.notify_all()

    def _give_up(self) -> None:
        now = time.monotonic()
        for name, running in list(self._running.items()):
            if running.progress.deadline <= now:
                del self._running[name]
                assert running.thread is not None
                self._hanging.append(running.thread)
                self._store.keep(self._asking.given_up(running.case, running.progress))
