"""How much of what an adapter sends is kept in memory."""

from pytest_corpus.adapter.exchange import CallFault
from pytest_corpus.adapter.transports.protocol import CallFailed

MAX_ANSWER_BYTES = 16 * 2**20
"""A longer answer, frame or line is not read to its end."""

MAX_HEADER_BYTES = 64 * 2**10
"""A server may send longer headers than aiohttp reads by itself, such as a policy for browsers."""


def too_long() -> CallFailed:
    """What a call comes to whose answer is not read to its end."""
    return CallFailed(CallFault("cut_off", f"an answer of more than {MAX_ANSWER_BYTES // 2**20} MiB"))
