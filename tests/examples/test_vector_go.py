"""The vector adapter in Go: its answers over HTTP, its hooks, and its verdict as the README gets it."""

import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from running import REFUSALS, WAIT_S, Hooks, ask, copied, hang_up, run_readme, served

pytestmark = [
    pytest.mark.slow,  # the first build compiles the standard library
    pytest.mark.skipif(shutil.which("go") is None, reason="there is no go: apt-get install golang-go"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy in which the program is built."""
    copy = copied("vector-go", tmp_path_factory.mktemp("go"))
    done = subprocess.run(["go", "build"], cwd=copy, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return copy


@pytest.fixture(scope="module")
def port(folder: Path) -> Iterator[int]:
    with served(["./vector-adapter-go", "-listen", "127.0.0.1:0", "-hooks"], folder) as found:
        yield found


def envelope(op: str, **args: Any) -> dict[str, Any]:
    return {"op": f"vector.{op}", "ctx": {}, "args": args}


def call(port: int, op: str, **args: Any) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(ask(port, envelope(op, **args), Accept="application/json").read())
    return answer


def item(identity: str, *vector: Any, **metadata: Any) -> dict[str, Any]:
    return {"id": identity, "vector": vector, "metadata": metadata}


@pytest.mark.parametrize("name", REFUSALS)
def test_never_becomes_a_call(port: int, name: str) -> None:
    """A body that is not a request gets an error envelope, with the status that HTTP has for it."""
    status, request = REFUSALS[name]
    answer = ask(port, request["body"], **{key: text for key, text in request.items() if key != "body"})
    assert answer.status == status
    assert json.loads(answer.read())["ok"] is False


@pytest.mark.parametrize("kind", ["application/x-ndjson", "text/event-stream"])
def test_has_no_streams(port: int, kind: str) -> None:
    """A format for streams is refused with status 406 and NOT_SUPPORTED."""
    answer = ask(port, envelope("capabilities"), Accept=kind)
    assert (answer.status, json.loads(answer.read())["code"]) == (406, "NOT_SUPPORTED")


def test_numbers_stay_as_they_are(port: int) -> None:
    """Metadata come back with every digit, 1 is 1.0 in a filter, and true is not 1."""
    call(port, "create_namespace", namespace="digits", dimensions=2)
    items = [item("a", 1, 0, n=9007199254740993), item("b", 1, 1, n=1), item("c", 0, 1, n=True)]
    assert call(port, "upsert", namespace="digits", vectors=items)["ok"]

    def found(wanted: Any) -> list[str]:
        answer = call(port, "query", namespace="digits", vector=[1, 0], top_k=9, filter={"n": wanted})
        return [match["vector"]["id"] for match in answer["result"]["matches"]]

    assert [found(9007199254740993), found(9007199254740992), found(1.0), found(True)] == [["a"], [], ["b"], ["c"]]
    best = call(port, "query", namespace="digits", vector=[1, 0], top_k=1)["result"]["matches"][0]
    assert (best["vector"]["metadata"], best["score"]) == ({"n": 9007199254740993}, 1)


@pytest.mark.parametrize("number", ["1e999", "9223372036854775808", "null", '"1"', "true"])
def test_no_such_number(port: int, number: str) -> None:
    """A vector holds finite numbers of 64 bits and nothing else."""
    text = json.dumps(envelope("query", vector=["NUMBER"], top_k=1)).replace('"NUMBER"', number)
    assert ask(port, text.encode()).status == 400


def test_calls_side_by_side(port: int) -> None:
    """Namespaces that come and go under writes and searches give answers of the protocol alone, and never a panic."""
    codes: list[str] = []

    def work(dimensions: int) -> None:
        for _ in range(30):
            call(port, "create_namespace", namespace="shared", dimensions=dimensions)
            vector = [1] * dimensions
            answers = [
                call(port, "upsert", namespace="shared", vectors=[item("a", *vector)]),
                call(port, "query", namespace="shared", vector=vector, top_k=1),
                call(port, "delete_namespace", namespace="shared"),
            ]
            codes.extend(answer["code"] for answer in answers)

    threads = [threading.Thread(target=work, args=(dimensions,)) for dimensions in (2, 3, 4, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(codes) == 4 * 30 * 3
    assert set(codes) <= {"OK", "NAMESPACE_NOT_FOUND", "DIMENSION_MISMATCH"}


def test_caller_that_leaves_ends_the_call(port: int) -> None:
    """If the client has gone away, the provider is given up and the call observed."""
    hooks = Hooks(hangs=True)
    hang_up(port, envelope("query", vector=[1], top_k=1), hooks)
    assert hooks.left.wait(WAIT_S)
    assert hooks.observed.wait(WAIT_S)
    assert [(seen["ok"], seen["code"]) for seen in hooks.observations] == [(False, "UNAVAILABLE")]


def test_reports_to_nobody_in_production(folder: Path) -> None:
    """Without -hooks no request makes it post anywhere."""
    hooks = Hooks()
    with served(["./vector-adapter-go", "-listen", "127.0.0.1:0"], folder) as port:
        assert ask(port, envelope("health"), X_Corpus_Hooks=hooks.url).status == 200
    assert hooks.reports == []


@pytest.mark.parametrize("command", [["gofmt", "-l", "."], ["go", "vet", "./..."]], ids=lambda command: command[0])
def test_go_tools(folder: Path, command: list[str]) -> None:
    """Go's own tools find nothing."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_readme(tmp_path: Path) -> None:
    """The commands of the README end in the verdict conformant."""
    output = run_readme(copied("vector-go", tmp_path))
    assert output.count("\n  verdict: conformant\n") == 1, output
