"""Legal adapters that the documents leave room for and that a suite takes for faulty where it is not careful."""

from __future__ import annotations

import asyncio
import logging
import math
import threading
import time
from collections.abc import AsyncGenerator, Callable
from typing import Any

from pytest_corpus.reference.embedding.adapter import ReferenceEmbedding
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.foundation import ReferenceAdapter
from pytest_corpus.reference.graph.adapter import ReferenceGraph
from pytest_corpus.reference.graph.store import Edge, Graph
from pytest_corpus.reference.graph.writes import Outcome
from pytest_corpus.reference.llm.adapter import ReferenceLLM
from pytest_corpus.reference.request import Call, Fields
from pytest_corpus.reference.vector.adapter import ReferenceVector
from pytest_corpus.spec.operations import BY_OP


class TakesTurns(ReferenceLLM):
    """Wants an optional system message first, then user and assistant in turns, the user first and last."""

    def read_messages(self, call: Call) -> list[str]:
        texts = super().read_messages(call)
        messages = call.args.values["messages"]
        roles = [message["role"] for message in messages if not {"tool_calls", "tool_call_id"} & set(message)]
        turns = roles[1:] if roles[:1] == ["system"] else roles
        if not turns or turns != ["user", "assistant"] * (len(turns) // 2) + ["user"]:
            raise call.args.invalid("messages", "ORDER", "must alternate between user and assistant")
        return texts


class LongWinded(ReferenceLLM):
    """Accepts a prompt beyond its window, and streams for much longer than a call may take, without a pause."""

    def check_context(self, model: str, tokens: int) -> None:
        pass

    async def stream(self, call: Call) -> AsyncGenerator[dict[str, Any], None]:
        prompt = self.read_prompt(call)
        async for chunk in super().stream(call):
            if prompt.tokens > self.context_window:
                for _ in range(400):
                    await asyncio.sleep(0.01)
                    yield {**chunk, "is_final": False, "usage_so_far": None}
            yield chunk


class KeepsAlive(ReferenceLLM):
    """Sends very many keep-alive chunks before an answer to a prompt beyond its window."""

    def check_context(self, model: str, tokens: int) -> None:
        pass

    async def stream(self, call: Call) -> AsyncGenerator[dict[str, Any], None]:
        prompt = self.read_prompt(call)
        if prompt.tokens > self.context_window:
            for _ in range(10_100):
                yield {"text": "", "is_final": False}
        async for chunk in super().stream(call):
            yield chunk


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
    """Counters that arrive late, beside observations that do not (R92)."""
    return ReferenceLLM(metrics=LateCounters(metrics) if metrics is not None else None, provider=provider)


def late_graph_metrics(metrics: Any = None, provider: Any = None) -> Any:
    """Observations of a graph that arrive late (R92)."""
    return ReferenceGraph(metrics=Late(metrics) if metrics is not None else None, provider=provider)


class Accepting(ReferenceGraph):
    """Answers writes with the code ACCEPTED, and observes them as such."""

    def success(self, call: Call, result: Any) -> dict[str, Any]:
        accepted = call.operation is not None and call.operation.mutating
        self.settle(call, "ACCEPTED" if accepted else "OK")
        return {"ok": True, "code": "ACCEPTED" if accepted else "OK", "ms": call.ms, "result": result}

    def observe(self, call: Call, outcome: str) -> None:
        if self.metrics is not None:
            self.metrics.observe(
                component=self.component,
                op=call.op,
                ms=call.ms,
                ok=outcome in ("OK", "ACCEPTED"),
                code=outcome,
                extra=dict(call.labels),
            )


class Revoked(ReferenceLLM):
    """Calls its provider no more once that has refused its credentials."""

    revoked = False

    async def reach(self, call: Call, **facts: Any) -> None:
        if self.revoked:
            raise AdapterError("AuthError", self.fault_messages["AuthError"])
        try:
            await super().reach(call, **facts)
        except AdapterError as error:
            self.revoked = self.revoked or error.kind.family == "AuthError"
            raise


class CircuitBreaker(ReferenceVector):
    """Does not call its provider for a moment after two failures of it, and says until when (SPECIFICATION 12.3)."""

    failures, closed_at = 0, 0.0
    pause_s = 0.3

    async def reach(self, call: Call, **facts: Any) -> None:
        left_s = self.closed_at - time.monotonic()
        if left_s > 0:
            raise AdapterError("Unavailable", "The circuit is open", retry_after_ms=left_s * 1000)
        try:
            await super().reach(call, **facts)
        except AdapterError:
            self.failures += 1
            if self.failures >= 2:
                self.failures, self.closed_at = 0, time.monotonic() + self.pause_s
            raise
        self.failures = 0


class FloatUsage(ReferenceLLM):
    """Gives usage as JSON numbers with a point: 2.0."""

    def usage(self, prompt: Any, completion_tokens: int) -> Any:
        return {key: float(count) for key, count in super().usage(prompt, completion_tokens).items()}


class Untagged(ReferenceLLM):
    """Labels no observation by tenant (R122)."""

    def context_labels(self, call: Call) -> dict[str, Any]:
        return {name: value for name, value in super().context_labels(call).items() if name != "tenant_hash"}


class LogsKeys(ReferenceLLM):
    """Logs the idempotency key of each call (R124)."""

    def read_context(self, call: Call, ctx: Fields) -> None:
        super().read_context(call, ctx)
        if call.idempotency_key:
            logging.getLogger(__name__).info("the key is %s", call.idempotency_key)


class WholeSeconds(ReferenceLLM):
    """Keeps retry hints in seconds, rounded up (R111)."""

    def retry_after(self, fault: Exception, name: str) -> float | None:
        advice = super().retry_after(fault, name)
        return None if advice is None else math.ceil(advice / 1000) * 1000


class Versioned(ReferenceAdapter):
    """Adds the optional keys of edition 1.1.0 to every result that is an object (R56)."""

    def success(self, call: Call, result: Any) -> dict[str, Any]:
        more = {"schema_version": "1.1.0", "protocol": f"{self.component}/v1.0"}
        room: dict[str, Any] = {"provider_specific": {}, "experimental_features": {}}
        plain = isinstance(result, dict) and call.op not in ("capabilities", "health", "get_schema")
        return super().success(call, {**more, **room, **result} if plain else result)


class VersionedLLM(Versioned, ReferenceLLM):
    """A versioned LLM."""


class VersionedEmbedding(Versioned, ReferenceEmbedding):
    """Versioned embeddings, with `item-code` in failed texts."""

    def batch_result(self, *given: Any) -> dict[str, Any]:
        result: dict[str, Any] = super().batch_result(*given)
        failed = [{**item, "item-code": item.get("code", "ITEM")} for item in result["failed_texts"]]
        return {**result, "failed_texts": failed}


class VersionedGraph(Versioned, ReferenceGraph):
    """A versioned graph, with `item-code` in failures."""

    def partial_success(self, outcome: Outcome) -> dict[str, Any]:
        result = super().partial_success(outcome)
        return {**result, "failures": [{**item, "item-code": "ITEM"} for item in result["failures"]]}


class QualifiedBatch(ReferenceGraph):
    """Takes operations in batches by their qualified names alone, and does not say so."""

    async def capabilities(self, call: Call) -> dict[str, Any]:
        return {**await super().capabilities(call), "extensions": {}}

    def read_operations(self, args: Fields, key: str) -> Any:
        given = args.values.get(key)
        for operation in given if isinstance(given, list) else ():
            name = operation.get("op") if isinstance(operation, dict) else None
            if isinstance(name, str) and f"graph.{name}" in BY_OP:
                raise args.invalid(key, "UNKNOWN_OP", "must name operations of the protocol")
        return [(op.removeprefix("graph."), own) for op, own in super().read_operations(args, key)]


class ListedElsewhere(QualifiedBatch):
    """Lists what batches take by qualified names, under a key of its own."""

    async def capabilities(self, call: Call) -> dict[str, Any]:
        stated = await super().capabilities(call)
        taken = [f"graph.{name}" for name in self.batch_operations]
        return {**stated, "extensions": {"acme:writable": taken}}


class SimpleGraph(ReferenceGraph):
    """Refuses loops, and a second edge of one label between the same nodes (R51)."""

    def put_edge(self, graph: Graph, edge: Edge) -> None:
        same = [
            each
            for each in graph.edges.values()
            if (each.src, each.dst, each.label) == (edge.src, edge.dst, edge.label) and each.id != edge.id
        ]
        if edge.src == edge.dst or same:
            raise AdapterError("BadRequest", "loops and parallel edges are not stored")
        super().put_edge(graph, edge)


class FloatCounts(ReferenceGraph):
    """Gives counts as JSON numbers with a point: 2.0."""

    def partial_success(self, outcome: Outcome) -> dict[str, Any]:
        result = super().partial_success(outcome)
        return {key: float(value) if isinstance(value, int) else value for key, value in result.items()}


LEGAL: tuple[Callable[..., Any], ...] = (
    TakesTurns,
    Accepting,
    Revoked,
    CircuitBreaker,
    FloatUsage,
    Untagged,
    LogsKeys,
    WholeSeconds,
    VersionedLLM,
    VersionedEmbedding,
    VersionedGraph,
    QualifiedBatch,
    ListedElsewhere,
    SimpleGraph,
    FloatCounts,
)

LATE: tuple[Callable[..., Any], ...] = (late_metrics, late_counters, late_graph_metrics)
"""Adapters whose observations come after the answer."""

LONG: tuple[Callable[..., Any], ...] = (LongWinded, KeepsAlive)
"""Adapters with very long streams; that they accept too long a prompt is not legal."""
