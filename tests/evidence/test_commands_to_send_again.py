"""Commands that send a request again, and values that JSON cannot hold."""

import json
import math
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from cli_runs import ROOT, call_command, environment, run_command
from inner_runs import WRAPPED
from recording import FAULTY, record
from served_adapters import command, served

from pytest_corpus.adapter.opening import settings
from pytest_corpus.evidence import encoding, shell
from pytest_corpus.evidence.shell import SentRequest, ShellTarget
from pytest_corpus.validation.sealed_lines import dumps

REFERENCE = "pytest_corpus.reference:llm"
COUNT = '{"op":"llm.count_tokens","ctx":{},"args":{"text":"it\'s \\"so\\" $HOME `x`","model":"reference-large"}}'
MESSAGES = '"messages":[{"role":"user","content":"hi"}],"model":"reference-large"'
CURL = pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")


FACTORIES = """
import contextlib
import urllib.request
from pytest_corpus.reference.llm.adapter import ReferenceLLM
from pytest_corpus.vendors import Endpoint, Errors

class Mine(Endpoint):
    errors = Errors(body=lambda trouble: {})
    def reached(self, body):
        return "llm.health", {}
    def answer(self, body, filtered):
        return {}

async def generator(metrics=None, provider=None):
    try:
        yield ReferenceLLM(metrics=metrics, provider=provider)
    finally:
        print("left")

@contextlib.asynccontextmanager
async def context(metrics=None):
    yield ReferenceLLM(metrics=metrics)
    print("left")

class Entered:
    def __enter__(self):
        return ReferenceLLM()
    def __exit__(self, *_):
        print("left")

def mapping(component):
    return {component: Entered()}

def addressed(provider):
    provider.serve({("GET", "mine"): Mine()})
    for path in ("v1/models", "mine"):
        urllib.request.urlopen(f"{provider.url}/{path}").close()
    return ReferenceLLM(provider=provider)

class Raises(ReferenceLLM):
    async def handle(self, envelope):
        raise KeyError("models")
"""


def printed(lines: list[str], **more: str) -> list[Any]:
    """The JSON values that a script prints, one a line."""
    path = os.pathsep.join((os.path.dirname(sys.executable), os.environ["PATH"]))
    words, env = ["bash", "-c", "\n".join(lines)], environment(PATH=path, **more)
    ended = subprocess.run(words, capture_output=True, text=True, timeout=60, env=env, check=True)
    return [json.loads(line) for line in ended.stdout.splitlines() if line]


def stream(deadline: float) -> str:
    """A streamed request with a deadline, in seconds since 1970."""
    return f'{{"op":"llm.stream","ctx":{{"deadline_ms":{deadline * 1000:.0f}}},"args":{{{MESSAGES}}}}}'


@pytest.mark.slow
@pytest.mark.parametrize("scheme", [pytest.param("http", marks=CURL), "cmd", "python"])
def test_printed_commands_are_answered(scheme: str) -> None:
    """Each request of a sequence is answered, quotes and dollar signs included, an old deadline as one to come."""
    then = time.time() - 3600
    sent = [SentRequest(COUNT, False, then), SentRequest(stream(then + 60), True, then)]
    with served(REFERENCE) as (place, _):
        address = {"http": f"http://{place}/", "cmd": command(REFERENCE), "python": REFERENCE}[scheme]
        found = printed(shell.write_script(ShellTarget(address, "llm"), sent))
    frames = [frame.get("frame", frame) if scheme == "cmd" else frame for frame in found]
    assert frames[0]["result"] == {"tokens": 4}, found
    assert frames[-1]["chunk"]["is_final"] is True, found


@pytest.mark.parametrize("factory", ["generator", "context", "mapping", "addressed"])
def test_an_adapter_of_any_factory_is_sent_to(tmp_path: Path, factory: str) -> None:
    """Generators, context managers, mappings, and those that use an address of the provider; it is closed again."""
    (tmp_path / "mine.py").write_text(FACTORIES.replace('print("left")', "print('\"left\"')"))
    sent = [SentRequest(COUNT, False, 0.0), SentRequest(stream(0), True, 0.0)]
    found = printed(shell.write_script(ShellTarget(f"mine:{factory}", "llm"), sent), PYTHONPATH=str(tmp_path))
    assert found[0]["result"] == {"tokens": 4}, found
    assert factory == "addressed" or found.pop() == "left"
    assert len(found) > 1


