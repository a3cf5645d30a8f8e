"""Counts and times of validations (SCHEMA 8.2)."""

from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from pytest_corpus.validation.requests.exceptions import WireValidationError


@dataclass
class ValidationMetrics:
    """The outcomes of the validations of a run; any number of threads may record.

    Attributes:
        validation_times: case id and seconds of each validation that was timed.
        successes: how often each case passed.
        failures: how often each case failed, by the code or name of the error.
    """

    validation_times: list[tuple[str, float]] = field(default_factory=list)
    successes: dict[str, int] = field(default_factory=dict)
    failures: dict[str, dict[str, int]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock, init=False, repr=False, compare=False)

    def record_success(self, case_id: str, duration: float) -> None:
        """Count a validation that passed; `duration` is in seconds."""
        with self._lock:
            self.validation_times.append((case_id, duration))
            self.successes[case_id] = self.successes.get(case_id, 0) + 1

    def record_failure(self, case_id: str, error: BaseException | str, duration: float | None = None) -> None:
        """Count one that failed, under the code of a `WireValidationError`, the name of another exception, or a
        name of the caller's choice; `duration` is in seconds, None where it was not timed."""
        name = error if isinstance(error, str) else type(error).__name__
        if isinstance(error, WireValidationError):
            name = error.code
        with self._lock:
            if duration is not None:
                self.validation_times.append((case_id, duration))
            of_case = self.failures.setdefault(case_id, {})
            of_case[name] = of_case.get(name, 0) + 1

    def get_summary(self) -> dict[str, Any]:
        """`total_runs`, `total_successes`, `total_failures`, and `avg_duration_ms` of those timed (0.0 of none)."""
        with self._lock:
            succeeded = sum(self.successes.values())
            failed = sum(sum(by_error.values()) for by_error in self.failures.values())
            times = [seconds for _, seconds in self.validation_times]
        return {
            "total_runs": succeeded + failed,
            "total_successes": succeeded,
            "total_failures": failed,
            "avg_duration_ms": sum(times) / len(times) * 1000 if times else 0.0,
        }
