"""Requests, their values, and the Protocol through which the helpers of a component use the component."""

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
    """A request: the bare name of an operation, its arguments, its context and its canaries.

    `canaries` has each text that must not reappear, by its kind, such as ``content``.
    """

    op: str
    args: Mapping[str, Any]
    ctx: Mapping[str, Any] = field(default_factory=dict)
    canaries: Mapping[str, str] = field(default_factory=dict)


def reverse_keys(value: Any) -> Any:
    """Return the same JSON value with the keys of all objects in reverse order, which has no meaning (RFC 8259)."""
    if isinstance(value, dict):
        return {key: reverse_keys(each) for key, each in reversed(value.items())}
    return [reverse_keys(each) for each in value] if isinstance(value, list) else value


def canary(length: int = 14) -> str:
    """Return a random text that an adapter cannot produce by chance."""
    return inputs.random_letters(CANARY_LETTERS, length)


def new_trace() -> str:
    """Return a new traceparent; every other one is sampled."""
    return f"00-{inputs.random_hex(16)}-{inputs.random_hex(8)}-0{inputs.next_in_rotation('trace') % 2}"


def deadline_in(milliseconds: float) -> int:
    """Return the absolute deadline this many milliseconds from now; negative numbers lie in the past."""
    return int(inputs.wall_clock() * 1000 + milliseconds)


class Requests:
    """The requests that each component builds in its `requests.py`. Operations are named without their component.

    Attributes:
        nullable: by operation, the optional arguments that may be null; `nodes.labels` is a member of each node.
    """

    nullable: Mapping[str, Sequence[str]] = {}

    def minimal(self, name: str) -> dict[str, Any]:
        """Return the arguments of the plainest valid request."""
        raise NotImplementedError

    def distinct(self, name: str) -> dict[str, Any]:
        """Return valid arguments that were not sent before, so that they are in no cache."""
        return self.minimal(name)

    def long(self, name: str) -> dict[str, Any]:
        """Return new valid arguments whose stream probably has several chunks."""
        return self.distinct(name)

    def short(self, name: str) -> dict[str, Any]:
        """Return valid arguments whose stream is short."""
        return self.minimal(name)

    def plain_read_of(self, _request: Any) -> Request | None:
        """Return a plain read in the namespace and tenant that a request names, or None if it names neither."""
        return None

    def two_streams(self, name: str) -> list[dict[str, Any]]:
        """Return new arguments for two streams with several chunks and different content."""
        return [self.long(name), self.long(name)]

    def wrong_types(self, name: str) -> dict[str, Any]:
        """Return arguments whose first value has a refused type; empty if the operation has no arguments."""
        raise NotImplementedError

    def with_unknown_keys(self, unknown: Mapping[str, Any]) -> list[Request]:
        """Return requests with unknown keys in the objects inside their arguments."""
        raise NotApplicable(f"no argument of an operation is an object that could have {len(unknown)} unknown keys")

    def with_number(self, number: float) -> list[Request]:
        """Return requests with this number in each place that takes a number, including the deadline."""
        raise NotImplementedError

    def with_integer(self, number: int) -> list[Request]:
        """Return requests with this number in each place that takes an integer."""
        raise NotImplementedError

    def with_items(self, count: int) -> list[Request]:
        """Return new valid requests with `count` items each, or as many as limits allow."""
        raise NotApplicable(f"no operation takes {count} items")

    def with_ids(self, secret: str) -> list[Request]:
        """Return requests with a canary in ids and names of items. Each request is refused, or its items fail."""
        raise NotApplicable(f"no argument of an operation is an id that could have {len(secret)} characters")

    def with_canaries(self, *, refused: bool) -> list[Request]:
        """Return requests with canaries: valid requests, or with `refused` requests that the adapter must refuse."""
        raise NotImplementedError

    def distinct_requests(self) -> list[dict[str, Any]]:
        """Return envelopes of unary requests whose answers differ by `fingerprint`."""
        raise NotImplementedError

    def fingerprint(self, reply: Reply) -> Any:
        """Return the part of an answer that differs for each request of `distinct_requests`."""
        raise NotImplementedError


class Calls(Protocol):
    """The members of a component that its helpers, such as `Requests`, use."""

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

    def second_instance(self, call_timeout: float) -> Any: ...
