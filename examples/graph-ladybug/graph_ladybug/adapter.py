"""The adapter for Ladybug: its name, and its claims."""

from collections.abc import Mapping
from typing import Any

from corpus_wire.graph import GraphAdapter


class Adapter(GraphAdapter):
    """Ladybug could do more: paths, and transactions of several operations.

    It raises a RuntimeError for everything; `provider.py` sorts out why it refuses a query.
    """

    server = "graph-ladybug"
    claims: Mapping[str, Any] = {**GraphAdapter.claims, "supports_namespaces": False}
