"""Arguments that no adapter takes, from `bad_arguments.txt` (SPECIFICATION 4.1, 7.3, 12.5, 17.2; R8, R14, R31)."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.suites.graph.support.component import Graph
from pytest_corpus.suites.graph.support.scenarios.batches import carrying, committed, failed_operations
from pytest_corpus.suites.graph.support.scenarios.edges import blamed, unusable
from pytest_corpus.suites.graph.support.written_items import MANY, WRITES


@dataclass(frozen=True, slots=True)
class BadArguments:
    """One row.

    Attributes:
        inside: the argument whose only item is wrong; empty if the arguments themselves are.
        change: what is changed in a plain item or in plain arguments.
        also: a class besides BadRequest that may refuse it.
    """

    requirement: str
    operation: str
    inside: str
    name: str
    change: Any
    also: tuple[str, ...]

    def changed(self, plain: dict[str, Any]) -> Any:
        """Plain arguments, or a plain item, with the change."""
        if not isinstance(self.change, dict):
            return self.change
        changed = {**plain, **self.change}
        return {key: value for key, value in changed.items() if key[0] != "-" and f"-{key}" not in changed}

    def sent(self, graph: Graph) -> Reply | StreamReply:
        """The answer to them."""
        if self.inside and self.operation in MANY:
            carrying(graph, self.operation)
        graph.require(self.operation)
        plain = graph.requests.minimal(self.operation)
        if self.operation == "upsert_edges" and self.inside:
            edge = self.changed(graph.seeds.edge("s3", "s4"))
            return graph.seeds.call(self.operation, {"edges": [edge]})
        args = {self.inside: [self.changed(plain[self.inside][0])]} if self.inside else self.changed(plain)
        return graph.invoke(self.operation, args)

    def are_refused(self, graph: Graph) -> None:
        """They are refused with BadRequest, or an item of them is reported as failed."""
        reply = self.sent(graph)
        if self.inside and self.operation in WRITES:
            unusable(reply)
        elif self.inside or self.operation == "transaction":
            expect.either(reply, "BadRequest", *self.also)
            assert isinstance(reply, Reply)
            failed = failed_operations(reply.result)
            if not reply.is_error:
                reported = failed if self.operation == "batch" else not committed(reply)
                path = f"result.{MANY[self.operation]}"
                expect.that(reported, "a refusal, or a failed operation", str(reply), path)
            for failure in failed[:1] if self.inside else ():
                blamed(failure, "BadRequest", *self.also)
        else:
            expect.refusal(reply, "BadRequest", *self.also)


def rows() -> Iterator[BadArguments]:
    """The rows of the table."""
    for line in Path(__file__).with_suffix(".txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            requirement, operation, name, rest = line.split(" ", 3)
            change, end = json.JSONDecoder().raw_decode(rest)
            operation, _, inside = operation.partition(".")
            yield BadArguments(requirement, operation, inside, name, change, tuple(rest[end:].split()))


def arguments_of(*requirements: str) -> pytest.MarkDecorator:
    """A parameter `bad`: each row of some requirements, which decides its own."""
    cases = [
        pytest.param(row, marks=pytest.mark.requirement(row.requirement), id=f"{row.operation}-{row.name}")
        for row in rows()
        if row.requirement in requirements
    ]
    return pytest.mark.parametrize("bad", cases)
