"""The graph component as its suite speaks to it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from types import NoneType
from typing import Any

from pytest_corpus.adapter.exceptions import UNCALLABLE
from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import ReplayProbe
from pytest_corpus.kit.audit.exchanges import payload_problem
from pytest_corpus.kit.fixtures import fixture_of
from pytest_corpus.kit.judgement import reading_apart
from pytest_corpus.kit.outcomes import Outage, Violation
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.requests import Request
from pytest_corpus.redaction import word
from pytest_corpus.spec.errors import BY_KIND
from pytest_corpus.suites.graph.support.answers import failures
from pytest_corpus.suites.graph.support.capabilities import ASKING, GraphCapabilities
from pytest_corpus.suites.graph.support.place import value_of
from pytest_corpus.suites.graph.support.readers import GraphPrerequisites, GraphSettling, Readers
from pytest_corpus.suites.graph.support.requests import NEEDY, GraphRequests
from pytest_corpus.suites.graph.support.written_items import MANY, WRITES, deleted_by

"""The reasons why an adapter is not called; its content then stays until the end."""

WRITING = (*WRITES, *MANY)
"""The operations that write."""

MANY_ITEMS, MANY_SEEN = 800, 200
"""The number of nodes and edges that may stay for some tests (R115); fewer where tests list those of others."""

EXTENSIONS = ("provider_specific", "experimental_features")
"""The keys of any result that hold an object, if they are there (SCHEMA 10.3, R56)."""

FEW_ITEMS = 4
"""Fewer items of a kind in one place stay until the end: each place costs a call."""

ANSWERED_WITH_IDS = ("upsert_nodes", "upsert_edges", "delete_nodes", "delete_edges")
"""The operations that may answer with ids or nothing, where edition 1.0.0 does not forbid it (R123)."""


class Graph(GraphCapabilities):
    """Requests of the graph component: nodes of unique ids, in the default namespace unless a test has its own."""

    prerequisites_type = GraphPrerequisites
    requests_type = GraphRequests
    settling_type = GraphSettling
    requests: GraphRequests
    prerequisites: GraphPrerequisites
    readers: Readers

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.readers = Readers(self)

    def call(
        self, name: str, args: Mapping[str, Any] | None = None, ctx: Mapping[str, Any] | None = None, **options: Any
    ) -> Reply:
        tenant = (ctx or {}).get("tenant")
        of_seeds = args is None or f"{self.seeds.tag}-s1" in str(args)
        if name in NEEDY and name not in ASKING and isinstance(tenant, str) and tenant and of_seeds:
            self.seed(tenant)
        return super().call(name, args, ctx, **options)

    @reading_apart()
    def send(self, request: Any, **options: Any) -> Reply:
        written, journal = self.shared.written_items, self.settings.journal
        fresh = [] if self.outages.lasting else written.note(request, journal)
        try:
            reply = super().send(request, **options)
        except UNCALLABLE:
            written.forget(fresh, journal)
            raise
        except Outage:
            written.answered(request, journal, is_success=False)
            raise
        written.answered(request, journal, is_success=reply.is_success)
        struck = (
            any(BY_KIND[kind].canonical for kind in reply.exchange.observed.faults)
            and not self.client.provider.is_on_wire  # a part of a write may be carried out there
        )
        if reply.is_a("BadRequest", "NotSupported", "ResourceExhausted") or (struck and reply.is_error):
            written.forget(fresh, journal)
        elif reply.is_success and not failures(reply.result):
            written.forget(list(deleted_by(request)), journal)
        return reply

    @reading_apart()
    def send_all(self, requests: Sequence[Any]) -> list[Exchange]:
        for request in requests:
            self.shared.written_items.note(request, self.settings.journal)
        exchanges = super().send_all(requests)
        for request, exchange in zip(requests, exchanges, strict=True):
            is_success = Reply(exchange).is_success
            self.shared.written_items.answered(request, self.settings.journal, is_success=is_success)
        return exchanges

    def stated(self, limit: str) -> int:
        """A limit that capabilities state."""
        return expect.applicable(self.capabilities.limit(limit), f"capabilities state no {limit}")

    def replay_probe(self) -> ReplayProbe:
        self.require("upsert_nodes")
        sandbox = self.sandbox(own=False)
        node, newer = sandbox.node("a"), sandbox.node("a")
        return ReplayProbe(
            Request("upsert_nodes", {**sandbox.place, "nodes": [node]}, sandbox.ctx),
            lambda: sandbox.put(newer),
            lambda: sandbox.all_show([value_of(newer)], "what was written last"),
        )

    @property
    def most_items(self) -> int:
        """The number of nodes and edges that may stay for some tests."""
        apart = all(map(self.capabilities.flag, ("supports_namespaces", "supports_property_filters")))
        return MANY_ITEMS if apart else MANY_SEEN

    def relieve(self, reply: Reply | StreamReply) -> bool:
        if not self.is_full(reply):
            return False
        gone = self.shared.written_items.delete(self, self.at_once, self.lasts)
        self.shared.crowded = not gone
        return gone

    def is_full(self, reply: Reply | StreamReply) -> bool:
        return reply.is_a("ResourceExhausted") and reply.exchange.op.removeprefix("graph.") in WRITING

    def audit_payload(self, name: str, result: Any) -> Iterator[tuple[str, Violation]]:
        requirement = self.operation(name).shaped
        if not requirement or self.operation(name).streaming:
            return
        if not isinstance(result, Mapping) and (name not in ANSWERED_WITH_IDS or self.settings.edition == "1.0.0"):
            yield requirement, Violation("an object", word(result), "result")
        elif name not in ("capabilities", "health") and self.settings.edition != "1.0.0":
            # Edition 1.0.0 has no schema that says what the result of a graph operation is.
            whole = {"ok": True, "code": "OK", "ms": 0, "result": result}
            if problem := payload_problem(f"graph.{name}.success", whole, self.settings.edition):
                yield requirement, problem
            for key in EXTENSIONS if isinstance(result, Mapping) else ():
                if not isinstance(result.get(key), (Mapping, NoneType)):
                    yield requirement, Violation("an object", word(result[key]), f"result.{key}")

    def audit_chunk(self, _name: str, _chunk: Mapping[str, Any]) -> Iterator[tuple[str, Violation]]:
        yield from ()

    @property
    def holds_much(self) -> bool:
        written = self.shared.written_items
        return self.shared.crowded or len(written.made) + len(written.older) >= self.most_items

    def begin(self, *, unlearn: bool = False) -> None:
        if self.shared.crowded and unlearn:  # what other tests look at is in the way, and will be written again
            self.shared.lasting.clear()
        self._release()
        super().begin(unlearn=unlearn)

    def _release(self) -> None:
        """Delete what earlier tests wrote, once it is much."""
        written = self.shared.written_items
        written.age()
        if len(written.older) < self.most_items and not self.shared.crowded:
            return
        least = 1 if self.shared.crowded else FEW_ITEMS
        self.shared.crowded = False
        self.client.provider.clear()
        for seeded in self.shared.seeded.values():
            if any(tenant is not None for tenant, _ in seeded):
                seeded.clear()  # of tenants that share their data, all lose their seeds with those of one
        with suppress(*UNCALLABLE, Outage):
            self.settling.pause()
            with self.settling.at_once():
                written.delete(self, self.at_once, self.lasts, least=least)

    def tidy(self) -> None:
        """Delete all that was written; what an adapter refuses to delete stays."""
        with self.settling.at_once(), suppress(*UNCALLABLE, Outage):
            self.shared.written_items.remove(self, self.at_once)


graph = fixture_of(Graph)

COMPONENT = Graph
