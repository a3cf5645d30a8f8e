"""A verdict is about the adapter, whatever its provider does, with hooks or on the wire of a vendor."""

import re
import shutil
import time
from pathlib import Path

import pytest
from cli_runs import ROOT
from inner_runs import Project, said, violated

from pytest_corpus.kit import retries
from pytest_corpus.kit.store import leftovers
from pytest_corpus.spec.components import COMPONENTS

SEEDS = range(1, 21)


def run(project: Project, monkeypatch: pytest.MonkeyPatch, how: str, component: str, *given: str) -> pytest.RunResult:
    """The suite against the reference adapter in front of a bad provider."""
    monkeypatch.setenv("CORPUS_TEST_PROVIDER", how)
    return project.run(f"--corpus-adapter=bad_providers:{component}", "--corpus-report=r.json", *given)


@pytest.mark.parametrize(
    ("how", "component"), [("random=1", "llm"), ("front=2", "embedding"), ("gone=1.5,3", "vector")]
)
def test_a_call_may_fail(project: Project, monkeypatch: pytest.MonkeyPatch, how: str, component: str) -> None:
    """A retryable error answers one call in a hundred, or all for three seconds, and the adapter is conformant."""
    result = run(project, monkeypatch, how, component)
    assert project.report()["verdict"] == "conformant", said(result)


@pytest.mark.slow
@pytest.mark.parametrize("component", COMPONENTS)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("how", ["random", "front"])
def test_any_call_may_fail(
    project: Project, monkeypatch: pytest.MonkeyPatch, how: str, seed: int, component: str
) -> None:
    """So it is for twenty seeds and every component, where the provider rejects calls and where a gateway does."""
    result = run(project, monkeypatch, f"{how}={seed}", component)
    assert project.report()["verdict"] == "conformant", said(result)


