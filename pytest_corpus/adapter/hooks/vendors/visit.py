"""One request at a real provider or a stand-in. It is counted, and then answered or made to fail as planned.

A stand-in makes the answer; a proxy gets the answer from its upstream or from a recording. The faults are the same.
"""

import asyncio
import hashlib
import itertools
import json
import math
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from email.utils import formatdate
from random import Random
from typing import Any

from pytest_corpus.adapter.fault_plan import Plan
from pytest_corpus.adapter.hooks.http_server import JSON, HookConnection
from pytest_corpus.adapter.hooks.vendors.endpoint import Body, Endpoint, Errors, Events, Refusal, Trouble, event
from pytest_corpus.spec.errors import BY_KIND, IN_STREAM

CountArrival = Callable[..., Plan | None]
"""A function that counts a request by its op and further facts, and returns the plan for it, or None."""

Note = Callable[[BaseException], None]
"""A function that gets the exceptions of the author's endpoints."""

UNFORESEEN = 500
"""The status of an answer to a fault that has no status."""

IN_STREAM_FORMS = ("reset", "truncated", "garbage", "unfinished")
"""The forms of a broken stream for which the vendor's format needs no event."""

CUT, FLUSHED = 0.8, 0.5
"""Two probabilities: that a stand-in's event is sent in several writes, and that its end is not held back."""

DEADLINE_HEADER = "x-deadline-ms"
"""The header in which an adapter may pass on its deadline. The suite chose the name; no vendor has one (R93)."""

_EVENTS = {"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache"}


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """Some bytes of an answer; `is_content` is True if a chunk of a stream begins with them."""

    data: bytes
    is_content: bool = False


@dataclass(frozen=True, slots=True)
class AnswerInParts:
    """An answer of a provider: its head, and its parts as they arrive.

    Iterating over the parts raises OSError if the connection to the provider breaks. `cuts` is the
    random generator that chooses where `CutWrites` ends its writes; None means one write for each part.
    """

    status: int
    reason: str | None
    headers: Mapping[str, str]
    parts: AsyncIterable[AnswerPart]
    cuts: Random | None = None


def ignore_error(_error: BaseException) -> None:
    """Ignore an error. Used if no endpoint of the adapter's author can raise one."""


async def iterate_parts(*parts: AnswerPart) -> AsyncIterator[AnswerPart]:
    """Yield these parts."""
    for each in parts:
        yield each


def json_answer(status: int, value: Any, headers: Mapping[str, str] | None = None) -> AnswerInParts:
    """Return an answer that is one JSON value."""
    body = json.dumps(value).encode()
    given = {**JSON, **(headers or {}), "Content-Length": str(len(body))}
    return AnswerInParts(status, None, given, iterate_parts(AnswerPart(body)))


def stand_in_answer(
    endpoint: Endpoint, body: Body, *, filtered: bool = False, note: Note = ignore_error
) -> AnswerInParts:
    """Return the answer of a stand-in. A body that the endpoint cannot read is refused; `note` gets the error."""
    errors = endpoint.errors
    try:
        events = endpoint.events(body, filtered)
        if events is None:
            return json_answer(200, endpoint.answer(body, filtered), errors.headers)
    except Refusal as refusal:
        trouble = Trouble(refusal.code or "invalid_request", refusal.message)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        note(error)
        trouble = Trouble("invalid_request", "the request has another form than this endpoint reads")
    else:
        chunks = [AnswerPart(each, is_content=True) for each in events.chunks]
        parts = iterate_parts(AnswerPart(events.opening), *chunks, AnswerPart(events.closing))
        return AnswerInParts(200, None, {**_EVENTS, **errors.headers}, parts, Random(_hash_of(events)))
    return json_answer(400, errors.body(trouble), errors.headers)


class Visit:
    """One request at a provider; `endpoint` is the stand-in for its path, or None."""

    def __init__(
        self, wire: HookConnection, arrived: CountArrival, errors: Errors, body: Body, endpoint: Endpoint | None
    ) -> None:
        self._wire, self._arrived, self._errors = wire, arrived, errors
        self._body = body
        self._endpoint = endpoint if endpoint is not None and endpoint.filters else None

    async def carry_out(
        self, op: str, facts: Mapping[str, Any], answer: Callable[[], AbstractAsyncContextManager[AnswerInParts]]
    ) -> None:
        """Count the request, then send the answer or fail as planned."""
        plan = self._arrived(op, **facts)
        await self._wait_as_planned(plan)
        if plan is None or plan.kind == "slow":
            async with answer() as found:
                await self._send_answer(op, found)
        elif plan.form == "in_answer" and self._endpoint is not None:
            await self._send_answer(op, stand_in_answer(self._endpoint, self._body, filtered=True))
        else:
            await fail_request(plan, self._errors, self._wire)

    async def _send_answer(self, op: str, answer: AnswerInParts) -> None:
        await self._wire.open(answer.status, answer.reason, answer.headers)
        writes, number = CutWrites(self._wire, answer.cuts), 0
        async for part in answer.parts:
            if part.is_content:
                plan, number = self._arrived(op, chunk=number), number + 1
                if plan is not None:
                    await writes.flush()
                    if await self._apply_fault(plan):
                        return
            if part.is_content or number or answer.cuts is None:
                await writes.send(part.data)
            else:
                writes.hold_back(part.data)
        await writes.flush()
        await self._wire.end()

    async def _apply_fault(self, plan: Plan) -> bool:
        """Apply a planned fault to a stream that has begun; return True if this ended the stream."""
        await self._wait_as_planned(plan)
        if plan.form == "in_answer" and (events := self._filtered_stream()) is not None:
            await self._wire.send(events.closing)
            await self._wire.end()
            return True
        if plan.kind == "slow" or not can_fail_in_stream(plan, self._errors):
            return False
        await break_stream(plan, self._errors, self._wire)
        return True

    async def _wait_as_planned(self, plan: Plan | None) -> None:
        """Wait as long as a plan makes the provider slow or hang, unless the client leaves."""
        if plan is not None and (plan.delay_ms or plan.kind == "hang"):
            await self._wire.run_while_open(plan.wait())

    def _filtered_stream(self) -> Events | None:
        """Return the stream of the stand-in, cut off by a content filter; None if this request has no such stream."""
        try:
            return self._endpoint.events(self._body, True) if self._endpoint is not None else None
        except (Refusal, AttributeError, LookupError, TypeError, ValueError):
            return None


