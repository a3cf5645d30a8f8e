"""Whole runs against adapters outside this process: the command line, their end, and where nothing is there."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_runs import read_statuses, run_process, run_suite
from hostile_servers import serving
from served_adapters import SERVE, command, served

PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:asyncio"]
NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
SOME = "COM-WIRE-1,COM-ENV-*,COM-LEAK-3,COM-LEAK-6,COM-OBS-1,LLM-STREAM-*"


def some(folder: Path, address: str, *more: str) -> dict[tuple[str, str], str]:
    """The statuses of a few requirements of an LLM at an address."""
    ended = run_suite(
        folder, f"--corpus-adapter=a={address}", "--corpus-components=llm", f"--corpus-requirement={SOME}",
        "--corpus-report=r.json", *more,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return read_statuses(folder / "r.json")


def test_an_address_that_is_not_known_yet_is_said_in_one_sentence(tmp_path: Path) -> None:
    """A factory that is served over HTTP has no provider's address while it runs."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path])}
    ended = run_process(*SERVE, "vendor_adapter:factory", "--port", "0", code=None, cwd=tmp_path, env=environment)
    assert ended.returncode != 0
    assert "provider.url is known only while a request is handled" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("scheme", ["http", pytest.param("ws", marks=pytest.mark.slow)])
def test_an_address_is_run_one_test_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scheme: str) -> None:
    """However slowly it answers, without a word on it."""
    slow = os.pathsep.join([str(Path(__file__).parents[1] / "plugin"), os.environ.get("PYTHONPATH", "")])
    monkeypatch.setenv("PYTHONPATH", slow)
    with served("slow_adapters:llm") as (place, _):
        given = (f"--corpus-adapter={scheme}://{place}/", "--corpus-components=llm", "--corpus-requirement=LLM-MODEL-*")
        ended = run_suite(tmp_path, *given, "--corpus-report=r.json")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "--corpus-concurrency" not in ended.stdout
    assert read_statuses(tmp_path / "r.json")["llm", "LLM-MODEL-1"] == "satisfied"


@pytest.mark.slow
def test_the_log_of_an_address_can_be_given(tmp_path: Path) -> None:
    """Then what rests on log records is assessed."""
    (tmp_path / "adapter.log").write_text("")
    with served() as (place, _):
        found = some(tmp_path, f"http://{place}/", "-ocorpus_log=adapter.log")
    assert found["llm", "COM-LEAK-3"] == "satisfied"


@pytest.mark.slow
def test_content_on_standard_error_is_a_leak(tmp_path: Path) -> None:
    """The standard error of a program is its log (R74)."""
    (tmp_path / "chatty.py").write_text(
        "import sys\n"
        "from pytest_corpus.reference.llm.adapter import ReferenceLLM\n"
        "class Chatty(ReferenceLLM):\n"
        "    async def handle(self, envelope):\n"
        "        print(envelope, file=sys.stderr, flush=True)\n"
        "        return await super().handle(envelope)\n"
    )
    ended = run_suite(tmp_path, f"--corpus-adapter={command('chatty:Chatty')}", "--corpus-requirement=COM-LEAK-3",
                "--corpus-report=r.json")  # fmt: skip
    assert ended.returncode == 1
    assert read_statuses(tmp_path / "r.json")["llm", "COM-LEAK-3"] == "violated"


@pytest.mark.slow
def test_hooks_that_are_never_called_are_absent_each_on_its_own(tmp_path: Path) -> None:
    """Requirements that rest on an operation that was called are assessed in full (R86)."""
    (tmp_path / "deaf.py").write_text(
        "from pytest_corpus.reference import llm\ndef factory(metrics=None):\n    return llm(metrics=metrics)\n"
    )
    found = some(tmp_path, command("deaf:factory"))
    assert found["llm", "COM-OBS-1"] == "satisfied"
    assert found["llm", "COM-LEAK-6"] == "not_assessed"


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@pytest.mark.parametrize(("address", "said"), [
    ("http://127.0.0.1:{free}/", "nothing answers there within 0.2 s"),
    pytest.param("cmd:no-such-program-anywhere", "cannot be started", marks=pytest.mark.slow),
    (f"cmd:{sys.executable} -c 'import sys; sys.exit(\"no key\")'", "the program ends at once, with exit code 1"),
    pytest.param("ws://{place}/none", "does not upgrade to a WebSocket", marks=pytest.mark.slow),
    pytest.param("https://{place}/", "does not speak TLS", marks=pytest.mark.slow),
], ids=["closed", "no program", "ends at once", "no upgrade", "certificate"])  # fmt: skip
def test_where_nothing_can_be_reached_one_sentence_says_so(tmp_path: Path, address: str, said: str) -> None:
    """Exit code 4, before any test runs (R91)."""
    with serving(lambda connection, _: connection.sendall(NOT_FOUND)) as place:
        address = address.replace("{place}", place).replace("{free}", str(_free_port()))
        wait_s = 0.2 if said.endswith("0.2 s") else 20
        ended = run_suite(tmp_path, f"--corpus-adapter=a={address}", f"-ocorpus_startup_timeout={wait_s}")
    assert ended.returncode == 4, ended.stdout
    assert said in ended.stderr.replace("\n", " ")
    assert "Traceback" not in ended.stderr


