"""The LLM adapter in Node: its transports, its hooks, and its verdict as the README gets it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from running import EXAMPLES, REFUSALS, WAIT_S, Hooks, ask, copied, end_group, hang_up, run_readme, served

from pytest_corpus.adapter.hooks.provider import ProviderProbe

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="there is no node: apt-get install nodejs")

FOLDER = EXAMPLES / "llm-node"
MESSAGES = [{"role": "user", "content": "Say \u2028 something"}]
STREAM = {"op": "llm.stream", "ctx": {}, "args": {"messages": MESSAGES}}
COMPLETE = {"op": "llm.complete", "ctx": {}, "args": {"messages": MESSAGES}}


@pytest.fixture(scope="module")
def vendor() -> str:
    """The address of a vendor."""
    return f"{Hooks().url}/provider"


@pytest.fixture(scope="module")
def port(vendor: str) -> Iterator[int]:
    with served(["node", "main.js", "--port", "0", "--hooks"], FOLDER, OPENAI_BASE_URL=vendor) as found:
        yield found


def frames(kind: str, body: str) -> list[dict[str, Any]]:
    if kind == "application/x-ndjson":
        return [json.loads(line) for line in body.removesuffix("\n").split("\n")]
    return [json.loads(event.removeprefix("data: ")) for event in body.removesuffix("\n\n").split("\n\n")]


@pytest.mark.parametrize("kind", ["application/x-ndjson", "text/event-stream"])
def test_streams_in_both_formats(port: int, kind: str) -> None:
    """A stream is chunked, has the type that was asked for, and ends with its only final chunk."""
    answer = ask(port, STREAM, Accept=kind)
    assert (answer.status, answer.headers["Content-Type"]) == (200, kind)
    assert answer.headers["Transfer-Encoding"] == "chunked"
    chunks = [frame["chunk"] for frame in frames(kind, answer.read().decode())]
    assert len(chunks) > 2
    assert [chunk["is_final"] for chunk in chunks] == [False] * (len(chunks) - 1) + [True]


@pytest.mark.parametrize("accept", ["application/json", "application/x-ndjson", "text/event-stream"])
def test_refused_at_once(port: int, accept: str) -> None:
    """A call that fails before its first frame gets an envelope with the status of its class, in every format."""
    op = "llm.complete" if accept == "application/json" else "llm.stream"
    answer = ask(port, {"op": op, "ctx": {}, "args": {}}, Accept=accept)
    assert (answer.status, answer.headers["Content-Type"]) == (400, "application/json")
    assert json.loads(answer.read())["code"] == "BAD_REQUEST"


@pytest.mark.parametrize("name", REFUSALS)
def test_never_becomes_a_call(port: int, name: str) -> None:
    """Input that is not a request gets an error envelope, with the status that HTTP has for it."""
    status, request = REFUSALS[name]
    answer = ask(port, request["body"], **{key: text for key, text in request.items() if key != "body"})
    assert answer.status == status
    assert json.loads(answer.read())["ok"] is False


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
def test_caller_that_leaves_ends_the_call(port: int, kind: str) -> None:
    """If the caller hangs up, the call of the provider is cancelled and observed."""
    hooks = Hooks(hangs=True)
    hang_up(port, COMPLETE if kind == "application/json" else STREAM, hooks, Accept=kind)
    assert hooks.left.wait(WAIT_S)
    assert hooks.observed.wait(WAIT_S)
    assert [(seen["ok"], seen["code"]) for seen in hooks.observations] == [(False, "UNAVAILABLE")]


def test_observed_before_the_answer(port: int) -> None:
    """The provider is reached and the call observed when the answer is there."""
    hooks = Hooks()
    assert ask(port, COMPLETE, X_Corpus_Hooks=hooks.url).status == 200
    paths = [path.removeprefix("/token/7/") for path, _ in hooks.reports]
    assert paths == ["provider/v1/chat/completions", "metrics/observe"]


def test_reports_to_nobody_in_production(vendor: str) -> None:
    """Without --hooks no request makes it post anywhere."""
    hooks = Hooks()
    with served(["node", "main.js", "--port", "0"], FOLDER, OPENAI_BASE_URL=vendor) as port:
        assert ask(port, COMPLETE, X_Corpus_Hooks=hooks.url).status == 200
    assert hooks.reports == []


@contextmanager
def program(hooks: Hooks) -> Iterator[tuple[Callable[[Any], None], Callable[[], Any]]]:
    """The adapter on stdio: what writes a message (text as it is), and what reads one."""
    pipe = subprocess.PIPE
    environment = {**os.environ, "CORPUS_HOOKS_URL": hooks.url}
    command = ["node", "main.js", "--stdio", "--hooks"]
    with subprocess.Popen(
        command, cwd=FOLDER, stdin=pipe, stdout=pipe, env=environment, encoding="utf-8", start_new_session=True
    ) as process:
        assert process.stdin
        assert process.stdout
        source, sink = process.stdout, process.stdin

        def write(message: Any) -> None:
            text = message if isinstance(message, str) else json.dumps(message, ensure_ascii=False)
            sink.write(text + "\n")
            sink.flush()

        try:
            yield write, lambda: json.loads(source.readline())
            sink.close()
            assert process.wait(WAIT_S) == 0
        finally:
            end_group(process)


def test_calls_over_stdio() -> None:
    """Unary calls and streams have their answers under their ids; `stream` overrides the operation."""
    with program(Hooks()) as (write, read):
        write({"id": 1, "envelope": COMPLETE})
        assert (answer := read())["id"] == 1
        assert answer["frame"]["code"] == "OK"
        write({"id": 2, "envelope": STREAM})
        while not (answer := read())["frame"]["chunk"]["is_final"]:
            assert set(answer) == {"id", "frame"}
        write({"id": 3, "envelope": STREAM, "stream": False})
        assert read()["frame"]["code"] == "NOT_SUPPORTED"


def test_no_message() -> None:
    """A line that is no JSON object is answered as such, and the next call works."""
    with program(Hooks()) as (write, read):
        for line in ("{", "[]", "7", "null", "", "\ufeff{}"):
            write(line)
            refused = read()
            assert (refused["id"], refused["frame"]["code"]) == (None, "BAD_REQUEST")
        write({"id": 1, "envelope": COMPLETE})
        assert read()["frame"]["ok"]


def test_cancelled_over_stdio() -> None:
    """A call that is cancelled ends in an error while another goes on; hooks that a message names come first."""
    hanging, free = Hooks(hangs=True), Hooks()
    with program(hanging) as (write, read):
        write({"id": "a", "envelope": STREAM})
        assert hanging.reached.wait(WAIT_S)
        write({"id": "b", "envelope": COMPLETE, "hooks": free.url})
        assert (read()["id"], len(free.observations)) == ("b", 1)
        write({"cancel": "a"})
        ended = read()
        assert (ended["id"], ended["frame"]["ok"]) == ("a", False)
        assert hanging.left.wait(WAIT_S)


@pytest.mark.slow
def test_a_proxy_before_its_provider(tmp_path: Path) -> None:
    """It finds the proxy in its environment; the requests of the suite reach the provider behind it."""
    upstream, report = ProviderProbe(), tmp_path / "r.json"
    suite = ["--corpus-adapter=cmd:node main.js --stdio --hooks", f"--corpus-provider-upstream={upstream.url}"]
    command = [sys.executable, "-m", "pytest", "-q", "-pno:randomly", *suite, f"--corpus-report={report}"]
    done = subprocess.run(command, cwd=copied("llm-node", tmp_path), capture_output=True, text=True, check=False)
    calls = upstream.calls()
    upstream.close()
    assert json.loads(report.read_text())["verdict"] == "conformant", done.stdout
    assert calls > 100


@pytest.mark.slow
def test_readme(tmp_path: Path) -> None:
    """The commands of the README end in two verdicts: conformant over HTTP and over stdio."""
    output = run_readme(copied("llm-node", tmp_path))
    assert output.count("\n  verdict: conformant\n") == 2, output


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("npm") is None, reason="there is no npm: apt-get install npm")
def test_types(tmp_path: Path) -> None:
    """TypeScript finds nothing wrong with the types in the comments."""
    folder = copied("llm-node", tmp_path)
    for command in (["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], ["npm", "run", "check"]):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
