"""Context, replays, tenants, observability, privacy (SPECIFICATION 6.1, 6.4, 15; BC 6.6, 6.8; R19 to R21, R24, R25)."""

import json
from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from pytest_corpus.kit import expect, vocabulary
from pytest_corpus.kit.answer_cache import cached, context_with_key, remembered
from pytest_corpus.kit.faults import try_with_fault
from pytest_corpus.kit.fixtures import rules, subject
from pytest_corpus.kit.outcomes import Undecided
from pytest_corpus.kit.reply import Reply, failed_items
from pytest_corpus.kit.requests import canary
from pytest_corpus.kit.store.store import tenant_context
from pytest_corpus.spec.errors import PERMANENT
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.shared.claims import replays
from pytest_corpus.suites.shared.claims.context import (
    CACHE_SCOPES,
    TestContext,
    TestObservability,
    context_with_cache_scope,
)
from pytest_corpus.suites.shared.claims.deadlines import TestCancelling
from pytest_corpus.suites.shared.claims.labels import (
    TestIdPrivacy,
    TestLabels,
    TestPrivacy,
    answers_to_canaries,
    expect_no_label,
)
from pytest_corpus.suites.shared.claims.propagation import TestPropagation
from pytest_corpus.suites.shared.contexts import (
    new_key_context,
    new_tenant_context,
    require_tenants,
    similar_key_contexts,
)
from pytest_corpus.suites.vector.support.answers import matches_of
from pytest_corpus.suites.vector.support.component import Vector, vector
from pytest_corpus.suites.vector.support.geometry import direction
from pytest_corpus.suites.vector.support.sandbox import VectorSandbox, sandbox_with_context, shared_sandboxes
from pytest_corpus.suites.vector.support.scenarios import checks, flow
from pytest_corpus.suites.vector.support.scenarios.checks import (
    expect_exactly,
    expect_metadata,
    expect_only_match,
    expect_present,
)
from pytest_corpus.text.values import are_equal_json


@pytest.mark.requirement("COM-CTX-6")
def test_one_context_flows_over_all_components(vector: Vector) -> None:
    """One context works for a graph query, a completion, its embedding, a vector query and an upsert."""
    vector.require("upsert", "query")
    ctx = flow.shared_context(vector.settings.edition)
    numbers = flow.embed_flow(vector, ctx)
    sandbox = flow.make_sandbox(vector, len(numbers), ctx["tenant"])
    old, new = ({"id": vector.new_name(), "vector": numbers, "metadata": {"source": "summary"}} for _ in range(2))
    sandbox.put(old)
    query = sandbox.args(vector=numbers, top_k=vector.limits.cap_matches(flow.MOST_MATCHES))
    sandbox.ask(numbers)
    flow.take_step(vector, "query", query, ctx)
    sandbox.note_stored(new)
    flow.take_step(vector, "upsert", sandbox.args(vectors=[new]), ctx)
    if vector.limits.cap_matches(flow.MOST_MATCHES) > 1:
        expect_present(sandbox, new)


@pytest.mark.requirement("COM-LEAK-1")
def test_no_content_in_the_failures_of_a_batch(vector: Vector) -> None:
    """The failure of an item does not contain its vector or its metadata."""
    vector.require("query", "upsert")
    for reply in answers_to_canaries(vector, refused=True):
        if isinstance(reply, Reply) and reply.exchange.op == "vector.upsert":
            expect.readable(reply)
            said = json.dumps(reply.failed_items, ensure_ascii=False)
            held = any(text in said for text in reply.exchange.secrets.values())
            expect.check(not held, "no content", "a part of the content", "result.failures")


