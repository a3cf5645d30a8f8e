"""`--corpus-provider-upstream`: a proxy before the real provider of an adapter that runs outside this process."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import http_servers
import pytest
from cli_runs import environment, read_statuses, run_suite
from served_adapters import command, served

from pytest_corpus.spec.transports import PROXY_VARIABLE

FAULT = "COM-FAULT-1"
HERE = os.path.dirname(__file__)


class Vendor(http_servers.Handler):
    """Completes everything."""

    asked = 0

    def answer(self) -> None:
        self.read()
        Vendor.asked += 1
        choice = {"message": {"content": "well"}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        self.reply({"choices": [choice], "usage": usage})


@pytest.fixture
def upstream() -> Iterator[str]:
    Vendor.asked = 0
    with http_servers.run_server(http_servers.Server(Vendor)) as server:
        yield server.url


def test_a_program_finds_the_proxy_in_its_environment(tmp_path: Path, upstream: str) -> None:
    """Faults are planned there, and plain calls reach the provider."""
    given = (f"--corpus-adapter={command('vendor_adapter:proxied')}", f"--corpus-provider-upstream={upstream}")
    ended = run_suite(
        tmp_path,
        *given,
        f"--corpus-requirement={FAULT}",
        "-krate_limited",
        "--corpus-components=llm",
        "--corpus-report=r.json",
        PYTHONPATH=HERE,
    )
    assert Vendor.asked > 0, ended.stdout
    assert read_statuses(tmp_path / "r.json")["llm", FAULT] == "satisfied", ended.stdout


@pytest.mark.slow
def test_the_run_prints_the_address_for_an_adapter_that_somebody_else_starts(
    tmp_path: Path, upstream: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits until the adapter answers."""
    with served("pytest_corpus.reference:llm") as (free, _):
        pass
    suite = [f"--corpus-adapter=a=http://{free}/", f"--corpus-provider-upstream={upstream}", "--corpus-report=r.json"]
    plain = [
        "-pno:cacheprovider",
        "-pno:randomly",
        "-pno:asyncio",
        f"--corpus-requirement={FAULT}",
        "-krate_limited",
        "--corpus-components=llm",
    ]
    run = subprocess.Popen(
        [sys.executable, "-m", "pytest", *plain, *suite], cwd=tmp_path, stdout=subprocess.PIPE, text=True,
        env={**environment(), "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    assert run.stdout is not None
    line = next(line for line in run.stdout if line.startswith("corpus: point a at "))
    address = line.removeprefix("corpus: point a at ").partition(",")[0]
    assert line.endswith(f", a proxy before {upstream}\n")
    monkeypatch.setenv(PROXY_VARIABLE, address)
    monkeypatch.setenv("PYTHONPATH", HERE, prepend=os.pathsep)
    with served("vendor_adapter:proxied", "--port", free.rpartition(":")[2]):
        rest, _ = run.communicate(timeout=60)
    assert read_statuses(tmp_path / "r.json")["llm", FAULT] == "satisfied", rest


@pytest.mark.parametrize(
    ("adapter", "upstream", "said"),
    [
        ("pytest_corpus.reference:llm", "http://127.0.0.1:1", "--corpus-provider-upstream"),
        ("http://127.0.0.1:1/", "ftp://127.0.0.1:1", "provider-upstream"),
        ("http://127.0.0.1:1/", "http://user:secret-4711@127.0.0.1:1", "provider-upstream"),
    ],
    ids=["in_process", "other_scheme", "with_a_password"],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, adapter: str, upstream: str, said: str) -> None:
    """In one sentence, without a credential in it."""
    ended = run_suite(tmp_path, f"--corpus-adapter={adapter}", f"--corpus-provider-upstream={upstream}")
    assert ended.returncode == 4, ended.stdout
    assert said in ended.stdout + ended.stderr
    assert "secret-4711" not in ended.stdout + ended.stderr
    assert "Traceback" not in ended.stdout + ended.stderr
