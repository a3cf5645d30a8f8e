"""Legal adapters that show writes, observations or counters later."""

import contextvars
import itertools
import queue
import random
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from pytest_corpus.reference.embedding.adapter import ReferenceEmbedding
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.foundation import Provider
from pytest_corpus.reference.graph.adapter import ReferenceGraph
from pytest_corpus.reference.graph.store import DEFAULT_NAMESPACE, Edge, NamespaceGraph
from pytest_corpus.reference.llm.adapter import ReferenceLLM
from pytest_corpus.reference.request import Call
from pytest_corpus.reference.telemetry import MetricsSink
from pytest_corpus.reference.vector.adapter import ReferenceVector
from pytest_corpus.reference.vector.arguments import QueryArguments
from pytest_corpus.reference.vector.store import Item, Space


class LateVector(ReferenceVector):
    """Shows a write in queries only a moment later, as an index that is refreshed in the background does."""

    late_s = 0.02
    features: Mapping[str, bool] = {**ReferenceVector.features, "supports_caching": False}

    def __init__(self, *, metrics: MetricsSink | None = None, provider: Provider | None = None) -> None:
        super().__init__(metrics=metrics, provider=provider)
        self.history: dict[int, list[tuple[float, Space, list[Item]]]] = {}

    def mark_changed(self, space: Space) -> None:
        super().mark_changed(space)
        kept = self.history.setdefault(id(space), [(0.0, space, [])])
        kept.append((time.monotonic(), space, list(space.items.values())))

    def select(self, space: Space, query: QueryArguments) -> list[Item]:
        until = time.monotonic() - self.late_s
        shown = [items for at, _, items in self.history.get(id(space), ()) if at <= until]
        return [item for item in (shown[-1] if shown else ()) if self.passes(item.metadata, query.conditions)]


class LaterVector(LateVector):
    late_s = 0.15


class LatestVector(LateVector):
    late_s = 1.0


class LateAfterAll(LateVector):
    """Gets its first queries late, as on a machine that has paused, so that its first writes seem visible at once."""

    pauses = 2

    def select(self, space: Space, query: QueryArguments) -> list[Item]:
        if self.pauses:
            self.pauses -= 1
            time.sleep(2 * self.late_s)
        return super().select(space, query)


class LateFilters(LateVector):
    """Shows a vector at once, but finds it by its metadata only later, as a second index does."""

    late_s = 0.25

    def select(self, space: Space, query: QueryArguments) -> list[Item]:
        return super().select(space, query) if query.conditions else ReferenceVector.select(self, space, query)


class LateGraph(ReferenceGraph):
    """Answers from a copy that is a moment behind."""

    late_s = 0.02
    features: Mapping[str, bool] = {**ReferenceGraph.features, "supports_caching": False}

    def __init__(self, *, metrics: MetricsSink | None = None, provider: Provider | None = None) -> None:
        super().__init__(metrics=metrics, provider=provider)
        self.history: dict[str | None, list[tuple[float, dict[str, NamespaceGraph]]]] = {}

    def commit(self, call: Call, draft: dict[str, NamespaceGraph]) -> None:
        super().commit(call, draft)
        self.history.setdefault(call.tenant_hash, []).append((time.monotonic(), draft))

    def space(self, call: Call) -> dict[str, NamespaceGraph]:
        until = time.monotonic() - self.late_s
        shown = [space for at, space in self.history.get(call.tenant_hash, ()) if at <= until]
        return shown[-1] if shown else {DEFAULT_NAMESPACE: NamespaceGraph()}

    def draft(self, call: Call) -> dict[str, NamespaceGraph]:
        return {name: graph.draft() for name, graph in super().space(call).items()}


class LateEdges(LateGraph):
    """Shows a node at once, but its edges only later."""

    late_s = 0.25

    def space(self, call: Call) -> dict[str, NamespaceGraph]:
        shown, earlier = ReferenceGraph.space(self, call), super().space(call)
        return {name: self.merged(graph, earlier.get(name, NamespaceGraph())) for name, graph in shown.items()}

    def merged(self, now: NamespaceGraph, earlier: NamespaceGraph) -> NamespaceGraph:
        edges = {key: edge for key, edge in earlier.edges.items() if {edge.src, edge.dst} <= now.nodes.keys()}
        return NamespaceGraph(now.nodes, edges)


