"""Which schema a message is meant to meet, where the message or its file's name says so; nothing is guessed."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from pytest_corpus.commands import CommandError
from pytest_corpus.redaction.values import shown
from pytest_corpus.spec.goldens import GOLDENS
from pytest_corpus.spec.operations import BY_OP, Operation
from pytest_corpus.spec.schemas import BASE_URI, BY_NAME, LATEST

_NAME_IT = "name its schema with --schema NAME (pytest-corpus schema list shows them)"
_BY_FILE = {golden.file.rpartition("/")[2]: golden for golden in GOLDENS}


def told_schema(name: str, value: Any, edition: str | None) -> str:
    """The short name of the schema that a message of the file `name` is to meet.

    A request says it by its ``op`` (SPECIFICATION 4.2.6): it is the operation's request schema, or in an edition
    that has none the component's request envelope. An error envelope is the same for all (SCHEMA 3.1). Whatever
    else has a golden's file name is what that golden is.

    Raises:
        CommandError: nothing says it; the sentence, without the file's name, tells what to do.
    """
    message: Mapping[str, Any] = value if isinstance(value, dict) else {}
    op = message.get("op")
    if isinstance(op, str) and op in BY_OP:
        return _request(BY_OP[op], edition or LATEST)
    if message.get("ok") is False and "chunk" not in message:
        return "common.envelope.error"
    if golden := _BY_FILE.get(name.replace("\\", "/").rpartition("/")[2]):
        return golden.schema
    raise CommandError(_unknown(op) if isinstance(op, str) else _why_not(message))


def _request(operation: Operation, edition: str) -> str:
    schema = BY_NAME[operation.request]
    return schema.name if edition in schema.editions else f"{operation.component}.envelope.request"


def _unknown(op: str) -> str:
    near = get_close_matches(op, BY_OP, n=1)
    hint = f"did you mean {near[0]}? If not," if near else "if that is meant,"
    return f"its op, {shown(op, ('op',), 'enum')}, is not an operation of the protocol; {hint} {_NAME_IT}"


def _why_not(message: Mapping[str, Any]) -> str:
    if str(message.get("$id", "")).startswith(BASE_URI) or "$schema" in message:
        return f"is a schema, not a message; to check it as a message, {_NAME_IT}"
    if "chunk" in message or {"event", "data"} <= message.keys():
        return f"is a frame of a stream, whose schema nothing tells; check streams with `stream check`, or {_NAME_IT}"
    if "ok" in message:
        return f"is an answer, and does not say which operation it answers; {_NAME_IT}"
    return f"nothing tells what it is meant to be; {_NAME_IT}"
