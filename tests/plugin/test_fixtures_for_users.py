"""The fixtures that a user's own tests may ask for."""

import pytest
from inner_runs import REFERENCE, Project, assert_passed, said

NOTHING = "--corpus-requirement=COM-CAP-2"

TESTS = {
    "corpus_adapter": """
def test_own(corpus_adapter):
    exchange = corpus_adapter.send({"op": "llm.health", "ctx": {}, "args": {}}, "llm")
    assert exchange.frames[0].body["ok"] is True
""",
    "a_stream_of_corpus_adapter": """
def test_own(corpus_adapter):
    args = {"messages": [{"role": "user", "content": "hi"}]}
    exchange = corpus_adapter.send({"op": "llm.stream", "ctx": {}, "args": args}, "llm", streaming=True)
    assert exchange.frames[-1].body["chunk"]["is_final"] is True
""",
    "corpus_metrics": """
def test_own(corpus_adapter, corpus_metrics):
    corpus_adapter.send({"op": "llm.health", "ctx": {}, "args": {}}, "llm")
    assert corpus_metrics.observations[-1].op in ("health", "llm.health")
""",
    "corpus_provider": """
def test_own(corpus_adapter, corpus_provider):
    before = corpus_provider.calls("llm.complete")
    corpus_provider.plan("rate_limited", "llm.complete", retry_after_ms=70)
    args = {"messages": [{"role": "user", "content": "hi"}]}
    exchange = corpus_adapter.send({"op": "llm.complete", "ctx": {}, "args": args}, "llm")
    assert exchange.frames[0].body["code"] == "RESOURCE_EXHAUSTED"
    assert exchange.frames[0].body["retry_after_ms"] == 70
    assert corpus_provider.calls("llm.complete") == before + 1
""",
    "corpus_provider_server": """
import json
from urllib.error import HTTPError
from urllib.request import Request, urlopen

def test_own(corpus_provider_server):
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]}).encode()
    request = Request(corpus_provider_server.url + "/v1/chat/completions", body)
    assert json.load(urlopen(request))["choices"][0]["finish_reason"] == "stop"
    corpus_provider_server.plan("rate_limited", "llm.complete", retry_after_ms=2000)
    try:
        urlopen(request)
    except HTTPError as error:
        assert (error.code, error.headers["retry-after"]) == (429, "2")
    assert corpus_provider_server.calls("llm.complete") == 2

def test_another(corpus_provider_server):
    assert corpus_provider_server.calls() == 0
""",
    "schema_registry": """
def test_own(schema_registry):
    good = {"text": "a", "model": "m", "finish_reason": "stop",
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}
    assert schema_registry.problems("llm.types.completion", good) == []
    assert schema_registry.problems("llm.types.completion", {"text": 7})
""",
    "stream_validator": """
def test_own(stream_validator):
    frame = {"ok": True, "code": "STREAMING", "ms": 1.0, "chunk": {"text": "a", "is_final": True}}
    assert not stream_validator([frame], component="llm").validation_errors
    assert stream_validator([frame, frame], component="llm").validation_errors
""",
}


def written(project: Project, *names: str) -> int:
    """Write the modules of some tests; the number of tests."""
    project.pytester.makepyfile(**{f"test_users_{name}": TESTS[name] for name in names})
    return sum(TESTS[name].count("def test_") for name in names)


@pytest.mark.parametrize("way", ["option", "conftest"])
def test_fixtures(project: Project, way: str) -> None:
    """Each fixture does in a user's own test what its docstring says."""
    own = written(project, *TESTS)
    if way == "conftest":
        project.pytester.makeconftest("def pytest_corpus_adapter(config): return 'pytest_corpus.reference:llm'")
    result = project.run(NOTHING, *([REFERENCE] if way == "option" else []))
    assert_passed(result, project, NOTHING, own=own)
    assert result.ret == 0


def test_without_an_adapter(project: Project) -> None:
    """Schemas and streams can be judged, and a provider be asked, without any adapter."""
    own = written(project, "corpus_provider_server", "schema_registry", "stream_validator")
    assert project.run().parseoutcomes() == {"passed": own}


def test_adapter_in_a_users_test_alone(project: Project) -> None:
    """A user's test has the conftest's adapter where it runs alone, and the adapter is closed after it."""
    project.adapter("class Closing(Wrapped):\n    def close(self): open('closed.txt', 'w').close()\n")
    project.pytester.makeconftest("def pytest_corpus_adapter(config): return 'mine:Closing'")
    project.pytester.makepyfile(test_own=TESTS["corpus_adapter"])
    assert project.run("test_own.py").parseoutcomes() == {"passed": 1}
    assert (project.path / "closed.txt").exists()


@pytest.mark.parametrize(("declared", "why"), [
    ([], "no adapter is declared; declare one with --corpus-adapter=module:factory"),
    ([NOTHING, *(f"--corpus-adapter={name}=pytest_corpus.reference:llm" for name in "ab")], "2 adapters are declared"),
])  # fmt: skip
def test_not_one_adapter(project: Project, declared: list[str], why: str) -> None:
    """The test fails with the way to declare an adapter if there is none; of several it takes none."""
    project.pytester.makepyfile(test_own=TESTS["corpus_adapter"])
    result = project.run(*declared)
    assert result.ret == 1
    assert why in said(result)
    assert "Traceback" not in said(result)


def test_traces_of_a_users_test(project: Project) -> None:
    """A fault that a user's test planned and left behind does not strike a conformance test."""
    project.pytester.makepyfile(
        test_own="def test_own(corpus_provider): corpus_provider.plan('unavailable', times=1000)"
    )
    few = "--corpus-requirement=LLM-COMPLETE-1,LLM-STREAM-1"
    result = project.run(REFERENCE, few)
    assert result.ret == 0, said(result)
    assert_passed(result, project, few, own=1)
