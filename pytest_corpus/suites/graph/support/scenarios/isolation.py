"""Namespaces and tenants, proved by content (SPECIFICATION 6.1, 14.1; R24 to R27)."""

from pytest_corpus.kit.requests import canary
from pytest_corpus.suites.graph.support.component import Graph
from pytest_corpus.suites.graph.support.sandbox import Sandbox

WHERE = ("default", "namespace", "tenant")
"""The places of nodes."""


def at(graph: Graph, where: str) -> Sandbox:
    """An empty place in the default namespace, in a new one, or of a tenant."""
    if where == "namespace":
        graph.namespaces(aside=True)
    tenant = f"tenant-{canary()}" if where == "tenant" else None
    return graph.sandbox(tenant=tenant, own=where == "namespace")


def apart(graph: Graph) -> list[tuple[Sandbox, list[str]]]:
    """Nodes of the same ids and group in two new namespaces and in the default one, and their values."""
    one = graph.sandbox()
    homes = [one, one.like(namespace=graph.sandbox().namespace), one.like()]
    return [(sandbox, sandbox.put(sandbox.node("a", rank=number))) for number, sandbox in enumerate(homes)]


def tenants(graph: Graph, count: int, *, own: bool = False) -> list[Sandbox]:
    """The same place of several tenants."""
    sandbox = graph.sandbox(own=own)
    return [sandbox.like(namespace=sandbox.namespace, tenant=f"tenant-{canary()}") for _ in range(count)]
