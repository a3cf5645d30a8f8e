"""Requests: their parts, those that tests ask a component for by purpose, and the component as its parts see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.client import AdapterClient
from pytest_corpus.adapter.facts import Capabilities
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.run_state import Settings, Shared
from pytest_corpus.kit.store.store import Store
from pytest_corpus.spec.operations import Operation

HOUR_MS = 3_600_000

CANARY_LETTERS = "bcdfghjkmnpqrtvwxyz23456789"


@dataclass(frozen=True, slots=True)
class Request:
    """A request: the bare name of an operation, its arguments, its context, and the canaries in them.

    `canaries` names each text that may not reappear by its kind, such as ``content``.
    """

    op: str
    args: Mapping[str, Any]
    ctx: Mapping[str, Any] = field(default_factory=dict)
    canaries: Mapping[str, str] = field(default_factory=dict)


def reverse_keys(value: Any) -> Any:
    """The same JSON value with the keys of all its objects in the opposite order, which means nothing (RFC 8259)."""
    if isinstance(value, dict):
        return {key: reverse_keys(each) for key, each in reversed(value.items())}
    return [reverse_keys(each) for each in value] if isinstance(value, list) else value


def canary(length: int = 14) -> str:
    """A random text that an adapter cannot produce by accident."""
    return inputs.letters(CANARY_LETTERS, length)


def new_trace() -> str:
    """A traceparent that was not sent before: sampled or not, in turn."""
    return f"00-{inputs.hexadecimal(16)}-{inputs.hexadecimal(8)}-0{inputs.next_in_rotation('trace') % 2}"


def deadline_in(milliseconds: float) -> int:
    """An absolute deadline at that distance from now; negative: in the past."""
    return int(inputs.wall_clock() * 1000 + milliseconds)


class Requests:
    """The requests that each component builds in its `requests.py`. Operations go by their bare names.

    Attributes:
        nullable: by operation, the optional arguments that its schema lets be null, those of an item as `nodes.labels`.
    """

    nullable: Mapping[str, Sequence[str]] = {}

    def minimal(self, name: str) -> dict[str, Any]:
        """The arguments of the plainest valid request of an operation."""
        raise NotImplementedError

    def distinct(self, name: str) -> dict[str, Any]:
        """Valid arguments that were not sent before, so that no cache can answer them."""
        return self.minimal(name)

    def long(self, name: str) -> dict[str, Any]:
        """Valid arguments, not sent before, whose stream is likely to have several chunks."""
        return self.distinct(name)

    def short(self, name: str) -> dict[str, Any]:
        """Valid arguments whose stream has little to send."""
        return self.minimal(name)

    def reading_at(self, _request: Any) -> Request | None:
        """A plain read of the place that a request names; None if it names none."""
        return None

    def two_streams(self, name: str) -> list[dict[str, Any]]:
        """The arguments of two streams of several chunks, not sent before, whose content differs."""
        return [self.long(name), self.long(name)]

    def wrong_types(self, name: str) -> dict[str, Any]:
        """Arguments of which the first one has a type that the operation refuses; empty where it takes none."""
        raise NotImplementedError

    def with_unknown_keys(self, unknown: Mapping[str, Any]) -> list[Request]:
        """Requests with unknown keys inside what their arguments hold."""
        raise NotApplicable(f"no operation takes objects in its arguments, for {len(unknown)} keys")

    def with_number(self, number: float) -> list[Request]:
        """Requests with this number wherever a number goes in, the deadline included."""
        raise NotImplementedError

    def with_integer(self, number: int) -> list[Request]:
        """Requests with this number wherever a whole number goes in."""
        raise NotImplementedError

    def with_items(self, count: int) -> list[Request]:
        """Valid requests of several items each, not sent before: `count` of them, or as many as limits admit."""
        raise NotApplicable(f"no operation takes {count} items")

    def with_ids(self, secret: str) -> list[Request]:
        """Requests that are refused, or whose items fail, with a canary in ids and names of items."""
        raise NotApplicable(f"no operation takes ids, of {len(secret)} characters or any")

    def with_canaries(self, *, refused: bool) -> list[Request]:
        """Requests that carry canaries: good ones, or ones to be refused."""
        raise NotImplementedError

    def distinguishable(self) -> list[dict[str, Any]]:
        """Envelopes of unary requests with different answers, as `fingerprint` shows."""
        raise NotImplementedError

    def fingerprint(self, reply: Reply) -> Any:
        """The part of an answer that differs between the requests of `distinguishable`."""
        raise NotImplementedError


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
    def store(self) -> Store: ...

    def operation(self, name: str) -> Operation: ...

    def operations(self, *, streaming: bool | None = None) -> list[str]: ...

    def require(self, *names: str) -> None: ...

    def invoke(
        self, name: str, args: Mapping[str, Any] | None = None, ctx: Mapping[str, Any] | None = None, **options: Any
    ) -> Reply | StreamReply: ...

    def another(self, call_timeout: float) -> Any: ...
