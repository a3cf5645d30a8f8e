"""The catalogue: one table for readers on a code host, and a page of details for each chapter of the site."""

import contextlib
import io
import os
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_corpus.reports.pages.markdown import GENERATED, table
from pytest_corpus.spec.components import COMPONENTS, WIRE
from pytest_corpus.spec.requirements import catalogue
from pytest_corpus.spec.requirements.model import Requirement

TESTS = Path(__file__).resolve().parents[2] / "tests"

CLIENTS = "tests/plugin/test_option_client.py"
"""The test module with the faulty client libraries for requirements of the component "wire"."""

HEAD = """# Requirements

All {count} requirements of the suite. `COM-` are common to the components, `TRA-` concern transports and `WIR-` client
libraries; `LLM-`, `VEC-`, `EMB-` and `GRA-` belong to one component. `pytest-corpus explain ID` shows the hint, the
rulings and an example of each.
"""


class Collected:
    """A pytest plugin that counts the inputs of each test of a requirement."""

    def __init__(self) -> None:
        self.tests: dict[str, Counter[str]] = defaultdict(Counter)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Count the items of each test."""
        from pytest_corpus.integration.collecting.nodes import requirement_of, test_of

        for item in session.items:
            self.tests[requirement_of(item)][test_of(item).partition("[")[0]] += 1


def collected() -> dict[str, Counter[str]]:
    """The tests of each requirement, with the number of their inputs."""
    found = Collected()
    options = ["-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:asyncio", "-c", os.devnull, "--collect-only"]
    options += [] if _installed() else ["-p", "pytest_corpus.plugin"]
    with tempfile.TemporaryDirectory() as empty, contextlib.redirect_stdout(io.StringIO()) as out:
        code = pytest.main(
            [
                *options,
                empty,
                f"--rootdir={empty}",
                "--corpus-adapter=pytest_corpus.reference:all",
                "--corpus-client=pytest_corpus.reference:client",
            ],
            plugins=[found],
        )
    if code != pytest.ExitCode.OK:
        raise SystemExit(f"the suite cannot be collected: pytest ends with {code}\n{out.getvalue()[-1000:]}")
    return found.tests


def _installed() -> bool:
    from importlib.metadata import entry_points

    return any(point.name == "corpus" for point in entry_points(group="pytest11"))


def _chapters() -> dict[str, list[Requirement]]:
    """The requirements by chapter, in the order of the catalogue."""
    found: dict[str, list[Requirement]] = {}
    for entry in catalogue().values():
        found.setdefault(entry.chapter, []).append(entry)
    return found


def pages() -> dict[str, str]:
    """The table, by its path below docs/."""
    return {"requirements.md": "\n".join(_table())}


def _table() -> Iterator[str]:
    yield HEAD.format(count=len(catalogue()))
    rows = ((each.id, each.level, each.text, ", ".join(each.source)) for each in catalogue().values())
    yield table(("id", "level", "requirement", "source"), rows)
    yield GENERATED


def details() -> dict[str, str]:
    """A page for each chapter, with the tests of each requirement and the faults that they find."""
    tests, mutants, servers = collected(), _mutants(), _broken_servers()
    return {
        f"requirements/{chapter.lower()}.md": "\n".join(
            [f"# {chapter}\n", *(line for entry in entries for line in _details(entry, tests, mutants, servers))]
        )
        for chapter, entries in _chapters().items()
    }


def _details(
    entry: Requirement, tests: dict[str, Counter[str]], mutants: dict[str, list[Any]], servers: dict[str, list[Any]]
) -> Iterator[str]:
    where = "all" if entry.components == COMPONENTS else ", ".join(entry.components)
    yield f"## {entry.id}\n"
    yield f"**{entry.level}** {entry.text}\n"
    yield f"- source: {', '.join(entry.source)}"
    yield f"- components: {where}"
    if entry.needs:
        yield f"- needs: {', '.join(f'`{need}`' for need in entry.needs)}"
    yield f"- hint: {entry.hint}"
    yield "- tests:"
    for test, inputs in sorted(tests[entry.id].items()):
        yield f"  - `{test}`" + (f" ({inputs} inputs)" if inputs > 1 else "")
    if entry.components == WIRE:
        yield f"- faulty clients: `{CLIENTS}`"
    if entry.id in mutants:
        yield "- mutants caught:"
        for mutant in sorted(mutants[entry.id], key=lambda each: str(each.name)):
            yield f"  - `{mutant.name}`: {mutant.description.splitlines()[0]}"
    if entry.id in servers:
        yield "- broken servers caught:"
        yield from (f"  - `{server.name}`: {server.made.__doc__}" for server in servers[entry.id])
    yield ""


def _mutants() -> dict[str, list[Any]]:
    """The mutants that violate a requirement, by its id."""
    sys.path.insert(0, str(TESTS))
    from mutants import mutants

    found: dict[str, list[Any]] = {}
    for mutant in mutants():
        found.setdefault(mutant.requirement, []).append(mutant)
    return found


def _broken_servers() -> dict[str, list[Any]]:
    """The servers of the transport tests that break a requirement, by its id."""
    sys.path.insert(0, str(TESTS / "transports"))
    import test_broken_servers

    found: dict[str, list[Any]] = {}
    for server in sorted(test_broken_servers.BROKEN, key=lambda each: str(each.name)):
        found.setdefault(server.requirement, []).append(server)
    return found
