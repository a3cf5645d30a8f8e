"""`--corpus-schema-version` and `corpus_schema_version`."""

from inner_runs import REFERENCE, Project, violated

TOKENS = "--corpus-requirement=LLM-TOKENS-1"

BARE_COUNT = """
@changes("llm.count_tokens")
def BareCount(answer):
    answer["result"] = answer["result"]["tokens"]
"""


def test_either_edition_without_it(project: Project) -> None:
    """Without the option an answer of either edition is good, and the report pins none."""
    project.adapter(BARE_COUNT)
    assert project.run("--corpus-adapter=mine:BareCount", TOKENS, "--corpus-report=r.json").ret == 0
    assert project.report()["spec"]["pinned_schema_version"] is None


def test_pinned_to_the_elder(project: Project) -> None:
    """Pinned to 1.0.0, what only 1.1.0 allows is a violation."""
    project.adapter(BARE_COUNT)
    result, report = project.judged("mine:BareCount", TOKENS, "--corpus-schema-version=1.0.0")
    assert result.ret == 1
    assert violated(report) == {"LLM-TOKENS-1"}
    assert report["spec"]["pinned_schema_version"] == "1.0.0"


def test_the_reference_meets_the_younger(project: Project) -> None:
    """The reference adapter violates nothing under a pin to the newest edition."""
    few = "--corpus-requirement=COM-CAP-*,LLM-STREAM-*,LLM-TOKENS-1"
    result = project.run(REFERENCE, few, "--corpus-schema-version=1.1.0", "--corpus-report=r.json")
    assert result.ret == 0
    assert project.report()["spec"]["pinned_schema_version"] == "1.1.0"


def test_the_reference_meets_the_elder_and_every_should(project: Project) -> None:
    """A whole run, with a glob that selects everything, at the level should: the reference is conformant."""
    options = ("--corpus-schema-version=1.0.0", "--corpus-level=should", "--corpus-requirement=*")
    result = project.run(REFERENCE, *options, "--corpus-report=r.json")
    report = project.report()
    assert (result.ret, report["verdict"], report["complete"]) == (0, "conformant", True)
    assert report["spec"]["pinned_schema_version"] == "1.0.0"
