"""Runs cases concurrently, each once and with a time limit.

Cases run in daemon threads, so a blocked provider can be abandoned and does not keep the process alive. New cases start
only while a caller waits for a result, or when the store of another process assigns them.
"""

import math
import queue
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from pytest_corpus.bundles.loading.bundle import Case
from pytest_corpus.bundles.results import NOT_ASKED, CaseResult
from pytest_corpus.bundles.running.asking import CaseProgress, CaseRunner
from pytest_corpus.bundles.running.store import CaseStore

LONGEST_WAIT_S = 1.0

MOST_HANGING = 100
"""The largest number of abandoned calls that block a thread. If there are more, no further case runs."""


@dataclass
class _RunningCase:
    case: Case
    progress: CaseProgress
    thread: threading.Thread | None = None


class Pool:
    """Runs the cases of one bundle with one provider.

    The pool releases its lock before it calls the store, because a store in another process may wait for that lock.
    """

    def __init__(self, asking: CaseRunner, cases: Iterable[Case], store: CaseStore) -> None:
        self._asking, self._store = asking, store
        self._cases = {case.id: case for case in cases}
        self._running: dict[str, _RunningCase] = {}
        self._hanging: list[threading.Thread] = []
        self._threads = 0
        self._lock = threading.Lock()
        self._ready, self._changed = queue.SimpleQueue[_RunningCase | None](), queue.SimpleQueue[None]()
        self._ends = threading.Event()
        if store.is_shared:
            threading.Thread(target=self._watch, name="corpus-bundle-watch", daemon=True).start()
        store.begin(self._start, lambda: self._changed.put(None))

    def result(self, wanted: str) -> CaseResult:
        """Return the result of a case. Until it exists, start this case and others, as many as the store allows."""
        while True:
            self._abandon_late_cases()
            found = self._store.next(wanted)
            if isinstance(found, CaseResult):
                return found
            if found is not None:
                self._start(found)
            else:
                self._wait()

    def finish(self) -> None:
        """Start no further case and wait for the running ones, because other processes may need their results."""
        self._store.leave()
        while self._running:
            self._abandon_late_cases()
            self._wait()

    def leave_out(self, case: str) -> CaseResult:
        """Return the result of a case that is not needed and does not run."""
        return self._store.leave_out(CaseResult(case, NOT_ASKED))

    def abandon_cases(self) -> None:
        """Abandon the running cases."""
        self._ends.set()
        with self._lock:
            for running in self._running.values():
                running.progress.over = True
            for _ in range(self._threads):
                self._ready.put(None)

    def _watch(self) -> None:
        """Abandon the cases whose time is over, even if no caller waits for a result."""
        while not self._ends.wait(LONGEST_WAIT_S):
            self._abandon_late_cases()

    def _wait(self) -> None:
        """Wait until a case ends in any process, until the time of a case is over, or for a second."""
        until = min((each.progress.deadline for each in list(self._running.values())), default=math.inf)
        with suppress(queue.Empty):
            self._changed.get(timeout=max(0.001, min(until - time.monotonic(), LONGEST_WAIT_S)))

    def _start(self, name: str) -> None:
        """Start a case that the store assigned, in an idle thread if there is one."""
        case = self._cases[name]
        with self._lock:
            self._hanging = [thread for thread in self._hanging if thread.is_alive()]
            hangs = len(self._hanging) >= MOST_HANGING
            if not hangs:
                self._running[name] = _RunningCase(case, CaseProgress(time.monotonic() + self._asking.bundle.timeout))
                self._ready.put(self._running[name])
                if self._threads < len(self._running):
                    self._threads += 1
                    threading.Thread(target=self._run_thread, name="corpus-bundle", daemon=True).start()
        if hangs:
            self._store.keep(self._asking.broken_result(case, f"{MOST_HANGING} calls hang; no further one is made"))

    def _run_thread(self) -> None:
        while (running := self._ready.get()) is not None:
            running.thread = threading.current_thread()
            try:
                result = self._asking.run_case(running.case, self._store, running.progress)
            except BaseException as error:  # noqa: BLE001 - whatever it is, the case has a result
                said = f"asking raised {type(error).__name__}"
                result = self._asking.broken_result(running.case, said, running.progress.calls)
            self._store.keep(result)  # while the case still counts as running: `finish` waits for the result too
            with self._lock:
                given_up = self._running.pop(running.case.id, None) is None
            if given_up:  # another thread replaces this one
                return
            self._changed.put(None)

    def _abandon_late_cases(self) -> None:
        now = time.monotonic()
        with self._lock:
            late = [each for each in self._running.values() if each.progress.deadline <= now]
            for running in late:
                del self._running[running.case.id]
                self._threads -= 1
                self._hanging += [running.thread] if running.thread else []
        for running in late:
            self._store.keep(self._asking.expired_result(running.case, running.progress))