@pytest.mark.parametrize(
    ("factory", "said"), [("Raises", "KeyError at mine.py"), ("nothing", "has no attribute 'nothing'")]
)
def test_a_script_says_what_failed(tmp_path: Path, factory: str, said: str) -> None:
    """In one line: an exception of the adapter with its place, or the reason why there is no adapter."""
    (tmp_path / "mine.py").write_text(FACTORIES)
    lines = shell.write_script(ShellTarget(f"mine:{factory}", "llm"), [SentRequest(COUNT, False, 0.0)])
    ended = subprocess.run(
        ["bash", "-c", "\n".join(lines).replace("python", sys.executable, 1)],
        cwd=tmp_path, capture_output=True, text=True, timeout=60, env=environment(), check=False,
    )  # fmt: skip
    (line,) = ended.stderr.splitlines()
    assert said in line


@pytest.mark.parametrize("address", ["http://h:1/", "ws://h:1/", "grpc://h:1", "cmd:serve"])
def test_deadlines_count_from_the_time_of_the_command(address: str) -> None:
    """A deadline that was to come is as far away again; one that had passed stays as it is."""
    now = time.time()
    (*_, line) = shell.write_script(ShellTarget(address, "llm"), [SentRequest(stream(now + 120), True, now)])
    assert "$(($(date +%s) * 1000 + 1" in line
    (*_, line) = shell.write_script(ShellTarget(address, "llm"), [SentRequest(stream(now - 60), True, now)])
    assert "date" not in line


def test_what_a_command_cannot_do_is_named() -> None:
    """A comment names the faults of the provider that the suite planned."""
    line = {"entry_point": "handle", "at": 1.0, "request": {"op": "llm.health"}, "faults_struck": ["unavailable"] * 2}
    comment, command = shell.write_script(ShellTarget("http://h/", "llm"), shell.sent_requests(line))
    assert "the provider fail (unavailable)" in comment
    assert (comment[0], command[:4]) == ("#", "curl")


@pytest.mark.parametrize(
    ("mutant", "requirement", "calls"),
    [
        ("embedding:TokensUsedAreWords", "EMB-EMBED-8", ["count_tokens", "embed"]),
        ("graph:KeyAloneReplays", "COM-IDEM-1", [*["upsert_nodes"] * 3, "query"]),
    ],
)
def test_what_a_finding_compares_is_sent_again(tmp_path: Path, mutant: str, requirement: str, calls: list[str]) -> None:
    """The call whose answer is compared, and the write of the same key elsewhere, come before the last one."""
    record(tmp_path, f"mutants.{mutant}", requirement, PYTHONPATH=os.pathsep.join(map(str, (ROOT, ROOT / "tests"))))
    lines = call_command("replay", tmp_path / "t.jsonl", "--finding", "1", "--as", "shell").out
    assert re.findall(r'loads.*?"op":"\w+\.(\w+)', lines) == calls


def test_secrets_become_variables() -> None:
    """A header's value is the variable that holds it, or one with the name of the header."""
    known = {"ACME_KEY": "sk-0123456789", "SHORT": "x"}
    assert shell.header_value("Authorization", "Bearer sk-0123456789", known) == "Bearer $ACME_KEY"
    assert shell.header_value("X-Api-Key", "unknown-value", known) == "$X_API_KEY"
    for address in ("http://h:1/", "ws://h:1/", "grpc://h:1"):
        target = ShellTarget(address, "llm", {"Authorization": "Bearer $ACME_KEY"})
        (*_, line) = shell.write_script(target, [SentRequest(COUNT, False, 0.0)])
        assert '"Authorization: Bearer $ACME_KEY"' in line


@pytest.mark.parametrize("given", [
    math.nan, {"a": [math.inf]}, "\ud800", {"k\udfff": 1}, 2**70, {"json_text": "1"}, [], None, "text", True, 1e-9,
], ids=repr)  # fmt: skip
def test_values_that_json_cannot_hold(given: Any) -> None:
    """Each value is written in a line that any reader of JSON reads, and read back as it was."""
    written = json.loads(dumps({"value": encoding.encode_fragment(given)}))["value"]
    assert written == json.loads(dumps({"value": encoding.encode_value(given)}))["value"]
    back = encoding.decode_value(written)
    assert back == given or (math.isnan(given) and math.isnan(back))
    (sent,) = shell.sent_requests({"entry_point": "handle", "at": 1.0, "request": written})
    assert sent.text == encoding.to_bytes(given).decode()
    assert shell.write_script(ShellTarget("http://h/", "llm"), [sent])[0].startswith("curl")


