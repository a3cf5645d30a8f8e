"""Values that no adapter may accept, and the rows of `bad_arguments.txt` (R8, R14, R31, R34, R45)."""

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.kit.reply import Reply, StreamReply, error_names, failed_items
from pytest_corpus.kit.store.results import processed_count
from pytest_corpus.redaction import describe_word
from pytest_corpus.spec.errors import PERMANENT
from pytest_corpus.suites.graph.support.component import Graph
from pytest_corpus.suites.graph.support.run_state import MANY, WRITES
from pytest_corpus.suites.graph.support.scenarios.batches import failed_operations, is_committed, require_write_batches
from pytest_corpus.suites.graph.support.scenarios.edges import expect_failure_class, expect_item_refused


@dataclass(frozen=True, slots=True)
class BadArguments:
    """One row of the table of bad arguments.

    Attributes:
        inside: the argument whose only item is wrong; empty if the arguments themselves are wrong.
        change: the change to a plain item or to plain arguments.
        also: another error class, besides BadRequest, that is allowed.
    """

    requirement: str
    operation: str
    inside: str
    name: str
    change: Any
    also: tuple[str, ...]

    def apply_to(self, plain: dict[str, Any]) -> Any:
        """Return plain arguments, or a plain item, with the change."""
        if not isinstance(self.change, dict):
            return self.change
        changed = {**plain, **self.change}
        return {key: value for key, value in changed.items() if key[0] != "-" and f"-{key}" not in changed}

    def send_to(self, graph: Graph) -> Reply | StreamReply:
        """Send the bad arguments and return the answer."""
        if self.inside and self.operation in MANY:
            require_write_batches(graph, self.operation)
        graph.require(self.operation)
        plain = graph.requests.minimal(self.operation)
        if self.operation == "upsert_edges" and self.inside:
            edge = self.apply_to(graph.seeds.edge("s3", "s4"))
            return graph.seeds.call(self.operation, {"edges": [edge]})
        args = {self.inside: [self.apply_to(plain[self.inside][0])]} if self.inside else self.apply_to(plain)
        return graph.invoke(self.operation, args)

    def expect_refused(self, graph: Graph) -> None:
        """Check that the arguments are refused with BadRequest, or that an item is reported as failed."""
        reply = self.send_to(graph)
        if self.inside and self.operation in WRITES:
            expect_item_refused(reply, *self.also)
        elif self.inside or self.operation == "transaction":
            expect.either(reply, "BadRequest", *self.also)
            assert isinstance(reply, Reply)
            failed = failed_operations(reply.result)
            if not reply.is_error:
                reported = failed if self.operation == "batch" else not is_committed(reply)
                path = f"result.{MANY[self.operation]}"
                expect.check(reported, "a refusal, or a failed operation", str(reply), path)
            for failure in failed[:1] if self.inside else ():
                expect_failure_class(failure, "BadRequest", *self.also)
        else:
            expect.refusal(reply, "BadRequest", *self.also)


