"""Servers with one mistake each and legal ones, written as edits of sound servers (`tests/edits.py`)."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edits import Edits
from grpc_servers import PlainGrpc
from message_servers import PlainWebSocket
from plain_servers import PlainHttp

FOLDER = Path(__file__).parent
HTTP = Edits(FOLDER / "http.edits", "plain_servers", PlainHttp)
MESSAGES = Edits(FOLDER / "messages.edits", "message_servers", PlainWebSocket)
GRPC = Edits(FOLDER / "grpc.edits", "grpc_servers", PlainGrpc)


@dataclass(frozen=True, slots=True)
class Entry:
    """A server: the requirement that it breaks, none for a legal one, and how many others may go with it."""

    name: str
    requirement: str
    others: int
    made: Callable[[], Any]


SERVERS = [
    Entry(f"{file.path.stem}-{row.name}", row.requirement, int(row.options.get("others", 0)), file.make(row.name))
    for file in (HTTP, MESSAGES, GRPC)
    for row in file.rows.values()
    if "unlisted" not in row.options
]