def test_a_missing_extra_is_one_sentence(tmp_path: Path) -> None:
    """It says what to install."""
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util\nfound = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *more: None if name == 'aiohttp' else found(name, *more)\n"
    )
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    ended = run_suite(tmp_path, "--corpus-adapter=http://127.0.0.1:1/", PYTHONPATH=path)
    assert ended.returncode == 4
    assert "pip install 'pytest-corpus[http]'" in ended.stderr


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes as Linux shows them")
@pytest.mark.slow
@pytest.mark.parametrize("how", [None, signal.SIGINT, signal.SIGTERM])
def test_a_program_and_its_children_end_with_the_run(tmp_path: Path, how: signal.Signals | None) -> None:
    """Also where the run is stopped, and where the program does not heed the end of its input."""
    (tmp_path / "stubborn.py").write_text(
        "import os, subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "open('pids', 'w').write(f'{os.getpid()} {child.pid}')\n"
        "from pytest_corpus.reference import llm as factory\n"
        "import atexit, time\n"
        "atexit.register(time.sleep, 600)\n"
    )
    (tmp_path / "begins.py").write_text("def pytest_runtest_teardown():\n    open('begun', 'w').close()\n")
    arguments = [
        *PYTEST, f"--corpus-adapter=a={command('stubborn:factory')}", "--corpus-components=llm", "-p", "begins",
        *(["--corpus-requirement=COM-ENV-1"] if how is None else ["--corpus-repeat=20"]),
    ]  # fmt: skip
    process = subprocess.Popen(arguments, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if how is not None:
        until = time.monotonic() + 60
        while not (tmp_path / "begun").exists() and time.monotonic() < until:
            time.sleep(0.05)
        assert (tmp_path / "begun").exists()
        process.send_signal(how)
    said, _ = process.communicate(timeout=60)
    assert process.returncode in {None: (0,), signal.SIGINT: (2,), signal.SIGTERM: (143,)}[how], said
    pids = [int(word) for word in (tmp_path / "pids").read_text().split()]
    time.sleep(0.2)
    assert len(pids) == 2
    assert not [pid for pid in pids if _alive(pid)], said


@pytest.mark.slow
def test_a_line_without_end_ends_serving_in_a_sentence(tmp_path: Path) -> None:
    """No traceback, and an exit code of its own."""
    ended = run_process(*SERVE, "--stdio", "pytest_corpus.reference:llm", code=2, cwd=tmp_path, input="a" * 65 * 2**20)
    assert "longer than 64 MiB" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_serving_ends_gracefully(tmp_path: Path) -> None:
    """SIGTERM closes the adapter, and the exit code is 0."""
    (tmp_path / "closing.py").write_text(
        "from pytest_corpus.reference import llm\n"
        "def factory():\n    try:\n        yield llm()\n    finally:\n        print('closed', flush=True)\n"
    )
    process = subprocess.Popen(
        [*SERVE, "closing:factory", "--port=0"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert "http://127.0.0.1:" in process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=20)
    assert (out.strip(), process.returncode) == ("closed", 0), err


def test_what_an_adapter_prints_does_not_disturb_its_answers(tmp_path: Path) -> None:
    """Behind stdio, standard output is for answers alone.

    What is printed and logged stands on standard error, as does the traffic with `--log-frames`.
    """
    (tmp_path / "printing.py").write_text(
        "import logging\nprint('hello')\nlog = logging.getLogger('adapter')\nlog.setLevel('INFO')\n"
        "log.info('begun', extra={'region': 'north'})\nlog.debug('silence')\n"
        "from pytest_corpus.reference import llm as factory\n"
    )
    asked = '{"id":1,"envelope":{"op":"llm.capabilities","ctx":{},"args":{}}}\nno json\n[]\n'
    ended = run_process(*SERVE, "printing:factory", "--stdio", "--log-frames", code=None, cwd=tmp_path, input=asked)
    answers = [json.loads(line) for line in ended.stdout.splitlines()]
    assert sorted(str(answer["id"]) for answer in answers) == ["1", "None", "None"]
    assert {answer["frame"]["code"] for answer in answers if answer["id"] is None} == {"BAD_REQUEST"}
    assert "hello" in ended.stderr
    assert "INFO adapter: begun" in ended.stderr
    assert "north" in ended.stderr
    assert "silence" not in ended.stderr
    assert '> {"op":"llm.capabilities"' in ended.stderr


@pytest.mark.parametrize(("arguments", "said"), [
    (["no_such_module:factory", "--stdio"], "there is no module 'no_such_module'"),
    (["pytest_corpus.reference:llm", "--port=99999"], "use a number from 0 to 65535"),
    (["pytest_corpus.reference:llm", "--host=192.0.2.1", "--port=0", "--token=a"], "cannot be listened on"),
])  # fmt: skip
def test_what_cannot_be_served_is_one_sentence(tmp_path: Path, arguments: list[str], said: str) -> None:
    """Exit code 2."""
    ended = run_process(*SERVE, *arguments, code=2, cwd=tmp_path)
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr


KEY = "sk-live-0123456789abcdef"

LOSES_RESULTS = """
import os, sys
from pytest_corpus.reference.llm.adapter import ReferenceLLM

class Loses(ReferenceLLM):
    async def handle(self, envelope):
        answer = await super().handle(envelope)
        if envelope["op"] == "llm.health":
            print("no result with", os.environ["VENDOR_API_KEY"], "for", envelope["ctx"].get("tenant"), file=sys.stderr)
            del answer["result"]
        return answer
"""

DIES = LOSES_RESULTS.replace('del answer["result"]', "os._exit(3)").replace(
    "file=sys.stderr)", "'\\nthe last words', file=sys.stderr, flush=True)"
)


def said(folder: Path, source: str, *more: str) -> str:
    (folder / "faulty.py").write_text(source)
    asked = (f"--corpus-adapter=a={command('faulty:Loses')}", "--corpus-requirement=COM-HEALTH-1", *more)
    ended = run_suite(folder, *asked, VENDOR_API_KEY=KEY)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert KEY not in ended.stdout + ended.stderr
    return ended.stdout


@pytest.mark.parametrize("level", ["full", pytest.param("shape", marks=pytest.mark.slow)])
def test_the_lines_of_a_call_stand_with_its_finding(tmp_path: Path, level: str) -> None:
    """At the level `full` alone, and without what looks like a credential."""
    found = said(tmp_path, LOSES_RESULTS, f"--corpus-evidence={level}")
    assert ("no result with" in found) == (level == "full")


@pytest.mark.slow
def test_the_last_words_of_a_program_stand_with_the_call_that_ended_it(tmp_path: Path) -> None:
    """With its exit code."""
    found = said(tmp_path, DIES)
    assert "the program has ended, with exit code 3" in found
    assert "the last words" in found


REFUSES = """
from pytest_corpus.reference.llm.adapter import ReferenceLLM
class Refuses(ReferenceLLM):
    async def handle(self, envelope):
        return {"ok": False, "code": "AUTH_ERROR", "error": "AuthError", "message": "Who are you?", "ms": 1.0,
                "retry_after_ms": None, "details": None}
"""


def refusals(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The names of an adapter whose every answer is AuthError, here and behind HTTP."""
    (folder / "refuses.py").write_text(REFUSES)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    yield "refuses:Refuses"
    with served("refuses:Refuses") as (place, _):
        yield f"http://{place}/"


@pytest.mark.slow
def test_an_error_of_capabilities_is_an_answer_wherever_the_adapter_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If its component is known it is a finding, in a report that says what to do; if not, there is nothing to test."""
    for name in refusals(tmp_path, monkeypatch):
        given = (f"--corpus-adapter={name}", "--corpus-requirement=COM-CAP-1,LLM-COMPLETE-1", "--corpus-report=r.json")
        ended = run_suite(tmp_path, *given)
        assert ended.returncode == 4, ended.stdout + ended.stderr
        assert "capabilities" in ended.stderr
        assert "Traceback" not in ended.stderr
        assert not (tmp_path / "r.json").exists()
        ended = run_suite(tmp_path, *given, "--corpus-components=llm")
        assert ended.returncode == 1, ended.stdout + ended.stderr
        assert "hint:     run the suite with credentials that may make this call" in ended.stdout
        assert read_statuses(tmp_path / "r.json")["llm", "COM-CAP-1"] == "violated"
        (tmp_path / "r.json").unlink()


@pytest.mark.slow
def test_a_server_that_asks_for_credentials_without_an_envelope_is_no_adapter(tmp_path: Path) -> None:
    """The run does not begin, whether the component is known or not: nothing an adapter answered was seen."""
    with serving(lambda connection, _: connection.sendall(NOT_FOUND.replace(b"404 Not Found", b"401 No"))) as place:
        for more in ([], ["--corpus-components=llm"]):
            ended = run_suite(tmp_path, f"--corpus-adapter=http://{place}/", "--corpus-requirement=COM-CAP-1", *more)
            assert ended.returncode == 4, ended.stdout + ended.stderr
            assert "the status is 401, without an envelope; set credentials in corpus_header" in ended.stderr
