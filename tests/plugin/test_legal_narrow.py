"""An adapter of a provider that takes less than the documents name, or counts otherwise, violates no MUST."""

from __future__ import annotations

import pytest
from inner_runs import Project, said, statuses, violated
from legal_narrow import CLOSED, SCOPES

BY_NAME = {made.__name__: scope for made, scope in SCOPES.items()}


@pytest.mark.parametrize("name", BY_NAME)
def test_a_narrow_provider_violates_nothing(project: Project, name: str) -> None:
    """No MUST is violated where the difference bears on it."""
    scope = f"--corpus-requirement={BY_NAME[name]}"
    result = project.run(f"--corpus-adapter=legal_narrow:{name}", scope, "--corpus-report=r.json")
    assert violated(project.report()) == set(), said(result)
    assert result.ret == 0, said(result)


@pytest.mark.parametrize("name", [made.__name__ for made in CLOSED])
def test_a_pinned_run_lets_a_context_be_closed(project: Project, name: str) -> None:
    """Unknown keys in `ctx` may be refused in a run that is pinned to edition 1.0.0, and in no other."""
    given = (f"--corpus-adapter=legal_narrow:{name}", "--corpus-requirement=COM-CTX-*,COM-CACHE-*")
    result = project.run(*given, "--corpus-schema-version=1.0.0", "--corpus-report=r.json")
    assert violated(project.report()) == set(), said(result)
    project.run(*given, "--corpus-report=r.json")
    assert "COM-CTX-1" in violated(project.report())


def test_what_is_not_counted_is_not_a_wrong_count(project: Project) -> None:
    """An adapter without `count_tokens` whose completions have no usage is blamed for the completions alone."""
    scope = "--corpus-requirement=COM-CONC-1,COM-IDEM-1,LLM-COMPLETE-*,LLM-STREAM-*,LLM-TOKENS-*"
    result = project.run("--corpus-adapter=legal_narrow:UsageLeftOut", scope, "--corpus-report=r.json")
    report = project.report()
    assert violated(report) == {"LLM-COMPLETE-1"}, said(result)
    assert statuses(report)["llm", "LLM-TOKENS-1"] == "not_applicable"
