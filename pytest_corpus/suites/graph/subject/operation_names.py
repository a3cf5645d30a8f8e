"""What batches and transactions take, and by which names (R33, R48)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from pytest_corpus.adapter.client import AdapterClient
from pytest_corpus.adapter.facts import Capabilities
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.kit.prerequisites import Prerequisites
from pytest_corpus.kit.reply import Reply
from pytest_corpus.spec.operations import BY_OP
from pytest_corpus.suites.graph.subject.answers import listed
from pytest_corpus.suites.graph.subject.shared import GraphShared
from pytest_corpus.suites.graph.subject.written_items import MANY

PREFIX = "graph."


class BatchCalls(Protocol):
    """What of a graph is needed to find out how its batches spell operations."""

    client: AdapterClient
    capabilities: Capabilities

    @property
    def shared(self) -> GraphShared: ...

    @property
    def prerequisites(self) -> Prerequisites: ...

    def plain_nodes(self) -> dict[str, Any]: ...

    def call(self, name: str, args: Mapping[str, Any]) -> Reply: ...


class Batching:
    """How operations are spelled inside batches and transactions.

    A list of operation names anywhere in the capabilities decides. Where there is none, bare names are tried, and where
    they are refused for good the qualified ones.
    """

    def __init__(self, graph: BatchCalls) -> None:
        self._graph = graph

    def spelled(self, name: str) -> str:
        """How batches spell an operation that they take.

        Raises:
            NotApplicable: capabilities list the operations that they take, and this one is not among them.
        """
        for names in _operation_lists(self._graph.capabilities.document):
            for spelling in (name, PREFIX + name):
                if spelling in names:
                    return spelling
            raise NotApplicable(f"capabilities list no {name} for batches")
        return self._prefix() + name

    def _prefix(self) -> str:
        shared = self._graph.shared
        if shared.batch_prefix is None:
            shared.batch_prefix = ""  # what finding it out asks for needs it too
            shared.batch_prefix = self._found_out()
        return shared.batch_prefix

    def _found_out(self) -> str:
        for carrier in MANY:
            if self._graph.prerequisites.denies(carrier):
                continue
            for prefix in ("", PREFIX):
                item = {"op": f"{prefix}upsert_nodes", "args": self._graph.plain_nodes()}
                with self._graph.client.provider.paused():
                    reply = self._graph.call(carrier, {MANY[carrier]: [item]})
                if _is_carried_out(reply):
                    return prefix
                if not _is_refused_for_good(reply):
                    break
        return ""


def _is_carried_out(reply: Reply) -> bool:
    results = listed(reply.result, "results")
    return reply.is_success and all(item.get("ok") is not False for item in results)


def _is_refused_for_good(reply: Reply) -> bool:
    return reply.is_a("BadRequest", "NotSupported") or (reply.is_success and not _is_carried_out(reply))


def _operation_lists(value: Any, key: str = "") -> Iterator[list[str]]:
    """The lists of operation names in a capabilities document that tell what batches take.

    A list that has `batch` or `transaction` in it tells what the adapter takes, not what its batches do.
    """
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _operation_lists(item, str(name))
    elif isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        bare = {item.removeprefix(PREFIX) for item in value}
        if all(PREFIX + item in BY_OP for item in bare) and ("batch" in key or not bare & {*MANY, "capabilities"}):
            yield value
