"""The names of operations inside batches and transactions (R33, R48)."""

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_corpus.adapter import inputs
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.kit.reply import Reply
from pytest_corpus.spec.operations import BY_OP
from pytest_corpus.suites.graph.support.answers import listed
from pytest_corpus.suites.graph.support.place import GraphCalls
from pytest_corpus.suites.graph.support.written_items import MANY

PREFIX = "graph."

WRITES = tuple(f"{what}_{kind}" for what in ("upsert", "delete") for kind in ("nodes", "edges"))


class OperationNames:
    """The names that batches and transactions know operations by.

    A list of operation names anywhere in the capabilities decides. If there is none, bare names are tried, and then
    qualified ones if the bare ones are refused permanently.
    """

    def __init__(self, graph: GraphCalls) -> None:
        self._graph = graph

    def spelled(self, name: str) -> str:
        """The name of an operation that batches take. Raises NotApplicable if capabilities list others only."""
        for names in _operation_lists(self._graph.capabilities.document):
            for spelling in (name, PREFIX + name):
                if spelling in names:
                    return spelling
            raise NotApplicable(f"capabilities list no {name} for batches")
        return self._prefix() + name

    def spelling(self, name: str) -> str:
        """Return the name of an operation; the bare one if batches do not take it."""
        try:
            return self.spelled(name)
        except NotApplicable:
            return name

    def carries(self, operation: str) -> bool:
        """Return whether batches, or transactions, are offered and take every write."""
        try:
            return self._graph.works(operation) and all(map(self.spelled, WRITES))
        except NotApplicable:
            return False

    def _prefix(self) -> str:
        shared = self._graph.shared
        if shared.batch_prefix is None:
            shared.batch_prefix = ""  # the requests that find it out need it too
            with inputs.apart("graph batch prefix"):
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
                if _is_carried_out(reply):
                    return prefix
                if not _is_refused_permanently(reply):
                    break
        return ""


def _is_carried_out(reply: Reply) -> bool:
    results = listed(reply.result, "results")
    return reply.is_success and all(item.get("ok") is not False for item in results)


def _is_refused_permanently(reply: Reply) -> bool:
    return reply.is_a("BadRequest", "NotSupported") or (reply.is_success and not _is_carried_out(reply))


def _operation_lists(value: Any, key: str = "") -> Iterator[list[str]]:
    """Yield the lists of a capabilities document that name the operations of batches.

    A list that has `batch` or `transaction` in it names those of the adapter, not those of its batches.
    """
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _operation_lists(item, str(name))
    elif isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        bare = {item.removeprefix(PREFIX) for item in value}
        if all(PREFIX + item in BY_OP for item in bare) and ("batch" in key or not bare & {*MANY, "capabilities"}):
            yield value
