"""A store in a folder that the workers of a run share.

A claim is a file that its process holds locked: where a claim stands unlocked without a result, its process is gone.
The locks are the kernel's, so that they end with the process, however it ends.
"""

import fcntl
import hashlib
import json
import os
import secrets
import threading
from pathlib import Path

from pytest_corpus.adapter.usage.budget import Budget
from pytest_corpus.bundles.results import CaseResult, lost
from pytest_corpus.bundles.running.store import Spent, SpentBudget, Store
from pytest_corpus.text.atomic_write import write_atomically
from pytest_corpus.text.records import rebuilt


class SharedSpentBudget(SpentBudget):
    """Calls and tokens that all workers of a run spent, in a file."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "spent.json"

    @property
    def spent(self) -> Spent:
        try:
            return Spent(*json.loads(self._path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return Spent()

    def _change(self, calls: int, tokens: int, limit: Budget) -> str:
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            text = os.pread(handle, 200, 0)
            spent = Spent(*json.loads(text)) if text.strip() else Spent()
            if refusal := spent.refusal(limit):
                return refusal
            spent = spent.plus(calls, tokens)
            os.pwrite(handle, json.dumps([spent.calls, spent.tokens]).ljust(100).encode(), 0)
            return ""
        finally:
            os.close(handle)


class SharedStore(Store):
    """The store of one bundle with one provider."""

    shared = True

    def __init__(self, folder: Path, key: str, slots: int, spent_budget: SpentBudget) -> None:
        self._folder = folder / hashlib.sha256(key.encode()).hexdigest()[:24]
        self._folder.mkdir(mode=0o700, exist_ok=True)
        self._places, self.spent_budget = slots, spent_budget
        self._held: dict[str, int] = {}
        self._taken: list[int] = []
        self._lock = threading.Lock()

    def claim(self, case: str) -> bool:
        temporary = self._folder / f"new-{secrets.token_hex(8)}"
        handle = _lock(temporary, os.O_CREAT | os.O_EXCL)
        assert handle is not None
        try:
            os.link(temporary, self._file(case, "claim"))
        except FileExistsError:
            os.close(handle)
            return False
        finally:
            temporary.unlink()
        with self._lock:
            self._held[case] = handle
        return True

    def keep(self, result: CaseResult) -> None:
        with self._lock:
            handle = self._held.pop(result.case, None)
            if handle is None:
                return
            text = json.dumps(result.document(content=True))
            write_atomically(text, self._file(result.case, "json"))
            os.close(handle)

    def fetch(self, case: str) -> CaseResult | None:
        if (found := self._read(case)) is not None:
            return found
        if case in self._held or not self._is_abandoned(case):
            return None
        return self._read(case) or lost(case)

    def _read(self, case: str) -> CaseResult | None:
        try:
            return rebuilt(CaseResult, json.loads(self._file(case, "json").read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None

    def _is_abandoned(self, case: str) -> bool:
        try:
            handle = _lock(self._file(case, "claim"))
        except FileNotFoundError:
            return False
        if handle is not None:
            os.close(handle)
        return handle is not None

    def take_slot(self) -> bool:
        for number in range(self._places):
            handle = _lock(self._folder / f"slot-{number}", os.O_CREAT)
            if handle is not None:
                with self._lock:
                    self._taken.append(handle)
                return True
        return False

    def free_slot(self) -> None:
        with self._lock:
            os.close(self._taken.pop())

    def _file(self, case: str, kind: str) -> Path:
        return self._folder / f"{hashlib.sha256(case.encode()).hexdigest()[:32]}.{kind}"


def _lock(path: Path, flags: int = 0) -> int | None:
    """Open and lock a file; None if another process or handle holds it."""
    handle = os.open(path, os.O_RDWR | flags, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return handle
    except BlockingIOError:
        os.close(handle)
        return None
