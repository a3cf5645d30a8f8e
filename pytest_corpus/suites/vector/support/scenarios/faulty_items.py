"""Items that no store may accept, and what becomes of a batch with them (SPECIFICATION 12.5; R14, R45)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import remembered
from pytest_corpus.kit.reply import Reply
from pytest_corpus.suites.vector.support.answers import failed, failures_of, processed
from pytest_corpus.suites.vector.support.component import Vector
from pytest_corpus.suites.vector.support.shared import Item

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
    """A batch with bad items, the answer to it, and what is there after it.

    Attributes:
        bad: the bad items by their index.
        before: a vector that was there before.
    """

    items: Sequence[Item]
    bad: Mapping[int, Item]
    before: Item
    reply: Reply
    found: Collection[str]

    def is_settled(self) -> None:
        """It was refused whole and left nothing behind, or applied with every bad item reported and counted."""
        expect.readable(self.reply)
        good = [item for at, item in enumerate(self.items) if at not in self.bad]
        kept = {item["id"] for item in (self.before, *(() if self.reply.is_error else good))}
        missing = len(kept.difference(self.found))
        if self.reply.is_error:
            extra = sum(item.get("id") in self.found for item in self.items)
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


@remembered
def mixed_batches(vector: Vector, *bad: Mapping[int, str]) -> list[MixedBatch]:
    """Batches with bad items of these kinds at these places, which are sent once in a run, before one look at all."""
    before, batches = vector.item(10), []
    sandbox = vector.sandbox(before)
    for kinds in bad:
        wrong = {at: faulty(vector, kind) for at, kind in kinds.items()}
        items = [wrong.get(at, vector.item(60 + 30 * at)) for at in range(len(kinds) + 2)]
        batches.append((items, wrong, sandbox.upsert(*items)))
    found = sandbox.contents()
    return [MixedBatch(items, wrong, before, reply, found) for items, wrong, reply in batches]
