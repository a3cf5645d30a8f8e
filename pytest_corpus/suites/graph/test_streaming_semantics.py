"""Streams of records: state machine, completeness, order (BEHAVIORAL_CONFORMANCE 6.2; SPECIFICATION 4.2.3, 7.3.2)."""

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.component import expect_audited
from pytest_corpus.kit.fixtures import core, rules, subject
from pytest_corpus.suites.graph.support.answers import records
from pytest_corpus.suites.graph.support.component import Graph, graph
from pytest_corpus.suites.graph.support.scenarios import queries
from pytest_corpus.suites.shared.claims.envelopes import TestStreaming

OPERATION = "stream_query"


@core("GRA-STREAM-1")
def test_chunks_are_of_the_schema(graph: Graph) -> None:
    """Each chunk has `records` and `is_final`, and no undocumented key."""
    graph.require(OPERATION)
    graph.seed()
    expect_audited("GRA-STREAM-1", expect.finished(graph.stream(OPERATION)), graph)


@rules("every_record GRA-STREAM-2, one_terminal COM-STREAM-7, ends COM-STREAM-6")
@pytest.mark.parametrize("count", [0, 1, 2, 3, 40])
def test_a_stream_of_any_length_is_complete(graph: Graph, requirement: str, count: int) -> None:
    """A stream of any number of records, even none, has each record once and ends with exactly one terminal frame."""
    stream, written, found = queries.stream_nodes(graph, count)
    if requirement != "GRA-STREAM-2":
        expect_audited(requirement, stream, graph)
        return
    expect.finished(stream)
    expect.check(found == written, f"every record: {len(written)} nodes", f"{len(found)}, or others", "records")


@pytest.mark.requirement("GRA-STREAM-2")
def test_large_records_are_streamed_whole(graph: Graph) -> None:
    """Records that together exceed the limit of a frame are streamed in frames within the limit."""
    graph.require(OPERATION, "upsert_nodes")
    graph.readers.require_correct(OPERATION)
    sandbox = graph.sandbox(own=False)
    values = [f"{sandbox.value('large')} {letter * 300_000}" for letter in "abcd"]
    for number, value in enumerate(values):
        reply = sandbox.call("upsert_nodes", {"nodes": [sandbox.node(f"n{number}", value)]})
        taken = reply.is_carried_out
        expect.applicable(taken, f"a property of 300,000 characters is refused: {reply}")
    stream = sandbox.stream(graph.question("group", group=sandbox.group))
    if expect.either(stream, "BadRequest"):
        expect.check(
            sorted(sandbox.own_values(records(stream))) == sorted(values), "four records", "other records", "records"
        )
