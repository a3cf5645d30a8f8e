"""Streams of records: state machine, completeness, order (BEHAVIORAL_CONFORMANCE 6.2; SPECIFICATION 4.2.3, 7.3.2)."""

from collections.abc import Callable

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.component import holds
from pytest_corpus.kit.fixtures import rules, subject
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.kit.requests import canary
from pytest_corpus.suites.graph.support.answers import records
from pytest_corpus.suites.graph.support.component import Graph, graph
from pytest_corpus.suites.graph.support.scenarios import queries
from pytest_corpus.suites.shared.claims.streaming import Streaming as TestStreaming

OPERATION = "stream_query"


@pytest.mark.core
@pytest.mark.requirement("GRA-STREAM-1")
def test_chunks_are_of_the_schema(graph: Graph) -> None:
    """Each chunk has `records` and `is_final`, and nothing undocumented."""
    graph.require(OPERATION)
    graph.seed()
    holds("GRA-STREAM-1", expect.finished(graph.stream(OPERATION)), graph)


@pytest.mark.core
@pytest.mark.requirement("GRA-STREAM-2")
@pytest.mark.parametrize("purpose", ["group", "find"])
def test_a_stream_finds_what_was_written(graph: Graph, purpose: str) -> None:
    """By its group or by its key, a stream has the nodes that fit and no others."""
    queries.finds(graph, OPERATION, purpose)


@pytest.mark.requirement("GRA-STREAM-2")
def test_a_stream_finds_what_is_there_now(graph: Graph) -> None:
    """The same stream before and after a write, an update and a delete has each time what is there."""
    queries.changes(graph, OPERATION)


@rules(every_record="GRA-STREAM-2", one_terminal="COM-STREAM-7", ends="COM-STREAM-6")
@pytest.mark.parametrize("count", [0, 1, 2, 3, 40])
def test_a_stream_of_any_length_is_complete(graph: Graph, requirement: str, count: int) -> None:
    """Streams of no, one or many records have each of them once, and end with one terminal frame, the last one."""
    stream, written, found = queries.streamed(graph, count)
    if requirement != "GRA-STREAM-2":
        holds(requirement, stream, graph)
        return
    expect.finished(stream)
    expect.that(found == written, f"every record: {len(written)} nodes", f"{len(found)}, or others", "records")


@pytest.mark.requirement("GRA-STREAM-2")
def test_large_records_are_streamed_whole(graph: Graph) -> None:
    """Records that together are larger than a frame may be are streamed, each in a frame that is not too large."""
    graph.require(OPERATION, "upsert_nodes")
    graph.readers.trusted(OPERATION)
    sandbox = graph.sandbox(own=False)
    values = [f"{sandbox.value('large')} {letter * 300_000}" for letter in "abcd"]
    for number, value in enumerate(values):
        reply = sandbox.call("upsert_nodes", {"nodes": [sandbox.node(f"n{number}", value)]})
        if reply.is_error:
            raise NotApplicable(f"a property of 300,000 characters is refused: {reply}")
    stream = sandbox.stream(graph.question("group", group=sandbox.group))
    expect.either(stream, "BadRequest")
    if not stream.is_error:
        expect.that(sorted(sandbox.own(records(stream))) == sorted(values), "four records", "others", "records")


@pytest.mark.requirement("GRA-STREAM-3")
def test_an_ordered_stream_keeps_its_order(graph: Graph) -> None:
    """Records of an ordered query are streamed in that order."""
    queries.ordered(graph, OPERATION)


@pytest.mark.requirement("GRA-STREAM-4")
@pytest.mark.parametrize("claim", [queries.binds, queries.binds_in_every_dialect, queries.binds_typed])
def test_a_parameter_of_a_stream_is_a_value(graph: Graph, claim: Callable[[Graph, str], None]) -> None:
    """A parameter finds the node that has it as a value, of just that type, in every dialect."""
    claim(graph, OPERATION)


@pytest.mark.requirement("GRA-STREAM-5")
def test_a_text_that_is_no_query_is_no_stream(graph: Graph) -> None:
    """Broken texts are refused with one error of the class that `query` gives, and without data."""
    graph.require(OPERATION)
    for args in queries.broken(graph):
        with expect.resting_on("GRA-QUERY-6"):
            expect.refusal(graph.call("query", args), "BadRequest")
        stream = graph.stream(OPERATION, args)
        expect.refusal(stream, "BadRequest")
        expect.that(not stream.chunks, "one error envelope and no data", f"{len(stream.chunks)} frames of data")


@pytest.mark.requirement("GRA-STREAM-6")
@pytest.mark.parametrize("kind", list(queries.BAD_QUERIES))
def test_a_stream_refuses_what_a_query_refuses(graph: Graph, kind: str) -> None:
    """Arguments of the wrong type are BAD_REQUEST for a stream too."""
    graph.require(OPERATION)
    args = queries.changed(graph, kind)
    with expect.resting_on("GRA-QUERY-8"):
        expect.refusal(graph.call("query", args), "BadRequest")
    expect.refusal(graph.stream(OPERATION, args), "BadRequest")


@pytest.mark.requirement("GRA-STREAM-7")
@pytest.mark.parametrize("purpose", ["group", "find", "links"])
def test_a_stream_that_matches_nothing_ends_well(graph: Graph, purpose: str) -> None:
    """What is not there gives a stream without records that ends with a final chunk."""
    graph.require(OPERATION)
    graph.speaks(purpose)
    name = "group" if purpose == "group" else "wanted"
    stream = graph.stream(OPERATION, graph.question(purpose, **{name: f"none-{canary()}"}))
    found = records(stream)
    expect.that(not found, "no records", f"{len(found)}", "chunk.records")
