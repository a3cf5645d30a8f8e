"""An adapter of a provider that takes less than the documents name, or counts otherwise, violates no MUST."""

from __future__ import annotations

import pytest
from inner_runs import Project, said, violated
from legal_narrow import SCOPES

BY_NAME = {made.__name__: scope for made, scope in SCOPES.items()}


@pytest.mark.parametrize("name", BY_NAME)
def test_a_narrow_provider_violates_nothing(project: Project, name: str) -> None:
    """No MUST is violated where the difference bears on it."""
    scope = f"--corpus-requirement={BY_NAME[name]}"
    result = project.run(f"--corpus-adapter=legal_narrow:{name}", scope, "--corpus-report=r.json")
    assert violated(project.report()) == set(), said(result)
    assert result.ret == 0, said(result)
