"""Batches and transactions of graph operations, and the tenant's data that they change."""

import asyncio
import math
from typing import Any

from pytest_corpus.reference.errors import AdapterError, invalid
from pytest_corpus.reference.foundation import ReferenceAdapter
from pytest_corpus.reference.graph.store import DEFAULT_NAMESPACE, NamespaceGraph, Space
from pytest_corpus.reference.graph.writes import GraphWrites
from pytest_corpus.reference.request import Call, Fields


class Batches(GraphWrites, ReferenceAdapter):
    """Runs several operations. Each changes a draft of the data, which is committed if the operation succeeds."""

    tenants: dict[str | None, Space]
    batch_operations: tuple[str, ...] = (*GraphWrites.writes, "query")
    max_batch_ops = 24

    async def batch(self, call: Call) -> dict[str, Any]:
        """Return `results`, one per operation, in order; each operation is applied completely or not at all."""
        operations = self.read_operations(call.args, "ops")
        self.check_batch_size(len(operations))
        await self.reach(call, items=len(operations))
        results = []
        for index, (op, args) in enumerate(operations):
            draft = self.draft(call)
            result = self.step_result(draft, index, op, args)
            if result["ok"]:
                self.commit(call, draft)
            results.append(result)
        return {"results": results, "success": all(result["ok"] for result in results)}

    async def transaction(self, call: Call) -> dict[str, Any]:
        """Apply all operations; if one fails, apply none and report the failed one."""
        operations = self.read_operations(call.args, "operations")
        self.read_namespace(call.args)
        await self.reach_in_time(call, self.read_timeout(call.args), items=len(operations))
        draft, results = self.draft(call), []
        for index, (op, args) in enumerate(operations):
            result = self.step_result(draft, index, op, args)
            if not result["ok"]:
                return {"results": [result], "success": False, "error": result["error"]}
            results.append(result)
        self.commit(call, draft)
        return {"results": results, "success": True}

    def check_batch_size(self, size: int) -> None:
        if size > self.max_batch_ops:
            raise invalid(
                "args.ops",
                "TOO_MANY",
                f"must be at most {self.max_batch_ops}",
                max_batch_ops=self.max_batch_ops,
                suggested_batch_reduction=math.ceil(100 - 100 * self.max_batch_ops / size),
            )

    async def reach_in_time(self, call: Call, timeout_ms: float | None, **facts: Any) -> None:
        """Call the provider within the `timeout_ms` of the request."""
        try:
            await asyncio.wait_for(self.reach(call, **facts), timeout_ms / 1000 if timeout_ms else None)
        except TimeoutError:
            raise AdapterError("DeadlineExceeded", "The timeout of the request is over") from None

    def space(self, call: Call) -> Space:
        return self.tenants.get(call.tenant_hash) or {DEFAULT_NAMESPACE: NamespaceGraph()}

    def draft(self, call: Call) -> Space:
        return {namespace: graph.draft() for namespace, graph in self.space(call).items()}

    def commit(self, call: Call, draft: Space) -> None:
        self.tenants[call.tenant_hash] = draft
        self.cache.clear()

    def step_result(self, draft: Space, index: int, op: str, args: Fields) -> dict[str, Any]:
        """Run one operation of a batch or transaction; return its result. One failed item makes the operation fail."""
        try:
            return {"ok": True, "index": index, "result": self.perform_step(draft, op, args)}
        except AdapterError as error:
            kind = error.kind
            return {"ok": False, "index": index, "error": kind.name, "code": kind.code, "message": str(error)}

    def perform_step(self, draft: Space, op: str, args: Fields) -> dict[str, Any]:
        if op not in self.batch_operations:
            raise AdapterError("NotSupported", "The operation cannot be part of a batch")
        if op == "query":
            return self.query_result(draft, self.read_question(args))
        outcome = self.read_change(op, args)(draft)
        if outcome.failures:
            raise outcome.failures[0][2]
        return self.partial_success(outcome)
