"""The endpoints at one address: each request is counted, struck by what is planned for it, and answered.

`ProviderServer` has the one at `provider.url`, in a thread and an event loop of its own, for clients of every kind.
"""

import asyncio
import hashlib
import itertools
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import formatdate
from fnmatch import fnmatchcase
from random import Random
from typing import Any, Protocol

from pytest_corpus.adapter.fault_plan import Plan
from pytest_corpus.adapter.hooks.http_server import Connection, HookRequest, LoopbackServer
from pytest_corpus.adapter.hooks.vendors import cohere
from pytest_corpus.adapter.hooks.vendors.anthropic_messages import COUNT_TOKENS, Messages
from pytest_corpus.adapter.hooks.vendors.background import Background
from pytest_corpus.adapter.hooks.vendors.endpoint import (
    Body,
    Endpoint,
    Endpoints,
    Errors,
    Events,
    Plain,
    Refusal,
    Trouble,
    event,
)
from pytest_corpus.adapter.hooks.vendors.openai import ERRORS, INPUT_TOKENS, Chat, Embeddings, Responses
from pytest_corpus.spec.errors import BY_KIND, IN_STREAM
from pytest_corpus.text.strict_json import read_exactly

NAMES = ("stand-in-large", "stand-in-small")


def models(_body: Body) -> Body:
    """``GET /v1/models``: one list that the clients of all vendors can read; requests may name any other model."""
    common = {"object": "model", "created": 1_700_000_000, "owned_by": "stand-in", "type": "model",
              "created_at": "2023-11-14T22:13:20Z", "lifecycle": "active"}  # fmt: skip
    found = [{"id": name, "display_name": name, **common} for name in NAMES]
    named = [{"name": name, "endpoints": ["chat", "embed"]} for name in NAMES]
    ends = {"has_more": False, "first_id": NAMES[0], "last_id": NAMES[-1]}
    return {"object": "list", "data": found, **ends, "models": named, "next_page_token": None}


VENDORS: Mapping[str, Endpoints] = {
    "OpenAI": {
        ("POST", "v1/chat/completions"): Chat(),
        ("POST", "v1/responses"): Responses(),
        ("POST", "v1/responses/input_tokens"): INPUT_TOKENS,
        ("POST", "v1/embeddings"): Embeddings(),
    },
    "Anthropic": {("POST", "v1/messages"): Messages(), ("POST", "v1/messages/count_tokens"): COUNT_TOKENS},
    "Cohere": {
        ("POST", "v2/chat"): cohere.Chat(),
        ("POST", "v2/embed"): cohere.Embed(),
        ("POST", "v1/tokenize"): Plain("llm.count_tokens", cohere.ERRORS, cohere.tokenize),
    },
    "all of them": {("GET", "v1/models"): Plain("models.list", ERRORS, models)},
}
ENDPOINTS: Endpoints = {place: endpoint for endpoints in VENDORS.values() for place, endpoint in endpoints.items()}

UNKNOWN = ERRORS
"""The errors of a path that no vendor has."""


UNFORESEEN = 500
"""The status of what has none: a provider of HTTP answers something."""


IN_STREAM_FORMS = ("reset", "truncated", "garbage", "unfinished")
"""The forms of a broken stream that need no event of the vendor's."""


def told_hints(plan: Plan) -> dict[str, str]:
    """The headers that say when to come again; the plan notes which values can be read from them."""
    if plan.retry_after_ms is None:
        return {}
    seconds = math.ceil(plan.retry_after_ms / 1000)
    if plan.form == "retry_after_date":
        plan.hints_ms = ()  # what is left until then depends on when it is read
        return {"retry-after": formatdate(math.ceil(time.time() + plan.retry_after_ms / 1000), usegmt=True)}
    if plan.form == "retry_after_seconds":
        plan.hints_ms = (seconds * 1000,)
        return {"retry-after": str(seconds)}
    plan.hints_ms = (plan.retry_after_ms, seconds * 1000)
    return {"retry-after-ms": f"{plan.retry_after_ms:g}", "retry-after": str(seconds)}


