"""Limits on concurrent calls and on calls per second (SPECIFICATION 12.6, 16.2)."""

import time

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.request import Call


class Load:
    """Counts the active calls and the calls in the current second."""

    def __init__(self) -> None:
        self.under_way: set[int] = set()
        self.second, self.calls = 0, 0

    def admit_call(self, call: Call, concurrency: int, rate_limit_qps: int) -> None:
        """Register a call, or refuse it if there are too many.

        Raises:
            AdapterError: ResourceExhausted, with the time to wait before a retry.
        """
        second = int(time.monotonic())
        if second != self.second:
            self.second, self.calls = second, 0
        self.calls += 1
        if self.calls > rate_limit_qps:
            raise AdapterError("ResourceExhausted", "Too many calls in a second", retry_after_ms=1_000)
        if len(self.under_way) >= concurrency:
            raise AdapterError("ResourceExhausted", "Too many calls at once", retry_after_ms=100)
        self.under_way.add(id(call))

    def release(self, call: Call) -> None:
        """Remove a finished call, if it was registered."""
        self.under_way.discard(id(call))
