"""The features of a graph adapter, the texts of queries, and the names of operations in batches (R33, R48)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.turns import finding_out
from pytest_corpus.kit.common_facts import FoundFact
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.outcomes import NotApplicable, NotAssessed, Undecided
from pytest_corpus.kit.reply import Reply
from pytest_corpus.kit.run_state import MIN_NAMESPACES
from pytest_corpus.spec.errors import PERMANENT
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.spec.operations import BY_OP
from pytest_corpus.suites.graph.support.run_state import MANY, Dialects, GraphShared
from pytest_corpus.suites.graph.support.sandbox import GraphSandbox

PREFIX = "graph."

WRITES = tuple(f"{what}_{kind}" for what in ("upsert", "delete") for kind in ("nodes", "edges"))


class OperationNames:
    """The names of operations in batches and transactions.

    If capabilities list names for batches, the listed names are used. Otherwise `upsert_nodes` is tried before
    `graph.upsert_nodes`.
    """

    def __init__(self, graph: GraphCapabilities) -> None:
        self._graph = graph

    def spell_operation(self, name: str) -> str:
        """Return the name of an operation in batches.

        Raises:
            NotApplicable: capabilities list only other operations for batches.
        """
        for names in _operation_lists(self._graph.capabilities.document):
            for spelling in (name, PREFIX + name):
                if spelling in names:
                    return spelling
            raise NotApplicable(f"capabilities list no {name} for batches")
        return self._prefix() + name

    def spell_or_bare_name(self, name: str) -> str:
        """Return the name of an operation in batches, or `name` itself if batches do not accept the operation."""
        try:
            return self.spell_operation(name)
        except NotApplicable:
            return name

    def accepts_writes(self, operation: str) -> bool:
        """True if the operation (`batch` or `transaction`) is offered and accepts every write."""
        try:
            return self._graph.works(operation) and all(map(self.spell_operation, WRITES))
        except NotApplicable:
            return False

    def _prefix(self) -> str:
        shared = self._graph.shared
        with finding_out(id(shared), "batch prefix", undo=lambda: setattr(shared, "batch_prefix", None)):
            if shared.batch_prefix is None:
                shared.batch_prefix = ""  # the trial itself needs a prefix
                with inputs.fact_scope("graph batch prefix"):
                    shared.batch_prefix = self._accepted_prefix()
        return shared.batch_prefix

    def _accepted_prefix(self) -> str:
        for carrier in MANY:
            if self._graph.prerequisites.denies(carrier):
                continue
            for prefix in ("", PREFIX):
                item = {"op": f"{prefix}upsert_nodes", "args": self._graph.plain_nodes()}
                with self._graph.client.provider.paused():
                    reply = self._graph.call(carrier, {MANY[carrier]: [item]})
                if reply.is_carried_out:
                    return prefix
                if not (reply.is_a(*PERMANENT) or reply.is_success):
                    break
        return ""


def _operation_lists(value: Any, key: str = "") -> Iterator[list[str]]:
    """Yield each list in capabilities that names the operations of batches. A list of all operations is ignored."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _operation_lists(item, str(name))
    elif isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        bare = {item.removeprefix(PREFIX) for item in value}
        if all(PREFIX + item in BY_OP for item in bare) and ("batch" in key or not bare & {*MANY, "capabilities"}):
            yield value


ASKING = ("query", "stream_query")
"""The operations that take a text of a dialect."""

MOST_AT_ONCE = 20
"""The suite puts at most this many items into one request. A lower limit in the capabilities reduces the number."""

SEEDS = tuple(f"s{number}" for number in range(1, 9))
"""The names of the nodes that plain requests use. Edges lead from the first to the second and on to the third."""