def test_what_is_not_sent_again() -> None:
    """Raw bytes and calls that were not made are left out; calls at the same time come one after the other."""
    assert shell.sent_requests({"entry_point": "raw", "at": 1.0, "request": {}}) == []
    assert shell.sent_requests({"unresponsive": {"op": "llm.complete"}, "at": 1.0}) == []
    assert (
        len(shell.sent_requests({"entry_point": "together", "at": 1.0, "calls": [{"request": 1}, {"request": 2}]})) == 2
    )


SETTINGS = {
    "table": ("pyproject.toml", '[tool.pytest-corpus]\nheader = { Authorization = "Bearer ${MY_TOKEN}" }\n'),
    "ini": (
        "pytest.ini",
        "[pytest]\naddopts = --none\ncorpus_header =\n    X-A: b\n    Authorization: Bearer ${MY_TOKEN}\n",
    ),
}
"""The places where a user may write the headers: the file, and its text."""


def test_commands_send_the_headers_of_the_user(tmp_path: Path) -> None:
    """Those of the settings of pytest, of [tool.pytest-corpus] and of `--header`; without them a 401 is named.

    Findings have their level, and no line names a lost file.
    """
    (tmp_path / "mine.py").write_text(WRAPPED + FAULTY)
    record(tmp_path, "mine:Counts", "LLM-TOKENS-1")
    token = "5a2f9c0e7d"
    one = ("--", "-q", "--corpus-requirement=COM-CAP-1")
    with served("pytest_corpus.reference:all", "--token", token) as (place, _):
        adapter = ("--adapter", f"http://{place}/")
        commands = (("replay", "t.jsonl", *adapter), ("sweep", *adapter), ("verify", *adapter, *one))
        for words in commands:
            found = run_command(*words, cwd=tmp_path, MY_TOKEN=token)
            assert found.code == 2, found
            assert "the answer is AuthError; set credentials in corpus_header" in found.err, found
            assert len(found.err.splitlines()) <= 5, found
        for how, (name, text) in SETTINGS.items():
            (tmp_path / name).write_text(text)
            for words in commands if how == "ini" else commands[1:2]:
                found = run_command(*words, cwd=tmp_path, MY_TOKEN=token)
                assert found.code == 0, (how, found)
            (tmp_path / name).unlink()
        found = run_command(*commands[0], "--header", f"Authorization: Bearer {token}", cwd=tmp_path)
    assert (found.code, found.out.split()[0]) == (0, "FIXED"), found
    assert "LLM-TOKENS-1 MUST (llm)" in found.out
    assert "again.jsonl" not in found.out + found.err


@pytest.mark.parametrize(("files", "place", "headers", "tls"), [
    ({}, ".", [], ""),
    ({"tox.ini": "[pytest]\ncorpus_tls_verify = no\n"}, ".", [], "no"),
    ({"setup.cfg": "[tool:pytest]\ncorpus_header = A: b\n"}, ".", ["A: b"], ""),
    ({"pytest.ini": "", "setup.cfg": "[tool:pytest]\ncorpus_header = A: b\n"}, ".", [], ""),
    ({"pytest.toml": "[pytest]\ncorpus_header = ['A: b']\ncorpus_tls_verify = false\n"}, ".", ["A: b"], "no"),
    ({"../pytest.ini": "[pytest]\ncorpus_header =\n  A: b\n  # no\n  C: d\n", "pyproject.toml": ""}, "..",
     ["A: b", "C: d"], ""),
    ({"../pyproject.toml": "[tool.pytest-corpus]\nheader = {A = 'b'}\n"}, "..", ["A:b"], ""),
    ({"pyproject.toml": "[tool.pytest-corpus]\nheader = {A = 'b'}\n[tool.pytest]\ncorpus_header = ['C: d']\n"}, ".",
     ["C: d"], ""),
    ({"pytest.ini": "no section\n[[", "pyproject.toml": "[tool.pytest-corpus]\ntls-verify = 'no'\n"}, ".", [], "no"),
])  # fmt: skip
def test_settings_are_found_as_pytest_finds_them(
    tmp_path: Path, files: dict[str, str], place: str, headers: list[str], tls: str
) -> None:
    """The first ini file in the folder or above it counts; without one, the nearest pyproject.toml."""
    here = tmp_path / "here"
    here.mkdir()
    for name, text in files.items():
        (here / name).write_text(text)
    found = settings.folder_settings(here)
    assert (found.headers, found.text("tls-verify")) == (headers, tls)
    assert settings.folder_settings(here, ["X: y"]).headers == [*headers, "X: y"]
    if files:
        assert settings.find_settings(here)[0].resolve() == (here / place).resolve()
