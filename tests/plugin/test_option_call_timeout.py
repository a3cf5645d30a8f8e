"""`--corpus-call-timeout` and `corpus_call_timeout`."""

from __future__ import annotations

import pytest
from inner_runs import REFERENCE, Project, error_lines, said, violated

SLOW = """
import asyncio
seconds = 3
class Slow(Wrapped):
    async def handle(self, envelope):
        if op_of(envelope) == "llm.complete":
            await asyncio.sleep(seconds)
        return await self.inner.handle(envelope)
"""
FEW = "--corpus-requirement=LLM-COMPLETE-1,COM-WIRE-2"


@pytest.mark.parametrize("given", ["option", "ini"])
def test_gives_up(project: Project, given: str) -> None:
    """A call that takes longer is given up, and that is the violation."""
    project.adapter(SLOW)
    options = ["--corpus-call-timeout=1"]
    if given == "ini":
        project.pytester.makeini("[pytest]\ncorpus_call_timeout = 1\n")
        options = []
    result = project.run("--corpus-adapter=mine:Slow", FEW, "--corpus-report=r.json", *options)
    assert result.ret == 1
    assert violated(project.report()) == {"COM-WIRE-2"}
    assert "no end after 1 s" in said(result)


def test_longer_is_patient(project: Project) -> None:
    """A slow adapter is not failed where the limit allows it to be slow."""
    project.adapter(SLOW.replace("seconds = 3", "seconds = 0.4"))
    patient = "--corpus-call-timeout=10"
    result = project.run("--corpus-adapter=mine:Slow", "--corpus-requirement=LLM-COMPLETE-1", patient)
    assert result.ret == 0


@pytest.mark.parametrize("seconds", ["0", "-1", "abc", "nan", "inf"])
def test_wrong_number(project: Project, seconds: str) -> None:
    """What is not a number of seconds above zero is a usage error."""
    result = project.run(REFERENCE, f"--corpus-call-timeout={seconds}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    expected = f"ERROR: --corpus-call-timeout={seconds}: use a number of seconds above 0"
    assert error_lines(result) == [expected]
