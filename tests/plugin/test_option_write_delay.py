"""`--corpus-write-delay` and `corpus_write_delay`: adapters that show their writes late (R46)."""

import re
import shutil

import late_adapters
import pytest
from inner_runs import Project, said, statuses, violated

LATE = "--corpus-adapter=late_adapters:LaterVector"
LATER = [
    "LateVector", "LateAfterAll", pytest.param("LaterVector", marks=pytest.mark.slow),
    pytest.param("LatestVector", marks=pytest.mark.slow), "StrictGraph",
    pytest.param("LateGraph", marks=pytest.mark.slow), pytest.param("LatestGraph", marks=pytest.mark.slow),
]  # fmt: skip
GRAPH = "GRA-NODE-*,GRA-EDGE-*,GRA-DELETE-*,GRA-TXN-*"
PLAIN = "--corpus-requirement=VEC-UPSERT-1,VEC-UPSERT-2,VEC-DELETE-2,GRA-NODE-1,GRA-NODE-2,GRA-DELETE-1"
"""What waits a few times: of an adapter that is a second late every look takes as long."""

FEW = f"--corpus-requirement=VEC-UPSERT-2,VEC-DELETE-2,VEC-STATE-1,COM-CONC-1,{GRAPH}"


@pytest.mark.parametrize("name", LATER)
def test_it_is_found_out(project: Project, name: str) -> None:
    """Writes that show late are waited for; the run says how long, and so does each format that tells of it."""
    late_s = getattr(late_adapters, name).late_s
    result, report = project.judged(f"late_adapters:{name}", FEW if late_s < 1 else PLAIN, "--corpus-report=r.md")
    assert violated(report) == set(), said(result)
    [seconds] = report["settle_s"].values()
    assert late_s <= seconds <= 2 * late_s + 5
    (shown,) = re.findall(r"^  waited for: writes of \w+ show after (\S+) s$", said(result), re.MULTILINE)
    assert float(shown) == pytest.approx(seconds, abs=0.01)
    assert said(result).count(f"show after {shown} s; the whole suite waits about ") == 1
    assert "- Writes show: `" in (project.pytester.path / "r.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "scope"), [("LateFilters", "VEC-FILTER-1,VEC-FILTER-2"), ("LateEdges", "GRA-EDGE-1,GRA-EDGE-2")]
)
def test_a_second_index_is_late(project: Project, name: str, scope: str) -> None:
    """The first violation asks if filtered vectors or edges show later than plain things; then they are waited for."""
    result, report = project.judged(f"late_adapters:{name}", f"--corpus-requirement={scope}")
    assert violated(report) == set(), said(result)
    assert {status for (_, each), status in statuses(report).items() if each in scope} == {"satisfied"}
    assert all(seconds >= getattr(late_adapters, name).late_s for seconds in report["settle_s"].values())


@pytest.mark.slow
@pytest.mark.parametrize(("component", "workers"), [("vector", 0), ("vector", 2), ("graph", 0)])
def test_what_never_shows_is_found(project: Project, component: str, workers: int) -> None:
    """A write that is not late but missing is a finding; the run says for how long it was looked for."""
    shutil.copy(late_adapters.__file__, project.path)  # for workers, which are processes of their own
    kind = f"Late{component.title()}"
    project.pytester.makepyfile(
        losing=f"import math, late_adapters\nclass Losing(late_adapters.{kind}): late_s = math.inf"
    )
    plain = {"vector": "VEC-UPSERT-2", "graph": "GRA-NODE-1"}[component]
    chosen = ["--corpus-adapter=losing:Losing", f"--corpus-requirement={plain}", "--corpus-report=r.json"]
    result = project.run(*chosen, f"-n{workers}", plugins=("xdist",)) if workers else project.run(*chosen)
    assert result.ret == 1
    assert plain in violated(project.report())
    assert project.report()["settle_s"] == {component: 0}
    (note,) = project.report()["notes"]
    assert re.fullmatch(rf"{component}: a plain write did not show in the (1\d(\.\d+)?) s that it was looked for", note)
    assert f"  waited for: {note}" in result.outlines


def test_what_shows_at_once_is_not_waited_for(project: Project) -> None:
    """The settle time of the reference adapter is 0."""
    _, report = project.judged("pytest_corpus.reference:vector", FEW)
    assert report["settle_s"] == {"vector": 0}


def test_it_can_be_given(project: Project) -> None:
    """A given time is taken as it is: with 0 an adapter has to show its writes at once."""
    assert project.run(LATE, PLAIN, "--corpus-report=r.json", "--corpus-write-delay=0").ret == 1
    assert "VEC-UPSERT-2" in violated(project.report())
    assert project.report()["settle_s"] == {"vector": 0}
