"""What of a component is needed to judge what was exchanged with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from pytest_corpus.adapter.client import AdapterClient
from pytest_corpus.kit.outcomes import Violation
from pytest_corpus.kit.run_state import Settings


class AuditContext(Protocol):
    """A component whose answers are held against what holds for all of them."""

    client: AdapterClient
    component: str
    settings: Settings

    def audit_payload(self, name: str, result: Any) -> Iterator[tuple[str, Violation]]: ...

    def audit_chunk(self, name: str, chunk: Mapping[str, Any], /) -> Iterator[tuple[str, Violation]]: ...
