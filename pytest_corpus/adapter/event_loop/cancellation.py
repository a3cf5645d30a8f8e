"""Our own order to stop, told apart from what an adapter raises."""

from __future__ import annotations

import asyncio

TELLS = hasattr(asyncio.Task, "cancelling")
"""Whether Python says if a task was told to stop (since 3.11); else any CancelledError passes for the order."""


def is_cancelled(error: BaseException) -> bool:
    """Whether this is our own order to stop, and not a CancelledError that an adapter let escape.

    A coroutine that outlived its loop is told to stop by the garbage collector.
    """
    try:
        cancelling = getattr(asyncio.current_task(), "cancelling", None)
    except RuntimeError:
        return True
    return isinstance(error, asyncio.CancelledError) and (cancelling is None or bool(cancelling()))


def is_collected(task: object) -> bool:
    """Whether a coroutine is not run by its task any more: the garbage collector closes what outlived its loop."""
    try:
        return asyncio.current_task() is not task
    except RuntimeError:
        return True
