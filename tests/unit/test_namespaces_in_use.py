"""The namespaces that are deleted to make room while other tests run."""

from types import SimpleNamespace
from typing import Any

import pytest

from pytest_corpus.adapter import turns
from pytest_corpus.suites.vector.support.shared import VectorShared, namespace_key
from pytest_corpus.suites.vector.support.store import VectorStore


@pytest.mark.parametrize(("claim", "spare"), [(True, ["b"]), (False, []), (None, [])])
def test_a_namespace_in_use_stays_for_every_tenant(
    monkeypatch: pytest.MonkeyPatch, claim: bool | None, spare: list[str]
) -> None:
    """Unless tenants are isolated: without that, the delete for one tenant deletes the data of the other."""
    used = namespace_key("a", "scratch")
    monkeypatch.setattr(turns, "values_in_other_bodies", lambda _, name: [{used}] if name == "used" else [])
    vector: Any = SimpleNamespace(
        shared=VectorShared(scratch="scratch", tenants={"a", "b"}),
        settings=SimpleNamespace(journal=SimpleNamespace(add=lambda *_: None)),
        client=SimpleNamespace(),
        requests=SimpleNamespace(),
        capabilities=SimpleNamespace(flag={"supports_multi_tenant": claim}.get),
    )
    store = VectorStore(vector)
    store.written.add({used: (), namespace_key("b", "scratch"): ()})
    assert [place[1] for place, _ in store._spare_namespaces()] == spare
