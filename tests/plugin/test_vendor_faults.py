"""Faults on the wire of a vendor: what a client or an adapter loses of them is seen, which `reached` cannot show."""

import pytest
from inner_runs import Project, said

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
    careful.assert_outcomes(passed=2, deselected=careful.parseoutcomes()["deselected"])
    careless = project.run(f"--corpus-adapter=vendor:careless_{vendor}", *arguments)
    assert "failed" in careless.parseoutcomes()
    assert "COM-FAULT-8" in said(careless)
