"""A finding shows the call that it was judged on, never just the last one of the test."""

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from inner_runs import Project, said

from pytest_corpus.spec.obstacles import Obstacle, with_remedy
from pytest_corpus.spec.requirements import catalogue
from pytest_corpus.suites.shared.claims.propagation import reason_not_assessed

ADAPTERS = """
import asyncio
import json
import logging
import uuid

from pytest_corpus.reference.vector.adapter import ReferenceVector

class Timeless(Wrapped):
    async def handle_stream(self, envelope):
        async for frame in self.inner.handle_stream(envelope):
            yield {**frame, "ms": 0}

@before("llm.complete")
def AnyMessages(adapter, envelope):
    if isinstance(envelope["args"].get("messages"), str):
        return adapter.inner.handle({**envelope, "args": {"messages": [{"role": "user", "content": "hi"}]}})

class AnyTypes(Wrapped):
    async def handle(self, envelope):
        answer = await self.inner.handle(envelope)
        if not isinstance(envelope, dict) or answer["ok"]:
            return answer
        if not isinstance(envelope.get("op"), str):
            return answer | {"code": "NOT_SUPPORTED", "error": "NotSupported"}
        if not isinstance(envelope.get("ctx"), dict):
            return answer | {"code": "AUTH_ERROR", "error": "AuthError"}
        if not isinstance(envelope.get("args"), dict):
            return await self.inner.handle({"op": "llm.capabilities", "ctx": {}, "args": {}})
        return answer

class Mixed(Wrapped):
    # The second of several calls gets the answer of the first.
    under_way = []
    async def handle(self, envelope):
        self.under_way.append(envelope)
        number = len(self.under_way)
        try:
            await asyncio.sleep(0.01)
            if number == 2 and self.under_way[0]["op"] == envelope["op"]:
                with open("mixed.txt", "a") as file:
                    print(json.dumps(envelope["args"]), file=file)
                envelope = self.under_way[0]
            return await self.inner.handle(envelope)
        finally:
            await asyncio.sleep(0.02)
            self.under_way.clear()

class GoesOn(Wrapped):
    async def handle_stream(self, envelope):
        frames = [frame async for frame in self.inner.handle_stream(envelope)]
        for _ in range(16):
            if len(frames) > 1:
                yield {**frames[0], "chunk": {"text": "", "is_final": False}}
        for frame in frames:
            yield frame
        yield frames[-1]

class Twice(Wrapped):
    async def handle_stream(self, envelope):
        async for frame in self.inner.handle_stream(envelope):
            yield frame
        self.metrics.observe(component="llm", op="stream", ms=1.0, ok=True)

class Logs(Wrapped):
    async def handle(self, envelope):
        logging.getLogger("acme.client").warning("asked %s", envelope)
        return await self.inner.handle(envelope)

class Unmeasured(Wrapped):
    async def handle(self, envelope):
        if op_of(envelope) == "llm.count_tokens":
            return refused("NOT_SUPPORTED", "NotSupported")
        answer = await self.inner.handle(envelope)
        if op_of(envelope) == "llm.capabilities":
            answer["result"]["supports_count_tokens"] = False
        return answer
    async def handle_stream(self, envelope):
        async for frame in self.inner.handle_stream(envelope):
            frame.get("chunk", {}).pop("usage_so_far", None)
            yield frame

class Renamed(Wrapped):
    def __init__(self, metrics=None, provider=None):
        super().__init__(Renaming(metrics), provider)

class Renaming:
    def __init__(self, metrics):
        self.metrics = metrics
    def observe(self, **labels):
        self.metrics.observe(**{**labels, "op": labels["op"] if labels["ok"] else "invalid"})
    def counter(self, **labels):
        self.metrics.counter(**labels)

def mapped(value):
    if isinstance(value, dict):
        return {key: str(uuid.uuid5(uuid.NAMESPACE_DNS, each)) if key == "id" else mapped(each)
                for key, each in value.items()}
    return [mapped(each) for each in value] if isinstance(value, list) else value

class OwnIds(Wrapped):
    component = "vector"
    async def handle(self, envelope):
        return mapped(await self.inner.handle(envelope))

class OneNamespace(ReferenceVector):
    def select(self, space, query):
        like = [each for spaces in self.tenants.values() for each in spaces.values() if each.metric == space.metric]
        like = [each for each in like if each.dimensions == space.dimensions]
        return [item for each in like for item in super(OneNamespace, self).select(each, query)]

@before("vector.create_namespace")
def Forgets(adapter, envelope):
    return {"ok": True, "code": "OK", "ms": 1.0, "result": {"success": True}}

@before("vector.upsert")
def Silent(adapter, envelope):
    return {"ok": True, "code": "OK", "ms": 1.0, "result": {}}

@changes("graph.traversal")
def Loud(answer):
    for edge in answer["result"]["relationships"]:
        edge["label"] = edge["label"].upper()

@before("vector.create_namespace")
def NoNamespaces(adapter, envelope):
    # It is busy every other time that a namespace is to be made, and refuses it then.
    adapter.asked = getattr(adapter, "asked", 0) + 1
    if adapter.asked % 2:
        return refused("UNAVAILABLE", "Unavailable", retry_after_ms=1)
    return refused("BAD_REQUEST", "BadRequest")
"""


