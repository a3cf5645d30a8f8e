"""An adapter that limits its callers is waited for, and judged as if it did not (SPECIFICATION 12.2)."""

import pytest
from inner_runs import Project, said, statuses

LIMITED = """
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.llm.adapter import ReferenceLLM

class Limited(ReferenceLLM):
    seen = refused = 0

    def admit(self, call, envelope):
        super().admit(call, envelope)
        if call.op in ("complete", "stream", "count_tokens"):
            self.seen += 1
            if self.seen % 5 == 0:
                type(self).refused += 1
                details = {"throttle_scope": "requests"}
                raise AdapterError("ResourceExhausted", "Slow down", retry_after_ms=1, details=details)
"""

FEW = "LLM-COMPLETE-*,LLM-SAMPLING-[1-6],LLM-STREAM-*,LLM-TOKENS-*,COM-ENV-*,COM-STREAM-*,COM-FAULT-[1-7]"


def test_a_rate_limit_changes_no_status(project: Project) -> None:
    """Where every fifth call is to come again, each requirement stands as it does without a limit."""
    project.pytester.makepyfile(mine=LIMITED)
    scope = f"--corpus-requirement={FEW}"
    limited = project.run("--corpus-adapter=mine:Limited", scope, "--corpus-report=limited.json")
    assert limited.ret == 0, said(limited)
    project.run("--corpus-adapter=pytest_corpus.reference:llm", scope, "--corpus-report=free.json")
    assert statuses(project.report("limited.json")) == statuses(project.report("free.json"))


@pytest.mark.slow
def test_a_rate_limit_changes_no_verdict(project: Project) -> None:
    """The whole suite, too, comes to the same verdict."""
    project.pytester.makepyfile(mine=LIMITED)
    result = project.run_apart("--corpus-adapter=mine:Limited", "--corpus-report=r.json")
    assert project.report()["verdict"] == "conformant", said(result)