@rules("made_up VEC-CAP-5, there VEC-CAP-6")
def test_a_name_is_no_label(vector: Vector, requirement: str) -> None:
    """No label contains the id of a vector or an unknown namespace; labels should not contain a known namespace."""
    vector.require("query", "upsert", "delete")
    secret, known = canary(12), requirement == "VEC-CAP-6"
    if known:
        vector.features.require_namespaces()
    name = f"{vector.settings.prefix}{secret}"
    replies = [vector.call("create_namespace", vector.namespace_args(name))] if known else []
    sandbox = VectorSandbox(vector, name, vector.dimensions, vector.metric, {}) if known else vector.sandbox()
    item = vector.item() if known else {**vector.item(), "id": name}
    replies += [sandbox.upsert(item), sandbox.ask(), sandbox.delete(ids=[item["id"]])]
    if known and vector.works("batch_query"):
        args = {"queries": [sandbox.args(vector=item["vector"], top_k=1)]}
        replies.append(vector.call("batch_query", sandbox.args(**args)))
    if known:
        replies.append(vector.call("delete_namespace", {"namespace": name}))
    elif vector.has_namespaces:
        replies.append(vector.call("query", {**vector.query_args(), "namespace": f"{name}unknown"}))
    for reply in replies:
        expect_no_label(reply, secret, "a name that a client chose")


@pytest.mark.requirement("COM-IDEM-1")
@pytest.mark.parametrize("differing", ["item", "namespace"])
def test_another_upsert_under_the_same_key_is_another_request(vector: Vector, differing: str) -> None:
    """Upserts with the same key but different ids, vectors, metadata, lengths or namespaces are all applied."""
    if differing == "namespace":
        vector.features.require_namespaces()
    first = vector.item(20, {"kind": "first"})
    alone = differing == "namespace" or vector.limits.cap_matches(2) == 1
    changes: list[list[dict[str, Any]]] = [] if alone else [[{**first, "id": vector.new_name()}]]
    changes.append([{**first, "metadata": {"kind": "other"}}])
    changes.append([{**first, "metadata": {"kind": "other"}, "vector": direction(150, vector.dimensions)}])
    changes += [] if vector.limits.most_in_batch == 1 else [[*changes[-1], vector.item(100)]]
    sandbox, key = vector.sandbox(), new_key_context()
    expect.success(sandbox_with_context(sandbox, **key).upsert(first), "an upsert")
    held = {first["id"]: first}
    if differing == "namespace":
        sandbox, changes, held = vector.sandbox(), [[first]], {}
    for items in changes:
        expect.success(sandbox_with_context(sandbox, **key).upsert(*items), "another upsert")
        held.update({item["id"]: item for item in items})
        found = expect_exactly(sandbox, *held.values())
        expect_metadata(found, items[:1], "the metadata of the last upsert")
        if vector.dimensions > 1 and items[0]["vector"] != first["vector"]:
            nearest = sandbox.ids(items[0]["vector"], 1)
            expect.check(nearest == [items[0]["id"]], "the vector of the last upsert", "an earlier vector")


@pytest.mark.requirement("COM-IDEM-8")
def test_keys_that_resemble_each_other_are_two(vector: Vector) -> None:
    """A write is carried out even after the same write under similar keys: other letter case, punctuation or space."""
    sandbox = vector.sandbox()
    early = vector.item(20, {"kind": "early"})
    late = {**early, "metadata": {"kind": "late"}}
    *others, key = similar_key_contexts()
    for other in others:
        expect.either(sandbox_with_context(sandbox, **other).upsert(late), *PERMANENT)
    sandbox.put(early)
    reply = sandbox_with_context(sandbox, **key).upsert(late)
    is_taken = expect.either(reply, *PERMANENT) and not reply.failed_items
    expect.applicable(is_taken, "an idempotency key with an underscore is refused permanently")
    expect_metadata(expect_exactly(sandbox, late), [late], "the metadata of the last upsert")


@pytest.mark.requirement("COM-IDEM-1")
def test_another_delete_under_the_same_key_is_another_request(vector: Vector) -> None:
    """Two deletes of different ids, and an upsert, under one key are all applied."""
    items = [vector.item(20), vector.item(80), vector.item(140)]
    sandbox = vector.sandbox(*items)
    context_with_key = sandbox_with_context(sandbox, **new_key_context())
    for item in items[:2]:
        expect.success(context_with_key.delete(ids=[item["id"]]), "the deletion")
    expect_exactly(sandbox, items[2])
    expect.success(context_with_key.upsert(items[0]), "an upsert")
    expect_exactly(sandbox, items[0], items[2])


