"""The catalogue: one table for readers on a code host, and a page of details for each chapter of the site."""

import contextlib
import io
import os
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from pytest_corpus.reports.pages.markdown import GENERATED, table
from pytest_corpus.spec.components import COMPONENTS, WIRE
from pytest_corpus.spec.requirements import catalogue
from pytest_corpus.spec.requirements.model import Requirement
from site_pages import fill

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
        from pytest_corpus.integration.collecting.nodes import name_of_test, requirement_of

        for item in session.items:
            self.tests[requirement_of(item)][name_of_test(item).partition("[")[0]] += 1


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
    rows = ((each.id, each.level, each.text, ", ".join(each.source)) for each in catalogue().values())
    listed = table(("id", "level", "requirement", "source"), rows)
    return {"requirements.md": "\n".join([HEAD.format(count=len(catalogue())), listed, GENERATED])}


def details() -> dict[str, str]:
    """A page for each chapter, with the tests of each requirement and the faults that they find."""
    tests, mutants, servers = collected(), _mutants(), _broken_servers()
    found = {"tests": tests, "mutants": mutants, "servers": servers}
    names = {"COMPONENTS": COMPONENTS, "WIRE": WIRE, "CLIENTS": CLIENTS}
    return {
        f"requirements/{chapter.lower()}.md": fill("chapter.md", chapter=chapter, entries=entries, **found, **names)
        for chapter, entries in _chapters().items()
    }


def _mutants() -> dict[str, list[Any]]:
    """The mutants that violate a requirement, by its id."""
    sys.path.insert(0, str(TESTS))
    from mutants import mutants

    return _by_requirement(mutants())


def _broken_servers() -> dict[str, list[Any]]:
    """The servers of the transport tests that break a requirement, by its id."""
    sys.path.insert(0, str(TESTS / "transports"))
    import test_broken_servers

    return _by_requirement(test_broken_servers.BROKEN)


def _by_requirement(faulty: Iterable[Any]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = defaultdict(list)
    for each in sorted(faulty, key=lambda each: str(each.name)):
        found[each.requirement].append(each)
    return found
