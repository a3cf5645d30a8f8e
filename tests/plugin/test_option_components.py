"""`--corpus-components` and `corpus_components`."""

from inner_runs import Project, said, violated

FEW = "--corpus-requirement=COM-CAP-1,COM-WIRE-1"

SILENT = """
@before("llm.capabilities")
def Silent(adapter, envelope):
    return refused("NOT_SUPPORTED", "NotSupported")
"""


def test_named_component_that_does_not_answer(project: Project) -> None:
    """A component that was asked for by name and does not answer is a failure, not a skip."""
    project.adapter(SILENT)
    result, report = project.judged("mine:Silent", FEW, "--corpus-components=llm")
    assert result.ret == 1, said(result)
    assert "COM-CAP-1" in violated(report)