@pytest.mark.requirement("COM-IDEM-1")
@pytest.mark.parametrize("operation", ["query", "batch_query"])
def test_another_query_under_the_same_key_has_its_own_answer(vector: Vector, operation: str) -> None:
    """Queries for different vectors under one key each find their own vector."""
    vector.require("query", operation)
    vector.features.require_direction()
    items = cached(vector, "asked under a key", lambda: [vector.item(degrees) for degrees in (20, 80, 140)])
    [sandbox] = shared_sandboxes(vector, "asked under a key", lambda: [vector.sandbox(*items)])
    context_with_key = sandbox_with_context(sandbox, **new_key_context())
    for item in items:
        expect_only_match(context_with_key, item, 1, operation)


@pytest.mark.requirement("COM-IDEM-1")
def test_one_key_of_two_operations_is_two_requests(vector: Vector) -> None:
    """A `delete_namespace` deletes a namespace that was created with the same key and the same arguments."""
    vector.features.require_namespaces("create_namespace", "delete_namespace", "query")
    args, key = vector.namespace_args(), new_key_context()
    expect.success(vector.call("create_namespace", args, key), "a namespace")
    deleted = vector.call("delete_namespace", args, key)
    expect.applicable(not deleted.is_a("BadRequest"), "delete_namespace refuses the arguments of create_namespace")
    expect.success(deleted, "the deletion")
    left = vector.call("query", {**vector.query_args(), "namespace": args["namespace"]})
    is_gone = left.is_a("BadRequest") or not is_existing_namespace(vector, left)
    expect.check(is_gone, "the namespace deleted", "matches of the namespace")


def is_existing_namespace(vector: Vector, reply: Reply) -> bool:
    """True if a query is answered as in an existing namespace: with success, or with the error of an empty one."""
    return reply.is_success or vector.is_empty_answer(reply)


@pytest.mark.requirement("COM-IDEM-2")
def test_a_key_of_another_tenant_reaches_the_provider(vector: Vector) -> None:
    """If two tenants send the same write under the same key, both reach the provider, even if tenants share data."""
    vector.require("query", "upsert", "delete")
    vector.faults.provider_op("upsert")
    vector.faults.provider_op("delete")
    item = vector.item(70)
    place = vector.new_name("same") if vector.has_namespaces else "default"
    stem = new_tenant_context()["tenant"]
    similar, keys = (
        vocabulary.fill_in(vocabulary.SIMILAR, stem),
        {name: new_key_context() for name in ("upsert", "delete")},
    )

    def write_twice(tenant: str) -> list[Reply]:
        """Return the answers to both writes of a tenant."""
        sandbox = VectorSandbox(vector, place, vector.dimensions, vector.metric, tenant_context(tenant))
        if vector.has_namespaces:  # if tenants share data, the item may exist already
            vector.call("create_namespace", vector.namespace_args(place), sandbox.ctx)
        sandbox.note_stored(item)
        return [
            vector.call(*request_of(vector, sandbox, name, item), {**sandbox.ctx, **key}) for name, key in keys.items()
        ]

    first, other = (write_twice(similar.get(kind, f"{stem}a")) for kind in vocabulary.ALIKE[0])
    if any(reply.is_a(*PERMANENT) for reply in other):
        other = write_twice(f"{stem}b")
    for name, one, again in zip(keys, first, other, strict=True):
        for reply in (one, again):
            expect.success(reply, f"a {name}")
        expect.assessable(one.exchange.observed.reached_provider, Obstacle.NOT_REACHED)
        reached = again.exchange.observed.reached_provider
        expect.check(reached, f"{name} to reach the provider for each tenant", "one call for both tenants")