class Wire(Protocol):
    """A client's connection, whatever library serves it: an answer, a stream, and the ways in which either breaks."""

    keeps_open: bool

    async def answer(self, status: int, value: Any, headers: Mapping[str, str] | None = None) -> None:
        """Answer with JSON."""

    async def answer_bytes(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        """Answer with something that is said to be JSON."""

    async def truncate(self, value: Any, headers: Mapping[str, str]) -> None:
        """Answer 200, and close the connection in the middle of the body."""

    async def send(self, events: bytes) -> None:
        """Send a part of a stream that has begun."""

    async def end(self) -> None:
        """End the stream as HTTP has it."""

    def reset(self) -> None:
        """Break the connection off."""


async def fail(plan: Plan, errors: Errors, connection: Wire) -> None:
    """Let a request fail before there is an answer."""
    trouble, plan.on_wire = Trouble(plan.kind, plan.message), True
    if plan.form == "reset":
        connection.reset()
    elif plan.form in ("truncated", "unfinished"):
        await connection.truncate({"id": "standin", "choices": [], "content": plan.message}, errors.headers)
    elif plan.form == "garbage":
        await connection.answer_bytes(200, f"<html>{plan.message}".encode(), errors.headers)
    else:
        status = BY_KIND[plan.kind].http_status or UNFORESEEN
        await connection.answer(status, errors.body(trouble), {**errors.headers, **told_hints(plan)})


def has_a_form_in_streams(plan: Plan, errors: Errors) -> bool:
    """True if a planned fault can happen to a stream that has begun."""
    if plan.form in IN_STREAM_FORMS or (plan.form is None and plan.kind in IN_STREAM):
        return True
    return errors.event(Trouble(plan.kind, plan.message)) is not None


async def break_off(plan: Plan, errors: Errors, connection: Wire) -> None:
    """Let a stream fail that has begun."""
    form, plan.on_wire = plan.form or IN_STREAM.get(plan.kind), True
    plan.hints_ms = ()  # no event of these vendors has a place for it
    if form == "reset":
        connection.reset()
    elif form == "truncated":
        connection.keeps_open = False
    else:
        if form == "garbage":
            await connection.send(event(f"<html>{plan.message}", "message_delta"))
        elif form != "unfinished":
            await connection.send(errors.event(Trouble(plan.kind, plan.message)) or b"")
        await connection.end()


class Writes:
    """The writes of a stream, which end where no event does: inside a character, inside an event, or after several.

    The places depend on the content alone, so they differ from one request to the next.
    """

    def __init__(self, connection: Connection, events: Events) -> None:
        self._connection, self._rest = connection, b""
        self._chance = Random(hash_of(b"".join([events.opening, *events.chunks, events.closing])))

    async def send(self, events: bytes) -> None:
        """Send events; their end may wait for those that follow."""
        data = self._rest + events
        inside = [at for at, byte in enumerate(data) if byte & 0xC0 == 0x80]
        places: set[int] = set()
        if len(data) > 1 and self._chance.random() < CUT:
            places = {self._chance.choice(inside or [1]), *(self._chance.randrange(1, len(data)) for _ in range(2))}
        ends = [0, *sorted(places), len(data)]
        *writes, self._rest = [data[start:end] for start, end in itertools.pairwise(ends)]
        for each in writes:
            await self._connection.send(each)
            await asyncio.sleep(0)
        if self._chance.random() < FLUSHED:
            await self.flush()

    async def flush(self) -> None:
        """Send what still waits."""
        rest, self._rest = self._rest, b""
        await self._connection.send(rest)


def hash_of(data: bytes) -> int:
    """Return a number that is the same for the same bytes in every process."""
    return int.from_bytes(hashlib.sha256(data).digest()[:8], "big")


CUT, FLUSHED = 0.8, 0.5
"""The parts of the events that are cut, and whose end does not wait for the next one."""

DEADLINE_HEADER = "x-deadline-ms"
"""The header in which an adapter may hand on its deadline: no vendor has one, so it has a name of ours (R93)."""


Arrived = Callable[..., Plan | None]
"""A function that notes a request by its op and further facts, and returns what is planned for it."""


Note = Callable[[BaseException], None]
"""A function that notes an exception of an endpoint that is the author's own."""


def ignore(_error: BaseException) -> None:
    """For endpoints of ours, which raise on a body of another form, and for servers without a run."""


def unplanned(op: str, **facts: Any) -> None:
    """For requests that belong to no call: they count for nothing, and nothing is planned for them."""


async def serve(
    request: HookRequest,
    path: str,
    connection: Connection,
    arrived: Arrived,
    *,
    own: Endpoints | None = None,
    note: Note = ignore,
) -> None:
    """Answer a request for `path`, or break off, as is planned. Raises OSError if the connection is gone.

    The author's own endpoints are asked before ours; a `*` in a path stands for any text. If one of them raises, `note`
    gets the exception, and the request is refused, or the connection closed.
    """
    endpoint = _fitting(own or {}, request.method, path)
    if endpoint is not None:
        try:
            await _answer(request, endpoint, connection, arrived, note)
        except ConnectionError:  # the client has gone
            raise
        except Exception as error:  # noqa: BLE001 - the author's code: what it raises is noted, whatever it is
            note(error)
            connection.reset()
        return
    endpoint = _fitting(ENDPOINTS, request.method, path)
    if endpoint is None:
        trouble = Trouble("not_found", "there is no such endpoint")
        await connection.answer(404, UNKNOWN.body(trouble), UNKNOWN.headers)
        return
    await _answer(request, endpoint, connection, arrived, ignore)


def _fitting(endpoints: Endpoints, method: str, path: str) -> Endpoint | None:
    every = endpoints.items()
    return next((each for (verb, form), each in every if verb == method and fnmatchcase(path, form.strip("/"))), None)


async def _answer(
    request: HookRequest, endpoint: Endpoint, connection: Connection, arrived: Arrived, note: Note
) -> None:
    body, flaw = read_exactly(request.body or b"{}")
    if flaw is not None or not isinstance(body, dict):
        trouble = Trouble("invalid_request", "We could not parse the JSON body of your request")
        await connection.answer(400, endpoint.errors.body(trouble), endpoint.errors.headers)
        return
    await _Visit(arrived, endpoint, body, context_of(request.headers), connection, note).carry_out()


@dataclass(frozen=True, slots=True)
class _Visit:
    """One request at an endpoint."""

    _arrived: Arrived
    _endpoint: Endpoint
    _body: dict[str, Any]
    _context: Mapping[str, Any]
    _connection: Connection
    _note: Note

    async def carry_out(self) -> None:
        """Count it, and answer or fail."""
        op, facts = self._endpoint.reached(self._body)
        plan = self._arrived(op, **facts, **self._context)
        await self._wait(plan)
        filtered = plan is not None and plan.form == "in_answer" and self._endpoint.filters
        if plan is not None and plan.kind != "slow" and not filtered:
            await fail(plan, self._endpoint.errors, self._connection)
            return
        errors = self._endpoint.errors
        try:
            events = self._endpoint.events(self._body, filtered)
            answer = self._endpoint.answer(self._body, filtered) if events is None else {}
        except Refusal as refusal:
            trouble = Trouble(refusal.code or "invalid_request", refusal.message)
        except (AttributeError, LookupError, TypeError, ValueError) as error:  # a body of another form
            self._note(error)
            trouble = Trouble("invalid_request", "the request has another form than this endpoint reads")
        else:
            if events is not None:
                await self._stream(op, events)
            else:
                await self._connection.answer(200, answer, errors.headers)
            return
        await self._connection.answer(400, errors.body(trouble), errors.headers)

    async def _stream(self, op: str, events: Events) -> None:
        await self._connection.begin(self._endpoint.errors.headers)
        closing, writes = events.closing, Writes(self._connection, events)
        for number, chunk in enumerate(events.chunks):
            plan = self._arrived(op, chunk=number)
            if plan is not None:
                await writes.flush()
            if plan is not None and plan.form == "in_answer" and self._endpoint.filters:
                filtered = self._endpoint.events(self._body, True)
                closing = (b"" if number else events.opening) + (filtered.closing if filtered else closing)
                break
            await self._wait(plan)
            if plan is not None and plan.kind != "slow" and has_a_form_in_streams(plan, self._endpoint.errors):
                if number == 0:
                    await self._connection.send(events.opening)
                await break_off(plan, self._endpoint.errors, self._connection)
                return
            await writes.send(chunk if number else events.opening + chunk)
        await writes.send(closing)
        await writes.flush()
        await self._connection.end()

    async def _wait(self, plan: Plan | None) -> None:
        """Wait for a provider that is slow, or hangs."""
        if plan is not None and (plan.delay_ms or plan.kind == "hang"):
            await self._connection.while_open(plan.wait())
        else:
            await asyncio.sleep(0)


def context_of(headers: Mapping[str, str]) -> dict[str, Any]:
    """Return the facts of the context that the headers contain."""
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


class ProviderServer(LoopbackServer):
    """Listens on a free port from its construction until it is closed."""

    def __init__(
        self, arrived: Arrived, own: Endpoints, background: Background, noting: Callable[[], Note] = lambda: ignore
    ) -> None:
        super().__init__()
        self._arrived, self._own, self._noting = arrived, own, noting
        background.run(self.start())

    @property
    def is_plain(self) -> bool:
        """True if the endpoints that are built in answer, and none of the author's."""
        return not self._own

    async def respond(self, request: HookRequest, path: list[str], connection: Connection) -> None:
        """Serve a request at an endpoint of a vendor."""
        await serve(request, "/".join(path), connection, self._arrived, own=self._own, note=self._noting())
