"""Mistakes in what components share (COM-DEADLINE)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Mapping
from typing import Any, TypeVar

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.llm.adapter import ReferenceLLM
from pytest_corpus.reference.request import Call, Fields

from .. import catches

Envelope = dict[str, Any]
T = TypeVar("T")


class Expiring(ReferenceLLM):
    """The reference, which tells apart calls that came too late."""

    def expired(self, call: Call) -> bool:
        left = super().seconds_left(call)
        return left is not None and left <= 0


@catches("COM-DEADLINE-1")
class LateCallsServed(Expiring):
    """It compares no deadline with the clock before a unary call."""

    def seconds_left(self, call: Call) -> float | None:
        return None if not call.streaming and self.expired(call) else super().seconds_left(call)


@catches("COM-DEADLINE-1")
class LateCountsServed(Expiring):
    """It counts tokens whatever the deadline."""

    def seconds_left(self, call: Call) -> float | None:
        return None if call.op == "count_tokens" else super().seconds_left(call)


@catches("COM-DEADLINE-1")
class LateByALittleServed(ReferenceLLM):
    """It allows unary calls a second and a half for clocks that differ."""

    def seconds_left(self, call: Call) -> float | None:
        left = super().seconds_left(call)
        return left + 1.5 if left is not None and not call.streaming and left <= 0 else left


@catches("COM-DEADLINE-2")
class WorksBeforeItLooks(Expiring):
    """It looks at the deadline when the work is done."""

    async def within_budget(self, call: Call, work: Coroutine[Any, Any, T]) -> T:
        if self.expired(call):
            await work
            raise AdapterError("DeadlineExceeded", "The time budget of the operation is spent")
        return await super().within_budget(call, work)


@catches("COM-DEADLINE-2")
class StreamReachesBeforeItLooks(Expiring):
    """It opens the provider's stream before it looks at the deadline."""

    async def within_budget(self, call: Call, work: Coroutine[Any, Any, T]) -> T:
        if call.streaming and self.expired(call):
            await self.reach(call)
        return await super().within_budget(call, work)


OPENING = {"ok": True, "code": "STREAMING", "ms": 0.1, "chunk": {"text": "", "is_final": False}}


@catches("COM-DEADLINE-3")
class LateStreamOpens(ReferenceLLM):
    """It sends an empty chunk before it finds that the deadline has passed."""

    async def handle_stream(self, envelope: Mapping[str, Any]) -> AsyncGenerator[Envelope, None]:
        async for frame in super().handle_stream(envelope):
            if frame.get("error") == "DeadlineExceeded":
                yield OPENING
            yield frame


@catches("COM-DEADLINE-3")
class LateStreamsServed(Expiring):
    """It compares no deadline with the clock before a stream."""

    def seconds_left(self, call: Call) -> float | None:
        return None if call.streaming and self.expired(call) else super().seconds_left(call)


@catches("COM-DEADLINE-4")
class DeadlineOnlyAtTheStart(Expiring):
    """It looks at the deadline of a unary call once, and then waits for the provider for ever."""

    def seconds_left(self, call: Call) -> float | None:
        return super().seconds_left(call) if call.streaming or self.expired(call) else None


@catches("COM-DEADLINE-4")
class CountWaitsForEver(Expiring):
    """It waits for the provider's token count for ever."""

    def seconds_left(self, call: Call) -> float | None:
        return None if call.op == "count_tokens" and not self.expired(call) else super().seconds_left(call)


@catches("COM-DEADLINE-4")
class SpentBudgetIsTransient(Expiring):
    """It calls it a network failure when the budget of a unary call runs out on the way."""

    async def within_budget(self, call: Call, work: Coroutine[Any, Any, T]) -> T:
        if call.streaming or self.expired(call):
            return await super().within_budget(call, work)
        try:
            return await asyncio.wait_for(work, self.seconds_left(call))
        except asyncio.TimeoutError:
            raise AdapterError("TransientNetwork", "The provider did not answer") from None


@catches("COM-DEADLINE-5")
class StreamDeadlineOnlyAtTheStart(Expiring):
    """It looks at the deadline of a stream once, and then waits for the provider for ever."""

    def seconds_left(self, call: Call) -> float | None:
        return None if call.streaming and not self.expired(call) else super().seconds_left(call)


@catches("COM-DEADLINE-5")
class OnlyTheFirstChunkInTime(Expiring):
    """It bounds the wait for the first chunk and not for those that follow."""

    begun: Call | None = None

    def frame(self, call: Call, chunk: Envelope) -> Envelope:
        self.begun = call
        return super().frame(call, chunk)

    def seconds_left(self, call: Call) -> float | None:
        return None if call is self.begun else super().seconds_left(call)


@catches("COM-DEADLINE-5")
class SpentStreamEndsWell(Expiring):
    """It ends a stream as if it were complete when the budget runs out on the way."""

    async def handle_stream(self, envelope: Mapping[str, Any]) -> AsyncGenerator[Envelope, None]:
        begun = False
        async for frame in super().handle_stream(envelope):
            cut = begun and frame.get("error") == "DeadlineExceeded"
            yield {**OPENING, "chunk": {"text": "", "is_final": True}} if cut else frame
            begun = True


@catches("COM-DEADLINE-6")
class DeadlineTooFarAhead(ReferenceLLM):
    """It refuses a deadline that lies more than ten minutes ahead."""

    def read_deadline(self, ctx: Fields) -> float | None:
        deadline = super().read_deadline(ctx)
        left = Call(streaming=False, deadline_ms=deadline).seconds_left
        if left is not None and left > 600:
            raise ctx.invalid("deadline_ms", "OUT_OF_RANGE", "lies too far ahead")
        return deadline


@catches("COM-DEADLINE-6")
class ImpatientWithTheProvider(ReferenceLLM):
    """It gives the provider 20 ms, whatever the budget."""

    async def reach(self, call: Call, **facts: Any) -> None:
        await asyncio.wait_for(super().reach(call, **facts), 0.02 if call.deadline_ms else None)


@catches("COM-DEADLINE-7")
class ZeroIsNoDeadline(ReferenceLLM):
    """It takes a deadline of zero for none, because zero is false."""

    def read_deadline(self, ctx: Fields) -> float | None:
        return super().read_deadline(ctx) if ctx.number("deadline_ms") else None


@catches("COM-DEADLINE-9")
class BudgetIsHandedOn(ReferenceLLM):
    """It hands on the milliseconds that are left in place of the time at which they are over."""

    def handed_on(self, call: Call) -> dict[str, Any]:
        told, left = super().handed_on(call), call.seconds_left
        return told if left is None else {**told, "deadline_ms": round(left * 1000)}


@catches("COM-DEADLINE-9")
class CountsHaveTheirOwnDeadline(ReferenceLLM):
    """It hands on a deadline of its own where tokens are counted."""

    def handed_on(self, call: Call) -> dict[str, Any]:
        told = super().handed_on(call)
        return (
            {**told, "deadline_ms": told["deadline_ms"] + 5_000}
            if call.op == "count_tokens" and call.deadline_ms
            else told
        )
