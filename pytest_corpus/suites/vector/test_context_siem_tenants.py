"""Tenants cannot read or change each other's data (SPECIFICATION 6.1, 14.1; R25, R27, R55, R127)."""

import json
from collections.abc import Sequence
from contextlib import suppress
from itertools import product
from typing import Any

import pytest

from pytest_corpus.adapter import inputs
from pytest_corpus.kit import expect, vocabulary
from pytest_corpus.kit.answer_cache import cached
from pytest_corpus.kit.fixtures import rules
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.kit.requests import canary
from pytest_corpus.suites.shared.claims.context import CACHE_SCOPES, context_with_cache_scope
from pytest_corpus.suites.shared.contexts import new_tenant_context, require_tenants
from pytest_corpus.suites.vector.support.answers import matches_of, metadata_of, results_of
from pytest_corpus.suites.vector.support.component import Vector, vector
from pytest_corpus.suites.vector.support.geometry import direction
from pytest_corpus.suites.vector.support.sandbox import VectorSandbox, sandbox_with_context, shared_sandboxes
from pytest_corpus.suites.vector.support.scenarios import checks
from pytest_corpus.suites.vector.support.shared import Item

MERGED_S = 0.3
"""The seconds after which an index would have merged the data of two tenants."""


LIKE = {"upsert": ("", "colon"), "delete": ("composed", "decomposed"), "delete_many": ("", "trailing_blank")}
"""By the change that the second tenant makes: the kinds of both tenants' names. An empty kind is a plain name."""


@rules("claimed COM-TENANT-1, unclaimed COM-TENANT-3")
def test_one_tenant_does_not_find_what_another_wrote(vector: Vector, requirement: str) -> None:
    """A tenant does not find another tenant's vectors in a namespace of the same name, even if this is not claimed."""
    item, own = vector.item(40, {"kind": "a"}), vector.item(120, {"kind": "a"})
    one, other = checks.two_tenants(vector, item, claimed=requirement == "COM-TENANT-1")
    asked: list[dict[str, Any]] = [{}]
    if requirement == "COM-TENANT-1":
        other.put(own)
        asked += [{"by": "batch_query"}] if vector.works("batch_query") else []
        asked += [{"filter": {"kind": "a"}}] if vector.features.filters_work() else []
    for more in asked:
        found = other.ids(item["vector"], 3, **more)
        expect.check(
            item["id"] not in found, "vectors of the tenant only", "a vector of another tenant", "result.matches"
        )
        there = own["id"] in (other.contents() if vector.limits.is_approximate else found) or not other.held
        expect.check(there, "the vector of the tenant", "no such match", "result.matches")
    if requirement == "COM-TENANT-1":
        pairs = ("letter_case", "underscore", "dash", "long", "longer")  # the first one resembles the plain name
        tenants = vocabulary.similar_names(str(one.ctx["tenant"]), len(pairs), pairs)
        for places in checks.offer_sandboxes_in_turn(vector, [(one.name, name, vector.item(40)) for name in tenants]):
            for place, mine in places:
                checks.expect_exactly(place, mine, claim="the vector of a tenant with a similar name")
        checks.expect_exactly(one, item)


@pytest.mark.requirement("COM-TENANT-1")
@pytest.mark.parametrize("change", LIKE)
def test_one_tenant_does_not_change_what_another_wrote(vector: Vector, change: str) -> None:
    """A tenant's vectors do not change if another tenant writes or deletes by the same id, filter or namespace."""
    require_tenants(vector)
    item = vector.item(40, {"kind": "a"})
    one, other = checks.two_tenants(vector, item, like=LIKE[change])
    own = {"kind": "a" if change == "delete_many" else "other"}
    other.put({**item, "vector": direction(130, vector.dimensions), "metadata": own})
    replies = []
    if change == "upsert":
        replies.append(other.upsert({**item, "metadata": {"kind": "again"}}))
    if change == "delete":
        replies.append(other.delete(ids=[item["id"]]))
    if change == "delete_many" and vector.features.deletes_by_filter:
        replies.append(other.delete(filter=own))
    if change == "delete_many" and vector.has_namespaces:
        replies.append(vector.call("delete_namespace", {"namespace": other.name}, other.ctx))
    for reply in replies:
        expect.success(reply, f"a {change}")
    expect.applicable(replies, "the adapter offers no deletes by filter and no namespaces")
    checks.expect_metadata(checks.expect_exactly(one, item, claim="the vectors of the other tenant"), [item])


