"""Lessons of real back ends: the suite asks no more of a slow one than it needs, and waits for a limited one."""

import pytest
from inner_runs import Project, said, statuses

LATE = """
import asyncio
from pytest_corpus.reference.llm.adapter import ReferenceLLM

class Late(ReferenceLLM):
    async def complete(self, call):
        await asyncio.sleep(0.2)
        return await super().complete(call)
"""

LARGE = """
from pathlib import Path
from pytest_corpus.reference.vector.adapter import ReferenceVector

class Large(ReferenceVector):
    max_batch_size = max_top_k = 60

    async def query(self, call):
        with Path("queries").open("a") as file:
            file.write("x")
        return await super().query(call)
"""

BESIDE = """
from pathlib import Path
from pytest_corpus.reference.vector.adapter import ReferenceVector

class Noted(ReferenceVector):
    async def create_namespace(self, call):
        with Path(self.file).open("a") as file:
            print(call.args.text("namespace"), file=file)
        return await super().create_namespace(call)

class One(Noted):
    file = "one"

class Other(Noted):
    file = "other"
"""


def test_adapters_of_one_run_do_not_meet_in_a_provider_that_they_share(project: Project) -> None:
    """No namespace of one adapter has the name of one of another."""
    project.pytester.makepyfile(beside=BESIDE)
    project.run("--corpus-adapter=beside:One", "--corpus-adapter=beside:Other", "--corpus-requirement=VEC-NS-*")
    made = [(project.path / file).read_text().split() for file in ("one", "other")]
    names = [{name for name in each if name.startswith("corpusrun")} for each in made]
    assert all(names)
    assert not names[0] & names[1]


def test_a_deadline_that_passes_before_the_provider_is_reached_is_tried_again_with_more_time(project: Project) -> None:
    """A back end that needs 200 ms before it reaches its provider is assessed like any other."""
    project.pytester.makepyfile(late=LATE)
    result = project.run("--corpus-adapter=late:Late", "-k", "test_the_call_after_a_deadline_works_again")
    result.assert_outcomes(passed=1, deselected=result.parseoutcomes()["deselected"])


def test_a_large_batch_is_not_read_back_vector_by_vector(project: Project) -> None:
    """An answer with fewer matches than were asked for shows all there is."""
    project.pytester.makepyfile(large=LARGE)
    project.run("--corpus-adapter=large:Large", "-k", "test_a_batch_that_is_too_large_is_refused and stores_nothing")
    assert len((project.path / "queries").read_text()) < 20


TYPED = """
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.graph.adapter import ReferenceGraph

class Typed(ReferenceGraph):
    types = {}

    async def upsert_nodes(self, call):
        for node in call.args.values["nodes"]:
            for key, value in node["properties"].items():
                if self.types.setdefault(key, type(value)) is not type(value):
                    raise AdapterError("BadRequest", "a property has one type")
        return await super().upsert_nodes(call)

    async def query(self, call):
        if not self.types:
            raise AdapterError("QueryParseError", "no such label")
        return await super().query(call)
"""


def test_a_graph_of_typed_properties_is_legal(project: Project) -> None:
    """If labels are not known before a node has them, and a property has one type, nothing is violated (R110)."""
    project.pytester.makepyfile(typed=TYPED)
    wanted = "GRA-QUERY-1,GRA-QUERY-2,GRA-QUERY-4,GRA-STREAM-4,GRA-NODE-9"
    _, report = project.judged("typed:Typed", wanted)
    found = {entry["id"]: entry["status"] for entry in report["requirements"]}
    assert {found[name] for name in wanted.split(",")} == {"satisfied"}


LIMITED = """
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.llm.adapter import ReferenceLLM

class Limited(ReferenceLLM):
    seen = refused = 0

    def admit(self, call, envelope):
        super().admit(call, envelope)
        if call.op in ("complete", "stream", "count_tokens"):
            self.seen += 1
            if self.seen % 5 == 0:
                type(self).refused += 1
                details = {"throttle_scope": "requests"}
                raise AdapterError("ResourceExhausted", "Slow down", retry_after_ms=1, details=details)
"""

FEW = "LLM-COMPLETE-*,LLM-SAMPLING-[1-6],LLM-STREAM-*,LLM-TOKENS-*,COM-ENV-*,COM-STREAM-*,COM-FAULT-[1-7]"


def test_a_rate_limit_changes_no_status(project: Project) -> None:
    """If every fifth call is to come again, each requirement stands as it does without a limit."""
    project.pytester.makepyfile(mine=LIMITED)
    scope = f"--corpus-requirement={FEW}"
    limited = project.run("--corpus-adapter=mine:Limited", scope, "--corpus-report=limited.json")
    assert limited.ret == 0, said(limited)
    project.run("--corpus-adapter=pytest_corpus.reference:llm", scope, "--corpus-report=free.json")
    assert statuses(project.report("limited.json")) == statuses(project.report("free.json"))


@pytest.mark.slow
def test_a_rate_limit_changes_no_verdict(project: Project) -> None:
    """The whole suite, too, comes to the same verdict."""
    project.pytester.makepyfile(mine=LIMITED)
    result = project.run_apart("--corpus-adapter=mine:Limited", "--corpus-report=r.json")
    assert project.report()["verdict"] == "conformant", said(result)
