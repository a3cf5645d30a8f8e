"""The items that the suite holds in a store at a time, and `--corpus-max-namespaces` (R115)."""

import pytest
import quotas
from inner_runs import Project, said, statuses, violated

SOME = (
    "--corpus-requirement=VEC-NS-*,VEC-UPSERT-*,VEC-LIMIT-*,COM-TENANT-*,COM-LEAK-7,GRA-BATCH-*,GRA-BULK-*,GRA-NODE-*"
)

FREE: dict[tuple[str, tuple[str, ...]], dict[tuple[str, str], str]] = {}
"""The statuses of an adapter without quotas, by component and scope."""


@pytest.fixture(autouse=True)
def _nothing_held() -> None:
    quotas.HELD.update(dict.fromkeys(quotas.HELD, 0))


@pytest.mark.parametrize("scope", [(SOME,), pytest.param((), marks=pytest.mark.slow)], ids=["some", "whole"])
@pytest.mark.parametrize("name", ["Vector", "Few", "Graph"])
def test_a_quota_is_kept(project: Project, name: str, scope: tuple[str, ...]) -> None:
    """An adapter whose provider has quotas is judged as one that has none."""
    result, report = project.judged(f"quotas:{name}", *scope)
    assert violated(report) == set(), said(result)
    assert report["verdict"] == ("partial" if scope else "conformant")
    [component] = report["components"]
    if (component, scope) not in FREE:
        project.run(f"--corpus-adapter=pytest_corpus.reference:{component}", *scope, "--corpus-report=free.json")
        FREE[component, scope] = statuses(project.report("free.json"))
    assert statuses(report) == FREE[component, scope]
    assert not [note for note in report.get("notes", ()) if "could not be deleted" in note]


def test_a_quota_below_what_the_suite_needs(project: Project) -> None:
    """With room for two namespaces nothing is blamed; the place of one that was used before is taken."""
    result, report = project.judged("quotas:Tight", SOME)
    assert violated(report) == set(), said(result)
    assert statuses(report)["vector", "VEC-NS-2"] == "satisfied"
    assert quotas.HELD["namespaces"] == 2


def test_few_namespaces_are_enough(project: Project) -> None:
    """With three namespaces at a time the requirements are assessed as with ten."""
    few = ("--corpus-adapter=quotas:Vector", "--corpus-max-namespaces=3", SOME, "--corpus-report=r.json")
    result = project.run(*few)
    assert {"violated", "not_assessed"}.isdisjoint(
        status for (_, entry), status in statuses(project.report()).items() if entry.startswith("VEC-NS")
    ), said(result)
    assert quotas.HELD["namespaces"] == 3


def test_namespaces_that_are_never_deleted(project: Project) -> None:
    """An adapter that deletes no namespace is not blamed, and is told what stays."""
    given = (
        "--corpus-adapter=quotas:KeepsNamespaces",
        "--corpus-requirement=VEC-UPSERT-[1-4]",
        "--corpus-report=r.json",
    )
    result = project.run(*given)
    assert violated(project.report()) == set(), said(result)
    [run] = project.report()["runs"]
    (left,) = [line for line in result.outlines if "could not be deleted" in line]
    assert f"corpusrun{run}" in left
    assert f"corpus run: {run}" in said(project.run(*given[:2])) or "corpus run: " in said(result)
