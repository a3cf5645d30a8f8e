"""Mistakes that graph/test_batch_operations_transactions.py finds (GRA-TXN)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.graph.adapter import ReferenceGraph
from pytest_corpus.reference.graph.store import Space
from pytest_corpus.reference.request import Call, Fields

from .. import catches
from .shared import Operations, Result


@catches("GRA-TXN-1")
class TransactionsAreForgotten(ReferenceGraph):
    """It answers transactions and keeps nothing of them."""

    async def transaction(self, call: Call) -> dict[str, Any]:
        before = self.space(call)
        result = await super().transaction(call)
        self.commit(call, before)
        return result


@catches("GRA-TXN-2")
class CommitsBeforeItAsks(ReferenceGraph):
    """It commits a transaction before it reaches the provider, which may fail."""

    async def transaction(self, call: Call) -> dict[str, Any]:
        draft = self.draft(call)
        steps = enumerate(self.read_operations(call.args, "operations"))
        if all(self.step(draft, index, op, args)["ok"] for index, (op, args) in steps):
            self.commit(call, draft)
        return await super().transaction(call)


class Transacting(ReferenceGraph):
    """The reference with one place for the operations and the result of a transaction."""

    async def transaction(self, call: Call) -> Result:
        return self.told(await super().transaction(call))

    def read_operations(self, args: Fields, name: str) -> Operations:
        operations = super().read_operations(args, name)
        return self.taken(operations) if name == "operations" else operations

    def taken(self, operations: Operations) -> Operations:
        """The operations that are carried out."""
        return operations

    def told(self, result: Result) -> Result:
        """The result that is given."""
        return result


@catches("GRA-TXN-1")
class LastStepLost(ReferenceGraph):
    """It does not carry out the last of several operations, and says that it did."""

    def read_operations(self, args: Fields, name: str) -> Operations:
        operations = super().read_operations(args, name)
        self.last = len(operations) - 1 if name == "operations" else 0
        return operations

    def step(self, draft: Space, index: int, op: str, args: Fields) -> Result:
        return super().step({} if index and index == self.last else draft, index, op, args)


@catches("GRA-TXN-1")
class EdgesOfTransactionsLost(Transacting):
    """It commits the nodes of a transaction and not its edges."""

    def commit(self, call: Call, draft: Space) -> None:
        if call.op == "transaction":
            before = self.draft(call)
            for namespace, graph in draft.items():
                graph.edges = before[namespace].edges if namespace in before else {}
        super().commit(call, draft)


@catches("GRA-TXN-2")
class CommitsAsItGoes(ReferenceGraph):
    """It keeps what a transaction did before the operation that failed."""

    async def transaction(self, call: Call) -> Result:
        self.current = call
        return await super().transaction(call)

    def step(self, draft: Space, index: int, op: str, args: Fields) -> Result:
        result = super().step(draft, index, op, args)
        self.commit(self.current, draft)
        return result

    async def batch(self, call: Call) -> Result:
        self.current = call
        return await super().batch(call)


@catches("GRA-TXN-2")
class DeletesAreNotUndone(ReferenceGraph):
    """It undoes the upserts of a failed transaction and not its deletes."""

    async def transaction(self, call: Call) -> Result:
        before = self.draft(call)
        self.deleted: list[tuple[str, str]] = []
        result = await super().transaction(call)
        if not result["success"]:
            for op, args in self.read_operations(call.args, "operations")[: result["results"][0]["index"]]:
                if op == "delete_nodes":
                    self.read_change(op, args)(before)
            self.commit(call, before)
        return result


@catches("GRA-TXN-2")
class UpdatesAreNotUndone(ReferenceGraph):
    """It removes what a failed transaction made and does not restore what it changed."""

    async def transaction(self, call: Call) -> Result:
        before = self.draft(call)
        result = await super().transaction(call)
        if not result["success"]:
            tried = self.draft(call)
            for index, (op, args) in enumerate(self.read_operations(call.args, "operations")):
                self.step(tried, index, op, args)
            for namespace, graph in before.items():
                for name in graph.nodes.keys() & tried[namespace].nodes.keys():
                    graph.nodes[name] = tried[namespace].nodes[name]
            self.commit(call, before)
        return result


@catches("GRA-TXN-3")
class FailureIsSuccess(Transacting):
    """It rolls a transaction back and says success."""

    def told(self, result: Result) -> Result:
        if result["success"]:
            return result
        return {"results": [], "success": True}


@catches("GRA-TXN-4")
class TransactionLacksSuccess(Transacting):
    """It does not say whether a transaction was committed."""

    def told(self, result: Result) -> Result:
        return {key: value for key, value in result.items() if key != "success"}


@catches("GRA-TXN-4")
class TransactionIsAnId(Transacting):
    """It answers a transaction with its id alone."""

    def told(self, result: Result) -> Result:
        return {"transaction_id": "17"} if result["success"] else result


@catches("GRA-TXN-5")
class LastResultOnly(Transacting):
    """It gives the result of the last operation of a transaction."""

    def told(self, result: Result) -> Result:
        return {**result, "results": result["results"][-1:]}


@catches("GRA-TXN-5")
class ResultsAreReversed(Transacting):
    """It gives the results of a transaction from the last to the first."""

    def told(self, result: Result) -> Result:
        return {**result, "results": result["results"][::-1]}


@catches("GRA-TXN-6")
class OddStepsSkipped(ReferenceGraph):
    """It skips what is not an object among the operations of a transaction."""

    def read_operations(self, args: Fields, name: str) -> Operations:
        given = args.values.get(name)
        if name == "operations" and isinstance(given, list):
            args = replace(args, values={name: [item for item in given if isinstance(item, dict)]})
        return super().read_operations(args, name)


@catches("GRA-TXN-6")
class OddStepsCommitHalf(ReferenceGraph):
    """It comes to an operation of the wrong type when it has committed those before it."""

    async def transaction(self, call: Call) -> Result:
        try:
            return await super().transaction(call)
        except AdapterError:
            given = call.args.values.get("operations")
            if isinstance(given, list):
                draft = self.draft(call)
                for index, item in enumerate(given):
                    if not (isinstance(item, dict) and isinstance(item.get("args"), dict)):
                        break
                    self.step(draft, index, str(item.get("op")), Fields(item["args"], "args"))
                self.commit(call, draft)
            raise


@catches("GRA-TXN-12")
class OneTransactionId(ReferenceGraph):
    """It gives every transaction the same id."""

    async def transaction(self, call: Call) -> dict[str, Any]:
        return {**await super().transaction(call), "transaction_id": "t-1"}
