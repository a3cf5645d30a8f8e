"""Items that no store may accept, and what becomes of a batch with them (SPECIFICATION 12.5; R14, R45)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import cached
from pytest_corpus.kit.reply import Reply
from pytest_corpus.suites.vector.support.actions import WRITING
from pytest_corpus.suites.vector.support.answers import failed, failures_of, processed
from pytest_corpus.suites.vector.support.component import Vector
from pytest_corpus.suites.vector.support.sandbox import Sandbox
from pytest_corpus.suites.vector.support.shared import Item

BAD_ITEMS: dict[str, tuple[tuple[str, Any], ...]] = {
    "VEC-UPSERT-8": (("id", ...), ("vector", ...), ("id", "")),
    "VEC-UPSERT-9": (
        ("id", 7),
        ("id", ["a"]),
        ("vector", "x"),
        ("vector", 7),
        ("vector", {}),
        ("metadata", "x"),
        ("metadata", [1]),
        ("metadata", 7),
        ("namespace", 7),
    ),
}
"""By requirement, a field of an item and a bad value (...: it is missing)."""

FAULTS: dict[str, tuple[str, Any]] = {
    "no_vector": ("vector", ...),
    "no_id": ("id", ...),
    "wrong_type": ("vector", "x"),
    "empty_id": ("id", ""),
    "empty_vector": ("vector", []),
    "wrong_component": ("vector", ["x"]),
    "wrong_metadata": ("metadata", "x"),
}
"""A field and a bad value of it: an adapter may refuse a whole batch for one of them and report another by itself."""

KINDS = ("wrong_dimension", *FAULTS)


def faulty(vector: Vector, kind: str) -> dict[str, Any]:
    """An item that cannot be stored."""
    item = vector.item(85)
    if kind == "wrong_dimension":
        return {**item, "vector": [*item["vector"], 0.5]}
    key, value = FAULTS[kind]
    return {name: each for name, each in {**item, key: value}.items() if each is not ...}


@dataclass(frozen=True)
class MixedBatch:
    """A batch with bad items, the answer to it, and what was there before and after it.

    Attributes:
        bad: the bad items by their index.
    """

    items: Sequence[Item]
    bad: Mapping[int, Item]
    before: Sequence[Item]
    reply: Reply
    found: Collection[str]

    def is_settled(self) -> None:
        """It was refused whole and left nothing behind, or applied with every bad item reported.

        Raises:
            Violation: a part of it is lost, stored although the batch was refused, or not counted.
        """
        expect.readable(self.reply)
        good = [item for at, item in enumerate(self.items) if at not in self.bad]
        kept = {item["id"] for item in (*self.before, *(() if self.reply.is_error else good))}
        missing = len(kept.difference(self.found))
        if self.reply.is_error:
            extra = len(set(self.found) - kept)
            expect.that(not extra, "nothing of a refused batch", f"{extra} vectors", "result.matches")
        expect.that(not missing, f"all of {len(kept)} vectors", f"{missing} missing", "result.matches")
        if self.reply.is_error:
            return
        result = self.reply.result
        expect.that(processed(result) == len(good), f"{len(good)} processed", f"{processed(result)}", "result")
        counted, listed = failed(result), len(failures_of(result))
        said = f"{counted} counted, {listed} listed"
        expect.that(
            counted == len(self.bad) == listed, f"{len(self.bad)} failed items reported", said, "result.failures"
        )


def sent(sandbox: Sandbox, items: Sequence[Item], bad: Mapping[int, Item], before: Sequence[Item]) -> MixedBatch:
    """Upsert a batch with bad items."""
    reply = sandbox.upsert(*items)
    return MixedBatch(items, bad, before, reply, sandbox.contents())


def mixed_batches(vector: Vector, at: int) -> list[MixedBatch]:
    """Batches of three with one bad item at this place, one of each kind, which are sent once in a run."""
    vector.shared.actions.done.add(WRITING)
    return cached(vector, ("mixed batches", at), lambda: _mixed_batches(vector, at))


def _mixed_batches(vector: Vector, at: int) -> list[MixedBatch]:
    before = [vector.item(10)]
    sandbox, found = vector.sandbox(*before), []
    for kind in KINDS:
        items = [vector.item(angle) for angle in (60, 110, 160)]
        items[at] = faulty(vector, kind)
        found.append(sent(sandbox, items, {at: items[at]}, list(before)))
        before += [item for item in items if item.get("id") in found[-1].found] if found[-1].reply.is_success else []
    return found