@pytest.mark.parametrize("how", ["gone=1", pytest.param("restart=1", marks=pytest.mark.slow)])
def test_the_provider_may_go_away(project: Project, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    """The run ends, the adapter is not blamed, and the first line of the summary says since when."""
    monkeypatch.setattr(retries, "CALL_S", 4.0)
    result = run(project, monkeypatch, how, "graph")
    report = project.report()
    assert (violated(report), report["verdict"]) == (set(), "partial"), said(result)
    summary = said(result).partition(" corpus conformance ")[2].lstrip("=\n")
    assert re.match(r"adapter .*: the provider has been unavailable since \d\d:\d\d:\d\d", summary)
    assert result.ret == 0


@pytest.mark.parametrize(("component", "calls"), [("llm", 400), ("embedding", 180)])
def test_a_quota_may_be_used_up(project: Project, monkeypatch: pytest.MonkeyPatch, component: str, calls: int) -> None:
    """The adapter is not blamed, though an operation or an instance that never worked is refused first."""
    result = run(project, monkeypatch, f"spent={calls}", component)
    report = project.report()
    assert (violated(report), report["verdict"]) == (set(), "partial"), said(result)


GOES_AWAY = """
from pathlib import Path
from pytest_corpus.adapter.fault_plan import ProviderFault
from pytest_corpus.reference.vector.adapter import ReferenceVector

STORE, MADE = {}, []

class Vector(ReferenceVector):
    def __init__(self, metrics=None, provider=None):
        super().__init__(metrics=metrics, provider=Away(provider))
        self.tenants = STORE

    async def handle(self, envelope):
        answer = await super().handle(envelope)
        names = [name for spaces in STORE.values() for name in spaces if name != "default"]
        Path("there.txt").write_text(" ".join(names))
        return answer

class Away:
    def __init__(self, provider):
        self.provider = provider

    async def reached(self, op, **facts):
        MADE.append(op)
        if MADE.count("vector.create_namespace") > 8:
            raise ProviderFault("unavailable", 503, None, "away")
        await self.provider.reached(op, **facts)
"""


def test_after_an_outage_only_what_is_there_is_left_behind(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A namespace whose creation the provider never confirmed is in the record for `sweep`, and is not counted."""
    monkeypatch.setattr(retries, "CALL_S", 2.0)
    project.pytester.makepyfile(mine=GOES_AWAY)
    result, report = project.judged("mine:Vector", "VEC-*")
    there = (project.path / "there.txt").read_text().split()
    assert there, said(result)
    (note,) = [each for each in report["notes"] if "could not be deleted" in each]
    assert note.startswith(f"{len(there)} namespace"), (there, note)
    (path,) = (project.path / leftovers.FOLDER).glob("*.jsonl")
    left = leftovers.read_file(path)
    assert left is not None
    assert set(there) < {name for names in left.names.values() for name in names}


@pytest.mark.slow
def test_it_ends_within_a_minute(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the usual patience, too, a run ends within 60 seconds after the provider went away."""
    shutil.copy(Path(__file__).with_name("bad_providers.py"), project.path)
    begun = time.monotonic()
    run(project, monkeypatch, "restart=2", "graph", "-n", "2", "-p", "xdist")
    assert time.monotonic() - begun < 65
    assert violated(project.report()) == set()


def test_what_never_worked_is_not_an_outage(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider that is away from the first call on cannot be told from an adapter that does not work (R147)."""
    monkeypatch.setattr(retries, "CALL_S", 2.0)
    result = run(project, monkeypatch, "gone=0", "graph")
    report = project.report()
    assert report["verdict"] == "nonconformant", said(result)
    assert len(violated(report)) <= 5, said(result)
    assert "unavailable since" not in said(result)


DELETES_NOT = """
from pytest_corpus.reference.vector.adapter import ReferenceVector

class DeletesNot(ReferenceVector):
    async def delete(self, call):
        raise AttributeError("cursor")
"""


def test_a_broken_operation_is_waited_for_once(project: Project) -> None:
    """Its refusals are not taken for writes that show late, and no other operation is waited for."""
    project.pytester.makepyfile(mine=DELETES_NOT)
    begun = time.monotonic()
    result, report = project.judged("mine:DeletesNot", "VEC-DELETE-*,VEC-UPSERT-[1-5],VEC-NS-*")
    assert report["settle_s"] == {"vector": 0.0}, said(result)
    assert time.monotonic() - begun < 20


FAULTY = """
class LongTextFails(Wrapped):
    component = "embedding"

    def refuses(self, op, args):
        return op == "embedding.embed" and len(str(args.get("text"))) > 500

    async def handle(self, envelope):
        if isinstance(envelope, dict) and isinstance(envelope.get("args"), dict):
            if self.refuses(envelope.get("op"), envelope["args"]):
                return refused("UNAVAILABLE", "Unavailable")
        return await self.inner.handle(envelope)

class NeverWorks(LongTextFails):
    def refuses(self, op, args):
        return op == "embedding.embed_batch"
"""


@pytest.mark.parametrize(("name", "blamed"), [("LongTextFails", "EMB-TRUNC-1"), ("NeverWorks", "COM-CAP-6")])
def test_an_answer_of_the_adapters_own_is_judged(project: Project, name: str, blamed: str) -> None:
    """An operation that always fails while plain calls work is the adapter's fault, retryable or not."""
    project.adapter(FAULTY)
    _, report = project.judged(f"mine:{name}", "EMB-TRUNC-1,EMB-BATCH-1")
    assert blamed in violated(report)


ADAPTERS = """
import asyncio, json, urllib.error, urllib.request
from pytest_corpus.reference.llm.adapter import ReferenceLLM
from pytest_corpus.vendors import Endpoint, Errors

BODY = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}

class ClientError(Exception):
    def __init__(self, status, retry_after_ms):
        self.http_status, self.retry_after_ms = status, retry_after_ms

class Client:
    def __init__(self, url, loses):
        self.url, self.loses = url, loses

    async def reached(self, op, **facts):
        if "chunk" not in facts:
            await asyncio.to_thread(self.ask, {**BODY, "stream": op == "llm.stream"})

    def ask(self, body):
        data, headers = json.dumps(body).encode(), {"content-type": "application/json"}
        try:
            urllib.request.urlopen(urllib.request.Request(self.url, data, headers)).read()
        except urllib.error.HTTPError as error:
            said = error.headers["retry-after-ms"]
            raise ClientError(error.code, None if self.loses or said is None else float(said)) from None

class Own(Endpoint):
    errors = Errors(lambda trouble: {"trouble": trouble.kind})

    def reached(self, body, /):
        return ("llm.stream" if body["stream"] else "llm.complete"), {}

    def answer(self, body, filtered, /):
        return {"text": "Amber."}

def made(loses, metrics, provider, path):
    if path == "generate":
        provider.serve({("POST", path): Own()})
    return ReferenceLLM(metrics=metrics, provider=Client(f"{provider.url}/{path}", loses))

def cohere(metrics=None, provider=None): return made(False, metrics, provider, "v2/chat")
def careless_cohere(metrics=None, provider=None): return made(True, metrics, provider, "v2/chat")
def own(metrics=None, provider=None): return made(False, metrics, provider, "generate")
def careless_own(metrics=None, provider=None): return made(True, metrics, provider, "generate")
"""


@pytest.mark.parametrize("vendor", ["cohere", "own"])
def test_a_hint_that_a_client_loses_is_missed(project: Project, vendor: str) -> None:
    """COM-FAULT-8 holds for the adapter that reads the header, and not for the one that does not."""
    project.pytester.makepyfile(vendor=ADAPTERS)
    arguments = ("--corpus-requirement=COM-FAULT-8", "-k", "not second_chunk")
    careful = project.run(f"--corpus-adapter=vendor:{vendor}", *arguments)
    assert careful.ret == 0, said(careful)
    assert careful.parseoutcomes().keys() == {"passed", "deselected"}, said(careful)
    careless = project.run(f"--corpus-adapter=vendor:careless_{vendor}", *arguments)
    assert "failed" in careless.parseoutcomes()
    assert "COM-FAULT-8" in said(careless)


MISTAKES = """
def refuse(*given):
    raise KeyError("choices")

class Answers(Own):
    def answer(self, body, filtered, /):
        return {"text": body["choices"]} if body["stream"] else super().answer(body, filtered)

class NoJson(Own):
    def answer(self, body, filtered, /):
        return {"text": {"Amber."}} if body["stream"] else super().answer(body, filtered)

class Arrives(Own):
    def reached(self, body, /):
        return refuse() if body["stream"] else super().reached(body)

class Bodies(Own):
    errors = Errors(refuse)

def with_endpoint(endpoint, provider):
    provider.serve({("POST", "generate"): endpoint})
    return ReferenceLLM(provider=Client(f"{provider.url}/generate", False))

def answers(provider): return with_endpoint(Answers(), provider)
def no_json(provider): return with_endpoint(NoJson(), provider)
def arrives(provider): return with_endpoint(Arrives(), provider)
def bodies(provider): return with_endpoint(Bodies(), provider)
def no_pair(provider): provider.serve({"generate": Own()})
def no_endpoint(provider): provider.serve({("POST", "generate"): refuse})
"""


@pytest.mark.parametrize(("factory", "place"), [
    ("answers", "in answer: return {\"text\": body[\"choices\"]}"),
    ("no_json", "TypeError"),
    ("arrives", "in refuse: raise KeyError"),
    ("bodies", "in refuse: raise KeyError"),
])  # fmt: skip
def test_a_mistake_in_the_authors_stand_in_blames_nobody(project: Project, factory: str, place: str) -> None:
    """It is told with its place, what met it is not assessed, the run is partial, and the rest is judged."""
    project.pytester.makepyfile(vendor=ADAPTERS + MISTAKES)
    result, report = project.judged(f"vendor:{factory}", "LLM-COMPLETE-1,LLM-STREAM-1,LLM-STREAM-3,COM-FAULT-1")
    assert result.ret == 1
    assert (violated(report), report["verdict"]) == (set(), "partial"), said(result)
    found = {each["id"]: each["status"] for each in report["requirements"]}
    misled, judged = ("COM-FAULT-1", "LLM-STREAM-1") if factory == "bodies" else ("LLM-STREAM-1", "LLM-COMPLETE-1")
    assert (found[misled], found[judged]) == ("not_assessed", "satisfied"), said(result)
    assert place in said(result)
    assert said(result).count("Nothing that depends on it is judged") == 1
    assert len([gap for gap in report["gaps"] if "provider.serve" in gap]) == 1
    assert "to assess it, repair that endpoint" in said(result)


NO_EVENTS = """
from careless_clients import ClientLLM
from pytest_corpus.adapter.hooks.vendors.openai import ERRORS, ChatCompletions
from pytest_corpus.vendors import Errors

def refuse(trouble):
    raise KeyError("choices")

class NoEvents(ChatCompletions):
    errors = Errors(ERRORS.body, refuse, ERRORS.headers)

def adapter(metrics=None, provider=None):
    provider.serve({("POST", "v1/chat/completions"): NoEvents()})
    return ClientLLM(metrics=metrics, provider=provider)
"""


@pytest.mark.parametrize("width", [1, 8])
def test_a_mistake_in_the_events_of_errors_blames_nobody(project: Project, width: int) -> None:
    """A stream that the author's stand-in breaks off by mistake tells nothing, also with many tests in flight."""
    project.pytester.makepyfile(vendor=NO_EVENTS)
    few = "COM-STREAM-9,COM-FAULT-9,LLM-STREAM-1"
    result, report = project.judged("vendor:adapter", few, f"--corpus-concurrency={width}")
    found = {each["id"]: each["status"] for each in report["requirements"]}
    assert (found["COM-STREAM-9"], found["LLM-STREAM-1"]) == ("not_assessed", "satisfied"), said(result)
    assert (violated(report), report["verdict"]) == (set(), "partial"), said(result)
    assert said(result).count("Nothing that depends on it is judged") == 1
    assert "in refuse: raise KeyError" in said(result)


@pytest.mark.parametrize(
    ("factory", "fault"), [("no_pair", "write the method and the path"), ("no_endpoint", "has no")]
)
def test_endpoints_that_cannot_be_served_are_refused(project: Project, factory: str, fault: str) -> None:
    """The refusal comes before any test runs."""
    project.pytester.makepyfile(vendor=ADAPTERS + MISTAKES)
    result = project.run(f"--corpus-adapter=vendor:{factory}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert fault in said(result)


OFFICIAL = f"""
import sys
sys.path[:0] = {[str(ROOT / "skeletons" / "corpus-wire"), str(ROOT / "examples" / "llm-openai")]!r}
from corpus_wire.llm import Reply
from llm_openai import Adapter
from llm_openai.provider import Provider, arguments, call_options
from openai import AsyncOpenAI

class TakesAnyEnd(Provider):
    async def stream(self, prompt):
        asked = self.client.chat.completions.create(**arguments(prompt), stream=True, **call_options())
        async with await asked as chunks:
            async for chunk in chunks:
                for choice in chunk.choices:
                    if choice.delta.content:
                        yield Reply(choice.delta.content)
        yield Reply(finish_reason="stop")

class HidesTheFilter(Provider):
    async def complete(self, prompt):
        reply = await super().complete(prompt)
        reply.finish_reason = "stop"
        return reply

def made(kind):
    def factory(metrics=None, provider=None):
        return Adapter(kind(AsyncOpenAI(api_key="unused", base_url=provider.url + "/v1", max_retries=0)), metrics)
    return factory

careful, any_end, no_filter = map(made, (Provider, TakesAnyEnd, HidesTheFilter))
"""


def test_what_a_vendors_client_lets_through(project: Project) -> None:
    """A stream without its last event is an error, and a filtered answer says that it is one."""
    project.pytester.makepyfile(official=OFFICIAL)
    blamed = {"careful": set(), "any_end": {"COM-FAULT-9"}, "no_filter": {"COM-FAULT-5"}}
    adapters = [f"--corpus-adapter={name}=official:{name}" for name in blamed]
    few = ("--corpus-requirement=COM-FAULT-5,COM-FAULT-9", "--corpus-components=llm", "--corpus-report=r.json")
    result = project.run(*adapters, *few)
    assert {name: violated(project.report(f"r.{name}.json")) for name in blamed} == blamed, said(result)
