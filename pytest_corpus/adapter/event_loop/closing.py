"""The time limit for closing, and the names of what an adapter leaves running after that time."""

import sys
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from pytest_corpus.redaction import list_names, type_name

TOTAL_S: Final = 30.0
EACH_S: Final = 8.0
LAST_S: Final = 10.0
"""The part of the total closing time, in seconds, that is reserved for the end of the run."""

MAX_HANGING: Final = 3

BLOCKED: Final = "a blocked event loop"
"""The word for a loop that could not be ended."""


class ClosingBudget:
    """Limits the time for closing, in total and for each instance, and the number of instances that hang.

    When the time for fresh instances is used up, they are closed concurrently with the tests. After `max_hanging`
    instances of an adapter hung, its other fresh instances are not closed. The first instance of a run is always
    closed.
    """

    def __init__(self, total_s: float = TOTAL_S, each_s: float = EACH_S, max_hanging: int = MAX_HANGING) -> None:
        self.each_s, self.max_hanging = each_s, max_hanging
        self._left = total_s
        self._kept = min(LAST_S, total_s / 2)
        self._hung: Counter[str] = Counter()
        self._unclosed: Counter[str] = Counter()

    def allot_seconds(self, *, last: bool) -> float:
        """Return the seconds for the next closing: half of `each_s` for a fresh instance; 0 if too little is left."""
        if last:
            self._left = min(self._left, self._kept)
            return max(0.0, min(self.each_s, self._left))
        usual = self.each_s / 2
        return usual if self._left - self._kept >= usual else 0.0

    def spend(self, seconds: float) -> None:
        """Count the seconds that a closing took."""
        self._left -= seconds

    def may_close(self, label: str) -> bool:
        """Return True if a fresh instance of an adapter may be closed. If not, count it as not closed."""
        if self._hung[label] < self.max_hanging:
            return True
        self._unclosed[label] += 1
        return False

    def note_hanging(self, label: str) -> None:
        """Record a fresh instance whose closing did not end in time."""
        self._hung[label] += 1

    def describe_failures(self, label: str) -> list[str]:
        """Return a sentence if fresh instances of an adapter did not close in time, and forget these instances."""
        hung, unclosed = self._hung.pop(label, 0), self._unclosed.pop(label, 0)
        if not hung:
            return []
        more = f", {unclosed} more were not closed" if unclosed else ""
        return [f"closing {count_in_words(hung, 'fresh instance')} did not end in time{more}"]


def count_in_words(number: int, what: str) -> str:
    """Return a number and a noun, in the plural if necessary."""
    return f"{number} {what}{'s' * (number != 1)}"


def count_by_name(what: str, labels: Iterable[str]) -> list[str]:
    """Return one text in a list, such as `2 threads (poll, watch)`; the list is empty without labels."""
    every = list(labels)
    return [f"{count_in_words(len(every), what)} ({list_names(every)})"] if every else []


def threads_that_delay_exit() -> set[threading.Thread]:
    """Return the threads that delay the end of Python, except the threads of executors, which end on request."""
    return {thread for thread in threading.enumerate() if not thread.daemon} - executor_threads()


POOLS: Final = {"concurrent.futures.thread": "_threads_queues", "concurrent.futures.process": "_threads_wakeups"}
"""Maps a module of the standard library to its private table of the threads that it joins at exit."""


def executor_threads() -> set[threading.Thread]:
    """Return the threads of executors. When Python ends, it waits for such a thread, even if the thread is a daemon."""
    found = (getattr(sys.modules.get(module), name, ()) for module, name in POOLS.items())
    return {thread for threads in found for thread in list(threads)}


def thread_name(thread: threading.Thread) -> str:
    """Return the name of the function that a thread runs; if it is unknown, the name of the thread's class."""
    return thread.name.partition(" (")[2].removesuffix(")") or type_name(thread)


def name_leftovers(inside: Sequence[str], abandoned: int, threads_before: set[threading.Thread]) -> list[str]:
    """Name what an adapter left running: work `inside` its last loop, `abandoned` loops, and its new threads."""
    blocked = abandoned + inside.count(BLOCKED)
    loops = [count_in_words(blocked, "blocked event loop")] if blocked else []
    threads = count_by_name("thread", map(thread_name, threads_that_delay_exit() - threads_before))
    waited = [f"{said}, for which Python waits" for said in threads]
    return [*(each for each in inside if each != BLOCKED), *loops, *waited]
