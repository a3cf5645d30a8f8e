"""`--corpus-schema-version` and `corpus_schema_version`."""

import pytest
from inner_runs import REFERENCE, Project, error_lines, violated

TOKENS = "--corpus-requirement=LLM-TOKENS-1"

BARE_COUNT = """
class BareCount(Wrapped):
    async def handle(self, envelope):
        answer = await self.inner.handle(envelope)
        if op_of(envelope) == "llm.count_tokens" and answer["ok"]:
            answer["result"] = answer["result"]["tokens"]
        return answer
"""


def test_either_edition_without_it(project: Project) -> None:
    """Without the option an answer of either edition is good, and the report pins none."""
    project.adapter(BARE_COUNT)
    result = project.run("--corpus-adapter=mine:BareCount", TOKENS, "--corpus-report=r.json")
    assert result.ret == 0
    assert project.report()["spec"]["pinned_edition"] is None


@pytest.mark.parametrize("given", ["option", "ini"])
def test_pinned_to_the_elder(project: Project, given: str) -> None:
    """Pinned to 1.0.0, what only 1.1.0 allows is a violation."""
    project.adapter(BARE_COUNT)
    options = ["--corpus-schema-version=1.0.0"]
    if given == "ini":
        project.pytester.makeini("[pytest]\ncorpus_schema_version = 1.0.0\n")
        options = []
    result = project.run("--corpus-adapter=mine:BareCount", TOKENS, "--corpus-report=r.json", *options)
    assert result.ret == 1
    assert violated(project.report()) == {"LLM-TOKENS-1"}
    assert project.report()["spec"]["pinned_edition"] == "1.0.0"


@pytest.mark.parametrize(("edition", "few"), [("1.0.0", "*"), ("1.1.0", "COM-CAP-*,LLM-STREAM-*,LLM-TOKENS-1")])
def test_reference_meets_both(project: Project, edition: str, few: str) -> None:
    """The reference adapter violates nothing under a pin to either edition, and is conformant."""
    options = (f"--corpus-schema-version={edition}", f"--corpus-requirement={few}", "--corpus-report=r.json")
    result = project.run(REFERENCE, *options)
    assert result.ret == 0
    report = project.report()
    expected = "conformant" if few == "*" else "partial"
    assert (report["verdict"], report["spec"]["pinned_edition"]) == (expected, edition)


@pytest.mark.parametrize("edition", ["1.0", "2.0.0", "latest"])
def test_unknown_edition(project: Project, edition: str) -> None:
    """Another edition is a usage error that names the two there are."""
    result = project.run(REFERENCE, f"--corpus-schema-version={edition}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert error_lines(result) == [f"ERROR: --corpus-schema-version={edition}: use 1.0.0 or 1.1.0"]
