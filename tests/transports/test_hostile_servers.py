"""Hostile servers: a call comes to a fault in time, and neither the suite nor its memory suffers."""

import json
import resource
import sys
import time
from pathlib import Path

import hostile_servers
import pytest
from cli_runs import run_process
from hostile_servers import BODY, HEAD, Script, reset_at, serving
from plain_servers import place_of
from served_adapters import command
from servers import HTTP
from test_raw import opened

from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.adapter.transports.protocol import MAX_LINE, MAX_LINES, MAX_LOG, SideChannel

REQUEST = {"op": "llm.complete", "ctx": {}, "args": {}}
LIMIT_S = 0.5
"""For what never ends."""

PATIENT_S = 10.0
"""For what does: a busy machine is not mistaken for it."""


def called(address: str, *, streaming: bool, limit_s: float = PATIENT_S) -> Exchange:
    with opened(address, limit_s, 20.0) as client:
        started = time.monotonic()
        exchange = client.send(REQUEST, "llm", streaming=streaming)
        assert time.monotonic() - started < limit_s + 5.0
        return exchange


@pytest.mark.parametrize("streaming", [False, True], ids=["unary", "stream"])
@pytest.mark.parametrize("script", hostile_servers.ALL, ids=lambda script: script.__name__)
def test_a_hostile_server_is_a_fault_of_the_call(script: Script, streaming: bool) -> None:
    """It ends in time, with a fault or without a frame; what stands behind a whole answer is not part of it."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with serving(script) as place:
        limit_s = PATIENT_S if script is hostile_servers.content_too_long else LIMIT_S
        exchange = called(f"http://{place}/", streaming=streaming, limit_s=limit_s)
    if script is hostile_servers.content_too_long:
        assert exchange.fault is None
        assert exchange.frames[0].body == json.loads(BODY)
    else:
        assert exchange.fault is not None or not exchange.frames
    most_mib = 64 if script is hostile_servers.gzip_bomb else 150
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < most_mib * 2**10


@pytest.mark.parametrize("place", range(1, len(HEAD % len(BODY) + BODY), 9))
def test_a_reset_at_any_byte_is_a_fault(place: int) -> None:
    """Not a crash, and no answer that is taken for a whole one."""
    with serving(reset_at(place)) as where:
        exchange = called(f"http://{where}/", streaming=False)
    assert exchange.fault is not None
    assert exchange.fault.kind == "raised"


def test_a_connection_that_was_closed_while_idle_is_opened_again() -> None:
    """No finding: the next call has an answer."""

    def answers_once(connection, _ends) -> None:  # type: ignore[no-untyped-def]
        connection.sendall(HEAD % len(BODY) + BODY)

    with serving(answers_once) as place, opened(f"http://{place}/", PATIENT_S) as client:
        for _ in range(3):
            assert client.send(REQUEST, "llm").fault is None
            time.sleep(0.05)


PROGRAMS = {
    "silent": "import time; time.sleep(60)",
    "garbage": "import os, sys\nfor line in sys.stdin: os.write(1, bytes(range(256)) + b'\\n')",
    "endless line": "import os, sys\nfor line in sys.stdin:\n    while True: os.write(1, b'a' * 65536)",
    "endless errors": "import os\nwhile True: os.write(2, b'a' * 65536)",
    "ends": 'import sys; sys.stdin.readline(); print(\'{"id":1,"frame":{}}\', flush=True); sys.stdin.readline()',
    "closes its input": "import os, time; os.close(0); time.sleep(60)",
    "deep": (
        "import sys\n"
        "for n, _ in enumerate(sys.stdin):\n"
        "    print('{\"id\":%d,\"frame\":%s' % (n + 1, '[' * 10**6), flush=True)"
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_hostile_program_is_a_fault_of_the_call(name: str, tmp_path: Path) -> None:
    """It ends in time, with a fault, and is gone afterwards."""
    (tmp_path / "program.py").write_text(PROGRAMS[name])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    exchange = called(f"cmd:{sys.executable} {tmp_path / 'program.py'}", streaming=False, limit_s=LIMIT_S)
    assert exchange.fault is not None
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 150 * 2**10


RUN_PROGRAMS = {
    **PROGRAMS,
    "dies in mid-run": (
        "import itertools, os, subprocess, sys\n"
        "adapter = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE)\n"
        "for line in itertools.islice(sys.stdin.buffer, 60):\n"
        "    adapter.stdin.write(line)\n"
        "    adapter.stdin.flush()\n"
        "adapter.kill()\n"
    ),
    "floods standard error": (
        "import subprocess, sys, threading\n"
        "def flood():\n"
        "    while True:\n"
        "        sys.stderr.write('noise ' * 10_000 + '\\n')\n"
        "threading.Thread(target=flood, daemon=True).start()\n"
        "sys.exit(subprocess.call(sys.argv[1:]))\n"
    ),
}


def whole_run(address: str, folder: Path, *options: str) -> tuple[int, int, str]:
    """The exit code of a run, the most memory that it took, in KiB, and what it printed."""
    measured = (
        "import pathlib, re, sys, pytest; code = pytest.main(sys.argv[1:]);"
        "status = pathlib.Path('/proc/self/status').read_text();"  # `ru_maxrss` counts the memory of the parent too
        "print('peak', re.search(r'VmHWM:\\s+(\\d+)', status)[1], int(code))"
    )
    plain = ("-q", "-n", "0", "-p", "no:cacheprovider", "-p", "no:asyncio")
    asked = (f"--corpus-adapter=a={address}", "--corpus-report=r.json", "--corpus-components=llm", *options)
    ended = run_process(sys.executable, "-c", measured, *plain, *asked, code=None, cwd=folder)
    assert "INTERNALERROR" not in ended.stdout
    _, peak, code = ended.stdout.splitlines()[-1].split()
    return int(code), int(peak), ended.stdout[-2000:]


@pytest.mark.slow
@pytest.mark.parametrize("script", hostile_servers.ALL, ids=lambda script: script.__name__)
def test_a_run_against_a_hostile_server_ends_with_a_report(script: Script, tmp_path: Path) -> None:
    """In time and within 300 MB, with findings rather than a crash (R91)."""
    with serving(script) as place:
        code, peak, said = whole_run(f"http://{place}/", tmp_path)
    assert code in (1, 4), said
    assert peak < 300 * 2**10
    assert code == 4 or (tmp_path / "r.json").exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", RUN_PROGRAMS)
def test_a_run_against_a_hostile_program_ends_with_a_report(name: str, tmp_path: Path) -> None:
    """Also if the program answers correctly for a while, or always in addition to its noise."""
    (tmp_path / "program.py").write_text(RUN_PROGRAMS[name])
    adapter = command("pytest_corpus.reference:llm").removeprefix("cmd:")
    code, peak, said = whole_run(f"cmd:{sys.executable} program.py {adapter}", tmp_path)
    assert code == {"floods standard error": 0}.get(name, 1) or (code == 4 and name == "ends"), said
    assert peak < 300 * 2**10
    assert code == 4 or (tmp_path / "r.json").exists()


def test_the_latest_of_many_log_lines_are_kept() -> None:
    """What a call keeps is bounded in lines and in characters; the next call begins anew."""
    channel = SideChannel()
    for number in range(2 * MAX_LINES):
        channel.add_line(f"{number} {'x' * 10_000}" if number % 2 else "")
    kept, _ = channel.take_lines_and_headers()
    assert MAX_LOG - MAX_LINE < sum(map(len, kept)) <= MAX_LOG
    assert kept[-1].startswith(f"{2 * MAX_LINES - 1} ")
    channel.add_line("later")
    assert channel.take_lines_and_headers()[0] == ("later",)


def test_a_gzip_bomb_takes_little_memory(tmp_path: Path) -> None:
    """A gigabyte of zeros, compressed where gzip is offered, is given up within 64 MiB beyond what any server takes."""
    peaks: list[float] = []
    for name in ("CompressesWhereOffered", "BombsWhereOffered"):
        with place_of(HTTP.make(name)) as place:
            _, peak, said = whole_run(place, tmp_path, "--corpus-requirement=TRA-HTTP-4")
        statuses = {
            each["id"]: each["status"] for each in json.loads((tmp_path / "r.json").read_text())["requirements"]
        }
        assert statuses["TRA-HTTP-4"] == ("satisfied" if not peaks else "not_assessed"), said
        peaks.append(peak)
    assert peaks[1] - peaks[0] < 64 * 2**10