@pytest.mark.requirement("COM-TENANT-1")
def test_a_namespace_that_only_another_tenant_has_is_unknown(vector: Vector) -> None:
    """No operation of a tenant reads, changes or creates a namespace that only another tenant has (R127)."""
    require_tenants(vector)
    vector.features.require_namespaces()
    vector.require("query", "upsert", "delete")
    item = vector.item(40, {"kind": "a"})
    one = vector.sandbox(item, tenant=f"tenant{canary()}")
    other, query = sandbox_with_context(one, **new_tenant_context()), {"vector": item["vector"], "top_k": 1}
    requests: list[tuple[str, dict[str, Any]]] = [
        ("query", query),
        ("batch_query", {"queries": [other.args(**query)]}),
        ("upsert", {"vectors": [{**item, "metadata": {"kind": "other"}}]}),
        ("delete", {"ids": [item["id"]]}),
        ("delete_namespace", {}),
    ]
    inputs.sleep(MERGED_S)
    for name, args, ctx in [("query", query, {}), *((*request, other.ctx) for request in requests)]:
        reply = vector.call(name, other.args(**args), ctx)
        expect.readable(reply)
        reads = reply.is_success and name in ("query", "batch_query")
        for result in ([reply.result] if name == "query" else results_of(reply.result)) if reads else ():
            kinds = [metadata_of(match).get("kind") for match in matches_of(result)]
            expect.check("a" not in kinds, "no data of another tenant", "a vector of another tenant", "result.matches")
    checks.expect_metadata(checks.expect_exactly(one, item, claim="the vectors of the other tenant"), [item])


@pytest.mark.requirement("COM-TENANT-1")
def test_what_a_tenant_wrote_is_not_found_without_a_tenant(vector: Vector) -> None:
    """A call without a tenant finds no vector of a tenant."""
    require_tenants(vector)
    item, name = vector.item(40), vector.new_name("same")
    one = vector.sandbox(item, tenant=f"tenant{canary()}", name=name)
    untenanted = vector.sandbox(name=name)
    expect.check(item["id"] not in untenanted.ids(item["vector"], 3), "no vector of a tenant", "the vector of a tenant")
    checks.expect_present(one, item)


@pytest.mark.requirement("COM-TENANT-2")
def test_health_names_nothing_of_another_tenant(vector: Vector) -> None:
    """A health report to another tenant, or without a tenant, contains no namespace or vector id of a tenant."""
    require_tenants(vector)
    vector.require("health")
    item = {**vector.item(40), "id": f"{vector.settings.prefix}{canary(12)}"}
    sandbox = vector.sandbox(item, tenant=f"tenant{canary()}", name=f"{vector.settings.prefix}{canary(12)}")
    for ctx in (new_tenant_context(), {}):
        report = json.dumps(expect.success(vector.call("health", ctx=ctx), "a report"))
        named = item["id"] in report or (vector.has_namespaces and sandbox.name in report)
        expect.check(not named, "no data of another tenant", "an id or a namespace of another tenant", "result")


@rules("cached COM-CACHE-1, scoped COM-CACHE-2")
def test_a_cached_answer_stays_with_its_tenant(vector: Vector, requirement: str) -> None:
    """Tenants that send the same query in turn each find their own vectors, with any cache scope."""
    vector.require("query")
    is_scoped = requirement == "COM-CACHE-2"
    operations = ["query", *(["batch_query"] if vector.works("batch_query") else [])]
    scopes: list[dict[str, Any]] = [] if is_scoped else [{}]
    for scope in CACHE_SCOPES if is_scoped else ():
        with suppress(NotApplicable):  # a pinned edition may not allow a scope
            scopes.append(context_with_cache_scope(vector, scope))
    items = cached(vector, "of each tenant", lambda: [vector.item(45) for _ in range(3)])
    sandboxes = shared_sandboxes(vector, "of each tenant", lambda: make_for_each_tenant(vector, items))
    for operation, ctx in product(reversed(operations) if is_scoped else operations, scopes):
        if operation == "batch_query" and ctx is not scopes[-1]:
            continue
        for number in (0, 1) if is_scoped else (*range(len(sandboxes)), 0):
            checks.expect_only_match(sandbox_with_context(sandboxes[number], **ctx), items[number], 2, operation)


def make_for_each_tenant(vector: Vector, items: Sequence[Item]) -> list[VectorSandbox]:
    """Return namespaces of the same name for two tenants, and for a third if accepted, each with a vector."""
    sandboxes = checks.two_tenants(vector, items[0])
    sandboxes[1].put(items[1])
    name, tenant = sandboxes[0].name, sandboxes[0].ctx["tenant"]
    third = vector.offer_sandbox(name, items[2], tenant=f"-{tenant}")
    return sandboxes if third is None else [*sandboxes, third]
