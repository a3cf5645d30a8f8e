"""An adapter whose provider is reached through a tunnel: its verdict, its author's claim, and planted mistakes."""

import json
from collections.abc import Mapping

import pytest
from cli_runs import run_command
from inner_runs import Project, said, status_by_id, violated

ADAPTER = '''
import asyncio, os, socketserver, threading
from pytest_corpus.adapter.fault_plan import ProviderFault
from pytest_corpus.reference import vector

LACKING = ("rate_limited quota_exhausted overloaded auth forbidden content_filtered invalid_request unexpected"
           " traceparent deadline_ms").split()


class Echo(socketserver.BaseRequestHandler):
    def handle(self):
        while data := self.request.recv(1000):
            self.request.sendall(data)


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True


SERVER = Server(("127.0.0.1", 0), Echo)
threading.Thread(target=SERVER.serve_forever, daemon=True).start()


class OverTcp:
    """Asks the server on a new connection before each operation."""

    def __init__(self, address):
        self.address = address

    async def reached(self, op, **facts):
        writer = None
        try:
            reader, writer = await asyncio.open_connection(*self.address)
            writer.write(op.encode())
            answer = await reader.read(1000)
            if len(answer) < len(op):
                raise ConnectionError("the answer is cut off")
        except OSError:
            raise ProviderFault("network", 502, None, "gone") from None
        finally:
            if writer is not None:
                writer.close()


def adapter(metrics=None, provider=None):
    address = provider.tunnel(*SERVER.server_address, without=LACKING) if provider else SERVER.server_address
    return vector(metrics, OverTcp(address))
'''

CANCELLED = """
        except asyncio.CancelledError:
            await asyncio.sleep(4)
            raise
""".removeprefix("\n")

MISTAKES: Mapping[str, tuple[str, str]] = {
    "": ("", ""),
    "nothing claimed": ("without=LACKING", "without=()"),
    "reset as auth": ('ProviderFault("network", 502,', 'ProviderFault("auth", 401,'),
    "reset as bad request": ('ProviderFault("network", 502,', 'ProviderFault("invalid_request", 400,'),
    "reset as rate limit": ('ProviderFault("network", 502,', 'ProviderFault("rate_limited", 429,'),
    "cut taken for an end": ("if len(answer) < len(op):", "if not answer:"),
    "close taken for an end": ("if len(answer) < len(op):", "if False:"),
    "failure swallowed": ('raise ProviderFault("network", 502, None, "gone") from None', "return"),
    "deadline ignored": ("        finally:\n", f"{CANCELLED}        finally:\n"),
}  # fmt: skip

FAULTS = "--corpus-requirement=COM-FAULT-*,COM-DEADLINE-2,COM-DEADLINE-4,COM-HEALTH-4,COM-CTX-5,COM-DEADLINE-9"


def run(project: Project, mistake: str, *given: str) -> pytest.RunResult:
    """The requirements on a failing provider, or those given, against the adapter with a planted mistake."""
    before, after = MISTAKES[mistake]
    assert before in ADAPTER
    project.pytester.makepyfile(tunnelled=ADAPTER.replace(before, after) if before else ADAPTER)
    return project.run("--corpus-adapter=tunnelled:adapter", "--corpus-report=r.json", *(given or [FAULTS]))


@pytest.mark.slow
def test_a_tunnel_shows_how_an_adapter_fails(project: Project) -> None:
    """Disclaimed faults are not applicable and stand in the report; the transcript gives the same statuses."""
    result = run(project, "", FAULTS, "--corpus-transcript=t.jsonl.gz")
    report = project.report()
    found = status_by_id(report)
    assert set(found.values()) == {"satisfied", "not_applicable"}, said(result)
    assert {name for name, status in found.items() if status == "satisfied"} >= {
        "COM-FAULT-2", "COM-FAULT-3", "COM-FAULT-12", "COM-DEADLINE-2", "COM-DEADLINE-4", "COM-HEALTH-4"
    }  # fmt: skip
    assert {found[name] for name in ("COM-FAULT-1", "COM-FAULT-4", "COM-CTX-5", "COM-DEADLINE-9")} == {"not_applicable"}
    assert report["provider_lacks"][:2] == ["auth", "content_filtered"]
    result.stdout.fnmatch_lines(["*provider lacks, as its author states: auth, content_filtered, deadline_ms, *"])
    judged = run_command("judge", "t.jsonl.gz", "--report", "j.json", cwd=project.path)
    again = json.loads((project.path / "j.json").read_text())
    assert (status_by_id(again), again["provider_lacks"]) == (found, report["provider_lacks"]), judged


@pytest.mark.parametrize(("mistake", "broken"), [
    ("reset as auth", {"COM-FAULT-2", "COM-FAULT-3"}),
    pytest.param("deadline ignored", {"COM-DEADLINE-4"}, marks=pytest.mark.slow),
    ("cut taken for an end", {"COM-FAULT-3"}),
])  # fmt: skip
def test_a_planted_mistake_is_found(project: Project, mistake: str, broken: set[str]) -> None:
    """Each breaks the requirement that it is about."""
    result = run(project, mistake)
    assert broken <= violated(project.report()), said(result)


@pytest.mark.slow
@pytest.mark.parametrize("mistake", [*MISTAKES][2:])
def test_a_tunnel_finds_a_mistake(project: Project, mistake: str) -> None:
    """A MUST is violated."""
    result = run(project, mistake, "--corpus-requirement=COM-*")
    assert violated(project.report()), said(result)


def test_what_is_neither_possible_nor_disclaimed_is_not_assessed(project: Project) -> None:
    """The reason says what helps; no plan strikes that a tunnel cannot carry out."""
    result = run(project, "nothing claimed")
    report = project.report()
    found = {each["id"]: each for each in report["requirements"]}
    assert {found[name]["status"] for name in ("COM-FAULT-1", "COM-FAULT-4", "COM-CTX-5")} == {"not_assessed"}
    assert found["COM-FAULT-4"]["reason"] == "a tunnel can neither cause nor see auth", said(result)
    assert "provider_lacks" not in report
    assert "name it in `without` of provider.tunnel" in said(result)
