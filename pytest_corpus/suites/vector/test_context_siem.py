"""Context, observability and privacy (SPECIFICATION 6.1, 6.4, 15; BEHAVIORAL_CONFORMANCE 6.8; R19 to R21)."""

from __future__ import annotations

import json

import pytest

from pytest_corpus.suites import expect
from pytest_corpus.suites.common.context import Context, Observability, Privacy
from pytest_corpus.suites.fixtures import subject
from pytest_corpus.suites.reply import Reply
from pytest_corpus.suites.vector.place import failures_of
from pytest_corpus.suites.vector.probe import Vector, vector


class TestContext(Context):
    """What is read from `ctx`."""


class TestObservability(Observability):
    """One observation a call."""


class TestPrivacy(Privacy):
    """Vectors, metadata, filters, tenants, keys and provider texts."""


@pytest.mark.requirement("COM-LEAK-1")
def test_no_content_in_the_failures_of_a_batch(vector: Vector) -> None:
    """What is said of a failed item holds nothing of its vector or its metadata."""
    vector.require("query", "upsert")
    for name, args, ctx, hidden in vector.secretive(refused=True):
        if name == "upsert":
            reply = vector.call(name, args, ctx, secrets=hidden)
            expect.readable(reply)
            said = json.dumps(failures_of(reply.result), ensure_ascii=False)
            expect.that(not any(secret in said for secret in hidden.values()), "no content", "some", "result.failures")


@pytest.mark.requirement("VEC-CAP-5")
def test_an_item_id_is_no_label(vector: Vector) -> None:
    """The id of a vector that is upserted, found or deleted does not become a label."""
    vector.require("query", "upsert", "delete")
    name = vector.canary(20)
    replies = [
        vector.call("upsert", {"vectors": [{**vector.item(), "id": name}], **vector.at(vector.scratch)}),
        vector.call("query", {**vector.looking(45), **vector.at(vector.scratch)}),
        vector.call("delete", {"ids": [name], **vector.at(vector.scratch)}),
    ]
    for reply in replies:
        unlabelled(reply, name)


@pytest.mark.requirement("VEC-CAP-5")
def test_an_unknown_namespace_is_no_label(vector: Vector) -> None:
    """A namespace that a client made up does not become a label."""
    vector.require("query")
    vector.need_namespaces()
    name = vector.canary(20)
    unlabelled(vector.call("query", {**vector.looking(), "namespace": name}), name)


def unlabelled(reply: Reply, secret: str) -> None:
    """Nothing that was reported holds a name."""
    for report in (*reply.exchange.observations, *reply.exchange.counts):
        said = json.dumps(report.labels(), default=str)
        expect.that(secret not in said, "no label with what a client named", "one", "extra")