@pytest.fixture
def adapters(project: Project) -> Project:
    """A folder of adapters with a mistake each."""
    project.adapter(ADAPTERS)
    return project


def block(project: Project, name: str, few: str, requirement: str = "", *options: str) -> dict[str, str]:
    """The lines of the first finding of a requirement on the terminal, by their labels."""
    component = "vector" if name in ("OwnIds", "NoNamespaces", "OneNamespace") else "llm"
    given = (f"--corpus-adapter=mine:{name}", f"--corpus-components={component}", f"--corpus-requirement={few}")
    text = said(project.run(*given, *options))
    found = text.partition(f"\n{requirement or few} (MUST): ")[2]
    assert found, text[-3000:]
    found = re.split(r"\n[_=]{3}", found)[0]
    lines = re.findall(r"^  ([a-z ]+): +(.*)$", found, re.MULTILINE)
    return {"story": found.partition("  story:\n")[2], **dict(reversed(lines))}


def request_of(sent: str) -> dict[str, Any]:
    """The request in a line of a finding."""
    found: dict[str, Any] = json.loads(sent.partition(" ")[2])
    return found


def test_a_time_in_a_frame_shows_the_frame(adapters: Project) -> None:
    """COM-STREAM-10 of a stream shows the stream, with the frame whose `ms` is wrong."""
    seen = block(adapters, "Timeless", "COM-STREAM-10")
    assert seen["sent"].startswith('handle_stream {"op": "llm.stream"')
    number = re.search(r"0  \(at frame (\d+), ms\)", seen["got"])
    assert number, seen["got"]
    assert json.loads(seen["answer"])[int(number[1]) - 1]["ms"] == 0


def test_a_finding_of_another_test_shows_what_it_rests_on(adapters: Project) -> None:
    """LLM-MSG-4, found on the way to COM-OBS-2, shows the messages that are a text."""
    seen = block(adapters, "AnyMessages", "COM-OBS-2", "LLM-MSG-4")
    assert isinstance(request_of(seen["sent"])["args"]["messages"], str)


@pytest.mark.parametrize("name", ["r.md", "r.html"])
def test_each_of_several_findings_has_its_request(adapters: Project, name: str) -> None:
    """In a file each pair of expected and got of COM-WIRE-7 is followed by the request that it is about."""
    block(adapters, "AnyTypes", "COM-WIRE-7", "", f"--corpus-report={name}")
    text = Path(adapters.path / name).read_text("utf-8").replace("&quot;", '"')
    pairs = re.split(" - expected |<dt>Expected", re.split("hint: |<dt>Hint", text)[0])[1:]
    assert len(pairs) == 3
    assert all(len(re.findall(r"handle(?:_stream)? \{", pair)) == 1 for pair in pairs), pairs


def test_of_concurrent_calls_the_wrong_one_is_shown(adapters: Project) -> None:
    """COM-CONC-1 shows the call that got another one's answer, and not the last of the batch."""
    seen = block(adapters, "Mixed", "COM-CONC-1")
    mixed = [json.loads(line) for line in (adapters.path / "mixed.txt").read_text().splitlines()]
    assert request_of(seen["sent"])["args"] in mixed


def test_after_a_retry_the_refused_call_is_shown(adapters: Project) -> None:
    """VEC-NS-1 shows the `create_namespace` that fails, and not what cleaned up after it."""
    seen = block(adapters, "NoNamespaces", "VEC-NS-1")
    assert request_of(seen["sent"])["op"] == "vector.create_namespace"


def test_a_long_stream_shows_the_frames_at_fault(adapters: Project) -> None:
    """COM-STREAM-7 shows the frame after the terminal one, with those before it and a few of the beginning."""
    seen = block(adapters, "GoesOn", "COM-STREAM-7")
    number = int(re.findall(r"frame (\d+)", seen["got"])[0])
    shown = json.loads(seen["answer"])
    assert number > 16
    assert shown[2] == f"... frames 3 to {number - 3}"
    assert [each["chunk"]["is_final"] for each in shown[-2:]] == [True, True]


def test_a_requirements_own_test_comes_first(adapters: Project) -> None:
    """The finding of COM-OBS-3 that is shown is one of its own tests, though another test saw it before."""
    seen = block(adapters, "Twice", "COM-ERR-1,COM-STREAM-1,COM-OBS-3,COM-OBS-11", "COM-OBS-3")
    assert "test_context_siem" in seen["test"]
    assert seen["observed"].count('op="stream"') or seen["observed"].count("op=stream")


