"""Mistakes that clients make with the chunks of a provider's answer are found behind `provider.url`."""

import pytest
from inner_runs import Project, said, violated

FOUND = {
    "CutsCharacters": "LLM-STREAM-9",
    "OneEventAPart": "COM-CAP-6",
    "DropsFragments": "LLM-TOOLS-2",
    "EndsAnywhere": "COM-FAULT-9",
    "FilteredIsStopped": "COM-FAULT-5",
    "TrustsTheOrder": "EMB-BATCH-2",
}
"""What each client violates."""


@pytest.mark.parametrize("name", list(FOUND))
def test_a_careless_client_is_found(project: Project, name: str) -> None:
    """Characters cut in two, events in pieces, fragments without an id, any end for the end, vectors out of order."""
    result, report = project.judged(f"careless_clients:{name}", FOUND[name], "--corpus-seed=3")
    assert violated(report) == {FOUND[name]}, said(result)


@pytest.mark.parametrize("name", ["ClientLLM", "ClientEmbedding"])
def test_a_careful_client_is_not_blamed(project: Project, name: str) -> None:
    """The client without the mistakes keeps all that they break."""
    result, report = project.judged(f"careless_clients:{name}", ",".join(FOUND.values()))
    assert violated(report) == set(), said(result)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["ClientLLM", "ClientEmbedding"])
def test_a_careful_client_violates_nothing(project: Project, name: str, seed: int) -> None:
    """Nor does it violate any other MUST."""
    result, report = project.judged(f"careless_clients:{name}", f"--corpus-seed={seed}")
    assert violated(report) == set(), said(result)
    assert report["complete"]
