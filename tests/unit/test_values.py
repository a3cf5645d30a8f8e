"""JSON values: an answer around the place at fault."""

import pytest

from pytest_corpus.text.values import abridge

EDGES = [{"id": "a"}, {"id": "b", "label": "l" * 90}, {"id": "c"}]
RESULT = {"nodes": ["n" * 100], "edges": EDGES}
ANSWER = {"ok": True, "result": RESULT}


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("result.edges[1].id", {"nodes": "...", "edges": ["... 1 before", {"id": "b", "label": "..."}, "... 1 more"]}),
        ("label", {"nodes": "...", "edges": ["... 1 before", {"id": "b", "label": "l" * 90}, "... 1 more"]}),
        ("edges, the one at 2", {"nodes": "...", "edges": EDGES}),
        ("result.edges.7", {"nodes": "...", "edges": EDGES}),
        ("elsewhere", RESULT),
        ("", RESULT),
    ],
)
def test_what_stands_beside_the_place_at_fault_is_left_out(path: str, shown: object) -> None:
    """Long values beside the place are left out; an unknown place leaves the answer as it is."""
    assert abridge(ANSWER, path) == {"ok": True, "result": shown}
