"""What a long run says of itself while it goes on."""

import pytest
from inner_runs import REFERENCE, Project, said

from pytest_corpus.integration.concluding import progress


@pytest.mark.parametrize("spread", [(), ("-n", "1")], ids=["one_process", "a_worker"])
def test_a_long_run_says_how_far_it_is(
    project: Project, monkeypatch: pytest.MonkeyPatch, spread: tuple[str, ...]
) -> None:
    """After each stretch of time a line of its own says how many tests ran, of how many, and what is left."""
    monkeypatch.setattr(progress, "EVERY_S", 0.0)
    result = project.run(REFERENCE, "--corpus-requirement=LLM-TOKENS-1", *spread, plugins=("xdist",) if spread else ())
    lines = [line for line in result.outlines if line.startswith("corpus: ") and " tests in " in line]
    assert lines, said(result)
    assert lines[-1].endswith("about 0 s left")
    done, _, total = lines[-1].removeprefix("corpus: ").split()[:3]
    assert done == total == str(result.parseoutcomes()["passed"])


def test_a_short_run_says_nothing(project: Project) -> None:
    """A run of seconds has no such line."""
    assert " tests in " not in said(project.run(REFERENCE, "--corpus-requirement=LLM-TOKENS-1"))


def test_the_calls_to_come_tell_the_rest() -> None:
    """What is left is reckoned by the calls to come, and by the tests if these take longer."""
    assert progress.line(100, 400, 50.0, 20.0) == "corpus: 100 of 400 tests in 50 s, about 150 s left"
    assert progress.line(399, 400, 95.0, 22.0) == "corpus: 399 of 400 tests in 95 s, about 22 s left"


def test_calls_and_time_are_said_before(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """The calls to expect stand before the tests; after the first of them the time, if the run is not short."""
    few = "--corpus-requirement=LLM-CAP-*,COM-CAP-*,LLM-TOKENS-*"
    lines = project.run(REFERENCE, few).outlines
    (calls,) = [int(line.split()[2]) for line in lines if line.startswith("corpus: about ") and line.endswith(" calls")]
    assert 20 < calls < 200
    assert "more are to come" not in "".join(lines)
    monkeypatch.setattr(progress, "SHORT_S", 0.0)
    assert "calls took " in said(project.run(REFERENCE, few))
    assert progress.estimate(20, 791, 3.0) == "corpus: 20 calls took 3.0 s; about 771 more are to come, in about 116 s"
