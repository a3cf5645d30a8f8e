"""`--corpus-components` and `corpus_components`."""

from inner_runs import Project, said, violated

FEW = "--corpus-requirement=COM-CAP-1,COM-WIRE-1"

SILENT = """
class Silent(Wrapped):
    async def handle(self, envelope):
        if op_of(envelope) == "llm.capabilities":
            return {"ok": False, "code": "NOT_SUPPORTED", "error": "NotSupported", "message": "no", "ms": 0}
        return await self.inner.handle(envelope)
"""


def test_named_component_that_does_not_answer(project: Project) -> None:
    """A component that was asked for by name and does not answer is a failure, not a skip."""
    project.adapter(SILENT)
    result, report = project.judged("mine:Silent", FEW, "--corpus-components=llm")
    assert result.ret == 1, said(result)
    assert "COM-CAP-1" in violated(report)
