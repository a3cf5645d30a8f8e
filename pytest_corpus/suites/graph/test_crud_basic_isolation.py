"""The same ids in two namespaces and of two tenants (SPECIFICATION 6.1, 14.1; R24 to R27)."""

import itertools
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.fixtures import core, deciding, subject
from pytest_corpus.kit.reply import Reply
from pytest_corpus.kit.store.results import blame_shared_tenants
from pytest_corpus.kit.vocabulary import similar_names
from pytest_corpus.spec.errors import PERMANENT
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.graph.support.answers import items_of, records
from pytest_corpus.suites.graph.support.component import Graph, graph
from pytest_corpus.suites.graph.support.node_group import empty_namespace, value_of
from pytest_corpus.suites.graph.support.run_state import MANY
from pytest_corpus.suites.graph.support.sandbox import NODE_READERS, GraphSandbox, call_or_none
from pytest_corpus.suites.graph.support.scenarios import isolation, words
from pytest_corpus.suites.graph.support.scenarios.batches import drop_operation, put_operation
from pytest_corpus.suites.shared.claims.context import CACHE_SCOPES, context_with_cache_scope
from pytest_corpus.text.values import strings_of

READING = deciding("by", namespaces="GRA-NS-1", tenants="COM-TENANT-1")
DELETING = deciding("by", namespaces="GRA-NS-2", tenants="COM-TENANT-1")
"""The requirement to isolate namespaces, and the requirement to isolate tenants."""

WAYS = ("ids", "filter", *MANY)
"""The ways to delete a node. Each is also the name of the node that is deleted in this way."""

RESEMBLING = ("underscore", "long", "dash", "letter_case", "trailing_blank", "colon", "longer")
"""The kinds of resemblance between two names of namespaces or tenants."""

FIRST = 3
"""Only this many similarly named sandboxes are read. If names are mixed up, later writes change their nodes."""


@core("GRA-NS-1")
def test_namespaces_are_separate(graph: Graph) -> None:
    """Nodes with the same id in two namespaces and in the default namespace are three nodes."""
    one, other = isolation.two_sandboxes(graph, "namespaces")
    homes = [one, other, one.copy_to()]
    places = [(sandbox, sandbox.put(sandbox.node("a", rank=number))) for number, sandbox in enumerate(homes)]
    similar = words.sandboxes_elsewhere(
        one, similar_names(str(one.namespace), len(RESEMBLING), RESEMBLING), by="namespaces"
    )
    for sandbox, written in places:
        sandbox.expect_all_show_values(written, "the nodes of the namespace")
    for sandbox, written in similar[:FIRST]:
        sandbox.expect_one_shows_values(written, "the node of a namespace with a similar name")


@core("COM-TENANT-1")
@pytest.mark.parametrize("own", [False, True], ids=["default", "namespace"])
def test_a_tenant_reads_its_own_nodes(graph: Graph, own: bool) -> None:
    """If two tenants write nodes with the same id, each sees its own node, and a third tenant sees neither."""
    if own:
        graph.require_namespaces(aside=True)
    one, other = isolation.two_tenants(graph, own=own)
    third = one.copy_to(namespace=one.namespace, tenant=f"{one.tenant}z")
    written = {place: place.put(place.node("a"), place.node(name)) for place, name in ((one, "b"), (other, "c"))}
    kinds = ("composed", "decomposed") if own else RESEMBLING
    names = similar_names(str(one.tenant), len(kinds), kinds)
    similar = words.sandboxes_elsewhere(one, [*names, f"-{one.tenant}"], by="tenants")
    for place, values in {**written, third: []}.items():
        (place.expect_one_shows_values if own or place is third else place.expect_all_show_values)(
            values, "the nodes of the tenant"
        )
    for place, values in similar[: FIRST - own]:
        place.expect_one_shows_values(values, "the node of a tenant with a similar name")


@pytest.mark.requirement("COM-TENANT-3")
def test_tenants_are_apart_without_a_claim(graph: Graph) -> None:
    """A tenant cannot read the nodes of another tenant, even if no capability claims this."""
    one, other = isolation.two_tenants(graph, claimed=False)
    one.put(one.node("a"))
    other.expect_all_show_values([], "no data of another tenant")


