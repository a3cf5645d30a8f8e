"""Telemetry about calls, never about their content (SPECIFICATION 6.4, 13)."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

from pytest_corpus.reference.request import Call


class MetricsSink(Protocol):
    """The interface of a metrics sink (SPECIFICATION 6.4)."""

    def observe(self, *, component: str, op: str, ms: float, ok: bool, code: str, extra: Mapping[str, Any]) -> None: ...

    def counter(self, *, component: str, name: str, value: int, extra: Mapping[str, Any]) -> None: ...


class Telemetry:
    """Reports every call once: an observation and a counter, plus another counter for streams."""

    component: ClassVar[str]
    metrics: MetricsSink | None
    deadline_buckets = ((0, "expired"), (1, "lt_1s"), (60, "lt_60s"), (math.inf, "ge_60s"))

    def report_end(self, call: Call, outcome: str) -> None:
        """Report the end of a call, "OK" or an error class. Repeated calls of this method have no effect."""
        if call.settled:
            return
        call.settled = True
        self.observe(call, outcome)
        self.count("ops_total", 1, {"op": call.op, "code": outcome})
        if call.streaming:
            self.count_stream(call, outcome)

    def observe(self, call: Call, outcome: str) -> None:
        if self.metrics is not None:
            self.metrics.observe(
                component=self.component,
                op=call.op,
                ms=call.ms,
                ok=outcome == "OK",
                code=outcome,
                extra=dict(call.labels),
            )

    def count_stream(self, call: Call, outcome: str) -> None:
        self.count("count_stream_final_outcome", 1, {"op": call.op, "code": outcome, **call.labels})

    def count(self, name: str, value: int, extra: Mapping[str, Any]) -> None:
        if self.metrics is not None:
            self.metrics.counter(component=self.component, name=name, value=value, extra=extra)

    def context_labels(self, call: Call) -> dict[str, Any]:
        """Return `tenant_hash` and `deadline_bucket`, if `ctx` has a tenant or a deadline."""
        labels = {"tenant_hash": call.tenant_hash, "deadline_bucket": self.deadline_bucket(call)}
        return {name: value for name, value in labels.items() if value is not None}

    def deadline_bucket(self, call: Call) -> str | None:
        """Return one of a few labels for the time to the deadline at arrival; None without a deadline."""
        left = call.seconds_left
        return None if left is None else next(word for limit, word in self.deadline_buckets if left <= limit)
