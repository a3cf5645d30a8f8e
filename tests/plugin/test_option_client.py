"""`--corpus-client` and `corpus_client`: client libraries whose request builders are tested (SCHEMA 6.3, 8.2)."""

import re
from typing import Any

import pytest
from fail_closed import shorten
from inner_runs import Project, ids, said, usage_error, violated, without_times
from thinning import thin_out

from pytest_corpus.spec.operations import OPERATIONS
from pytest_corpus.spec.requirements import applicable_requirements, catalogue

REFERENCE = "--corpus-client=pytest_corpus.reference:client"
REPORT = "--corpus-report=r.json"

MINE = '''
from pytest_corpus.reference.request_builders import ReferenceClient

class Client(ReferenceClient):
    """The reference client with something changed."""
'''
"""What the clients of these tests begin with; what follows stands inside the class."""

FAULTY = {
    "WIR-BUILD-1": "def build_embed_request(self, text): return super().build_embed_request(text)",
    "WIR-ENV-1": "def build_embed_request(self): import json; return json.dumps(super().build_embed_request())",
    "WIR-ENV-2": "def build_embed_request(self): return {**super().build_embed_request()['args'], 'op': 'x'}",
    "WIR-ENV-3": "def build_embed_request(self): return super().build_embed_batch_request()",
    "WIR-CTX-1": "def build_embed_request(self): return {**super().build_embed_request(), 'ctx': {'deadline_ms': -1}}",
    "WIR-CTX-2": "def build_embed_request(self): return {**super().build_embed_request(), 'ctx': {'deadline_ms': 500}}",
    "WIR-JSON-1": "def build_embed_request(self): return super().build_embed_request(text=b'Hello')",
    "WIR-JSON-2": "def build_embed_request(self): return {**super().build_embed_request(), 'ctx': {'attrs': {1: 2}}}",
    "WIR-SCHEMA-1": "def build_embed_request(self): return {**super().build_embed_request(), 'version': '1.0.0'}",
    "WIR-ARGS-1": "def build_complete_request(self): return super().build_complete_request(temperature=2.5)",
    "WIR-ARGS-2": "def build_embed_request(self): return super().build_embed_request(text=['Hello'])",
    "WIR-ARGS-3": "def build_complete_request(self):\n"
    "        return {**super().build_complete_request(), 'args': {'prompt': 'Hello'}}",
}
"""For each requirement a mistake that breaks it."""

STILL = {
    "another name": "def build_llm_complete_request(self): return super().build_complete_request()\n"
    "    build_complete_request = None",
    "a coroutine": "async def build_embed_request(self): return super().build_embed_request()",
    "a static method": "@staticmethod\n    def build_embed_request(): return ReferenceClient().build_embed_request()",
    "a tuple": "def build_embed_batch_request(self):\n"
    "        envelope = super().build_embed_batch_request()\n"
    "        return {**envelope, 'args': {**envelope['args'], 'texts': ('a', 'b')}}",
    "a prompt": FAULTY["WIR-ARGS-3"],
    "unknown arguments": "def build_complete_request(self): return super().build_complete_request(seed=1, top_k=None)",
    "unknown keys of ctx": "def build_embed_request(self):\n"
    "        return {**super().build_embed_request(), 'ctx': {'cache_scope': 'tenant', 'tenant': None}}",
    "an empty context": "def build_embed_request(self): return {**super().build_embed_request(), 'ctx': {}}",
    "an ordered dict": "def build_embed_request(self):\n"
    "        from collections import OrderedDict\n"
    "        return OrderedDict(super().build_embed_request())",
}
"""What a client may do."""


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """A suite of the three operations that a client changes; it is the reference client in all others."""
    shorten(monkeypatch, "embedding.embed_batch")


def client(project: Project, source: str) -> str:
    """Write a client; the option that declares it."""
    project.pytester.makepyfile(mine=f"{MINE}\n    {source}\n")
    return "--corpus-client=mine:Client"


def reported(project: Project, name: str = "r.json") -> dict[str, tuple[str, dict[str, str]]]:
    """Each requirement's status, and the outcomes of its tests by operation."""
    return {
        entry["id"]: (
            entry["status"],
            {re.split(r"[\[-]", test["test"].rstrip("]"))[-1]: test["outcome"] for test in entry["tests"]},
        )
        for entry in project.report(name)["requirements"]
    }


