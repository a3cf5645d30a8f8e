"""The same ids in two namespaces and of two tenants (SPECIFICATION 6.1, 14.1; R24 to R27)."""

import itertools
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.fixtures import subject
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.kit.requests import canary
from pytest_corpus.suites.graph.support.answers import listed, records
from pytest_corpus.suites.graph.support.component import Graph, graph
from pytest_corpus.suites.graph.support.place import value_of
from pytest_corpus.suites.graph.support.sandbox import NODE_READERS
from pytest_corpus.suites.graph.support.scenarios import isolation
from pytest_corpus.suites.graph.support.written_items import MANY
from pytest_corpus.suites.shared.claims.context import CACHE_SCOPES, cache_scope
from pytest_corpus.suites.shared.contexts import require_tenants
from pytest_corpus.text.values import strings_of


class TestNamespaces:
    """The same ids in two namespaces."""

    @pytest.mark.core
    @pytest.mark.requirement("GRA-NS-1")
    def test_namespaces_are_separate(self, graph: Graph) -> None:
        """Nodes of one id in two namespaces, and in the default one, are three nodes: each is read where it lies."""
        graph.namespaces()
        for sandbox, written in isolation.apart(graph):
            sandbox.all_show(written, "the nodes of the namespace")

    @pytest.mark.requirement("GRA-NS-1")
    def test_a_traversal_stays_in_its_namespace(self, graph: Graph) -> None:
        """Edges of another namespace are not followed, even between nodes of the same ids."""
        graph.namespaces()
        graph.require("traversal", "upsert_edges")
        one = graph.sandbox()
        other = one.like(namespace=graph.sandbox().namespace)
        for sandbox in (one, other):
            sandbox.put(*(sandbox.node(name) for name in "abc"))
        one.link(one.edge("a", "b"))
        other.link(other.edge("a", "c"))
        expect.that(one.reached("a") == ["b"], "the node that the namespace's edge leads to", "another", "nodes")
        expect.that(other.reached("a") == ["c"], "the node that the namespace's edge leads to", "another", "nodes")

    @pytest.mark.requirement("GRA-NS-1")
    @pytest.mark.parametrize("name", list(MANY))
    def test_operations_of_a_batch_stay_in_their_namespaces(self, graph: Graph, name: str) -> None:
        """Operations of one batch write each to its own namespace."""
        graph.namespaces()
        graph.require(name)
        if graph.at_once < 2:
            raise NotApplicable("a batch holds one operation")
        one = graph.sandbox()
        other = one.like(namespace=graph.sandbox().namespace)
        nodes = {sandbox: sandbox.node("a") for sandbox in (one, other)}
        items = [sandbox.item("upsert_nodes", nodes=[node]) for sandbox, node in nodes.items()]
        expect.success(graph.call(name, {MANY[name]: items}), f"{name} to work")
        for sandbox, node in nodes.items():
            sandbox.all_show([value_of(node)], "the node of the namespace")

    @pytest.mark.core
    @pytest.mark.requirement("GRA-NS-2")
    @pytest.mark.parametrize("way", ["ids", "filter"])
    def test_a_delete_stays_in_its_namespace(self, graph: Graph, way: str) -> None:
        """A node that is deleted in one namespace is still in the others."""
        graph.namespaces()
        graph.require("delete_nodes")
        (one, _), (other, written), (default, third) = isolation.apart(graph)
        wanted = {"ids": [one.id("a")]} if way == "ids" else {"filter": {"corpus_group": one.group}}
        reply = one.call("delete_nodes", wanted)
        expect.either(reply, *(["BadRequest", "NotSupported"] if way == "filter" else []))
        other.all_show(written, "what another namespace holds")
        default.all_show(third, "what the default namespace holds")

    @pytest.mark.requirement("GRA-NS-2")
    def test_a_delete_of_edges_stays_in_its_namespace(self, graph: Graph) -> None:
        """An edge, or a node with its edges, that is deleted in one namespace leaves the edges of another."""
        graph.namespaces()
        graph.require("delete_edges", "delete_nodes", "upsert_edges")
        one = graph.sandbox()
        other = one.like(namespace=graph.sandbox().namespace)
        values: dict[str, str] = {}
        for sandbox in (one, other):
            values = sandbox.put_named("ab")
            sandbox.link(sandbox.edge("a", "b", "e"))
        one.remove("edges", "e")
        one.remove("nodes", "b")
        other.all_lead("a", {"b": values["b"]}, "the edge of another namespace")

    @pytest.mark.requirement("GRA-NS-3")
    def test_an_item_names_its_namespace(self, graph: Graph) -> None:
        """A node that names its namespace lies there, though the request names none."""
        graph.require("upsert_nodes")
        graph.namespaces()
        sandbox = graph.sandbox()
        node = {**sandbox.node("a"), **sandbox.place}
        expect.success(graph.call("upsert_nodes", {"nodes": [node]}), "an upsert to work")
        sandbox.all_show([value_of(node)], "the node of the namespace")

    @pytest.mark.requirement("GRA-NS-3")
    def test_answers_name_the_namespace(self, graph: Graph) -> None:
        """If a listed node names its namespace, it is the one that was listed."""
        graph.namespaces()
        graph.require("bulk_vertices")
        sandbox = graph.sandbox()
        sandbox.put(sandbox.node("a"))
        for node in sandbox.listed():
            told = node.get("namespace")
            expect.that(
                told in (None, sandbox.namespace), "the namespace that was listed", "another", "nodes.namespace"
            )

    @pytest.mark.requirement("GRA-NS-4")
    @pytest.mark.parametrize("reader", NODE_READERS)
    def test_nothing_is_read_from_an_unknown_namespace(self, graph: Graph, reader: str) -> None:
        """A namespace without writes is empty, or NamespaceNotFound."""
        if graph.capabilities.flag("supports_namespaces") is not True:
            raise NotApplicable("namespaces are not claimed")
        graph.readers.trusted(reader)
        graph.seed()
        nowhere = graph.seeds.like(namespace=f"nowhere-{canary()}")
        reply: Any
        if reader == "bulk_vertices":
            reply = nowhere.call(reader, {"limit": 5})
        else:
            args = graph.question("group", group=graph.seeds.group)
            reply = nowhere.stream(args) if reader == "stream_query" else nowhere.call(reader, args)
        expect.either(reply, "BadRequest", "IndexNotReady")
        if not reply.is_error:
            found = records(reply) if reader != "bulk_vertices" else reply.result.get("nodes")
            expect.that(not found, "nothing", f"{len(found or [])} of them", "result")

    @pytest.mark.requirement("GRA-NS-4")
    def test_no_way_leads_through_an_unknown_namespace(self, graph: Graph) -> None:
        """A traversal in a namespace without writes reaches nothing, or is refused permanently."""
        if graph.capabilities.flag("supports_namespaces") is not True:
            raise NotApplicable("namespaces are not claimed")
        graph.require("traversal")
        graph.seed()
        nowhere = graph.seeds.like(namespace=f"nowhere-{canary()}")
        reply = nowhere.call("traversal", {"start_nodes": [nowhere.id("s1")], "max_depth": 1})
        expect.either(reply, "BadRequest", "IndexNotReady")
        if not reply.is_error:
            found = listed(reply.result, "relationships")
            expect.that(not found, "no relationships", f"{len(found)}", "result.relationships")

    @pytest.mark.requirement("GRA-NS-5")
    @pytest.mark.parametrize("kind", ["nodes", "edges"])
    def test_deleting_in_an_unknown_namespace_does_no_harm(self, graph: Graph, kind: str) -> None:
        """A delete in a namespace without writes succeeds, or is refused permanently."""
        graph.require(f"delete_{kind}")
        place = {"namespace": f"nowhere-{canary()}"}
        reply = graph.call(f"delete_{kind}", {"ids": [graph.seeds.id("none")], **place})
        expect.either(reply, "BadRequest", "NotSupported")


