"""The order to stop that the suite gives, distinguished from what an adapter raises."""

import asyncio


def is_cancelled(error: BaseException) -> bool:
    """Return True for the suite's own order to stop, False for a CancelledError that an adapter let escape.

    The garbage collector stops a coroutine that outlived its loop.
    """
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return True
    return isinstance(error, asyncio.CancelledError) and (task is None or bool(task.cancelling()))


def is_collected(task: object) -> bool:
    """Return True if a coroutine is no longer run by its task: the garbage collector closes what outlived its loop."""
    try:
        return asyncio.current_task() is not task
    except RuntimeError:
        return True