@pytest.mark.parametrize("level", ["shape", "full"])
def test_a_label_stands_as_it_was_given(adapters: Project, level: str) -> None:
    """At either level the wrong `op` of an observation is shown."""
    seen = block(adapters, "Renamed", "COM-OBS-2", "", f"--corpus-evidence={level}")
    assert 'op="invalid"' in seen["observed"]


def test_ids_stand_as_they_are(adapters: Project) -> None:
    """Ids that a store turned into UUIDs stand in its answer, to be compared with those that were sent."""
    seen = block(adapters, "OwnIds", "VEC-UPSERT-2", "VEC-UPSERT-18")
    [match, *_] = json.loads(seen["answer"])["result"]["matches"]
    assert re.fullmatch("[0-9a-f-]{36}", match["vector"]["id"])
    assert match["vector"]["namespace"] == request_of(seen["sent"])["args"]["namespace"]


def test_what_was_written_stands_before_what_was_read(adapters: Project) -> None:
    """A finding on a read shows the last calls with which its test had written there."""
    options = ("--corpus-components=graph", "--corpus-requirement=GRA-EDGE-1")
    found = said(adapters.run("--corpus-adapter=mine:Loud", *options)).partition("\nGRA-EDGE-1 (MUST): ")[2]
    assert re.search(r"story:\n +the test had written:\n +1\. .*\n +2\. handle .*graph\.upsert_edges", found), found


def test_what_does_not_belong_is_shown_where_it_was_written(adapters: Project) -> None:
    """A query of one namespace that finds vectors of another shows the upsert of those."""
    found = block(adapters, "OneNamespace", "VEC-NS-2")
    strange = re.search(r"corpusrun\w+0v[0-9a-z]{8}", found["got"])
    assert strange, found
    where = request_of(found["sent"])["args"]["namespace"]
    written = [line for line in found["story"].splitlines() if "vector.upsert" in line]
    assert written
    assert all(f'"namespace": "{where}"' not in line for line in written)
    assert any(strange[0] in line for line in written)


@pytest.mark.parametrize("few", ["VEC-NS-1", "VEC-NS-3"])
def test_a_namespace_that_is_not_there_is_the_finding(adapters: Project, few: str) -> None:
    """A `create_namespace` that does nothing is VEC-NS-1 also if a few requirements run, not an upsert that fails."""
    text = said(adapters.run("--corpus-adapter=mine:Forgets", f"--corpus-requirement={few}"))
    assert "VEC-NS-1 (MUST)" in text, text
    assert "VEC-UPSERT-1 (MUST)" not in text, text


def test_what_a_broken_write_explains_is_no_finding(adapters: Project) -> None:
    """The test of a read that finds nothing is blocked by the upsert whose result is empty."""
    text = said(
        adapters.run("--corpus-adapter=mine:Silent", "--corpus-requirement=VEC-DIM-9", "--corpus-write-delay=0")
    )
    assert "not assessed  VEC-DIM-9: blocked by VEC-UPSERT-1" in text, text


def test_a_leak_names_the_record(adapters: Project) -> None:
    """A leak into a log says which logger it was, and the line that logged."""
    seen = block(adapters, "Logs", "COM-LEAK-3")
    lines = (adapters.path / "mine.py").read_text().splitlines()
    [line] = [number for number, text in enumerate(lines, 1) if "warning(" in text]
    assert seen["got"] == f"a part of the content in a log record of the logger acme.client at mine.py:{line}"


def test_what_a_stream_lacks_is_named(adapters: Project) -> None:
    """A stream whose length nothing tells needs `usage_so_far`, and not `usage`."""
    text = said(adapters.run("--corpus-adapter=mine:Unmeasured", "--corpus-requirement=LLM-STREAM-3"))
    assert "LLM-STREAM-3: the length of the stream is unknown without usage_so_far and count_tokens" in text
    assert "send `usage_so_far` in the chunks" in text


@pytest.mark.parametrize(
    ("server", "remedy"),
    [(object(), "has the header X-Deadline-Ms"), (None, "await provider.reached(op, deadline_ms=")],
)
def test_the_remedy_fits_the_way_to_the_provider(server: object, remedy: str) -> None:
    """A client of the server at `provider.url` has headers to send, and awaits nothing."""
    subject: Any = SimpleNamespace(
        client=SimpleNamespace(provider=SimpleNamespace(is_on_wire=server is not None)),
        faults=SimpleNamespace(require_possible=lambda _fact: None),
    )
    assert remedy in with_remedy(reason_not_assessed(subject, "deadline_ms").reason)
    never_fired = with_remedy(Obstacle.NEVER_FIRED.reason(op="the provider"))
    assert "await provider.reached(...)" in never_fired
    assert "provider.url" in never_fired


def test_a_hint_names_the_swallowed_cancellation() -> None:
    """The cause that keeps a call running beyond its deadline is named in the finding."""
    assert all("asyncio.CancelledError" in catalogue()[f"COM-DEADLINE-{number}"].hint for number in (4, 5))
