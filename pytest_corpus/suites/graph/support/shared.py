"""The state that all instances of a graph component share in a run."""

from dataclasses import dataclass, field

from pytest_corpus.kit.outcomes import Undecided
from pytest_corpus.kit.run_state import Shared
from pytest_corpus.suites.graph.support.actions import GraphActions
from pytest_corpus.suites.graph.support.dialects import Dialects
from pytest_corpus.suites.graph.support.written_items import WrittenItems


@dataclass(slots=True)
class GraphShared(Shared):
    """The knowledge about an adapter and the items written to it, shared by all its instances."""

    learnt = (
        *Shared.learnt,
        "node_readers",
        "edge_readers",
        "namespaces",
        "tried_namespaces",
        "filters",
        "only_uuids",
        "batch_prefix",
        "edge_kinds",
    )

    dialects: Dialects | None = None
    written_items: WrittenItems = field(default_factory=WrittenItems)
    node_readers: dict[str, bool] | None = None
    edge_readers: dict[str, bool] | None = None
    lasting: set[str] = field(default_factory=set)
    sandboxes: int = 0
    looks: int = 0
    requests: int = 0
    namespaces: Undecided | None = None
    tried_namespaces: bool = False
    filters: bool | None = None
    only_uuids: bool | None = None
    batch_prefix: str | None = None
    edge_kinds: dict[str, bool] = field(default_factory=dict)
    actions: GraphActions = field(default_factory=GraphActions)
