"""A component, as its parts see it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from pytest_corpus.adapter.client import AdapterClient
from pytest_corpus.adapter.facts import Capabilities
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.requests import Requests
from pytest_corpus.kit.run_state import Settings, Shared
from pytest_corpus.spec.operations import Operation


class Calls(Protocol):
    """The members of a component that its parts need."""

    client: AdapterClient
    capabilities: Capabilities
    settings: Settings
    component: str
    principal: str
    principal_stream: str

    @property
    def shared(self) -> Shared: ...

    @property
    def requests(self) -> Requests: ...

    @property
    def clients(self) -> list[AdapterClient]: ...

    def operation(self, name: str) -> Operation: ...

    def operations(self, *, streaming: bool | None = None) -> list[str]: ...

    def require(self, *names: str) -> None: ...

    def invoke(
        self, name: str, args: Mapping[str, Any] | None = None, ctx: Mapping[str, Any] | None = None, **options: Any
    ) -> Reply | StreamReply: ...

    def another(self, call_timeout: float) -> Any: ...

    def relieve(self, reply: Reply | StreamReply) -> bool: ...

    def is_full(self, reply: Reply | StreamReply) -> bool: ...
