"""`--corpus-components` and `corpus_components`."""

import pytest
from inner_runs import REFERENCE, Project, error_lines, said, violated

FEW = "--corpus-requirement=COM-CAP-1,COM-WIRE-1"

SILENT = """
class Silent(Wrapped):
    async def handle(self, envelope):
        if op_of(envelope) == "llm.capabilities":
            return {"ok": False, "code": "NOT_SUPPORTED", "error": "NotSupported", "message": "no", "ms": 0}
        return await self.inner.handle(envelope)
"""


def test_named_component(project: Project) -> None:
    """A component named by hand is tested, and is the only one in the report."""
    project.run(REFERENCE, FEW, "--corpus-components=llm", "--corpus-report=r.json")
    assert list(project.report()["components"]) == ["llm"]


def test_ini(project: Project) -> None:
    """The ini twin is read, and the option replaces it."""
    project.pytester.makeini("[pytest]\ncorpus_components = speech\n")
    assert "no component 'speech'" in error_lines(project.run(REFERENCE, FEW))[0]
    assert project.run(REFERENCE, FEW, "--corpus-components=llm").ret == 0


def test_named_twice(project: Project) -> None:
    """A component that is named twice is tested once."""
    result = project.run(REFERENCE, FEW, "--corpus-components=llm,llm", "--collect-only", "-q")
    assert len(set(result.outlines)) == len(result.outlines) - result.outlines.count("") + 1


def test_named_component_that_does_not_answer(project: Project) -> None:
    """A component that was asked for by name and does not answer is a failure, not a skip."""
    project.adapter(SILENT)
    result = project.run("--corpus-adapter=mine:Silent", "--corpus-components=llm", FEW, "--corpus-report=r.json")
    assert result.ret == 1, said(result)
    assert "COM-CAP-1" in violated(project.report())


@pytest.mark.parametrize("names", ["speech", "llm,speech", "SPEECH"])
def test_unknown_component(project: Project, names: str) -> None:
    """An unknown name is a usage error that lists the known ones."""
    result = project.run(REFERENCE, f"--corpus-components={names}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = error_lines(result)
    assert "--corpus-components: there is no component" in line
    assert "llm, vector, embedding, graph" in line
