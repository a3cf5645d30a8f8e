"""The order of tests in a distributed run: each worker begins with its long tests."""

from collections.abc import Sequence
from typing import TypeVar

LONG = frozenset(
    (
        "test_a_hanging_provider_ends_in_a_deadline",
        "test_a_hanging_stream_ends_in_a_deadline",
        "test_a_longer_text_never_has_fewer_tokens",
        "test_a_tenant_hash_is_one_in_all_operations",
        "test_any_sequence_leaves_what_it_should",
        "test_any_sequence_of_writes_adds_up",
        "test_calls_at_the_same_time_do_not_disturb_each_other",
        "test_deleted_edges_are_gone",
        "test_every_list_of_texts_keeps_its_order",
        "test_health_does_not_hang_with_its_provider",
        "test_no_content_in_debug_records",
        "test_no_content_leaves",
        "test_no_exception_escapes",
        "test_numbers_that_are_not_finite_are_refused",
        "test_the_budget_is_one_for_all_items",
        "test_the_budget_of_a_stream_is_one_for_all_its_chunks",
    )
)
"""Functions of the suite that make very many calls, or wait for a deadline."""

T = TypeVar("T")


def interleaved(items: Sequence[T], names: Sequence[str], workers: int) -> list[T]:
    """The items in the order in which equal parts of them go to workers: the long ones at the head of each part.

    What is not long keeps its order, so that neighbours, which share what they learnt, stay with one worker.

    Args:
        names: the function of each item.
    """
    long = [item for item, name in zip(items, names, strict=True) if name in LONG]
    rest = iter([item for item, name in zip(items, names, strict=True) if name not in LONG])
    order: list[T] = []
    left = len(items)
    for worker in range(workers):
        size = left // (workers - worker)
        left -= size
        part = long[worker::workers][:size]
        order += part
        order += [item for _, item in zip(range(size - len(part)), rest, strict=False)]
    placed = set(map(id, order))
    return [*order, *(item for item in items if id(item) not in placed)]
