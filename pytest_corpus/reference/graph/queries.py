"""Answers of the reference adapter for graphs to queries."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from pytest_corpus.reference.errors import invalid
from pytest_corpus.reference.graph.arguments import Arguments, Question
from pytest_corpus.reference.graph.scanner import QueryError
from pytest_corpus.reference.graph.store import Edge, Graph, Node, Space


class Queries(Arguments):
    """Runs a query that was read on the graphs of a tenant."""

    def graph(self, space: Space, namespace: str) -> Graph:
        """A graph to read from, which must have been written to (ERRORS 6.4)."""
        if namespace not in space:
            raise invalid("args.namespace", "NOT_FOUND", "is not known", error="NamespaceNotFound")
        return space[namespace]

    def query_result(self, space: Space, question: Question) -> dict[str, Any]:
        """`{records, summary, dialect, namespace}`."""
        records = self.records(space, question)
        return {
            "records": records,
            "summary": {"records": len(records)},
            "dialect": question.dialect,
            "namespace": question.namespace,
        }

    def records(self, space: Space, question: Question) -> list[dict[str, Any]]:
        """The rows of a query, in its order, as they go onto the wire."""
        graph = self.graph(space, question.namespace)
        try:
            rows = question.query.run(graph, question.params)
        except RecursionError:
            raise self.query_refused(QueryError("is nested too deeply")) from None
        except QueryError as problem:
            raise self.query_refused(problem) from None
        return [self.record(row) for row in rows]

    def record(self, row: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self.value(value) for name, value in row.items()}

    def value(self, value: Any) -> Any:
        return value.to_wire() if isinstance(value, (Node, Edge)) else copy.deepcopy(value)
