"""Waiting as a sound client does where an adapter asks for it (SPECIFICATION 12.2, 12.3)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.shared import Shared

Answer = TypeVar("Answer", Reply, StreamReply)

MAX_TRIES = 5
MAX_WAIT_MS = 2_000
"""How often, and how long at most, the suite waits where an adapter asks it to retry."""

USUAL_WAIT_MS = 100
"""How long it waits where a limiter names no time: the base of SPECIFICATION 12.2."""

MAX_FRUITLESS_WAITS = 5
"""How often it waits in vain, in a whole run, before it stops waiting."""


def patiently(attempt: Callable[[], Answer], wait_ms: Callable[[Answer], float | None], shared: Shared) -> Answer:
    """An answer, asked for again as long as it says to wait and waiting may help.

    Args:
        wait_ms: the milliseconds for which an answer asks; None where it does not.
    """
    reply = attempt()
    for _ in range(MAX_TRIES - 1):
        wait = wait_ms(reply)
        if wait is None or shared.fruitless_waits >= MAX_FRUITLESS_WAITS:
            return reply
        time.sleep(wait / 1000)
        reply = attempt()
    if wait_ms(reply) is not None:
        shared.fruitless_waits += 1
    return reply


def asked_to_wait(reply: Reply | StreamReply) -> float | None:
    """Milliseconds to wait before trying again, where a limiter or a breaker of the adapter's own asks for it.

    A circuit that an earlier failure opened (SPECIFICATION 12.3) says Unavailable, and until when.
    """
    limited, broken = reply.is_a("ResourceExhausted"), reply.is_a("Unavailable")
    if not (limited or broken):
        return None
    body = reply.body if isinstance(reply, Reply) else reply.errors[0]
    hints = [body.get("retry_after_ms"), reply.details.get("suggested_backoff_ms")]
    given = [hint for hint in hints if isinstance(hint, (int, float)) and not isinstance(hint, bool)]
    if not given:
        return USUAL_WAIT_MS if limited else None
    if broken and hints[0] is None:
        return None
    return given[0] if 0 <= given[0] <= MAX_WAIT_MS else None