def read_rows() -> Iterator[BadArguments]:
    """Yield the rows of `bad_arguments.txt`."""
    for line in Path(__file__).with_suffix(".txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            requirement, operation, name, rest = line.split(" ", 3)
            change, end = json.JSONDecoder().raw_decode(rest)
            operation, _, inside = operation.partition(".")
            yield BadArguments(requirement, operation, inside, name, change, tuple(rest[end:].split()))


def arguments_of(*requirements: str) -> pytest.MarkDecorator:
    """Parametrize `bad` with the rows of these requirements. The case of each row decides the row's requirement."""
    cases = [
        pytest.param(row, marks=pytest.mark.requirement(row.requirement), id=f"{row.operation}-{row.name}")
        for row in read_rows()
        if row.requirement in requirements
    ]
    return pytest.mark.parametrize("bad", cases)


DELETES_OF_NOTHING: dict[str, Any] = {
    "nothing": {},
    "ids_null": {"ids": None},
    "both_null": {"ids": None, "filter": None},
}
PLACES = {"first": 0, "middle": 1, "last": 2}


def expect_bad_item_reported(reply: Reply, at: int, written: list[str]) -> list[str]:
    """Check that the bad item of an upsert is reported; then return `written`. If the upsert is refused, return []."""
    expect.either(reply, "BadRequest")
    if reply.is_error:
        return []
    found = reply.failed_items
    expect.check(len(found) == 1, "one failed item", f"{len(found)}", "result.failures")
    index, error = found[0].get("index"), found[0].get("error")
    is_right = index == at
    expect.check(is_right, f"the index {at}", f"{index}" if isinstance(index, int) else "no index", "failures.0.index")
    expect.check(isinstance(error, str) and error, "an error", describe_word(error), "failures.0.error")
    expect.check(error_names(found[0]), "a class of the taxonomy, or its code", "another word", "failures.0.error")
    expect_failure_class(found[0], "BadRequest")
    return written


SPOILED_NODES: dict[str, dict[str, Any]] = {
    "id_empty": {"id": ""},
    "id_number": {"id": 7},
    "label_empty": {"labels": [""]},
    "labels_text": {"labels": "CorpusNode"},
    "not_finite": {"properties": {"corpus_size": math.nan}},
}
SPOILED_EDGES: dict[str, dict[str, Any]] = {
    "without_a_node": {"dst": "none"},
    "id_empty": {"id": ""},
    "id_number": {"id": 7},
    "label_empty": {"label": ""},
    "target_number": {"dst": 7},
    "not_finite": {"properties": {"corpus_size": math.nan}},
}
"""Changes of a valid edge, each of which makes the edge invalid."""

SPOILED_IDS: dict[str, Any] = {"empty": "", "number": 7, "null": None, "list": ["n1"]}


def alternate_counts(kinds: Iterable[str]) -> list[tuple[str, int]]:
    """Return each kind of wrong item with a number of items: two and one in turn."""
    return [(kind, 2 - number % 2) for number, kind in enumerate(kinds)]


def insert_bad_items(items: list[Any], bad: list[Any], most: int) -> list[Any]:
    """Insert bad items after the first item; return no more items than fit into one request."""
    expect.applicable(most >= 2, "a request may hold only one item")
    return [items[0], *bad, *items[1:]][:most]


def expect_counts_match_store(reply: Reply, there: int, whole: str) -> None:
    """Check the counts in the result of a request with failed items.

    Args:
        there: the number of items that were written or deleted.
        whole: the requirement that a fully refused request changes nothing (R14).
    """
    expect.either(reply, *PERMANENT)
    found = reply.failed_items
    if reply.is_error:
        with expect.resting_on(whole):
            expect.check(not there, "no item written or deleted by a refused request", f"{there} items")
    if reply.is_error or not found:
        raise NotApplicable("the whole request is refused" if reply.is_error else "no item of the request fails")
    is_right = processed_count(reply.result) is not None or "failed_count" in reply.result
    expect.applicable(is_right, "the result contains no count")
    if processed_count(reply.result) is not None:
        is_right = processed_count(reply.result) == there
        expect.check(
            is_right, f"a count of {there}, the number of written or deleted items", f"{processed_count(reply.result)}"
        )
    failed = reply.result.get("failed_count", len(found))
    expect.check(failed == len(found), f"a failed_count of {len(found)}", found=failed, path="result.failed_count")


def expect_counts(result: Any, written: int) -> None:
    """Check that the result of a request counts `written` items as written, and none as failed."""
    expect.applicable(processed_count(result) is not None, "the result contains no count (R123)")
    expect.check(processed_count(result) == written, f"a count of {written}", f"{processed_count(result)}", "result")
    is_right = not (result.get("failed_count") or failed_items(result))
    expect.check(is_right, "no failures", "a failed item", "result.failed_count")
