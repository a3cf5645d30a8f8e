"""The answers to input that is not a request (SPECIFICATION 4.2.1; SCHEMA 3.1)."""

from typing import Any

from pytest_corpus.kit.answer_cache import expired, remembered
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.reply import Reply, StreamReply

KEYS = ("op", "ctx", "args")
"""What every request carries."""

WRONG_KEYS: tuple[tuple[str, Any], ...] = tuple(
    (key, value)
    for key, values in {"op": (7, None, ["op"]), "ctx": ("ctx", [], None), "args": ("args", [1], None)}.items()
    for value in values
)
"""A required key and a value of the wrong type."""

NO_OBJECTS: tuple[Any, ...] = ([], "request", 7, None, True)
"""JSON values that are not a request."""


@remembered
def refusals(subject: Subject) -> list[Reply]:
    """Answers to bad requests that any adapter refuses: no such operation, no arguments, wrong types, expired."""
    unknown = {"op": f"{subject.component}.no_such_operation", "ctx": {}, "args": {}}
    plain = subject.envelope(subject.principal)
    replies = [subject.send(unknown), subject.send({key: plain[key] for key in ("op", "ctx")})]
    for reply in (wrongly_typed(subject, subject.principal), expired(subject, subject.principal)):
        assert isinstance(reply, Reply)
        replies.append(reply)
    return replies


@remembered
def wrongly_typed(subject: Subject, name: str) -> Reply | StreamReply:
    """The answer to a request whose first argument has a wrong type."""
    return subject.invoke(name, subject.requests.wrong_types(name))


@remembered
def no_object(subject: Subject, value: Any) -> Reply:
    """The answer of `handle` to input that is not a request."""
    return subject.send(value)


@remembered
def no_stream_object(subject: Subject, value: Any) -> StreamReply:
    """The answer of `handle_stream` to input that is not a request."""
    return subject.send_stream(value)