def test_the_reference_client_is_conformant(project: Project) -> None:
    """A correct client is green for all 33 operations, in an empty folder."""
    result = project.run(REFERENCE, REPORT)
    report = project.report()
    assert result.ret == 0, said(result)
    assert (report["verdict"], report["complete"]) == ("conformant", True)
    assert list(report["components"]) == ["wire"]
    assert [entry["id"] for entry in report["requirements"]] == [entry.id for entry in applicable_requirements("wire")]
    assert {status for status, _ in reported(project).values()} == {"satisfied"}
    assert list(reported(project)["WIR-BUILD-1"][1]) == sorted(operation.op for operation in OPERATIONS)
    assert report["spec"]["schema_versions_met"] == ["1.0.0", "1.1.0"]
    assert "33 of 33 request builders are offered" in said(result)


def test_ids(project: Project) -> None:
    """A test is named for its operation."""
    result = project.run(REFERENCE, "--collect-only", "-q", "--corpus-requirement=WIR-CTX-1")
    assert "corpus/wire/test_request_builders.py::test_an_envelope_passes_a_stage[context-llm.complete]" in ids(result)
    assert len(ids(result)) == len(OPERATIONS)


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("requirement", thin_out(FAULTY, 2))
def test_a_faulty_client_is_caught(project: Project, requirement: str) -> None:
    """For each requirement there is a mistake that it alone catches."""
    result = project.run(client(project, FAULTY[requirement]), REPORT)
    level = catalogue()[requirement].level
    assert violated(project.report(), level) == {requirement}
    assert violated(project.report(), "SHOULD" if level == "MUST" else "MUST") == set()
    assert result.ret == (1 if level == "MUST" else 0)


def test_every_requirement_has_a_faulty_client() -> None:
    """A sentence without one might have a test that cannot fail; that of offering builders has the empty client."""
    assert {*FAULTY, "WIR-OFFER-1"} == {entry.id for entry in applicable_requirements("wire")}


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("name", thin_out(STILL, 3))
def test_a_legal_client_is_conformant(project: Project, name: str) -> None:
    """A client that the documents allow violates no MUST."""
    result = project.run(client(project, STILL[name]), REPORT)
    assert (result.ret, project.report()["verdict"]) == (0, "conformant"), said(result)
    assert {test for _, test in reported(project)["WIR-BUILD-1"][1].items()} == {"satisfied"}


@pytest.mark.usefixtures("short")
def test_what_lies_behind_a_finding_is_blocked(project: Project) -> None:
    """One mistake is one finding: the stages behind it are not assessed for this operation."""
    project.run(client(project, FAULTY["WIR-CTX-1"]), REPORT)
    report = {entry["id"]: entry for entry in project.report()["requirements"]}
    assert report["WIR-JSON-1"]["status"] == "not_assessed"
    assert report["WIR-JSON-1"]["blocked_by"] == ["WIR-CTX-1"]
    outcomes = reported(project)["WIR-JSON-1"][1]
    assert {op for op, outcome in outcomes.items() if outcome != "satisfied"} == {"embedding.embed"}


def test_an_object_without_builders_never_passes(project: Project) -> None:
    """It is reported as offering none, in one clear line, and the run fails."""
    project.pytester.makepyfile(mine="class Client: pass\n")
    result = project.run("--corpus-client=mine:Client", REPORT)
    assert result.ret == 1
    assert project.report()["verdict"] == "nonconformant"
    statuses = {name: status for name, (status, _) in reported(project).items()}
    assert statuses.pop("WIR-OFFER-1") == "violated"
    assert set(statuses.values()) == {"not_applicable"}
    assert [line for line in result.outlines if "the client does not offer any" in line]
    assert result.parseoutcomes()["failed"] == 1
    assert "passed" not in result.parseoutcomes()


def test_what_is_not_offered_is_said_to_be(project: Project) -> None:
    """A client of one component is judged by what it offers; the rest is not applicable, and named."""
    project.pytester.makepyfile(
        mine="from pytest_corpus.reference import client as whole\n"
        "class Client:\n"
        "    build_complete_request = lambda self: whole().build_complete_request()\n"
        "    build_health_request = lambda self: whole().build_llm_health_request()\n"
        "class Raising(Client):\n"
        "    @property\n"
        "    def build_stream_request(self): raise ValueError\n"
    )
    assert "build_stream_request raises ValueError" in said(
        project.run("--corpus-client=mine:Raising", "--corpus-requirement=WIR-BUILD-1")
    )
    result = project.run("--corpus-client=mine:Client", REPORT)
    assert (result.ret, project.report()["verdict"]) == (0, "conformant")
    outcomes = reported(project)["WIR-BUILD-1"][1]
    assert {op for op, outcome in outcomes.items() if outcome == "satisfied"} == {"llm.complete", "llm.health"}
    assert {outcomes[op] for op in outcomes.keys() - {"llm.complete", "llm.health"}} == {"not_applicable"}
    report = {entry["id"]: entry for entry in project.report()["requirements"]}
    reasons = {test["reason"] for test in report["WIR-BUILD-1"]["tests"] if "reason" in test}
    assert "the client does not offer build_upsert_request" in reasons
    assert "2 of 33 request builders are offered; not: embedding.capabilities" in said(result)