@pytest.mark.requirement("COM-IDEM-2")
@pytest.mark.parametrize("like", vocabulary.ALIKE, ids=["letters", "signs", "normal_forms"])
def test_a_key_of_another_tenant_is_another_write(vector: Vector, like: tuple[str, str]) -> None:
    """If two tenants send the same write under the same key, the write is carried out for each of them (R126)."""
    added, gone, filtered = vector.item(40), vector.item(90, {"kind": "other"}), vector.item(140, {"kind": "first"})
    places = checks.two_tenants(vector, like=like)
    writes = {"upsert": added}
    if like == vocabulary.ALIKE[0]:
        writes |= {"delete": gone, **({"delete_by_filter": filtered} if vector.features.deletes_by_filter else {})}
        for place in places:
            place.put(gone, filtered)
    for write, item in writes.items():
        key = new_key_context()
        for place in places:
            place.note_stored(item)
            operation, args = request_of(vector, place, write, item)
            vector.shared.actions.note(operation, args)
            expect.success(vector.call(operation, args, {**place.ctx, **key}), f"a {write}")
    for place in places:
        found = place.contents()
        for write, item in writes.items():
            there = item["id"] in found
            expect.check(there is (write == "upsert"), f"{write} carried out for each tenant", "for one tenant only")
    if like == vocabulary.ALIKE[0] and vector.has_namespaces and vector.works("delete_namespace"):
        key = new_key_context()
        for place in places:
            expect.success(
                vector.call("delete_namespace", {"namespace": place.name}, {**place.ctx, **key}), "a deletion"
            )
        for place in places:
            left = place.ask(added["vector"])
            expect.check(
                left.is_error or not matches_of(left.result),
                "the namespace of each tenant deleted",
                "the namespace of one tenant deleted",
            )


@pytest.mark.requirement("COM-IDEM-2")
def test_a_key_of_another_tenant_is_another_creation(vector: Vector) -> None:
    """If two tenants create a namespace of the same name under the same key, each of them gets the namespace."""
    require_tenants(vector)
    require_write(vector, "create_namespace")
    args, key, stem = (
        vector.namespace_args(vector.new_name("same")),
        new_key_context(),
        new_tenant_context()["tenant"],
    )
    similar = vocabulary.fill_in(vocabulary.SIMILAR, stem)
    contexts: list[dict[str, str]] = []
    for kind, end in zip(vocabulary.ALIKE[1], "ab", strict=True):
        ctx = tenant_context(similar[kind])
        reply = vector.call("create_namespace", args, {**ctx, **key})
        if reply.is_a(*PERMANENT):
            ctx = tenant_context(f"{stem}{end}")
            reply = vector.call("create_namespace", args, {**ctx, **key})
        expect.success(reply, "a create_namespace")
        contexts.append(ctx)
    for ctx in contexts:
        sandbox = VectorSandbox(vector, args["namespace"], vector.dimensions, vector.metric, ctx)
        there = is_existing_namespace(vector, sandbox.ask())
        expect.check(there, "the namespace of each tenant created", "the namespace of one tenant only")


@pytest.mark.requirement("COM-IDEM-3")
def test_a_replay_has_the_failures_of_the_first_call(vector: Vector) -> None:
    """The replay of an upsert with failed parts is answered with exactly the same failures in the same order."""
    vector.require("upsert")
    sandbox, key = vector.sandbox(), new_key_context()
    items = [vector.item(angle) for angle in (20, 80, 140)][: vector.limits.most_in_batch or 3]
    items[1:] = [{**item, "vector": [*item["vector"], 0.5]} for item in items[1:]]
    first = sandbox_with_context(sandbox, **context_with_key(key)).upsert(*items)
    expect.applicable(first.failed_items, "the whole upsert is refused if one vector is bad")
    replays.expect_same_result(first, sandbox_with_context(sandbox, **context_with_key(key)).upsert(*items))


def require_write(vector: Vector, write: str) -> None:
    """Check that a write is offered and works."""
    if write == "delete_by_filter":
        vector.features.require_filter_deletes()
    if write.endswith("namespace"):
        vector.features.require_namespaces()
        vector.require(write)


