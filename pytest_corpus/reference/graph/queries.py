"""Parses queries of a graph and returns their answers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pytest_corpus.reference.errors import AdapterError, invalid
from pytest_corpus.reference.foundation import Chunk
from pytest_corpus.reference.graph.arguments import GraphArguments
from pytest_corpus.reference.graph.cypher import Cypher
from pytest_corpus.reference.graph.gremlin import Gremlin
from pytest_corpus.reference.graph.scanner import QueryError, QueryFeatureError, ScannedQuery
from pytest_corpus.reference.graph.store import Edge, NamespaceGraph, Node, Space
from pytest_corpus.reference.request import Fields, copy_json


@dataclass(frozen=True, slots=True)
class GraphQuestion:
    """A parsed query and its parameters."""

    namespace: str
    dialect: str
    query: ScannedQuery
    params: Mapping[str, Any]
    timeout_ms: float | None


class Queries(GraphArguments):
    """Parses a query and runs it on the graphs of a tenant."""

    dialects: tuple[str, ...] = ("cypher", "opencypher", "gql", "gremlin")
    languages: ClassVar[Mapping[str, Callable[[str], ScannedQuery]]] = {
        "cypher": Cypher,
        "opencypher": Cypher,
        "gql": Cypher,
        "gremlin": Gremlin,
    }
    max_query_length = 8192
    records_in_chunk = 2

    def read_question(self, args: Fields) -> GraphQuestion:
        dialect, text = self.read_dialect(args), args.required_text("text")
        params = self.read_object(args, "params")
        namespace, timeout_ms = self.read_namespace(args), self.read_timeout(args)
        self.check_length(text)
        return GraphQuestion(namespace, dialect, self.read_text(dialect, text, params), params, timeout_ms)

    def check_length(self, text: str) -> None:
        if len(text) > self.max_query_length:
            rule = f"must have at most {self.max_query_length} characters"
            raise invalid("args.text", "TOO_LONG", rule, max_query_length=self.max_query_length)

    def read_dialect(self, args: Fields) -> str:
        """Return the requested dialect, which must be advertised; by default the first one (SPECIFICATION 7.4)."""
        dialect = args.text("dialect") or self.dialects[0]
        if dialect not in self.dialects:
            raise AdapterError("NotSupported", "args.dialect must be advertised", supported_dialects=[*self.dialects])
        return dialect

    def read_text(self, dialect: str, text: str, params: Mapping[str, Any]) -> ScannedQuery:  # noqa: ARG002 - never text
        try:
            return self.languages[dialect](text)
        except RecursionError:
            raise self.query_error(QueryError("is nested too deeply")) from None
        except QueryError as problem:
            raise self.query_error(problem) from None

    def query_error(self, problem: QueryError) -> AdapterError:
        """Return the error for an invalid query; it names the problem and not the text (ERRORS 6.4)."""
        if isinstance(problem, QueryFeatureError):
            return AdapterError("NotSupported", f"args.text {problem}")
        return invalid("args.text", "QUERY_PARSE", str(problem), error="QueryParseError")

    def read_timeout(self, args: Fields) -> float | None:
        timeout_ms = args.number("timeout_ms")
        if timeout_ms is not None and timeout_ms < 0:
            raise args.invalid("timeout_ms", "OUT_OF_RANGE", "must be at least 0")
        return timeout_ms

    def graph(self, space: Space, namespace: str) -> NamespaceGraph:
        """Return the graph of a namespace. Refuse a namespace that was never written to (ERRORS 6.4)."""
        if namespace not in space:
            raise invalid("args.namespace", "NOT_FOUND", "is not known", error="NamespaceNotFound")
        return space[namespace]

    def query_result(self, space: Space, question: GraphQuestion) -> dict[str, Any]:
        """Return `{records, summary, dialect, namespace}`."""
        records = self.records(space, question)
        return {
            "records": records,
            "summary": {"records": len(records)},
            "dialect": question.dialect,
            "namespace": question.namespace,
        }

    def records(self, space: Space, question: GraphQuestion) -> list[dict[str, Any]]:
        """Return the rows of a query in wire format, in the order of the query."""
        graph = self.graph(space, question.namespace)
        try:
            rows = question.query.run(graph, question.params)
        except RecursionError:
            raise self.query_error(QueryError("is nested too deeply")) from None
        except QueryError as problem:
            raise self.query_error(problem) from None
        return [{name: self.to_wire(value) for name, value in row.items()} for row in rows]

    def to_wire(self, value: Any) -> Any:
        return value.to_wire() if isinstance(value, (Node, Edge)) else copy_json(value)

    def chunks(self, records: Sequence[dict[str, Any]]) -> Iterator[Chunk]:
        """Yield `graph.types.chunk` objects with a few records each; without records, one final chunk."""
        for start in range(0, len(records) or 1, self.records_in_chunk):
            end = start + self.records_in_chunk
            chunk = {"records": [*records[start:end]], "is_final": end >= len(records)}
            yield {**chunk, "summary": {"records": len(records)}} if chunk["is_final"] else chunk
