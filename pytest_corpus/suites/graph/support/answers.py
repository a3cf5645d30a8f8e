"""Reads results of the graph component. A result with a wrong form is read too; the schema tests report the form."""

from collections.abc import Mapping
from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.store.results import processed_count


def records(reply: Reply | StreamReply) -> list[Any]:
    """Return the records of a query or of a whole stream."""
    if isinstance(reply, StreamReply):
        expect.finished(reply, "a stream of records")
        return [record for chunk in reply.chunks for record in items_of(chunk, "records", of=object)]
    return items_of(expect.success(reply, "records"), "records", of=object)


def is_namespace_missing(reply: Reply | StreamReply) -> bool:
    """True if an error means that the namespace is unknown, is not ready (R12, R133) or lacks the label (R110)."""
    return reply.is_a("IndexNotReady", "NamespaceNotFound", "SchemaValidationError") or reply.names == ("BadRequest",)


def items_of(result: Any, key: str, *, of: type = Mapping) -> list[Any]:
    """Return the items of one type in a list of a result. Other items are ignored; the schema test reports them."""
    found = result.get(key) if isinstance(result, Mapping) else None
    return [item for item in found if isinstance(item, of)] if isinstance(found, list) else []


def reported_count(result: Any) -> int | None:
    """Return the number of items that an upsert reports, by a count or by a list of ids (R123)."""
    return len(result) if isinstance(result, list) else processed_count(result)