class GraphCapabilities(Subject):
    """A graph's dialects, limits, batches and namespaces, and the nodes to which plain requests refer."""

    component = "graph"
    principal = "upsert_nodes"
    principal_stream = "stream_query"
    wrong_type_requirement = "GRA-NODE-6"

    shared: GraphShared
    readers: Any

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.seeds = GraphSandbox(self, f"{self.settings.process_prefix}s")
        self.plain = GraphSandbox(self, f"{self.settings.process_prefix}p")
        self.seed_ids = frozenset(map(self.seeds.id, (*SEEDS, "e1", "e2")))
        self.operation_names = OperationNames(self)

    @property
    def dialects(self) -> Dialects:
        """The listed dialects, with the spellings of queries that the suite tried in each dialect."""
        if self.shared.dialects is None:
            self.shared.dialects = Dialects(self.capabilities.names("dialects"), self.settings.dialects)
        return self.shared.dialects

    @property
    def items_per_request(self) -> int:
        """The largest number of items that the suite puts into one request."""
        stated = map(self.capabilities.limit, ("max_batch_ops", "max_batch_size"))
        return min([MOST_AT_ONCE, *filter(None, stated)])

    @property
    def accepts_filters(self) -> bool:
        """True if lists of nodes accept filters by property: a trial works, or filters are claimed and not refused."""
        claimed = self.capabilities.flag("supports_property_filters")

        def is_filter_answered() -> bool:
            args = {"limit": 5, "filter": {"corpus_group": self.seeds.group}}
            with self.client.provider.paused():
                if not self.works("bulk_vertices"):
                    return claimed is True
                reply = self.call("bulk_vertices", args)
            return reply.is_success or (claimed is True and not reply.is_a("BadRequest", "NotSupported"))

        return claimed is not False and self.shared.find_once("filters", is_filter_answered)

    def claimed_values(self, word: str) -> list[Any]:
        """Return the values in capabilities whose keys contain a word."""
        return [value for key, value in self.capabilities.every_key() if word in re.split(r"[^a-z0-9]+", key.lower())]

    @property
    def claims_timeout(self) -> bool:
        """True if `timeout_ms` is claimed (R118)."""
        return any(value is True for value in self.claimed_values("timeout"))

    @property
    def dialect(self) -> str | None:
        """The listed dialect that the suite uses, or None if it knows none of the listed ones."""
        return next(iter(self.dialects.known), None)

    def operations(self, *, streaming: bool | None = None) -> list[str]:
        """Return the operations that can be called. Queries are left out if the suite knows no listed dialect (R33)."""
        names = super().operations(streaming=streaming)
        return names if self.dialect else [name for name in names if name not in ASKING]

    def question(self, purpose: str, dialect: str | None = None, **params: Any) -> dict[str, Any]:
        """Return the arguments of a query in an accepted spelling. If none is accepted, use the most usual spelling."""
        spoken = dialect or self.dialect
        if spoken is None:
            return {"text": "no query", "dialect": next(iter(self.dialects.listed), "unknown")}

        def attempt(text: str) -> Reply:
            self.seed()  # some stores refuse labels and properties that no node has
            with self.client.provider.paused():
                return super(GraphCapabilities, self).call("query", {"text": text, "dialect": spoken, "params": params})

        if not self.dialects.was_tried(purpose, spoken):
            scope, forget = f"graph {purpose} {spoken}", partial(self.dialects.forget, purpose, spoken)

            def find_out() -> FoundFact:
                with inputs.fact_scope(scope) as fact:
                    return FoundFact(self.dialects.attempt(purpose, spoken, attempt), fact.exchanges)

            self.dialects.keep(purpose, spoken, *self.shared.find(scope, find_out, forget).answer)
        return {"text": self.dialects.text(purpose, spoken), "dialect": spoken, "params": params}

    def require_question(self, purpose: str, dialect: str | None = None) -> None:
        """Check that a query is possible for this purpose.

        Raises:
            NotAssessed: the suite knows no listed dialect, or the adapter accepts no spelling of the query.
            Blocked: the adapter must accept a spelling, but accepts none.
        """
        spoken = dialect or self.dialect
        if spoken is None:
            listed = ", ".join(self.dialects.listed) or "none"
            raise NotAssessed(Obstacle.NO_QUERIES, dialects=f"the listed dialects ({listed})")
        example = {"wanted": self.seeds.key("s1"), "group": self.seeds.group, "wanted_rank": 1}
        names = {"find": ["wanted"], "group": ["group"], "ordered": ["group"], "typed": ["wanted", "wanted_rank"]}
        self.question(purpose, dialect, **{name: example[name] for name in names.get(purpose, ["wanted"])})
        if obstacle := self.dialects.obstacle(purpose, spoken):
            raise obstacle

    def item(self, name: str, **args: Any) -> dict[str, Any]:
        """Return an operation of a batch or a transaction. Raises NotApplicable if only other operations are listed."""
        return {"op": self.operation_names.spell_operation(name), "args": args}

    def sandbox(self, *needs: str, tenant: str | None = None, own: bool = True) -> GraphSandbox:
        """Return an empty group of nodes for one test. If the adapter has namespaces, each call uses the next of a few.

        Args:
            needs: the operations that must work.
            own: False if other tests may write to the same namespace.
        """
        self.require(*needs)
        namespace = None
        if own and self._obstacle_to_namespaces() is None:
            namespace = f"{self.settings.run_prefix}n{inputs.next_in_rotation('namespace') % MIN_NAMESPACES}"
        return GraphSandbox(self, f"{self.settings.prefix}{inputs.unique_digits()}", namespace=namespace, tenant=tenant)

    def require_namespaces(self, *, aside: bool = False) -> None:
        """Check that a write to a new namespace creates the namespace.

        Raises:
            NotApplicable: namespaces are not claimed, or such a write is refused and `aside` is true.
            NotAssessed: such a write is refused and `aside` is false.
        """
        if obstacle := self._obstacle_to_namespaces():
            raise NotApplicable(obstacle.reason) if aside else obstacle

    def _obstacle_to_namespaces(self) -> Undecided | None:
        known = self.shared
        with finding_out(id(known), "namespaces", undo=lambda: setattr(known, "tried_namespaces", False)):
            if not known.tried_namespaces:
                known.tried_namespaces = True
                self._try_namespaces()
        return known.namespaces

    def _try_namespaces(self) -> None:
        claimed = self.capabilities.flag("supports_namespaces")

        def find_out() -> FoundFact:
            with self.client.provider.paused(), inputs.fact_scope("graph namespaces") as fact:
                reply = self.plain.copy_to(namespace=self.plain.tag).call("upsert_nodes", self.plain_nodes())
            return FoundFact(reply, fact.exchanges)

        reply: Reply = self.shared.find("graph namespaces", find_out).answer
        if claimed is not True:
            self.shared.namespaces = NotApplicable("namespaces are not claimed")
        elif not reply.is_success:
            self.shared.namespaces = NotAssessed(Obstacle.NO_NAMESPACE, reply=reply)

    def seed(self, tenant: str | None = None) -> None:
        """Write the nodes that plain requests name, once for each tenant."""
        when = tenant, self.client.instance.generation
        seeded = self.shared.seeded.setdefault(self.client, set())
        with finding_out(id(seeded), when, undo=lambda: seeded.discard(when)):
            if when not in seeded:
                seeded.add(when)
                self._write_seeds(tenant)

    def _write_seeds(self, tenant: str | None) -> None:
        with self.client.provider.paused(), inputs.fact_scope(f"graph seeds {tenant}"):
            sandbox = self.seeds.copy_to(tenant=tenant)
            nodes = [sandbox.node(name, f"v-{sandbox.tag}-{name}", rank=rank) for rank, name in enumerate(SEEDS, 1)]
            edges = [sandbox.edge(SEEDS[0], SEEDS[1], "e1"), sandbox.edge(SEEDS[1], SEEDS[2], "e2")]
            for kind, items in (("nodes", nodes), ("edges", edges if tenant is None and self.main is self else [])):
                for start in range(0, len(items), self.items_per_request):
                    args = {kind: items[start : start + self.items_per_request]}
                    self.send(self.envelope(f"upsert_{kind}", args, sandbox.ctx))

    def plain_nodes(self, name: str = "plain") -> dict[str, Any]:
        """Return the arguments that write one plain node."""
        return {"nodes": [self.plain.node(name, f"v-{self.plain.tag}-{name}")]}