@READING
def test_a_traversal_stays_in_its_place(graph: Graph, by: str) -> None:
    """A traversal does not follow edges of another namespace or tenant, even between nodes with the same ids."""
    graph.require("traversal", "upsert_edges")
    one, other = isolation.two_sandboxes(graph, by)
    for place, target in ((one, "b"), (other, "c")):
        place.put_named("abc" if by == "namespaces" else f"a{target}")
        place.put_edges(place.edge("a", target))
    for place, target in ((one, "b"), (other, "c")):
        is_right = place.reached_nodes("a") == [target]
        expect.check(
            is_right, "the target of the edge in the same namespace or tenant", "another node, or none", "result.nodes"
        )
    if by == "tenants":
        reply = other.call("traversal", {"start_nodes": [one.id("b")], "max_depth": 1, "direction": "INCOMING"})
        expect.either(reply, *PERMANENT)
        found = items_of(reply.result, "nodes") if reply.is_success else None
        expect.check(not found, "no nodes for a start node of another tenant", "nodes", "result.nodes")


@READING
@pytest.mark.parametrize("name", list(MANY))
def test_the_operations_of_a_batch_stay_in_their_places(graph: Graph, name: str, by: str) -> None:
    """Nodes that a batch, or a transaction, writes for a namespace or a tenant are there and nowhere else."""
    graph.require(name)
    one, other = isolation.two_sandboxes(graph, by)
    node, others = one.node("a"), other.node("a")
    items = [
        put_operation(one, node),
        *([put_operation(other, others)] if by == "namespaces" and graph.items_per_request > 1 else []),
    ]
    expect.success(one.call_many(name, *items), f"{name} to work")
    one.expect_one_shows_values([value_of(node)], "the node that was written")
    other.expect_one_shows_values(
        [value_of(others)] if len(items) > 1 else [], "the nodes of the other namespace or tenant"
    )


@pytest.mark.core
@DELETING
@pytest.mark.parametrize("way", WAYS)
def test_a_delete_stays_in_its_place(graph: Graph, way: str, by: str) -> None:
    """A node that is deleted in one namespace, or for one tenant, still exists in another."""
    graph.require("delete_nodes", *([way] if way in MANY else []))
    one, other, values = isolation.write_to_both(graph, by, WAYS)
    names = similar_names(str(one.namespace if by == "namespaces" else one.tenant), 2, ["composed", "decomposed"])
    similar = words.sandboxes_elsewhere(one, names[1:], by=by) if way == "ids" else []
    if len(similar) > 1:
        similar.pop(0)[0].remove("nodes", "a")
    if way in MANY:
        one.call_many(way, drop_operation(one, way))
    else:
        wanted = {"ids": [one.id(way)]} if way == "ids" else {"filter": {"corpus_key": one.key(way)}}
        reply = one.call("delete_nodes", wanted)
        expect.either(reply, *(["BadRequest", "NotSupported"] if way == "filter" else []))
    reader = other.node_reader()
    expect.check(
        values[way] in other.read_values(reader),
        "the node of the other namespace or tenant to stay",
        "it is gone",
        reader,
    )
    for place, written in similar:
        place.expect_one_shows_values(written, "the node of a namespace or tenant with a similar name")


@DELETING
def test_a_delete_of_edges_stays_in_its_place(graph: Graph, by: str) -> None:
    """Deleting an edge, or a node with its edges, leaves the edges of another namespace or tenant unchanged."""
    graph.require("delete_edges", "delete_nodes", "upsert_edges")
    one, other = isolation.two_sandboxes(graph, by)
    values = {place: place.put_named("ab") for place in (one, other)}
    for place in (one, other):
        place.put_edges(place.edge("a", "b", "e"))
    one.remove("edges", "e")
    one.remove("nodes", "b")
    other.expect_one_shows_targets("a", {"b": values[other]["b"]}, "the edge of the other namespace or tenant")


@pytest.mark.requirement("COM-CONC-1")
def test_writes_of_two_tenants_at_the_same_time_stay_apart(graph: Graph) -> None:
    """If two tenants write at the same time, a query of each tenant at the same time finds only its own nodes."""
    graph.require("upsert_nodes")
    tenants = isolation.two_tenants(graph)
    nodes = {place: place.node("a") for place in tenants}
    requests = [
        graph.envelope("upsert_nodes", {**each.namespace_arg, "nodes": [node]}, each.ctx)
        for each, node in nodes.items()
    ]
    replies = list(map(Reply, graph.send_all(requests)))
    expect.assessable(all(reply.is_success for reply in replies), Obstacle.ALL_REFUSED)

    def are_shared() -> bool:
        [value] = tenants[0].put(tenants[0].node("alone"))
        return value in tenants[1].read_values(graph.readers.for_nodes()[0])

    with blame_shared_tenants(are_shared):
        for place, node in nodes.items():
            place.expect_one_shows_values([value_of(node)], "the node of the tenant's concurrent write")
        if "query" in graph.readers.for_nodes():
            asked = [
                graph.envelope(
                    "query", {**each.namespace_arg, **graph.question("find", wanted=each.key("a"))}, each.ctx
                )
                for each in tenants
            ]
            for (place, node), reply in zip(nodes.items(), map(Reply, graph.send_all(asked)), strict=True):
                found = place.own_values(reply.result) if reply.is_success else {value_of(node)}
                expect.check(
                    found == {value_of(node)},
                    "the node of the tenant that asks",
                    "another node, or none",
                    "records",
                    on=[reply],
                )


