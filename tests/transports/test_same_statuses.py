"""An adapter is found to be the same behind each transport as in this process, requirement by requirement."""

import json
from pathlib import Path

import pytest
from cli_runs import conformance, statuses
from served_adapters import SERVE, SERVE_SSE_ALONE, command, served

ALL = "pytest_corpus.reference:all"

OUTSIDE = {"COM-LEAK-7": "not_assessed", "COM-WIRE-14": "not_applicable"}
"""Requirements that do not apply outside this process: debug records, and a start for a single call (R74)."""

Statuses = dict[tuple[str, str], str]


def judged(folder: Path, address: str, *more: str) -> tuple[str, Statuses]:
    ended = conformance(folder, f"--corpus-adapter=a={address}", "--corpus-report=r.json", *more)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return json.loads((folder / "r.json").read_text())["verdict"], statuses(folder / "r.json")


@pytest.fixture(scope="module")
def inside(tmp_path_factory: pytest.TempPathFactory) -> Statuses:
    """The statuses of the reference adapters in the process of the suite."""
    verdict, found = judged(tmp_path_factory.mktemp("inside"), ALL)
    assert verdict == "conformant"
    return found


def same(inside: Statuses, outside: Statuses) -> None:
    """Both are alike, but for what only a transport can break and what is not asked outside this process."""
    expected = {key: OUTSIDE.get(key[1], status) for key, status in inside.items()}
    differing = {key: (expected.get(key), status) for key, status in outside.items() if expected.get(key) != status}
    assert not {key: both for key, both in differing.items() if not key[1].startswith("TRA-")}
    assert inside.keys() == outside.keys()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "serve", "more"),
    [("http", SERVE, ()), ("http", SERVE_SSE_ALONE, ()), ("ws", SERVE, ()), ("grpc", SERVE, ("--grpc",))],
    ids=["ndjson", "sse", "websocket", "grpc"],
)
def test_the_reference_is_conformant_at_an_address(
    scheme: str, serve: list[str], more: tuple[str, ...], inside: Statuses, tmp_path: Path
) -> None:
    """With both hooks, and with its log."""
    with served(ALL, *more, serve=serve, log=tmp_path / "adapter.log") as (place, _):
        verdict, found = judged(tmp_path, f"{scheme}://{place}", "-ocorpus_log=adapter.log")
    assert verdict == "conformant"
    same(inside, found)


@pytest.mark.slow
def test_the_reference_is_conformant_as_a_program(inside: Statuses, tmp_path: Path) -> None:
    """With both hooks; its standard error is its log."""
    verdict, found = judged(tmp_path, command(ALL))
    assert verdict == "conformant"
    same(inside, found)
