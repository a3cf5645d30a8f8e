"""Mistakes that graph/test_query_basic.py finds (GRA-QUERY)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_corpus.reference.graph.scanner import Query
from pytest_corpus.reference.graph.store import Graph

from .shared import Record


class Nothing(Query):
    """A query without records."""

    def run(self, graph: Graph, params: Mapping[str, Any]) -> list[Record]:
        return []
