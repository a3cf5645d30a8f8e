"""--corpus-recording: a suite on recorded answers of a provider, and what its verdict says."""

import hashlib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_runs import run_command
from inner_runs import REFERENCE, Project, said, status_by_id

from pytest_corpus.adapter.hooks.provider import ProviderProbe

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = (ROOT / "examples" / "llm-openai", ROOT / "skeletons" / "corpus-wire")
DELAY_MS = 1000
REPLAYED_S = 8.0
"""The most processor time of a replay; how long it waits depends on what else the machine does."""

ADAPTER = '''
import asyncio, json, os, sys, urllib.error, urllib.request
from pytest_corpus.adapter.fault_plan import ProviderFault
from pytest_corpus.reference import llm


def watch(event, given):  # for as long as this test has named an upstream: a hook can not be taken away
    if event == "socket.connect" and "UPSTREAM" in os.environ and given[1] and given[1][0] not in ("127.0.0.1", "::1"):
        raise AssertionError("a call leaves the machine")


sys.addaudithook(watch)


class OverHttp:
    """Asks the provider for each operation and chunk."""

    def __init__(self, base):
        self.base = base

    async def reached(self, op, *, chunk=None, **facts):
        if chunk is not None:
            return
        await asyncio.to_thread(self.ask, {"model": "m", "messages": [{"role": "user", "content": op}]})

    def ask(self, body):
        request = urllib.request.Request(f"{self.base}/v1/chat/completions", json.dumps(body).encode())
        try:
            urllib.request.urlopen(request).read()
        except urllib.error.HTTPError as error:
            kinds = {429: "rate_limited", 400: "invalid_request", 401: "auth", 403: "forbidden", 529: "overloaded"}
            raise ProviderFault(kinds.get(error.code, "unavailable"), error.code, None, "failed") from None
        except OSError:
            raise ProviderFault("network", 502, None, "gone") from None


def adapter(metrics=None, provider=None):
    return llm(metrics, OverHttp(provider.proxy(os.environ["UPSTREAM"])))
'''
OPENAI = (
    ADAPTER.partition("class OverHttp")[0]
    + """
from llm_openai import Adapter, Provider
from openai import AsyncOpenAI


def adapter(metrics=None, provider=None):
    base = provider.proxy(f"{os.environ['UPSTREAM']}/v1")
    return Adapter(Provider(AsyncOpenAI(api_key="sk-0123456789", base_url=base, max_retries=0)), metrics)
"""
)
FEW = "--corpus-requirement=LLM-COMPLETE-1,LLM-TOKENS-1,COM-FAULT-4"
FILE = "--corpus-recording=r.jsonl"
NAMED = "--corpus-adapter=recorded:adapter"


@pytest.fixture
def upstream(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderProbe]:
    """A canned provider."""
    made = ProviderProbe()
    monkeypatch.setenv("UPSTREAM", made.url)
    monkeypatch.delenv("CI", raising=False)
    yield made
    made.close()


def processor_s() -> float:
    """The processor time of the runs that have ended."""
    used = os.times()
    return used.children_user + used.children_system


def test_a_suite_replays_without_its_provider(
    project: Project, upstream: ProviderProbe, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The statuses are the same; report, badge and screen say that the answers were recorded, and what is missing."""
    project.pytester.makepyfile(recorded=ADAPTER)
    result = project.run(NAMED, FEW, FILE, "--corpus-report=r.json")
    live, lines = project.report(), (project.path / "r.jsonl").read_text().splitlines()
    assert set(status_by_id(live).values()) == {"satisfied"}, said(result)
    assert "provider" not in live
    assert json.loads(lines[0])["run"] == live["runs"][0]
    upstream.close()

    monkeypatch.setenv("CI", "1")
    instant = "--corpus-recording-speed=instant"
    written = ("--corpus-report=r.json", "--corpus-report=r.svg", "--corpus-transcript=t.jsonl")
    result = project.run_apart(NAMED, FEW, FILE, instant, *written)
    again = project.report()
    judged = run_command("judge", "t.jsonl", "--report", "j.json", cwd=project.path)
    assert status_by_id(project.report("j.json")) == status_by_id(live), judged
    assert (status_by_id(again), again["runs"]) == (status_by_id(live), live["runs"]), said(result)
    (provider,) = again["provider"]
    assert provider.startswith(f"recorded {time.strftime('%Y-%m-%d', time.gmtime())} from 127.0.0.1, sha256 ")
    assert "on recorded answers" in (project.path / "r.svg").read_text()
    result.stdout.fnmatch_lines(["*provider: recorded 20*, sha256 *", "*, on recorded answers of the provider"])

    other = "--corpus-requirement=LLM-COMPLETE-1,COM-HEALTH-1"
    result = project.run(NAMED, other, FILE, instant, "--corpus-report=r.json")
    missing = [each for each in project.report()["requirements"] if each["status"] == "not_assessed" and each["tests"]]
    assert missing, said(result)
    assert not [each for each in project.report()["requirements"] if each["status"] == "violated"]
    assert f"the request POST {os.environ['UPSTREAM']}/v1/chat/completions" in missing[0]["reason"]


@pytest.mark.parametrize(("given", "expected"), [
    (("--corpus-recording=r.txt",), "the name must end in .jsonl or .jsonl.gz"),
    (("--corpus-record=none",), "--corpus-record needs a file"),
    ((FILE, "--corpus-record=none"), "there is no such file; --corpus-record=once records it"),
    ((FILE, "--corpus-record=some"), "--corpus-record=some: use none or once or new or all"),
    ((FILE, "-n1"), "record without -n"),
    ((FILE, "--corpus-record=none", "--corpus-seed=1"), "use that seed"),
])  # fmt: skip
def test_what_cannot_be_recorded_or_replayed(project: Project, given: tuple[str, ...], expected: str) -> None:
    """One sentence, before any test."""
    if "seed" in given[-1]:
        header = {"n": 1, "kind": "header", "format": "1.0", "content": "provider", "run": "abcd012345", "seed": 0,
                  "recorded_at": "2026-11-27T12:00:00+00:00"}  # fmt: skip
        text = json.dumps(header) + "\n"
        end = {"n": 2, "kind": "end", "lines": 1, "exchanges": 0, "sha256": hashlib.sha256(text.encode()).hexdigest()}
        project.path.joinpath("r.jsonl").write_text(text + json.dumps(end) + "\n")
    result = project.run(REFERENCE, *given, plugins=("xdist",) if "-n1" in given else ())
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert expected in said(result)


@pytest.mark.slow
def test_a_suite_that_was_slow_replays_in_no_time(
    project: Project, upstream: ProviderProbe, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the same statuses, at any width and in any order, and without any call that leaves the machine."""
    pytest.importorskip("openai")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, EXAMPLE)))
    upstream.plan("slow", times=10**9, delay_ms=DELAY_MS)
    project.pytester.makepyfile(recorded=OPENAI)
    common = (NAMED, FILE, "--corpus-report=r.json", "--corpus-profile=quick")
    result = project.run_apart(*common, timeout=600)
    live = project.report()
    assert set(status_by_id(live).values()) <= {"satisfied", "not_applicable"}, said(result)
    upstream.close()
    instant = ("--corpus-record=none", "--corpus-recording-speed=instant")
    for more, plugins in (((), ()), (("-n2",), ("xdist", "randomly"))):
        spent = processor_s()
        result = project.run_apart(*common, *instant, *more, plugins=plugins)
        assert processor_s() - spent < REPLAYED_S * (2 if more else 1)
        assert status_by_id(project.report()) == status_by_id(live), said(result)
