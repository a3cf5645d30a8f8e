"""Namespaces and tenants, proved by content (SPECIFICATION 6.1, 14.1; R24 to R27)."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, TypeVar

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import cached
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.kit.requests import canary
from pytest_corpus.kit.store.store import State, Use
from pytest_corpus.kit.vocabulary import ALIKE
from pytest_corpus.suites.graph.support.component import Graph
from pytest_corpus.suites.graph.support.run_state import MANY
from pytest_corpus.suites.graph.support.sandbox import GraphSandbox
from pytest_corpus.suites.shared.contexts import require_tenants, similar_tenant_contexts

T = TypeVar("T")

WHERE = ("default", "namespace", "tenant")
"""The places of nodes."""


def sandbox_at(graph: Graph, where: str) -> GraphSandbox:
    """Return an empty sandbox in the default namespace, in a new namespace, or for a tenant."""
    if where == "namespace":
        graph.require_namespaces(aside=True)
    tenant = graph.settings.next_tenant() if where == "tenant" else None
    return graph.sandbox(tenant=tenant, own=where == "namespace")


def empty_sandbox(graph: Graph) -> GraphSandbox:
    """Return a new group of nodes, in a new namespace if the adapter creates namespaces."""
    sandbox = graph.sandbox()
    return sandbox if sandbox.namespace is None else sandbox.copy_to(namespace=sandbox.tag)


def shared_sandbox(
    graph: Graph, key: Hashable, fill: Callable[[GraphSandbox], T], *, empty: bool = False
) -> tuple[GraphSandbox, T]:
    """Return a sandbox that tests only read; `fill` writes its data once in a run.

    Args:
        key: identifies the sandbox.
        empty: True for a new namespace instead of the default one.
    """

    def write_data() -> tuple[GraphSandbox, T]:
        sandbox = empty_sandbox(graph) if empty else graph.sandbox(own=False)
        filled = fill(sandbox)
        keep_data(sandbox)
        return sandbox, filled

    return cached(graph, key, write_data)


def write_to_both(graph: Graph, by: str, names: Sequence[str]) -> tuple[GraphSandbox, GraphSandbox, dict[str, str]]:
    """Write nodes of the same names to two sandboxes; return both, and the values in the second. Tests share them."""

    def write_both() -> tuple[GraphSandbox, GraphSandbox, dict[str, str]]:
        one, other = two_sandboxes(graph, by)
        one.put_named(names)
        values = other.put_named(names)
        keep_data(one)
        return one, other, values

    return cached(graph, ("written in both", by, names), write_both)


def keep_data(sandbox: GraphSandbox) -> None:
    """Keep the current test's data until the end of the run, because other tests read it."""
    store = sandbox.graph.store
    store.written.change_records(
        [each for each in store.written.select(State.NEW) if sandbox.tag in each[1]], use=Use.LASTING
    )


def two_tenants(graph: Graph, *, own: bool = False, claimed: bool = True) -> tuple[GraphSandbox, GraphSandbox]:
    """Return sandboxes with the same ids for two tenants. With `own`, no other test uses their namespace."""
    require_tenants(graph, claimed=claimed)
    sandbox = empty_sandbox(graph) if own else graph.sandbox(own=False)
    one, other = (sandbox.copy_to(namespace=sandbox.namespace, tenant=graph.settings.next_tenant()) for _ in range(2))
    return one, other


def report_to_another_tenant(graph: Graph, operation: str) -> tuple[GraphSandbox, str, Any]:
    """Request a report for the owner of a node, then for another tenant. Do this once in a run.

    Returns: the sandbox of the owner, the label of the node, and the result for the other tenant.
    """

    def write_node() -> tuple[GraphSandbox, GraphSandbox, str]:
        owner, other = two_tenants(graph, own=True)
        label = f"Corpus{canary(8)}"
        owner.put({**owner.node("a"), "labels": [label]})
        keep_data(owner)
        return owner, other, label

    def ask() -> tuple[GraphSandbox, str, Any]:
        owner, other, label = cached(graph, "a node of one tenant", write_node)
        graph.settling.pause()
        graph.call(operation, {}, owner.ctx)  # an adapter may keep its answer for the next tenant
        return owner, label, expect.success(graph.call(operation, {}, other.ctx), "a report")

    return cached(graph, ("report to another tenant", operation), ask)


def tenants_for_one_key(graph: Graph, number: int = 0) -> tuple[GraphSandbox, GraphSandbox]:
    """Return sandboxes with the same ids for two tenants. Idempotency keys are always scoped by tenant (6.1).

    Args:
        number: chooses how the tenants' names resemble each other, if such names are accepted (R139).
    """
    claimed = graph.capabilities.flag("supports_multi_tenant") is True
    home, _ = two_tenants(graph, claimed=claimed)
    alike = cached(graph, ("keyed tenants", number % len(ALIKE)), lambda: similar_tenant_contexts(graph, number))
    one, other = (home.copy_to(namespace=home.namespace, **ctx) for ctx in alike)
    if not claimed:
        place = graph.sandbox(own=False)
        place.copy_to(tenant=one.tenant).put(place.node("a"))
        if any(map(place.copy_to(tenant=other.tenant).read_values, graph.readers.for_nodes())):
            raise NotApplicable("tenants share their data, and supports_multi_tenant is not claimed")
    return one, other


def intrusions(graph: Graph, place: GraphSandbox) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the requests by which a tenant tries to change the nodes `a` and `b` of another tenant.

    Deletes come first, because an upsert gives the tenant its own namespace of the same name.
    """
    deletes: list[dict[str, Any]] = [{"ids": [place.id("a")]}, {"filter": {"corpus_group": place.group}}]
    if graph.works("delete_nodes"):
        yield from (("delete_nodes", args) for args in deletes)
    many = [*filter(graph.works, MANY)]
    yield from ((name, {MANY[name]: [place.item("delete_nodes", ids=[place.id("b")])]}) for name in many)
    yield "upsert_nodes", {"nodes": [place.node("a")]}
    yield from ((name, {MANY[name]: [place.item("upsert_nodes", nodes=[place.node("b")])]}) for name in many)


def two_sandboxes(graph: Graph, by: str) -> tuple[GraphSandbox, GraphSandbox]:
    """Return two sandboxes with the same ids, in two namespaces or for two tenants."""
    if by == "tenants":
        return two_tenants(graph)
    graph.require_namespaces()
    one = graph.sandbox()
    return one, one.copy_to(namespace=graph.sandbox().namespace)