@pytest.mark.requirement("COM-IDEM-3")
@pytest.mark.parametrize("write", ["upsert", "upsert_of_a_tenant", "create_namespace", "delete_namespace"])
def test_a_replay_applies_once(vector: Vector, write: str) -> None:
    """A replay is answered like the first call and does not overwrite later writes, with or without a tenant."""
    name, _, tenant = write.partition("_of_a_")
    require_write(vector, name)
    owner = f"tenant{canary()}" if tenant or name == "create_namespace" else None
    item, gone = vector.item(40, {"kind": "upserted"}), vector.item(80, {"kind": "first"})
    if name == "create_namespace":
        sandbox = VectorSandbox(vector, vector.new_name("n"), vector.dimensions, vector.metric, tenant_context(owner))
    else:
        sandbox = vector.sandbox(*([] if name == "delete_namespace" else [gone]), tenant=owner)
    deleted = "delete_by_filter" if tenant and vector.features.deletes_by_filter else "delete"
    writes = {name: item, **({deleted: gone} if name == "upsert" else {})}
    made = []
    for each, of in writes.items():
        operation, args = request_of(vector, sandbox, each, of)
        key, first = replays.send_first(partial(vector.call, operation, args), **tenant_context(owner))
        made.append((operation, args, key, first))
    if name == "delete_namespace":
        sandbox = vector.sandbox(tenant=owner, name=sandbox.name)
    later = [
        {**of, "vector": direction(of_angle, vector.dimensions), "metadata": {"kind": "later"}}
        for of, of_angle in zip(writes.values(), (130, 165), strict=False)
    ]
    sandbox.put(*later)
    for operation, args, key, first in made:
        replays.expect_same_result(first, vector.call(operation, args, context_with_key(key)))
    found = expect_exactly(sandbox, *later, claim="the vectors written after the first call")
    expect_metadata(found, later, "the later metadata")


def request_of(vector: Vector, sandbox: VectorSandbox, write: str, item: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the operation and the arguments of a write."""
    requests: dict[str, tuple[str, dict[str, Any]]] = {
        "upsert": ("upsert", sandbox.args(vectors=[item])),
        "delete": ("delete", sandbox.args(ids=[item["id"]])),
        "delete_by_filter": ("delete", sandbox.args(filter={"kind": "first"})),
        "create_namespace": ("create_namespace", vector.namespace_args(sandbox.name)),
        "delete_namespace": ("delete_namespace", {"namespace": sandbox.name}),
    }
    return requests[write]


@rules("once COM-IDEM-4, once_at_the_provider COM-IDEM-7")
@pytest.mark.parametrize("name", ["upsert", "delete"])
def test_a_write_that_is_sent_twice_at_once_is_carried_out_once(vector: Vector, requirement: str, name: str) -> None:
    """If a write is sent twice concurrently under one key, the answers are equal and a slow provider gets one call."""
    vector.require("query", name)
    if requirement == "COM-IDEM-7":
        vector.faults.provider_op(name)
    results, reached = send_twice_at_once(vector, name)
    if requirement == "COM-IDEM-4":
        expect.check(
            are_equal_json(*results), "the same result for both", replays.describe_difference(*results), "result"
        )
    else:
        expect.check(reached == 1, "one call of the provider", f"{reached} at once")


@remembered
def send_twice_at_once(vector: Vector, name: str) -> tuple[list[Any], int]:
    """Send a write twice concurrently; return the results, and how often the write reached a slow provider."""
    op, item = None, cached(vector, "sent twice", lambda: vector.item(40))
    with suppress(Undecided):
        op = vector.faults.provider_op(name)
    [sandbox] = shared_sandboxes(vector, "sent twice", lambda: [vector.sandbox(item, vector.item(120))])
    request = vector.envelope(*request_of(vector, sandbox, name, item), {**sandbox.ctx, **new_key_context()})
    return replays.send_twice_at_once(vector, request, op)


@pytest.mark.requirement("COM-IDEM-5")
def test_a_write_that_failed_can_be_sent_again(vector: Vector) -> None:
    """After a failure of the provider, the same write is carried out, under the same key or a new key."""
    vector.require("upsert")
    args = {"vectors": [vector.item(40)], **vector.requests.scratch_namespace_arg}
    _, reply = try_with_fault(
        vector, lambda instance: replays.expect_second_attempt(instance, "upsert", args), lambda reply: reply.is_success
    )
    result = reply.result
    expect.check(not failed_items(result), "the write to be carried out", "a failed item", "result.failures")