def test_a_shared_name_of_a_client_of_several_components(project: Project) -> None:
    """It is not guessed whose builder it is: that is not assessed, and says how to name it."""
    option = client(project, "def build_health_request(self): return self.build_llm_health_request()")
    project.run(option, REPORT, "--corpus-requirement=WIR-BUILD-1")
    assert reported(project)["WIR-BUILD-1"][0] == "satisfied"  # the longer names go first
    project.pytester.makepyfile(
        mine="from pytest_corpus.reference import client as whole\n"
        "class Client:\n"
        "    build_complete_request = lambda self: whole().build_complete_request()\n"
        "    build_upsert_request = lambda self: whole().build_upsert_request()\n"
        "    build_health_request = lambda self: whole().build_llm_health_request()\n"
    )
    result = project.run("--corpus-client=mine:Client", REPORT)
    assert project.report()["verdict"] == "incomplete"
    assert reported(project)["WIR-BUILD-1"][1]["llm.health"] == "not_assessed"
    assert "name it build_" in said(result)


DECLARED = {
    "an instance": "client = Client()",
    "a class": "client = Client",
    "a factory": "def client(): return Client()",
    "a coroutine function": "async def client(): return Client()",
    "a context manager": "from contextlib import asynccontextmanager\n"
    "@asynccontextmanager\nasync def client():\n    yield Client()\n    open('closed.txt', 'w').close()",
    "a mapping": "client = dict.fromkeys(('llm', 'vector', 'embedding', 'graph'), Client)",
    "a factory of a mapping": "def client(): return dict.fromkeys(('llm', 'vector', 'embedding', 'graph'), Client())",
    "a factory by component": "def client(component): return Client()",
    "nested": "class Spaces: client = Client\nclient = Spaces.client",
}


@pytest.mark.parametrize("way", DECLARED)
def test_ways_to_declare(project: Project, way: str) -> None:
    """A client may be an instance, a class, a factory of any kind, or a mapping of those by component."""
    project.pytester.makepyfile(mine=f"{MINE}\n{DECLARED[way]}\n")
    result = project.run("--corpus-client=mine:client", "--corpus-requirement=WIR-BUILD-1,WIR-ENV-3")
    assert result.parseoutcomes()["passed"] == 2 * len(OPERATIONS), said(result)
    assert (project.path / "closed.txt").exists() == (way == "a context manager")


def test_short_names_in_a_mapping(project: Project) -> None:
    """In a mapping the component of a shared name is clear."""
    project.pytester.makepyfile(
        mine="from types import SimpleNamespace\n"
        "def health(component):\n"
        "    return SimpleNamespace(build_health_request=lambda: dict(op=f'{component}.health', ctx={}, args={}))\n"
        "client = {name: health(name) for name in ('llm', 'graph')}\n"
    )
    result = project.run("--corpus-client=mine:client", REPORT)
    assert (result.ret, project.report()["verdict"]) == (0, "conformant"), said(result)
    outcomes = reported(project)["WIR-ENV-3"][1]
    assert {op for op, outcome in outcomes.items() if outcome == "satisfied"} == {"llm.health", "graph.health"}


WRONG = {
    "nowhere:client": "there is no module 'nowhere'",
    "mine": "is not of the form 'module:attribute'",
    "mine:nothing": "has no attribute 'nothing'",
    "mine:raising": "the factory raises ValueError: out of order",
    "mine:asking": "the factory requires an argument 'url'",
    "mine:other": "the mapping has a key that is not a component",
    "mine:empty": "the mapping is empty",
}


@pytest.mark.parametrize("spec", WRONG)
def test_a_wrong_declaration_is_a_usage_error(project: Project, spec: str) -> None:
    """One line names the declaration and the fault, nothing runs, and the exit code is 4."""
    project.pytester.makepyfile(
        mine="def raising(): raise ValueError('out of order')\ndef asking(url): ...\nother, empty = {'llms': 1}, {}\n"
    )
    line = usage_error(project.run(f"--corpus-client={spec}"))
    assert line.startswith(f"ERROR: corpus client '{spec}': ")
    assert WRONG[spec] in line