def retry_headers(plan: Plan) -> dict[str, str]:
    """Return the headers that state when to retry. Store in the plan the waiting times that the headers can mean."""
    if plan.retry_after_ms is None:
        return {}
    seconds = math.ceil(plan.retry_after_ms / 1000)
    if plan.form == "retry_after_date":
        plan.hints_ms = ()  # the remaining time depends on the time of reading
        return {"retry-after": formatdate(math.ceil(time.time() + plan.retry_after_ms / 1000), usegmt=True)}
    if plan.form == "retry_after_seconds":
        plan.hints_ms = (seconds * 1000,)
        return {"retry-after": str(seconds)}
    plan.hints_ms = (plan.retry_after_ms, seconds * 1000)
    return {"retry-after-ms": f"{plan.retry_after_ms:g}", "retry-after": str(seconds)}


async def fail_request(plan: Plan, errors: Errors, wire: HookConnection) -> None:
    """Make a request fail as planned, before its answer begins."""
    trouble, plan.on_wire = Trouble(plan.kind, plan.message), True
    if plan.form == "reset":
        wire.reset()
    elif plan.form in ("truncated", "unfinished"):
        await wire.truncate({"id": "standin", "choices": [], "content": plan.message}, errors.headers)
    elif plan.form == "garbage":
        await wire.answer_bytes(200, f"<html>{plan.message}".encode(), errors.headers)
    else:
        status = BY_KIND[plan.kind].http_status or UNFORESEEN
        await wire.answer(status, errors.body(trouble), {**errors.headers, **retry_headers(plan)})


def can_fail_in_stream(plan: Plan, errors: Errors) -> bool:
    """True if a planned fault can happen to a stream that has begun."""
    if plan.form in IN_STREAM_FORMS or (plan.form is None and plan.kind in IN_STREAM):
        return True
    return errors.event(Trouble(plan.kind, plan.message)) is not None


async def break_stream(plan: Plan, errors: Errors, wire: HookConnection) -> None:
    """Use the planned fault to end a stream that has already begun."""
    form, plan.on_wire = plan.form or IN_STREAM.get(plan.kind), True
    plan.hints_ms = ()  # events of these vendors cannot state a wait
    if form == "reset":
        wire.reset()
    elif form == "truncated":
        wire.cut()
    else:
        if form == "garbage":
            await wire.send(event(f"<html>{plan.message}", "message_delta"))
        elif form != "unfinished":
            await wire.send(errors.event(Trouble(plan.kind, plan.message)) or b"")
        await wire.end()


class CutWrites:
    """Writes a stream. With `cuts`, a write may end inside a character or an event, or after several events.

    The content alone determines where writes end, so different streams are cut at different places.
    """

    def __init__(self, wire: HookConnection, cuts: Random | None) -> None:
        self._wire, self._cuts, self._rest = wire, cuts, b""

    async def send(self, data: bytes) -> None:
        """Send a part; its last bytes may be held back until the next part is sent."""
        if self._cuts is None:
            await self._wire.send(data)
            return
        data = self._rest + data
        inside = [at for at, byte in enumerate(data) if byte & 0xC0 == 0x80]
        places: set[int] = set()
        if len(data) > 1 and self._cuts.random() < CUT:
            places = {self._cuts.choice(inside or [1]), *(self._cuts.randrange(1, len(data)) for _ in range(2))}
        ends = [0, *sorted(places), len(data)]
        *writes, self._rest = [data[start:end] for start, end in itertools.pairwise(ends)]
        for each in writes:
            await self._wire.send(each)
            await asyncio.sleep(0)
        if self._cuts.random() < FLUSHED:
            await self.flush()

    def hold_back(self, data: bytes) -> None:
        """Hold a part back until the next part is sent."""
        self._rest += data

    async def flush(self) -> None:
        """Send the bytes that were held back."""
        rest, self._rest = self._rest, b""
        await self._wire.send(rest)


def _hash_of(events: Events) -> int:
    data = b"".join([events.opening, *events.chunks, events.closing])
    return int.from_bytes(hashlib.sha256(data).digest()[:8], "big")


def context_of(headers: Mapping[str, str]) -> dict[str, Any]:
    """Return the trace and the deadline in the headers, as members of a context."""
    context: dict[str, Any] = {}
    if "traceparent" in headers:
        context["traceparent"] = headers["traceparent"]
    if DEADLINE_HEADER in headers:
        try:
            deadline = float(headers[DEADLINE_HEADER])
        except ValueError:
            deadline = math.nan
        context["deadline_ms"] = int(deadline) if deadline.is_integer() else deadline
    return context
