"""An adapter served over standard input and output, with one message of JSON per line (R88)."""

import asyncio
import os
import sys

from pytest_corpus.serving.service import Conversation, Service
from pytest_corpus.spec.transports import HOOKS_VARIABLE

MAX_LINE_BYTES = 64 * 2**20
# A longer message may not fit into a pipe, and writing it would block, so a thread writes it.
MOST_UNBLOCKED_BYTES = 32 * 2**10


class LineTooLong(Exception):
    """A line of standard input exceeds `MAX_LINE_BYTES`."""


def take_stdout() -> int:
    """Reserve standard output for answers and redirect other output to standard error; return the file for answers."""
    sys.stdout.flush()
    answers = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return answers


async def answer_lines(service: Service, answers: int) -> None:
    """Answer each line of standard input until it ends. Raises LineTooLong."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=MAX_LINE_BYTES)
    incoming, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    turn = asyncio.Lock()

    async def send(message: bytes) -> None:
        async with turn:
            if len(message) > MOST_UNBLOCKED_BYTES:
                await asyncio.to_thread(_write, answers, message + b"\n")
            else:
                _write(answers, message + b"\n")

    conversation = Conversation(service, send, os.environ.get(HOOKS_VARIABLE, ""))
    try:
        while line := await _read_line(reader):
            if line.strip():
                await conversation.handle_message(line)
    finally:
        incoming.close()
        await conversation.close()


async def _read_line(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readline()
    except ValueError:
        raise LineTooLong from None


def _write(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]
