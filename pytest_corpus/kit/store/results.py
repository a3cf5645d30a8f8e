"""Reads results of writes and pages leniently, because the schema checks report errors of form (R14, R32)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from pytest_corpus.adapter.facts import to_whole_number
from pytest_corpus.kit import expect, vocabulary
from pytest_corpus.kit.outcomes import Blocked, QuotaUsedUp, Violation
from pytest_corpus.kit.reply import Reply, error_names
from pytest_corpus.kit.store.store import parts_of
from pytest_corpus.spec.errors import PERMANENT, is_a
from pytest_corpus.spec.obstacles import Obstacle

SHARED = "COM-TENANT-1"
"""The requirement that a tenant does not see data of another tenant."""

Item = TypeVar("Item", bound=Mapping[str, Any])

COUNTS = ("processed_count", "upserted_count", "deleted_count")


def processed_count(result: Any) -> int | None:
    """Return the number of items that a result reports as processed, in any spelling; None without such a number."""
    counts = (to_whole_number(result.get(key)) for key in COUNTS) if isinstance(result, Mapping) else ()
    return next((count for count in counts if count is not None), None)


def failed_indexes(reply: Reply) -> list[int]:
    """Return the indexes of the failed items that state an index."""
    return [index for each in reply.failed_items if (index := to_whole_number(each.get("index"))) is not None]


def next_cursor(result: Any) -> Any:
    """Return the cursor of the next page, in either spelling; None on the last page."""
    if not isinstance(result, Mapping) or result.get("has_more") is False:
        return None
    return result.get("next_cursor") or result.get("next_page_token")


@contextmanager
def blame_shared_tenants(shares: Callable[[], bool]) -> Iterator[None]:
    """Block a violation by COM-TENANT-1 if a tenant can already see a single write of another tenant (R148)."""
    try:
        yield
    except Violation:
        if shares():
            raise Blocked(SHARED, "a tenant reads data that another tenant wrote") from None
        raise


def write_accepted_items(
    items: Mapping[str, Item], size: int, write: Callable[[Sequence[Item]], Reply]
) -> dict[str, Item]:
    """Write items with unusual words; return the accepted items by their keys. A refusal must be permanent (R138).

    Args:
        size: the number of items that go into one request.
        write: sends a write of some items.
    """
    found: dict[str, Item] = {}
    for kinds in parts_of([*items], size):
        found |= vocabulary.find_accepted({kind: items[kind] for kind in kinds}, partial(_write_at_once, write))
    return found


def _write_at_once(write: Callable[[Sequence[Item]], Reply], items: Sequence[Item]) -> list[Item] | None:
    """Write items; return the items that the adapter reports as stored, or None if all are refused."""
    reply = write(items)
    if reply.is_a("ResourceExhausted"):
        raise QuotaUsedUp(Obstacle.UPSERT_ANSWERED, number=len(items), reply=reply)
    if not expect.either(reply, *PERMANENT):
        return None
    failed = reply.failed_items
    names = [name for each in failed for name in error_names(each)]
    permanent = all(any(is_a(name, family) for family in PERMANENT) for name in names)
    expect.check(permanent, "permanent errors for the failed items", ", ".join(names), "result.failures")
    lost = {*failed_indexes(reply)} or {
        at for at, item in enumerate(items) if item["id"] in [f.get("id") for f in failed]
    }
    return None if len(lost) < len(failed) else [item for at, item in enumerate(items) if at not in lost]
