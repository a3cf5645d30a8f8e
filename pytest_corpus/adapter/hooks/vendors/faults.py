"""Planned faults on the wire, before an answer and in the middle of a stream."""

import math
import time
from email.utils import formatdate

from pytest_corpus.adapter.hooks.fault_plan import Plan
from pytest_corpus.adapter.hooks.http_server import Connection
from pytest_corpus.adapter.hooks.vendors.endpoint import Endpoint, Trouble, event
from pytest_corpus.spec.faults import BY_KIND, IN_STREAM

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


async def fail(plan: Plan, endpoint: Endpoint, connection: Connection) -> None:
    """Let a request fail before there is an answer."""
    errors, trouble = endpoint.errors, Trouble(plan.kind, plan.message)
    if plan.form == "reset":
        connection.reset()
    elif plan.form in ("truncated", "unfinished"):
        await connection.truncate({"id": "standin", "choices": [], "content": plan.message}, errors.headers)
    elif plan.form == "garbage":
        await connection.answer_bytes(200, f"<html>{plan.message}".encode(), errors.headers)
    else:
        status = BY_KIND[plan.kind].http_status or UNFORESEEN
        await connection.answer(status, errors.body(trouble), {**errors.headers, **told_hints(plan)})


def has_a_form_in_streams(plan: Plan, endpoint: Endpoint) -> bool:
    """True if a planned fault can happen to a stream that has begun."""
    if plan.form in IN_STREAM_FORMS or (plan.form is None and plan.kind in IN_STREAM):
        return True
    return endpoint.errors.event(Trouble(plan.kind, plan.message)) is not None


async def break_off(plan: Plan, endpoint: Endpoint, connection: Connection) -> None:
    """Let a stream fail that has begun."""
    form = plan.form or IN_STREAM.get(plan.kind)
    plan.hints_ms = ()  # no event of these vendors has a place for it
    if form == "reset":
        connection.reset()
    elif form == "truncated":
        connection.keeps_open = False
    else:
        if form == "garbage":
            await connection.send(event(f"<html>{plan.message}", "message_delta"))
        elif form != "unfinished":
            await connection.send(endpoint.errors.event(Trouble(plan.kind, plan.message)) or b"")
        await connection.end()
