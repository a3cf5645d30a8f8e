"""Places of two tenants, and their queries."""

from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.outcomes import NotAssessed
from pytest_corpus.kit.requests import canary
from pytest_corpus.suites.shared.contexts import require_tenants
from pytest_corpus.suites.vector.support.answers import id_of, matches_of
from pytest_corpus.suites.vector.support.component import Vector
from pytest_corpus.suites.vector.support.sandbox import Sandbox
from pytest_corpus.suites.vector.support.shared import Item


def answers_with(sandbox: Sandbox, item: Item, top_k: int, operation: str = "query") -> None:
    """A query for a vector finds it and nothing else."""
    if operation == "query":
        reply = sandbox.ask(item["vector"], top_k)
        expect.readable(reply)
        if reply.is_a("IndexNotReady", "ResourceExhausted"):
            raise NotAssessed(f"a query is answered with {reply}")
        with expect.resting_on("VEC-QUERY-1"):
            found = sandbox.own(matches_of(expect.success(reply, "a query to be answered")))
    else:
        found = sandbox.matches(item["vector"], top_k, by=operation)
    expect.that([*map(id_of, found)] == [item["id"]], "the one vector that the query is to find", "another answer")


def two_tenants(vector: Vector, *items: Any, claimed: bool = True) -> list[Sandbox]:
    """A namespace of one name for each of two tenants, the first one's with these vectors.

    Raises:
        NotApplicable: capabilities do not claim that tenants are kept apart, or do so if not `claimed`.
    """
    require_tenants(vector, claimed=claimed)
    name, tenants = vector.name("shared"), [f"tenant-{canary()}" for _ in range(2)]
    one = vector.sandbox(*items, tenant=tenants[0], name=name)
    return [one, vector.sandbox(tenant=tenants[1], name=name)]