@pytest.mark.requirement("COM-TENANT-1")
def test_a_namespace_of_another_tenant_is_unknown(graph: Graph) -> None:
    """A tenant cannot read or change a namespace that only another tenant has."""
    graph.require_namespaces(aside=True)
    one, other = isolation.two_tenants(graph, own=True)
    values = one.put_named("ab")
    for reader in graph.readers.for_nodes():
        expect.check(
            not call_or_none(other.read_values, reader), "no data of another tenant", "nodes of another tenant", reader
        )
    for operation, args in isolation.intrusions(graph, other):
        other.call(operation, args)
    one.expect_one_shows_values(values.values(), "the nodes of another tenant as they were")
    if graph.works("upsert_edges"):
        one.put_edges(one.edge("a", "b", "e"))
        other.call("delete_edges", {"ids": [one.id("e")]})
        one.expect_one_shows_targets("a", {"b": values["b"]}, "the edge of another tenant")


@pytest.mark.requirement("GRA-NS-1")
def test_an_item_repeats_the_namespace(graph: Graph) -> None:
    """Nodes and edges that repeat the namespace of their request are written to this namespace."""
    graph.require_namespaces()
    sandbox = graph.sandbox("upsert_nodes")
    values = sandbox.put(*({**sandbox.node(name), **sandbox.namespace_arg} for name in "ab"))
    if graph.works("upsert_edges"):
        sandbox.put_edges({**sandbox.edge("a", "b"), **sandbox.namespace_arg})
    sandbox.expect_one_shows_values(values, "the nodes of the namespace")


@pytest.mark.requirement("GRA-NS-3")
def test_an_item_names_its_namespace(graph: Graph) -> None:
    """A node that names its namespace is written there, although the request names none."""
    graph.require("upsert_nodes")
    graph.require_namespaces()
    sandbox = graph.sandbox()
    node = {**sandbox.node("a"), **sandbox.namespace_arg}
    expect.success(graph.call("upsert_nodes", {"nodes": [node]}), "an upsert to work")
    sandbox.expect_one_shows_values([value_of(node)], "the node of the namespace")


@pytest.mark.requirement("GRA-NS-3")
def test_answers_name_the_namespace(graph: Graph) -> None:
    """A node of `bulk_vertices` names the requested namespace, or none."""
    graph.require_namespaces()
    sandbox = graph.sandbox("bulk_vertices")
    sandbox.put(sandbox.node("a"))
    for node in sandbox.list_nodes():
        named = node.get("namespace")
        is_right = named in (None, sandbox.namespace)
        expect.check(is_right, "the namespace that was listed", "another namespace", "nodes.namespace")


@pytest.mark.requirement("GRA-NS-4")
@pytest.mark.parametrize("reader", [*NODE_READERS, "traversal"])
def test_nothing_is_read_from_an_unknown_namespace(graph: Graph, reader: str) -> None:
    """A namespace without writes is empty and has no edges, or is refused with NamespaceNotFound."""
    expect.applicable(graph.capabilities.flag("supports_namespaces") is True, "namespaces are not claimed")
    graph.require(reader) if reader == "traversal" else graph.readers.require_correct(reader)
    graph.seed()
    nowhere = graph.seeds.copy_to(namespace=empty_namespace(graph))
    start = {"start_nodes": [nowhere.id("s1")], "max_depth": 1}
    reply = nowhere.call(reader, start) if reader == "traversal" else nowhere.ask_for_all(reader)
    if expect.either(reply, "BadRequest", "IndexNotReady"):
        key = {"bulk_vertices": "nodes", "traversal": "relationships"}.get(reader)
        found = records(reply) if key is None else items_of(reply.result, key)
        expect.check(not found, "nothing", f"{len(found)} of them", reader)


@pytest.mark.requirement("GRA-NS-5")
@pytest.mark.parametrize("kind", ["nodes", "edges"])
def test_deleting_in_an_unknown_namespace_does_no_harm(graph: Graph, kind: str) -> None:
    """A delete in a namespace without writes succeeds, or is refused permanently."""
    graph.require(f"delete_{kind}")
    place = {"namespace": empty_namespace(graph)}
    reply = graph.call(f"delete_{kind}", {"ids": [graph.seeds.id("none")], **place})
    expect.either(reply, "BadRequest", "NotSupported")


