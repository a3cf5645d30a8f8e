"""Reading the results of the graph component, leniently: what they look like is the finding of their schemas."""

from collections.abc import Mapping
from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.reply import Reply, StreamReply


def records(reply: Reply | StreamReply) -> list[Any]:
    """The records of a query or of a whole stream."""
    if isinstance(reply, StreamReply):
        expect.finished(reply, "a stream of records")
        return [record for chunk in reply.chunks for record in listed(chunk, "records", of=object)]
    return listed(expect.success(reply, "records"), "records", of=object)


def has_no_place(reply: Reply | StreamReply) -> bool:
    """True if an answer says that its namespace is unknown or not ready, by subtype or by class (R12, R133)."""
    return reply.is_a("IndexNotReady", "NamespaceNotFound") or reply.names == ("BadRequest",)


def listed(result: Any, key: str, *, of: type = Mapping) -> list[Any]:
    """A list in a result; what it holds of another kind is the finding of the schema."""
    found = result.get(key) if isinstance(result, Mapping) else None
    return [item for item in found if isinstance(item, of)] if isinstance(found, list) else []


def following(result: Any) -> Any:
    """The cursor of the next page (R32), or None on the last one."""
    if not isinstance(result, Mapping) or result.get("has_more") is False:
        return None
    return result.get("next_cursor") or result.get("next_page_token")


def failures(result: Any) -> list[Mapping[str, Any]]:
    """The items that failed, of an upsert or a delete."""
    return listed(result, "failures")


def counted(result: Any) -> int | None:
    """The number of items that an upsert or a delete reports as processed, in any spelling (R14)."""
    if not isinstance(result, Mapping):
        return None
    names = ("processed_count", "upserted_count", "deleted_count")
    found = [result[name] for name in names if isinstance(result.get(name), (int, float))]
    return int(found[0]) if found else None


def size(result: Any) -> int | None:
    """The number of items that an upsert reports, by a count or by a list of ids (R123)."""
    return len(result) if isinstance(result, list) else counted(result)
