"""The tests that the suites carry are told without collecting them, as `report verify` needs it."""

import pytest
from inner_runs import Project

from pytest_corpus.integration.collecting import nodes as collect
from pytest_corpus.suites import CHAPTERS, CLIENT_CHAPTERS, inventory

CLIENT = "--corpus-client=pytest_corpus.reference:client"
ADAPTER = "--corpus-adapter=pytest_corpus.reference:all"


class Collected:
    """A plugin that notes the tests of the suite, by component, with the requirement of each."""

    def __init__(self) -> None:
        self.found: dict[str, dict[str, str]] = {}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            own = collect.owner(item)
            assert own is not None
            self.found.setdefault(own[1], {})[collect.test_of(item)] = collect.requirement_of(item)


@pytest.mark.parametrize("profile", ["dev", "stress"])
def test_what_is_told_is_what_is_collected(project: Project, profile: str) -> None:
    """Names, parameters and requirements of every suite are those with which pytest collects it."""
    collected = Collected()
    arguments = project.arguments(("--collect-only", "-q", f"--corpus-profile={profile}"), ())
    everything = [each for each in arguments if not each.startswith("--corpus-components")]
    components = f"--corpus-components={','.join(CHAPTERS)}"
    project.pytester.inline_run(*everything, ADAPTER, CLIENT, components, plugins=[collected])
    assert set(collected.found) == {*CHAPTERS, *CLIENT_CHAPTERS}
    for component, found in collected.found.items():
        assert inventory.tests(component, profile) == found