ESCAPES = {
    "raises": ("def build_embed_request(self): raise ValueError('sk-secret')", "build_embed_request raises ValueError"),
    "exits": ("def build_embed_request(self): raise SystemExit(3)", "build_embed_request raises SystemExit"),
    "has a property that raises": (
        "@property\n    def build_embed_request(self): raise ValueError('sk-secret')",
        "build_embed_request raises ValueError",
    ),
    "is not a method": ("build_embed_request = 'sk-secret'", "build_embed_request cannot be called"),
    "hangs": ("def build_embed_request(self): __import__('time').sleep(20)", "has no end after 1 s"),
    "hangs as a coroutine": (
        "async def build_embed_request(self): await __import__('asyncio').sleep(20)",
        "has no end after 1 s",
    ),
}


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("name", thin_out(ESCAPES, 3, 1))
def test_whatever_a_builder_does_is_a_finding(project: Project, name: str) -> None:
    """A builder that gives nothing fails one test; the run goes on, and nothing secret is said."""
    source, said_of_it = ESCAPES[name]
    result = project.run(client(project, source), REPORT, "-ocorpus_call_timeout=1")
    assert result.ret == 1
    assert violated(project.report()) == {"WIR-BUILD-1"}
    assert said_of_it in said(result)
    assert "sk-secret" not in said(result)
    outcomes = reported(project)["WIR-BUILD-1"][1]
    assert [op for op, outcome in outcomes.items() if outcome != "satisfied"] == ["embedding.embed"]


@pytest.mark.usefixtures("short")
def test_a_builder_is_called_once(project: Project) -> None:
    """All tests of an operation look at one and the same envelope."""
    project.run(
        client(
            project,
            "def build_embed_request(self):\n"
            "        open('calls.txt', 'a').write('x')\n"
            "        return super().build_embed_request()",
        )
    )
    assert (project.path / "calls.txt").read_text() == "x"


def test_beside_an_adapter(project: Project) -> None:
    """Both are tested, each with its report; a filter that is of one alone leaves the other out."""
    adapter = "--corpus-adapter=pytest_corpus.reference:llm"
    result = project.run(adapter, REFERENCE, REPORT, "--corpus-requirement=COM-CAP-2,WIR-ENV-*")
    assert result.ret == 0, said(result)
    assert list(project.report("r.pytest_corpus.reference_llm.json")["components"]) == ["llm"]
    assert list(project.report("r.pytest_corpus.reference_client.json")["components"]) == ["wire"]
    result = project.run(adapter, REFERENCE, "--corpus-report=one.json", "--corpus-requirement=COM-CAP-2")
    assert result.ret == 0, said(result)
    assert list(project.report("one.json")["components"]) == ["llm"]


def test_the_fixture_of_users_is_the_adapter(project: Project) -> None:
    """`corpus_adapter` is not confused by a client."""
    project.pytester.makepyfile(
        test_own="def test_own(corpus_adapter):\n    assert corpus_adapter.instance.has_handler('llm')\n"
    )
    result = project.run("--corpus-adapter=pytest_corpus.reference:llm", REFERENCE, "-k", "test_own")
    assert result.parseoutcomes()["passed"] == 1, said(result)


def test_no_test_of_a_client_ran(project: Project) -> None:
    """A filter that leaves nothing is not green."""
    assert project.run(REFERENCE, "--corpus-requirement=LLM-STREAM-1").ret == 5


@pytest.mark.usefixtures("short")
def test_a_pinned_schema_version(project: Project) -> None:
    """Edition 1.0.0 alone knows no null in `ctx`, and has a request schema of `llm.complete` only (R18)."""
    source = "def build_embed_request(self): return {**super().build_embed_request(), 'ctx': {'tenant': None}}"
    option = client(project, source)
    assert project.run(option, "--corpus-schema-version=1.1.0", REPORT).ret == 0
    assert project.run(option, "--corpus-schema-version=1.0.0", REPORT).ret == 1
    assert violated(project.report()) == {"WIR-SCHEMA-1"}
    outcomes = reported(project)["WIR-ARGS-2"][1]
    assert [op for op, outcome in outcomes.items() if outcome == "satisfied"] == ["llm.complete"]


def test_distributed(project: Project) -> None:
    """Two workers come to the same report as one process."""
    option = client(project, FAULTY["WIR-ARGS-1"])
    few = "--corpus-requirement=WIR-ARGS-*,WIR-BUILD-1"
    project.run(option, few, "--corpus-report=one.json")
    result = project.run(option, few, "-n", "2", "--corpus-report=two.json", plugins=("xdist",))
    assert result.ret == 1, said(result)
    one, two = (without_times(project.report(f"{name}.json")) for name in ("one", "two"))
    assert one == two


@pytest.mark.usefixtures("short")
def test_rerun_line(project: Project) -> None:
    """The printed command runs just that requirement."""
    result: Any = project.run(client(project, FAULTY["WIR-ENV-1"]))
    rerun = "pytest --corpus-client=mine:Client --corpus-requirement=WIR-ENV-1"
    assert [line for line in result.outlines if line.endswith(rerun)]