class TestTenants:
    """The same ids of two tenants."""

    @pytest.mark.core
    @pytest.mark.requirement("COM-TENANT-1")
    @pytest.mark.parametrize("own", [False, True], ids=["default", "namespace"])
    def test_a_tenant_reads_its_own_nodes(self, graph: Graph, own: bool) -> None:
        """Nodes of one id of two tenants are two nodes, and a third tenant has none."""
        require_tenants(graph)
        if own:
            graph.namespaces(aside=True)
        one, other, third = isolation.tenants(graph, 3, own=own)
        written = {
            sandbox: sandbox.put(sandbox.node("a"), sandbox.node(name)) for sandbox, name in ((one, "b"), (other, "c"))
        }
        for sandbox, values in {**written, third: []}.items():
            sandbox.all_show(values, "the nodes of the tenant")

    @pytest.mark.requirement("COM-TENANT-1")
    @pytest.mark.parametrize("way", ["ids", "filter", "batch", "transaction"])
    def test_a_tenant_deletes_its_own_nodes(self, graph: Graph, way: str) -> None:
        """A delete of one tenant, by any way, leaves the nodes of another."""
        require_tenants(graph)
        graph.require("delete_nodes", *([way] if way in MANY else []))
        one, other = isolation.tenants(graph, 2)
        written = one.put(one.node("a"))
        ids = {"ids": [one.id("a")]}
        if way in MANY:
            other.call(way, {MANY[way]: [other.item("delete_nodes", **ids)]})
        else:
            other.call("delete_nodes", ids if way == "ids" else {"filter": {"corpus_group": one.group}})
        one.all_show(written, "the nodes of another tenant")

    @pytest.mark.requirement("COM-TENANT-1")
    @pytest.mark.parametrize("name", list(MANY))
    def test_a_batch_writes_for_its_tenant(self, graph: Graph, name: str) -> None:
        """What a batch of one tenant writes, that tenant reads and another does not."""
        require_tenants(graph)
        graph.require(name)
        one, other = isolation.tenants(graph, 2)
        node = one.node("a")
        expect.success(one.call(name, {MANY[name]: [one.item("upsert_nodes", nodes=[node])]}), name)
        one.all_show([value_of(node)], "the node of the tenant")
        other.all_show([], "the nodes of another tenant")

    @pytest.mark.requirement("COM-TENANT-1")
    def test_a_traversal_stays_with_its_tenant(self, graph: Graph) -> None:
        """A traversal of one tenant reaches nothing of another."""
        require_tenants(graph)
        graph.require("traversal", "upsert_edges")
        one, other = isolation.tenants(graph, 2)
        for sandbox, targets in ((one, "bc"), (other, "d")):
            sandbox.put(sandbox.node("a"), *(sandbox.node(name) for name in targets))
            sandbox.link(*(sandbox.edge("a", name) for name in targets))
        expect.that(one.reached("a") == ["b", "c"], "the nodes of the tenant", "others", "result.nodes")
        expect.that(other.reached("a") == ["d"], "the nodes of the tenant", "others", "result.nodes")
        reply = other.call("traversal", {"start_nodes": [one.id("b")], "max_depth": 1, "direction": "INCOMING"})
        expect.either(reply, "BadRequest")
        found = reply.result.get("nodes") if reply.is_success else None
        expect.that(not found, "nothing from a node of another tenant", "nodes", "result.nodes")

    @pytest.mark.requirement("COM-TENANT-1")
    def test_a_schema_tells_nothing_of_another_tenant(self, graph: Graph) -> None:
        """A label that one tenant wrote does not stand in the schema of another."""
        require_tenants(graph)
        graph.require("get_schema")
        one, other = isolation.tenants(graph, 2)
        label = f"Corpus{canary(8)}"
        one.put({**one.node("a"), "labels": [label]})
        schema = expect.success(graph.call("get_schema", {}, other.ctx), "a schema")
        expect.that(label not in str(schema), "nothing of another tenant", "a label of it", "result")

    @pytest.mark.requirement("COM-CACHE-1")
    def test_a_cached_answer_is_not_given_to_another_tenant(self, graph: Graph) -> None:
        """The same query of two tenants finds the nodes of each, however often it is asked."""
        require_tenants(graph)
        graph.require("query")
        one, other = isolation.tenants(graph, 2)
        written = {sandbox: sandbox.put(sandbox.node("a")) for sandbox in (one, other)}
        for _ in range(2):
            for sandbox, values in written.items():
                sandbox.shows("query", values, "the nodes of the tenant")

    @pytest.mark.requirement("COM-CACHE-2")
    def test_a_cache_scope_does_not_share_answers(self, graph: Graph) -> None:
        """Whatever two tenants say of the cache's scope, neither finds the other's nodes."""
        require_tenants(graph)
        graph.require("query")
        sandboxes = isolation.tenants(graph, 2)
        written = {sandbox: sandbox.put(sandbox.node("a")) for sandbox in sandboxes}
        args = graph.question("group", group=sandboxes[0].group)
        for scope, sandbox in itertools.product(reversed(CACHE_SCOPES), sandboxes):
            reply = sandbox.call("query", args, cache_scope(graph, scope))
            expect.success(reply, "an answer to the query")
            others = {value for each, values in written.items() if each is not sandbox for value in values}
            mixed = others.intersection(strings_of(reply.result))
            expect.that(not mixed, "the nodes of the tenant", "those of another tenant", "records")

    @pytest.mark.requirement("GRA-CACHE-1")
    def test_a_cached_answer_is_not_given_to_another_query(self, graph: Graph) -> None:
        """Queries that differ in text, parameters or namespace alone find each its own, however often asked."""
        graph.require("query")
        homes = [graph.sandbox(own=False), graph.sandbox(own=False)]
        if graph.sandbox().namespace is not None:
            homes.append(homes[0].like(namespace=graph.sandbox().namespace))
        written = {sandbox: sandbox.put(sandbox.node("a"), sandbox.node("b")) for sandbox in homes}
        for _ in range(2):
            for sandbox, values in written.items():
                sandbox.shows("query", values, "the nodes of the group and namespace")
                found = sandbox.answers("query", "find", wanted=sandbox.key("a"))
                expect.that(found == values[:1], "the node that was asked for", "another answer", "records")
