"""The vector component as tests use it."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.exchange import op_of
from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import ReplayProbe
from pytest_corpus.kit.audit.auditor import ComponentAuditor, payload_problem
from pytest_corpus.kit.common_facts import FoundFact
from pytest_corpus.kit.component import Parts
from pytest_corpus.kit.faults import ProviderFaults, try_with_fault
from pytest_corpus.kit.fixtures import fixture_of
from pytest_corpus.kit.judgement import reading_separately
from pytest_corpus.kit.outcomes import Blocked, Violation, Violations, describe
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.requests import Request
from pytest_corpus.kit.store.store import Use, tenant_context, tenant_of
from pytest_corpus.redaction import describe_word
from pytest_corpus.spec.errors import PERMANENT
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.spec.operations import Operation
from pytest_corpus.suites.vector.support.answers import id_of, matches_of, metadata_of, results_of
from pytest_corpus.suites.vector.support.capabilities import VectorCalls
from pytest_corpus.suites.vector.support.geometry import direction
from pytest_corpus.suites.vector.support.preparation import VectorPrerequisites, VectorSettling
from pytest_corpus.suites.vector.support.requests import VectorRequests
from pytest_corpus.suites.vector.support.sandbox import VectorSandbox, offer_items
from pytest_corpus.suites.vector.support.shared import (
    RANKING,
    WRITING,
    Item,
    VectorShared,
    namespace_key,
    namespaces_in,
)
from pytest_corpus.suites.vector.support.store import VectorStore


class VectorFaults(ProviderFaults):
    """Plans faults at the provider. It leaves out operations that report a failure for each item."""

    _calls: VectorCalls

    def backed_operations(self, *, streaming: bool) -> list[str]:
        """Return the operations that answer a provider's failure with an error, not with failed items (R14)."""
        return [name for name in super().backed_operations(streaming=streaming) if not self.reports_items(name)]

    def reports_items(self, name: str) -> bool:
        """True if an operation on several items reports a provider's failure as a failure of each item."""
        if name not in ("upsert", "delete"):
            return False
        if name not in self._calls.shared.itemised:
            scope = f"vector.{name} itemised"

            def find_out() -> FoundFact:
                with inputs.fact_scope(scope):
                    ask = partial(_call_with_outage, name=name)
                    _, reply = try_with_fault(self._calls, ask, lambda reply: reply.is_error)
                return FoundFact(reply.is_success and bool(reply.failed_items))

            self._calls.shared.itemised[name] = self._calls.shared.find(scope, find_out).answer
        return self._calls.shared.itemised[name]


def _call_with_outage(vector: VectorCalls, name: str) -> Reply:
    """Return the answer of an operation while its provider is unavailable."""
    vector.faults.plan("unavailable", name)
    reply = vector.call(name, vector.requests.distinct(name))
    vector.client.provider.clear()
    return reply


class VectorAuditor(ComponentAuditor):
    """Checks the payloads of the vector component. A wrong argument that the answer repeats is not a finding."""

    _calls: VectorCalls

    def audit(self, *, is_last: bool = False) -> Iterator[Violation]:
        for violation in super().audit(is_last=is_last):
            if violation.exchange is None or not _repeats_wrong_argument(violation.path, violation.exchange.request):
                yield violation

    def result_findings(self, operation: Operation, result: Any) -> Violations:
        name, shaped, edition = operation.name, operation.shaped, self._calls.settings.edition
        if name in ("capabilities", "health", "create_namespace", "delete_namespace"):
            if not isinstance(result, Mapping):
                yield shaped, Violation("an object", describe_word(result), "result")
            elif shaped == "VEC-NS-10" and result.get("success") is False:
                yield shaped, Violation("true, or an error envelope", "false", "result.success")
        elif name == "query":
            yield from _match_findings(result)
        elif name == "batch_query":
            if edition == "1.0.0" and not isinstance(result, Mapping):
                yield shaped, Violation("an object (edition 1.0.0)", describe_word(result), "result")
            try:
                for each in results_of(result):
                    if problem := payload_problem("vector.types.query_result", each, edition):
                        yield shaped, problem
                    else:
                        yield from _match_findings(each)
            except Blocked as problem:
                yield shaped, Violation("a list of query results", problem.seen, "result")


