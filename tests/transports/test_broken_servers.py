"""Broken servers turn red what they break and nothing else; legal ones stay green."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from edits import unknown_names
from plain_servers import PlainHttp, place_of, refusal
from served_adapters import command, served
from servers import GRPC, HTTP, SERVERS, Entry

from pytest_corpus.kit import retries
from pytest_corpus.spec.requirements import catalogue
from pytest_corpus.spec.transports import JSON, TRANSPORT_GROUPS

sys.path.insert(0, str(Path(__file__).parents[1]))
from mutants.runner import Report, Runner, examine

BROKEN = [entry for entry in SERVERS if entry.requirement]
LEGAL = [entry for entry in SERVERS if not entry.requirement]
FIRST = [entry for entry in BROKEN if entry == next(each for each in BROKEN if each.requirement == entry.requirement)]
OF_TRANSPORTS = [entry.id for entry in catalogue().values() if TRANSPORT_GROUPS.keys() & set(entry.needs)]
WHOLE = "TRA-*"
SlotIsLost: type[PlainHttp] = HTTP.make("SlotIsLost")


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner() as runner:
        yield runner


def report(runner: Runner, entry: Entry, scope: str) -> Report:
    with place_of(entry.made) as place:
        found = runner.run(place, scope)
    assert found.errors == [], found.errors
    return found


def told(report: Report) -> str:
    return "\n".join(f"{name}: {'; '.join(report.findings.get(name, []))}" for name in report.violated)


def test_every_requirement_of_a_transport_has_a_broken_server() -> None:
    """A sentence without one might have a test that cannot fail."""
    broken = {entry.requirement for entry in BROKEN}
    assert [each for each in OF_TRANSPORTS if each not in broken] == []
    assert all(entry.made.__doc__ for entry in SERVERS)
    assert not {entry.name: names for entry in SERVERS if (names := unknown_names(entry.made))}


def test_in_this_process_nothing_of_a_transport_applies(runner: Runner) -> None:
    """Each of its requirements is there, and not applicable."""
    found = runner.run("pytest_corpus.reference:llm", WHOLE)
    assert {found.statuses[each] for each in OF_TRANSPORTS} == {"not_applicable"}


@pytest.mark.slow
def test_the_reference_keeps_every_requirement_of_its_transport(runner: Runner) -> None:
    """Behind `pytest-corpus serve`, over each transport; together they decide all but what is only advertised."""
    kept = set()
    with served() as (http, _), served("pytest_corpus.reference:all", "--grpc") as (grpc, _):
        for address in (f"http://{http}/", f"ws://{http}/", f"grpc://{grpc}", command()):
            found = runner.run(address, WHOLE)
            assert (found.violated, found.errors) == ([], []), told(found)
            assert not {each for each in OF_TRANSPORTS if found.statuses[each] == "not_assessed"}
            kept |= {each for each in OF_TRANSPORTS if found.statuses[each] == "satisfied"}
    assert set(OF_TRANSPORTS) - kept == {"TRA-HTTP-9", "TRA-ADV-1", "TRA-ADV-2"}


@pytest.mark.parametrize("entry", FIRST, ids=lambda entry: entry.name)
def test_a_broken_server_violates_its_requirement(runner: Runner, entry: Entry) -> None:
    """One server of each requirement, in the tests of that requirement alone."""
    found = report(runner, entry, entry.requirement)
    assert entry.requirement in found.violated, told(found)


class SlotIsRefused(SlotIsLost):  # type: ignore[misc, valid-type]
    """Without a free slot a stream is refused, as one that is busy would be."""

    async def stream(self, kind: str, frames: AsyncIterator[bytes], writer: asyncio.StreamWriter) -> None:
        if self.slots.locked():
            await self.send(writer, 503, refusal("Unavailable"), JSON)
        else:
            await super().stream(kind, frames, writer)


def test_a_refusal_after_clients_that_went_away_proves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be a lost slot, or a limiter: the requirement is not satisfied."""
    monkeypatch.setattr(retries, "CALL_S", 2.0)  # in this process, for which a shorter wait will do
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.chdir(tmp_path)
    with place_of(SlotIsRefused) as place:
        found = json.loads(examine(place, tmp_path / "report.json", "TRA-CALL-4"))
    assert [each["status"] for each in found["requirements"] if each["id"] == "TRA-CALL-4"] == ["not_assessed"]


def test_a_stream_that_failed_may_end_with_any_status(runner: Runner) -> None:
    """After the error frame the status of gRPC says nothing more."""
    with place_of(GRPC.make("StreamsEndWithAStatus")) as place:
        found = runner.run(place, "COM-WIRE-1,COM-STREAM-*,COM-FAULT-9,TRA-GRPC-*")
    assert (found.violated, found.errors) == ([], []), told(found)
    assert {found.statuses[each] for each in ("COM-WIRE-1", "COM-STREAM-8", "COM-FAULT-9")} == {"satisfied"}


def test_a_stream_that_did_not_fail_ends_with_ok(runner: Runner) -> None:
    """Without an error envelope another status is not an answer."""
    with place_of(GRPC.make("EveryStreamIsAborted")) as place:
        found = runner.run(place, "COM-WIRE-1,COM-STREAM-8")
    assert found.violated == ["COM-WIRE-1"], told(found)


@pytest.mark.slow
@pytest.mark.parametrize("entry", BROKEN, ids=lambda entry: entry.name)
def test_a_broken_server_violates_nothing_else(runner: Runner, entry: Entry) -> None:
    """Of all requirements of transports only its own is violated, and those that cannot be distinguished from it."""
    found = report(runner, entry, f"{WHOLE},{entry.requirement}")
    of_transport = [each for each in found.violated if each.startswith("TRA-") or each == entry.requirement]
    assert entry.requirement in of_transport, told(found)
    assert len(of_transport) <= 1 + entry.others, told(found)


@pytest.mark.slow
@pytest.mark.parametrize("entry", LEGAL, ids=lambda entry: entry.name)
def test_a_legal_server_violates_nothing(runner: Runner, entry: Entry) -> None:
    """Neither a MUST nor a SHOULD."""
    found = report(runner, entry, WHOLE)
    assert found.violated == [], told(found)