class StrictGraph(LateGraph):
    """Takes an edge only between nodes that show already."""

    shown: dict[str, NamespaceGraph] | None = None

    def draft(self, call: Call) -> dict[str, NamespaceGraph]:
        self.shown = self.space(call) if call.op == "upsert_edges" else None
        return super().draft(call)

    def put_edge(self, graph: NamespaceGraph, edge: Edge) -> None:
        shown = graph if self.shown is None else self.shown.get(edge.namespace, NamespaceGraph())
        if not {edge.src, edge.dst} <= shown.nodes.keys():
            raise AdapterError("VertexNotFound", "src and dst of an edge must be nodes that show")
        super().put_edge(graph, edge)


class LatestGraph(LateGraph):
    late_s = 1.0


class Exporter:
    """Passes reports on from a thread of its own, `late_s` after they were made."""

    late_s = 0.03
    prompt: tuple[str, ...] = ()

    def __init__(self, metrics: Any) -> None:
        self._metrics = metrics
        self._queue: queue.Queue[tuple[float, contextvars.Context, str, dict[str, Any]]] = queue.Queue()
        threading.Thread(target=self._run, daemon=True).start()

    def observe(self, **given: Any) -> None:
        self._report("observe", given)

    def counter(self, **given: Any) -> None:
        self._report("counter", given)

    def _report(self, kind: str, given: dict[str, Any]) -> None:
        if kind in self.prompt:
            getattr(self._metrics, kind)(**given)
        else:
            self._queue.put((time.monotonic() + self.late_s, contextvars.copy_context(), kind, given))

    def _run(self) -> None:
        while True:
            due, context, kind, given = self._queue.get()
            if (left_s := due - time.monotonic()) > 0:  # even no time costs a turn among the threads
                time.sleep(left_s)
            context.run(getattr(self._metrics, kind), **given)


class LateCounters(Exporter):
    """Observes at once, and counts later."""

    prompt = ("observe",)


class VeryLate(Exporter):
    late_s = 0.1


class Unordered(Exporter):
    """Passes each observation on from a thread of its own: that of every second call before the one of the first."""

    delays_s = itertools.cycle((0.12, 0.04))

    def observe(self, **given: Any) -> None:
        threading.Timer(next(self.delays_s), self._metrics.observe, kwargs=given).start()


class Batching(Exporter):
    """Passes all on together, every 300 ms."""

    def _run(self) -> None:
        while True:
            time.sleep(0.3)
            for _ in range(self._queue.qsize()):
                _, context, kind, given = self._queue.get()
                context.run(getattr(self._metrics, kind), **given)


class Slow(Exporter):
    """Takes longer for the reports of a call than the call takes."""

    def _run(self) -> None:
        while True:
            _, context, kind, given = self._queue.get()
            time.sleep(0.006)
            context.run(getattr(self._metrics, kind), **given)


class Anyhow(Exporter):
    """Passes each report on after another time, up to 200 ms, and observes no call of an unknown operation."""

    def _report(self, kind: str, given: dict[str, Any]) -> None:
        if given.get("op") != "invalid":
            threading.Timer(random.uniform(0.005, 0.2), getattr(self._metrics, kind), kwargs=given).start()


class Mislabelled(Exporter):
    """Reports late that each call succeeds."""

    def observe(self, **given: Any) -> None:
        super().observe(**{**given, "ok": True})


def exporting(component: type, exporter: type[Exporter] = Exporter) -> Callable[..., Any]:
    """A factory of a reference adapter whose reports come late (R92)."""

    def factory(metrics: Any = None, provider: Any = None) -> Any:
        return component(metrics=exporter(metrics) if metrics is not None else None, provider=provider)

    return factory


late_metrics = exporting(ReferenceLLM)
late_counters = exporting(ReferenceLLM, LateCounters)
very_late_metrics = exporting(ReferenceLLM, VeryLate)
mislabelled = exporting(ReferenceLLM, Mislabelled)
unordered_metrics = exporting(ReferenceLLM, Unordered)
batched_metrics = exporting(ReferenceLLM, Batching)
slow_metrics = exporting(ReferenceLLM, Slow)
disordered_metrics = exporting(ReferenceLLM, Anyhow)
disordered_vector_metrics = exporting(ReferenceVector, Anyhow)
late_embedding_metrics = exporting(ReferenceEmbedding)
late_vector_metrics = exporting(ReferenceVector)
late_graph_metrics = exporting(ReferenceGraph)