class Vector(VectorCalls):
    """The vector component.

    Plain requests name a main and a scratch namespace. They are created just before the first call that names them.
    """

    parts = Parts(
        VectorRequests, VectorShared, VectorFaults, VectorPrerequisites, VectorSettling, VectorStore, VectorAuditor
    )
    prerequisites: VectorPrerequisites
    requests: VectorRequests
    store: VectorStore
    faults: VectorFaults

    def sandbox(self, *items: Item, tenant: str | None = None, name: str = "", **options: Any) -> VectorSandbox:
        """Create a namespace with these vectors, or clear and refill the only one. Raises Blocked on failure."""
        ctx = tenant_context(tenant)
        dimensions, metric = options.get("dimensions", self.dimensions), options.get("metric", self.metric)
        self.shared.actions.done |= {RANKING} if "metric" in options else set()
        sandbox = VectorSandbox(self, name or self.new_name("n"), dimensions, metric, ctx)
        if self.has_namespaces:
            reply = self.call("create_namespace", self.namespace_args(sandbox.name, dimensions, metric), ctx)
            if not name and self.store.written.is_there(sandbox.store_key):
                self.store.written.change_records([sandbox.store_key], use=Use.SANDBOX)
            self._expect_created(reply, sandbox)
        else:
            sandbox.name = "default"
            # Before the sweep, because these trials fill the main namespace again.
            _ = self.features.deletes_by_filter, self.features.filters_work(), *map(self.works, self.operations())
            self.store.sweep(tenant)
            self.occupied = True
        sandbox.put(*items)
        return sandbox

    def offer_sandbox(self, name: str, *items: Item, tenant: str | None = None) -> VectorSandbox | None:
        """Create a namespace with these vectors; return None if its name or tenant is refused (R138, R139)."""
        named = name if self.has_namespaces else "default"
        sandbox = VectorSandbox(self, named, self.dimensions, self.metric, tenant_context(tenant))
        reply = (
            self.call("create_namespace", self.namespace_args(name), sandbox.ctx)
            if self.has_namespaces
            else sandbox.ask()
        )
        if self.store.is_full(reply) or not (reply.is_a("IndexNotReady") or expect.either(reply, *PERMANENT)):
            return None
        taken = offer_items(sandbox, {str(number): item for number, item in enumerate(items)})
        return sandbox if len(taken) == len(items) else None

    def main_sandbox(self) -> VectorSandbox:
        """Return the main namespace, which tests only read, or fill the only namespace with the same vectors."""
        if not self.has_namespaces:
            return self.sandbox(*self.requests.settled_vectors)
        self.require("query")
        if (obstacle := next((each for each in self.shared.unmade if isinstance(each, Blocked)), None)) is not None:
            raise obstacle
        self.shared.actions.done.add(WRITING)
        sandbox = VectorSandbox(self, self.requests.main_namespace, self.dimensions, self.metric, {})
        sandbox.note_stored(*self.requests.settled_vectors)
        sandbox.held.update(item["id"] for item in self.requests.settled_vectors)
        return sandbox

    def replay_probe(self) -> ReplayProbe:
        self.require("query", "upsert")
        sandbox, item = self.sandbox(), self.item(40, {"kind": "first"})
        later = {**item, "vector": direction(130, self.dimensions), "metadata": {"kind": "later"}}

        def other() -> None:
            if self.has_namespaces and not self.store.written.is_there(sandbox.store_key):
                with self.suite_calls():
                    self.call("create_namespace", self.namespace_args(sandbox.name))
            self.occupied = (
                self.occupied or not self.has_namespaces
            )  # keeps the only namespace from being swept before the check
            sandbox.put(later)

        def shows() -> None:
            matches = matches_of(expect.success(sandbox.ask(later["vector"], 10, include_metadata=True)))
            found = [metadata_of(match) for match in matches if id_of(match) == item["id"]]
            expect.assessable(found, Obstacle.NOT_FOUND)
            expect.check(found[0].get("kind") == "later", "the metadata of the last write", "older metadata", "result")

        return ReplayProbe(Request("upsert", sandbox.args(vectors=[item])), other, shows)

    def _expect_created(self, reply: Reply, sandbox: VectorSandbox) -> None:
        """Check that a namespace was created."""
        expect.readable(reply)
        if reply.is_success:
            return
        decided = sandbox.dimensions == self.limits.usual_dimensions and not self.store.is_full(reply)
        expect.assessable(decided, Obstacle.CREATION_ANSWERED, reply=reply)
        plain = sandbox.metric in (self.metric, next(iter(self.limits.metrics), None))
        said = Obstacle.CREATION_ANSWERED.reason(reply=reply)
        raise Blocked("VEC-NS-1" if plain else "VEC-CAP-2", said, judged_on=(reply.exchange,))

    @reading_separately()
    def send(self, request: Any, **options: Any) -> Reply:
        reply = super().send(request, **options)
        if not self.is_preparing and op_of(request) == "vector.upsert":
            self.features.check_ids(reply)
        return reply

    def transient_errors(self, reply: Reply | StreamReply) -> list[Reply | StreamReply]:
        reads = reply.exchange.op in ("vector.query", "vector.batch_query")
        if self.store.exceeds_limit(reply):
            return [reply]
        failed = super().transient_errors(reply)
        return (
            [] if failed and reads and self.is_empty_answer(reply) and not self._is_outage_if_filled(reply) else failed
        )

    def _is_outage_if_filled(self, reply: Reply | StreamReply) -> bool:
        """True if an error of a query is an outage: its namespace has vectors, and the error is not INDEX_NOT_READY."""
        if reply.is_a("IndexNotReady"):
            return False
        request = reply.exchange.request
        names, tenant = set(namespaces_in(request)) or {"default"}, tenant_of(request)
        filled = {each.store_key for each in self.shared.sandboxes if each.held}
        return self.shared.main_namespace in names or any(namespace_key(tenant, name) in filled for name in names)


def _repeats_wrong_argument(path: str, request: Any) -> bool:
    """True if an answer violates its schema only because it repeats a wrong argument, which should be refused."""
    args = request.get("args") if isinstance(request, Mapping) else None
    key = path.rpartition(".")[2]
    return key == "namespace" and isinstance(args, Mapping) and not isinstance(args.get(key, ""), str)


def _match_findings(result: Mapping[str, Any]) -> Violations:
    """Yield the contradictions in a query result that satisfies its schema."""
    matches = result["matches"]
    if result["total_matches"] < len(matches):
        said = describe(result["total_matches"])
        yield "VEC-QUERY-5", Violation(f"{len(matches)} or more", said, "result.total_matches")
    if len(set(map(id_of, matches))) < len(matches):
        yield "VEC-QUERY-3", Violation("each id once", "one of them again", "result.matches")


vector = fixture_of(Vector)

COMPONENT = Vector