@pytest.mark.requirement("COM-TENANT-1")
def test_a_schema_tells_nothing_of_another_tenant(graph: Graph) -> None:
    """The schema for a tenant contains no label of another tenant."""
    graph.require("get_schema")
    _, label, schema = isolation.report_to_another_tenant(graph, "get_schema")
    expect.check(label not in str(schema), "no data of another tenant", "a label of another tenant", "result")


@pytest.mark.requirement("COM-CACHE-1")
def test_a_cached_answer_is_not_given_to_another_tenant(graph: Graph) -> None:
    """The same query, repeated by three tenants with similar names, finds the nodes of the asking tenant."""
    graph.require("query")
    one, other = isolation.two_tenants(graph)
    written = {sandbox: sandbox.put(sandbox.node("a")) for sandbox in (one, other)}
    written |= dict(words.sandboxes_elsewhere(one, [f"-{one.tenant}"], by="tenants"))
    for _ in range(2):
        for sandbox, values in written.items():
            sandbox.expect_values("query", values, "the nodes of the tenant")


@pytest.mark.requirement("COM-CACHE-2")
def test_a_cache_scope_does_not_share_answers(graph: Graph) -> None:
    """No cache scope lets a tenant find the nodes of another tenant."""
    graph.require("query")
    sandboxes = isolation.two_tenants(graph)
    written = {sandbox: sandbox.put(sandbox.node("a")) for sandbox in sandboxes}
    args = graph.question("group", group=sandboxes[0].group)
    asked = [("query", args, scope) for scope in reversed(CACHE_SCOPES)]
    if graph.works("bulk_vertices"):
        asked.append(("bulk_vertices", {"limit": 100}, "global"))
    for (name, args, scope), sandbox in itertools.product(asked, sandboxes):
        reply = sandbox.call(name, args, context_with_cache_scope(graph, scope))
        expect.success(reply, f"{name} to work")
        others = {value for each, values in written.items() if each is not sandbox for value in values}
        mixed = others.intersection(strings_of(reply.result))
        expect.check(not mixed, "the nodes of the tenant", "nodes of another tenant", "records")


@pytest.mark.requirement("GRA-CACHE-1")
def test_a_cached_answer_is_not_given_to_another_dialect(graph: Graph) -> None:
    """A query that was just answered in a listed dialect is refused in an unlisted dialect."""
    graph.require("query")
    args = graph.question("group", group=graph.sandbox(own=False).group)
    expect.success(graph.call("query", args), "an answer to the query")
    refusal = graph.call("query", {**args, "dialect": "no-such-dialect"})
    with expect.resting_on("GRA-DIALECT-4"):
        other = graph.question("group", group=graph.sandbox(own=False).group)
        expect.refusal(graph.call("query", {**other, "dialect": "no-such-dialect"}), "NotSupported")
    expect.check(refusal.is_error, "a refusal, as for a new query", str(refusal))


@pytest.mark.requirement("GRA-CACHE-1")
def test_a_cached_answer_is_not_given_to_another_query(graph: Graph) -> None:
    """Repeated queries that differ only in text, parameters or namespace each find their own nodes."""
    graph.require("query")
    homes = [graph.sandbox(own=False), graph.sandbox(own=False)]
    if graph.sandbox().namespace is not None:
        homes.append(homes[0].copy_to(namespace=graph.sandbox().namespace))
    written = {sandbox: sandbox.put(sandbox.node("a"), node_with_key(sandbox, "b", "A")) for sandbox in homes}
    forms = words.offer_items(
        homes[0], "nodes", {form: node_with_key(homes[0], f"form{len(form)}", form) for form in ("\u00e9", "e\u0301")}
    )
    written[homes[0]] += map(value_of, forms.values())
    for node in forms.values():
        graph.require_question("find")
        reply = homes[0].call("query", graph.question("find", wanted=node["properties"]["corpus_key"]))
        if expect.either(reply, *PERMANENT):
            is_found = value_of(node) in strings_of(reply.result)
            expect.check(is_found, "the node that was asked for", "other records", "records")
    for names in ("aA", ""):
        for sandbox, values in written.items():
            sandbox.expect_values("query", values, "the nodes of the group and namespace")
            for name, value in zip(names, values, strict=False):
                found = sandbox.query_values("query", "find", wanted=sandbox.key(name))
                expect.check(found == [value], "the node that was asked for", "other records", "records")


def node_with_key(sandbox: GraphSandbox, name: str, end: str) -> dict[str, Any]:
    """Return a node whose `corpus_key` has this end."""
    node = sandbox.node(name)
    node["properties"]["corpus_key"] = sandbox.key(end)
    return node
