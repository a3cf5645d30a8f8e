"""Mistakes that graph/test_batch_operations.py finds (GRA-BATCH)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.graph.adapter import ReferenceGraph
from pytest_corpus.reference.graph.store import Space
from pytest_corpus.reference.request import Call, Fields

from .. import catches
from .shared import Operations, Result


class Batching(ReferenceGraph):
    """The reference with one place for the operations and the result of a batch."""

    async def batch(self, call: Call) -> Result:
        return self.told(await super().batch(call))

    def read_operations(self, args: Fields, name: str) -> Operations:
        operations = super().read_operations(args, name)
        return self.taken(operations) if name == "ops" else operations

    def taken(self, operations: Operations) -> Operations:
        """The operations that are carried out."""
        return operations

    def told(self, result: Result) -> Result:
        """The result that is given."""
        return result


@catches("GRA-BATCH-1")
class BatchDeletesFirst(Batching):
    """It carries out the deletes of a batch before its other operations."""

    def taken(self, operations: Operations) -> Operations:
        order = sorted(range(len(operations)), key=lambda index: not operations[index][0].startswith("delete"))
        self.order = order
        return [operations[index] for index in order]

    def told(self, result: Result) -> Result:
        placed: list[Result] = [{}] * len(result["results"])
        for index, one in zip(self.order, result["results"], strict=True):
            placed[index] = {**one, "index": index}
        return {**result, "results": placed}


@catches("GRA-BATCH-1", others=4)
class LastOfABatchLost(ReferenceGraph):
    """It does not carry out the last of several operations, and says that it did."""

    def read_operations(self, args: Fields, name: str) -> Operations:
        operations = super().read_operations(args, name)
        self.last = len(operations) - 1 if name == "ops" else 0
        return operations

    def step(self, draft: Space, index: int, op: str, args: Fields) -> Result:
        return super().step({} if index and index == self.last else draft, index, op, args)


@catches("GRA-BATCH-2")
class BatchLacksSuccess(Batching):
    """It does not say whether a batch succeeded."""

    def told(self, result: Result) -> Result:
        return {"results": result["results"]}


@catches("GRA-BATCH-2")
class BatchResultsAreBare(Batching):
    """It gives the results of a batch without `ok`."""

    def told(self, result: Result) -> Result:
        return {**result, "results": [{key: one[key] for key in one if key != "ok"} for one in result["results"]]}


@catches("GRA-BATCH-3")
class FailuresDropped(Batching):
    """It drops failed operations from the results."""

    def told(self, result: Result) -> Result:
        return {**result, "results": [one for one in result["results"] if one["ok"]]}


@catches("GRA-BATCH-3")
class ResultsComeBackwards(Batching):
    """It gives the results of a batch from the last to the first."""

    def told(self, result: Result) -> Result:
        return {**result, "results": [{**one, "index": None} if one["ok"] else one for one in result["results"][::-1]]}


@catches("GRA-BATCH-4")
class FailuresComeLast(Batching):
    """It lists what succeeded before what failed, and numbers them in that order."""

    def told(self, result: Result) -> Result:
        ordered = sorted(result["results"], key=lambda one: not one["ok"])
        return {**result, "results": [{**one, "index": index} for index, one in enumerate(ordered)]}


@catches("GRA-BATCH-4")
class FailureHasNoPlace(Batching):
    """It does not say which operation of a batch failed."""

    def told(self, result: Result) -> Result:
        results = [one if one["ok"] else {key: one[key] for key in one if key != "index"} for one in result["results"]]
        return {**result, "results": results}


@catches("GRA-BATCH-4")
class FailuresAreNumbered(Batching):
    """It numbers the failures and not the operations."""

    def told(self, result: Result) -> Result:
        failed = [one for one in result["results"] if not one["ok"]]
        results = [one if one["ok"] else {**one, "index": failed.index(one)} for one in result["results"]]
        return {**result, "results": results}


@catches("GRA-BATCH-5")
class BatchStopsAtAFailure(ReferenceGraph):
    """It does not carry out what comes after a failed operation of a batch."""

    def read_context(self, call: Call, ctx: Fields) -> None:
        super().read_context(call, ctx)
        self.failed = False

    def step(self, draft: Space, index: int, op: str, args: Fields) -> Result:
        result = super().step({} if self.failed else draft, index, op, args)
        self.failed = self.failed or not result["ok"]
        return result


@catches("GRA-BATCH-5")
class BatchRefusedHalfway(Batching):
    """It refuses a batch when an operation fails, and keeps those that were carried out."""

    def told(self, result: Result) -> Result:
        if not result["success"]:
            raise AdapterError("BadRequest", "An operation of the batch failed")
        return result


@catches("GRA-BATCH-6")
class SizeNotChecked(ReferenceGraph):
    """It states how large a batch may be and does not check it."""

    def check_batch_size(self, size: int) -> None:
        pass


@catches("GRA-BATCH-6")
class SizeIsExhausted(ReferenceGraph):
    """It takes a batch that is too large for an exhausted resource."""

    def check_batch_size(self, size: int) -> None:
        if size > self.max_batch_ops:
            raise AdapterError("ResourceExhausted", "The batch is too large", max_batch_ops=self.max_batch_ops)


@catches("GRA-BATCH-6")
class SizeCheckedTooLate(ReferenceGraph):
    """It counts the operations of a batch as it carries them out."""

    async def batch(self, call: Call) -> Result:
        operations = super().read_operations(call.args, "ops")
        if len(operations) > self.max_batch_ops:
            draft = self.draft(call)
            for index, (op, args) in enumerate(operations[: self.max_batch_ops]):
                self.step(draft, index, op, args)
            self.commit(call, draft)
        return await super().batch(call)


@catches("GRA-BATCH-7")
class FullBatchRefused(ReferenceGraph):
    """It refuses a batch that is as large as it may be."""

    def check_batch_size(self, size: int) -> None:
        super().check_batch_size(size + 1)


@catches("GRA-BATCH-8")
class SizeNotTold(ReferenceGraph):
    """It refuses a batch that is too large and does not say how large it may be."""

    def check_batch_size(self, size: int) -> None:
        if size > self.max_batch_ops:
            raise AdapterError("BadRequest", "The batch is too large")


@catches("GRA-BATCH-9")
class OddOperationsSkipped(ReferenceGraph):
    """It skips what is not an object among the operations of a batch."""

    def read_operations(self, args: Fields, name: str) -> Operations:
        given = args.values.get(name)
        if name == "ops" and isinstance(given, list):
            args = replace(args, values={name: [item for item in given if isinstance(item, dict)]})
        return super().read_operations(args, name)


@catches("GRA-BATCH-9")
class OperationArgsAreAKeyError(ReferenceGraph):
    """It reads the arguments of an operation unchecked, which makes a missing `args` UNAVAILABLE."""

    def read_operations(self, args: Fields, name: str) -> Operations:
        if name == "ops":
            for item in args.objects("ops", required=True):
                item.values["args"].keys()
        return super().read_operations(args, name)


@catches("GRA-BATCH-10")
class AlwaysSuccess(Batching):
    """It says success of every batch that it carries out."""

    def told(self, result: Result) -> Result:
        return {**result, "success": True}


@catches("GRA-BATCH-11")
class QueriesSeeTheBeginning(ReferenceGraph):
    """It answers the queries of a batch on the graph as it was before."""

    async def batch(self, call: Call) -> Result:
        self.before = self.draft(call)
        return await super().batch(call)

    def perform_step(self, draft: Space, op: str, args: Fields) -> Result:
        return super().perform_step(self.before if op == "query" else draft, op, args)


@catches("GRA-BATCH-1")
class BatchesAreForgotten(ReferenceGraph):
    """It answers batches and keeps nothing of them."""

    async def batch(self, call: Call) -> dict[str, Any]:
        before = self.space(call)
        result = await super().batch(call)
        self.commit(call, before)
        return result


@catches("GRA-BATCH-4")
class FailedOperationsAreUnavailable(ReferenceGraph):
    """It reports an operation of a batch that cannot be carried out as UNAVAILABLE."""

    def step(self, draft: Space, index: int, op: str, args: Fields) -> dict[str, Any]:
        result = super().step(draft, index, op, args)
        return result if result["ok"] else {**result, "error": "Unavailable", "code": "UNAVAILABLE"}


@catches("GRA-BATCH-8")
class ReductionByTooMuch(ReferenceGraph):
    """It suggests a reduction of a batch by more than a hundred per cent."""

    def check_batch_size(self, size: int) -> None:
        try:
            super().check_batch_size(size)
        except AdapterError as error:
            error.details["suggested_batch_reduction"] = 400
            raise


@catches("GRA-BATCH-4")
class UnknownOperationsDelete(ReferenceGraph):
    """It takes an operation of a batch that it does not know for a delete."""

    def perform_step(self, draft: Space, op: str, args: Fields) -> dict[str, Any]:
        known = op in self.batch_operations
        return super().perform_step(draft, op if known or not self.in_batch else "delete_edges", args)

    async def batch(self, call: Call) -> Result:
        self.in_batch = True
        return await super().batch(call)

    async def transaction(self, call: Call) -> Result:
        self.in_batch = False
        return await super().transaction(call)


@catches("GRA-BATCH-4")
class FailedItemsAreAnIndexError(ReferenceGraph):
    """It reads the second failure of an operation where there is one, which makes it UNAVAILABLE."""

    def perform_step(self, draft: Space, op: str, args: Fields) -> dict[str, Any]:
        if op != "query" and op in self.batch_operations and (failures := self.read_change(op, args)(draft).failures):
            raise failures[1][2]
        return super().perform_step(draft, op, args)


@catches("GRA-BATCH-9")
class NullOperationsAreAnError(ReferenceGraph):
    """It does not expect null among the operations of a batch, which makes it UNAVAILABLE."""

    def read_operations(self, args: Fields, name: str) -> Operations:
        if name == "ops" and None in (args.values.get(name) or ()):
            raise TypeError(name)
        return super().read_operations(args, name)
