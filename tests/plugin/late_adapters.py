"""Legal adapters that show writes, observations or counters later."""

import threading
import time
from collections.abc import Mapping
from typing import Any

from pytest_corpus.reference.foundation import Provider
from pytest_corpus.reference.graph.adapter import ReferenceGraph
from pytest_corpus.reference.graph.store import DEFAULT_NAMESPACE, Graph
from pytest_corpus.reference.llm.adapter import ReferenceLLM
from pytest_corpus.reference.request import Call
from pytest_corpus.reference.telemetry import MetricsSink
from pytest_corpus.reference.vector.adapter import ReferenceVector
from pytest_corpus.reference.vector.arguments import Query
from pytest_corpus.reference.vector.store import Item, Space


class LateVector(ReferenceVector):
    """Shows a write in queries only a moment later, as an index that is refreshed in the background does."""

    late_s = 0.02
    features: Mapping[str, bool] = {**ReferenceVector.features, "supports_caching": False}

    def __init__(self, *, metrics: MetricsSink | None = None, provider: Provider | None = None) -> None:
        super().__init__(metrics=metrics, provider=provider)
        self.history: dict[int, list[tuple[float, Space, list[Item]]]] = {}

    def touch(self, space: Space) -> None:
        super().touch(space)
        kept = self.history.setdefault(id(space), [(0.0, space, [])])
        kept.append((time.monotonic(), space, list(space.items.values())))

    def select(self, space: Space, query: Query) -> list[Item]:
        until = time.monotonic() - self.late_s
        shown = [items for at, _, items in self.history.get(id(space), ()) if at <= until]
        return [item for item in (shown[-1] if shown else ()) if self.passes(item.metadata, query.conditions)]


class LaterVector(LateVector):
    late_s = 0.15


class LatestVector(LateVector):
    late_s = 1.0


class LateGraph(ReferenceGraph):
    """Answers from a copy that is a moment behind."""

    late_s = 0.02
    features: Mapping[str, bool] = {**ReferenceGraph.features, "supports_caching": False}

    def __init__(self, *, metrics: MetricsSink | None = None, provider: Provider | None = None) -> None:
        super().__init__(metrics=metrics, provider=provider)
        self.history: dict[str | None, list[tuple[float, dict[str, Graph]]]] = {}

    def commit(self, call: Call, draft: dict[str, Graph]) -> None:
        super().commit(call, draft)
        self.history.setdefault(call.tenant_hash, []).append((time.monotonic(), draft))

    def space(self, call: Call) -> dict[str, Graph]:
        until = time.monotonic() - self.late_s
        shown = [space for at, space in self.history.get(call.tenant_hash, ()) if at <= until]
        return shown[-1] if shown else {DEFAULT_NAMESPACE: Graph()}

    def draft(self, call: Call) -> dict[str, Graph]:
        return {name: graph.draft() for name, graph in super().space(call).items()}


class LatestGraph(LateGraph):
    late_s = 1.0


class Late:
    """Passes observations on from another thread, some milliseconds after the answer."""

    def __init__(self, metrics: Any) -> None:
        self._metrics = metrics

    def observe(self, **given: Any) -> None:
        threading.Timer(0.003, lambda: self._metrics.observe(**given)).start()

    def counter(self, **given: Any) -> None:
        threading.Timer(0.003, lambda: self._metrics.counter(**given)).start()


def late_metrics(metrics: Any = None, provider: Any = None) -> Any:
    """Observations that arrive late (R92)."""
    return ReferenceLLM(metrics=Late(metrics) if metrics is not None else None, provider=provider)


class LateCounters(Late):
    """Observes at once, and counts later."""

    def observe(self, **given: Any) -> None:
        self._metrics.observe(**given)

    def counter(self, **given: Any) -> None:
        threading.Timer(0.03, lambda: self._metrics.counter(**given)).start()


def late_counters(metrics: Any = None, provider: Any = None) -> Any:
    """Counters that arrive late after observations that do not (R92)."""
    return ReferenceLLM(metrics=LateCounters(metrics) if metrics is not None else None, provider=provider)


def late_graph_metrics(metrics: Any = None, provider: Any = None) -> Any:
    """Observations of a graph that arrive late (R92)."""
    return ReferenceGraph(metrics=Late(metrics) if metrics is not None else None, provider=provider)
