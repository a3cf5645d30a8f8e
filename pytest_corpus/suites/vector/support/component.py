"""The vector component as its suite speaks to it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.exceptions import UNCALLABLE
from pytest_corpus.adapter.exchange import Exchange, op_of
from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import ReplayProbe
from pytest_corpus.kit.audit.exchanges import payload_problem
from pytest_corpus.kit.faults import ProviderFaults, at_struck
from pytest_corpus.kit.fixtures import fixture_of
from pytest_corpus.kit.judgement import reading_apart
from pytest_corpus.kit.outcomes import Blocked, Outage, Violation, in_words
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.requests import Request
from pytest_corpus.kit.store.settling import postponed
from pytest_corpus.redaction import word
from pytest_corpus.spec.errors import PERMANENT
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.vector.support.answers import failures_of, id_of, matches_of, metadata_of, results_of
from pytest_corpus.suites.vector.support.capabilities import VectorCapabilities, VectorConditions
from pytest_corpus.suites.vector.support.cleanup import Cleanup, nothing
from pytest_corpus.suites.vector.support.geometry import direction
from pytest_corpus.suites.vector.support.preparation import Preparation, VectorPrerequisites, VectorSettling
from pytest_corpus.suites.vector.support.requests import VectorRequests
from pytest_corpus.suites.vector.support.sandbox import Sandbox, offer
from pytest_corpus.suites.vector.support.shared import DROPPING, RANKING, WRITING, Item, context_of, named_in, tenant_of

INTERRUPTIONS = (KeyboardInterrupt, pytest.exit.Exception)
"""The end of a run that comes in the middle of a call."""

PERHAPS = ("Unavailable", "TransientNetwork", "DeadlineExceeded")
"""Errors after which a write may have been carried out."""


class VectorFaults(ProviderFaults):
    """Faults at the provider; a batch may report them for each item."""

    _calls: VectorCapabilities

    def backed(self, *, streaming: bool) -> list[str]:
        """The operations whose answer to a failing provider is an error; a batch may report it for each item (R14)."""
        return [name for name in super().backed(streaming=streaming) if not self.itemised(name)]

    def itemised(self, name: str) -> bool:
        """True if an operation on several items reports a failing provider as the failure of each item."""
        if name not in ("upsert", "delete"):
            return False
        if name not in self._calls.shared.itemised:
            with inputs.fact_scope(f"vector.{name} itemised"):
                _, reply = at_struck(self._calls, partial(_unavailable, name=name), lambda reply: reply.is_error)
            self._calls.shared.itemised[name] = reply.is_success and bool(failures_of(reply.result))
        return self._calls.shared.itemised[name]


def _unavailable(vector: VectorCapabilities, name: str) -> Reply:
    """The answer of an operation whose provider is unavailable."""
    vector.faults.plan("unavailable", name)
    reply = vector.call(name, vector.requests.distinct(name))
    vector.client.provider.clear()
    return reply


class Vector(VectorConditions):
    """Requests of the vector component.

    Plain requests speak of a home and a scratch namespace, which are made for each tenant and each instance of
    the adapter just before the first call that names them.
    """

    prerequisites_type = VectorPrerequisites
    prerequisites: VectorPrerequisites
    requests_type = VectorRequests
    requests: VectorRequests
    faults_type = VectorFaults
    settling_type = VectorSettling
    faults: VectorFaults

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.shared.first = self.shared.first or self.client
        self._cleanup = Cleanup(self)
        self._preparation = Preparation(self, self.requests, self._cleanup, self.prerequisites.met)

    # -- places ----------------------------------------------------------------------------------------

    def sandbox(self, *items: Item, tenant: str | None = None, name: str = "", **made: Any) -> Sandbox:
        """A new namespace with these vectors in it; without namespaces the default one, swept.

        Raises Blocked if it cannot be created or written to.
        """
        ctx = context_of(tenant)
        dimensions, metric = made.get("dimensions", self.dimensions), made.get("metric", self.metric)
        self.shared.actions.done |= {RANKING} if "metric" in made else set()
        sandbox = Sandbox(self, name or self.name("n"), dimensions, metric, ctx)
        self.shared.temporary_namespaces |= set() if name else {sandbox.place}
        if self.namespaces:
            reply = self.call("create_namespace", self.named(sandbox.name, dimensions, metric), ctx)
            self._created(reply, sandbox)
        else:
            sandbox.name = "default"
            self._find_out_what_works()
            self._cleanup.sweep(tenant)
            self.occupied = True
        sandbox.put(*items)
        return sandbox

    def offered(self, name: str, *items: Item, tenant: str | None = None) -> Sandbox | None:
        """A place with these vectors, whose name or tenant may be refused permanently (R138, R139); None if it is."""
        named = name if self.namespaces else "default"
        sandbox = Sandbox(self, named, self.dimensions, self.metric, context_of(tenant))
        reply = self.call("create_namespace", self.named(name), sandbox.ctx) if self.namespaces else sandbox.ask()
        if self.is_full(reply) or not (reply.is_a("IndexNotReady") or expect.either(reply, *PERMANENT)):
            return None
        taken = offer(sandbox, {str(number): item for number, item in enumerate(items)})
        return sandbox if len(taken) == len(items) else None

    def home(self) -> Sandbox:
        """The main namespace, to be read only; without namespaces the default one, swept, with vectors like its own."""
        if not self.namespaces:
            return self.sandbox(*self.requests.settled)
        self.require("query")
        if (obstacle := next((each for each in self.prerequisites.met if isinstance(each, Blocked)), None)) is not None:
            raise obstacle
        self.shared.actions.done.add(WRITING)
        sandbox = Sandbox(self, self.requests.main_namespace, self.dimensions, self.metric, {})
        sandbox.know(*self.requests.settled)
        sandbox.held.update(item["id"] for item in self.requests.settled)
        return sandbox

    def replay_probe(self) -> ReplayProbe:
        self.require("query", "upsert")
        sandbox, item = self.sandbox(), self.item(40, {"kind": "first"})
        later = {**item, "vector": direction(130, self.dimensions), "metadata": {"kind": "later"}}

        def other() -> None:
            if self.namespaces and sandbox.place not in self.shared.made_namespaces:
                with self.prepares():
                    self.call("create_namespace", self.named(sandbox.name))
            self.occupied = self.occupied or not self.namespaces  # the only place is not swept before the look
            sandbox.put(later)

        def shows() -> None:
            matches = matches_of(expect.success(sandbox.ask(later["vector"], 10, include_metadata=True)))
            found = [metadata_of(match) for match in matches if id_of(match) == item["id"]]
            expect.assessable(found, Obstacle.NOT_FOUND)
            expect.check(found[0].get("kind") == "later", "the metadata of the last write", "older metadata", "result")

        return ReplayProbe(Request("upsert", sandbox.args(vectors=[item])), other, shows)

    def _find_out_what_works(self) -> None:
        """Before the sweep, because finding it out fills the main namespace again."""
        _ = self.deletes_by_filter, self.filters_work(), *map(self.works, self.operations())

    def _created(self, reply: Reply, sandbox: Sandbox) -> None:
        """Go on only if a namespace was created."""
        expect.readable(reply)
        if reply.is_success:
            return
        decided = sandbox.dimensions == self.usual and not self.is_full(reply)
        expect.assessable(decided, Obstacle.CREATION_ANSWERED, reply=reply)
        plain = sandbox.metric in (self.metric, next(iter(self.metrics), None))
        said = Obstacle.CREATION_ANSWERED.reason(reply=reply)
        raise Blocked("VEC-NS-1" if plain else "VEC-CAP-2", said, judged_on=(reply.exchange,))

    # -- calls -----------------------------------------------------------------------------------------

    @reading_apart()
    def send(self, request: Any, **options: Any) -> Reply:
        """Make the places that a request speaks of, then send it."""
        request = self._prepared(request)
        self.shared.actions.done |= {DROPPING} if op_of(request) == "vector.delete_namespace" else set()
        take_back = nothing if self.outages.lasting else self._cleanup.foresee(request)
        try:
            reply = super().send(request, **options)
        except UNCALLABLE:
            take_back()
            raise
        except Outage:
            self._cleanup.answered(request, is_success=False)
            raise
        except INTERRUPTIONS:  # a write that was under way may have been carried out
            if op_of(request) == "vector.upsert":
                self._cleanup.note(request)
            raise
        self._settle(request, reply, take_back)
        if not self._preparing and isinstance(request, Mapping) and request.get("op") == "vector.upsert":
            self.check_ids(reply)
        return reply

    @reading_apart()
    def send_all(self, requests: Sequence[Any]) -> list[Exchange]:
        """Make the places that requests speak of, then send them all at once."""
        prepared = [self._prepared(request) for request in requests]
        undo = [self._cleanup.foresee(request) for request in prepared]
        exchanges = super().send_all(prepared)
        for request, exchange, take_back in zip(prepared, exchanges, undo, strict=True):
            self._settle(request, Reply(exchange), take_back)
        return exchanges

    def _settle(self, request: Any, reply: Reply, take_back: Callable[[], None]) -> None:
        """Note what an answered request has stored, or may have stored, and forget what was refused."""
        uncertain = reply.is_a(*PERHAPS)
        if reply.is_success or (uncertain and op_of(request) == "vector.upsert"):
            self._cleanup.note(request)
        if reply.is_error and not uncertain:
            take_back()
        if (reply.is_a(*PERMANENT) and not reply.is_a("NamespaceNotFound")) or self._is_struck(reply):
            self._preparation.keep(request)
        self._cleanup.answered(request, is_success=reply.is_success)

    def _is_struck(self, reply: Reply) -> bool:
        """True if a request failed at the instance where each fails for a planned fault."""
        return (
            reply.is_error
            and bool(reply.exchange.observed.faults)
            and self.client is self.shared.struck is not self.main.client
        )

    def _prepared(self, request: Any) -> Any:
        if self._preparing or not isinstance(request, Mapping):
            return request
        before_s = self.settle.waited_s
        self._preparation.prepare(request)
        return postponed(request, self.settle.waited_s - before_s)

    def relieve(self, reply: Reply | StreamReply) -> bool:
        return self.is_full(reply) and self._cleanup.relieve(reply.exchange.request)

    def is_full(self, reply: Reply | StreamReply) -> bool:
        if reply.is_a("ResourceExhausted"):
            return reply.exchange.op in ("vector.create_namespace", "vector.upsert")
        return self._exceeds(reply)

    def _exceeds(self, reply: Reply | StreamReply) -> bool:
        """True if a namespace that was refused is one more than capabilities allow (BEHAVIORAL_CONFORMANCE 6.7)."""
        most = self.capabilities.published("max_namespaces")
        if most is None or reply.exchange.op != "vector.create_namespace" or not reply.is_a(*PERMANENT):
            return False
        request = reply.exchange.request
        new = {(tenant_of(request), name) for name in named_in(request)}
        return len(self.shared.made_namespaces.keys() - new) >= most and not reply.exchange.observed.faults

    def failing(self, reply: Reply | StreamReply) -> list[Reply | StreamReply]:
        reads = reply.exchange.op in ("vector.query", "vector.batch_query")
        if self._exceeds(reply):
            return [reply]
        failed = super().failing(reply)
        return [] if failed and reads and self.says_empty(reply) and not self._holds_something(reply) else failed

    def _holds_something(self, reply: Reply | StreamReply) -> bool:
        """True if UNAVAILABLE is the answer to a query of a place with vectors; INDEX_NOT_READY is judged as it is."""
        if reply.is_a("IndexNotReady"):
            return False
        request = reply.exchange.request
        names, tenant = set(named_in(request)) or {"default"}, tenant_of(request)
        filled = {each.place for each in self.shared.sandboxes if each.held}
        return self.shared.main_namespace in names or any((tenant, name) in filled for name in names)

    def begin(self, *, unlearn: bool = False) -> None:
        self._cleanup.release()
        super().begin(unlearn=unlearn)

    def tidy(self) -> None:
        with self.settling.at_once(), suppress(*UNCALLABLE, Outage):
            self._cleanup.remove()

    # -- what holds for every answer -------------------------------------------------------------------

    def audit(self, *, is_last: bool = False) -> Iterator[tuple[str, Violation]]:
        for requirement, violation in super().audit(is_last=is_last):
            if violation.exchange is None or not _repeats(violation.path, violation.exchange.request):
                yield requirement, violation

    def audit_payload(self, name: str, result: Any) -> Iterator[tuple[str, Violation]]:
        edition, shaped = self.settings.edition, self.operation(name).shaped
        if name in ("capabilities", "health", "create_namespace", "delete_namespace"):
            if not isinstance(result, Mapping):
                yield shaped, Violation("an object", word(result), "result")
            elif shaped == "VEC-NS-10" and result.get("success") is False:
                yield shaped, Violation("true, or an error envelope", "false", "result.success")
        elif name in ("upsert", "delete"):
            if problem := payload_problem("vector.types.partial_success_result", result, edition):
                yield shaped, problem
        elif name == "query":
            yield from _query_result(result, edition, shaped)
        elif name == "batch_query":
            if edition == "1.0.0" and not isinstance(result, Mapping):
                yield shaped, Violation("an object (edition 1.0.0)", word(result), "result")
            try:
                for each in results_of(result):
                    yield from _query_result(each, edition, shaped)
            except Blocked as problem:
                yield shaped, Violation("a list of query results", problem.seen, "result")


def _repeats(path: str, request: Any) -> bool:
    """True if an answer breaks its schema only by repeating a wrong argument, which should have been refused."""
    args = request.get("args") if isinstance(request, Mapping) else None
    key = path.rpartition(".")[2]
    return key == "namespace" and isinstance(args, Mapping) and not isinstance(args.get(key, ""), str)


def _query_result(result: Any, edition: str | None, requirement: str) -> Iterator[tuple[str, Violation]]:
    if problem := payload_problem("vector.types.query_result", result, edition):
        yield requirement, problem
        return
    matches = result["matches"]
    if result["total_matches"] < len(matches):
        said = in_words(result["total_matches"])
        yield "VEC-QUERY-5", Violation(f"{len(matches)} or more", said, "result.total_matches")
    if len(set(map(id_of, matches))) < len(matches):
        yield "VEC-QUERY-3", Violation("each id once", "one of them again", "result.matches")


vector = fixture_of(Vector)

COMPONENT = Vector
