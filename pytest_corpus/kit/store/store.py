"""The writes of a component to the adapter's store: noted before they are sent, and deleted in the end (R115).

Each thing has one record, whatever it is. A component says which things a request writes and deletes, and how they are
deleted; one that stores nothing says nothing.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Any, TypeVar

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.exceptions import UNCALLABLE
from pytest_corpus.adapter.exchange import context_of
from pytest_corpus.kit.outcomes import Outage
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.store.leftovers import TIDY_S, Leftovers, Place, deletion

T = TypeVar("T")

Thing = tuple[Place, str]
"""The place of something, and its name."""


class State(Enum):
    """The state of a thing: `STUCK` could not be deleted, `GONE` was, by the adapter's own report."""

    NEW = auto()
    OLD = auto()
    STUCK = auto()
    GONE = auto()


THERE = (State.NEW, State.OLD)
"""Written by the current test, or by an earlier one."""


class Use(Enum):
    """The tests that need a thing: any one, the one that holds its sandbox, or several."""

    ANY = auto()
    SANDBOX = auto()
    LASTING = auto()


@dataclass(frozen=True, slots=True)
class Written:
    """A thing of the suite's own that may be in a store.

    Attributes:
        ends: the nodes that an edge joins.
    """

    state: State = State.NEW
    use: Use = Use.ANY
    ends: tuple[Thing, ...] = ()


Writes = Mapping[Thing, tuple[Thing, ...]]
"""The things that a request writes; of an edge, with the nodes that it joins."""


def tenant_context(tenant: str | None) -> dict[str, Any]:
    """The context that names a tenant, if there is one."""
    return {} if tenant is None else {"tenant": tenant}


def tenant_of(request: Any) -> str | None:
    """The tenant that a request names, or None."""
    tenant = (context_of(request) or {}).get("tenant")
    return tenant if isinstance(tenant, str) and tenant else None


def is_keyed(request: Any) -> bool:
    """True if a request has an idempotency key: its success may be the replay of an older one."""
    return "idempotency_key" in (context_of(request) or {})


class Records:
    """The record of every thing that was written in this run, unless it is known not to be there.

    The names are in a journal, too, which outlives the run.
    """

    def __init__(self, shared: Any, journal: Leftovers) -> None:
        self._shared, self._journal = shared, journal

    @property
    def _all(self) -> dict[Thing, Written]:
        found: dict[Thing, Written] = self._shared.written
        return found

    def is_there(self, thing: Thing) -> bool:
        """True if a thing may be there, and could be deleted as far as is known."""
        return thing in self._all and self._all[thing].state in THERE

    def use_of(self, thing: Thing) -> Use:
        """The tests that need a thing."""
        return self._all[thing].use if thing in self._all else Use.ANY

    def where(self, *states: State, use: Use | None = None, kind: str = "") -> list[Thing]:
        """The things in one of some states, the one that was added or moved last at the end."""
        return [
            thing
            for thing, record in self._all.items()
            if record.state in states and use in (None, record.use) and kind in ("", thing[0][3])
        ]

    def joining(self, nodes: Iterable[Thing]) -> list[Thing]:
        """The edges at nodes."""
        ends = {*nodes}
        return [thing for thing, record in self._all.items() if not ends.isdisjoint(record.ends)]

    def add(self, writes: Writes) -> list[Thing]:
        """Note that things may be there; those that were not known before."""
        fresh = [thing for thing in writes if not self.is_there(thing)]
        for thing in fresh:
            self._all.pop(thing, None)
            self._all[thing] = Written(ends=writes[thing])
        for place, names in by_place(filter(_is_journaled, fresh)).items():
            self._journal.add(place, names)
        return fresh

    def move(self, thing: Thing) -> None:
        """Let a thing that is there be the last one."""
        if self.is_there(thing):
            self._all[thing] = self._all.pop(thing)

    def change(self, things: Iterable[Thing], **changed: Any) -> None:
        """Change the records of things; what is gone needs no journal."""
        for place, names in by_place(things).items():
            for name in names:
                self._all[place, name] = replace(self._all[place, name], **changed)
            if changed.get("state") is State.GONE:
                self._journal.remove(place, names)

    def answered(self, things: Iterable[Thing], *, is_success: bool) -> None:
        """Note what the answer to a write says of things."""
        for place, names in by_place(things).items():
            self._journal.answered(place, names, is_success=is_success)

    def forget(self, things: Iterable[Thing]) -> None:
        """Note that things are not there."""
        for place, names in by_place(things).items():
            for name in names:
                self._all.pop((place, name), None)
            self._journal.remove(place, names)


class Store:
    """Notes what the requests of a component write, and deletes it.

    Attributes:
        together: the number of requests that may be sent at the same time to delete things.
    """

    together = 1

    def __init__(self, subject: Any) -> None:
        self._subject = subject
        self.written = Records(subject.shared, subject.settings.journal)

    # -- what a component says ---------------------------------------------------------------------------

    def prepared(self, request: Any) -> Any:
        """The request, once all that it needs is there."""
        return request

    def _written_by(self, _request: Any) -> Writes:
        """The things that a request writes."""
        return {}

    def _deleted_by(self, _request: Any) -> Iterable[Thing]:
        """The things that are surely gone once a request has succeeded."""
        return ()

    def _is_refused(self, reply: Reply) -> bool:
        """True if nothing was written, by an answer."""
        return reply.is_error

    def _make_room(self, thing: Thing) -> None:
        """Delete something else, if there is no room for a thing."""

    def _aside(self) -> AbstractContextManager[None]:
        """Make calls of the suite's own, which no planned fault strikes."""
        return nullcontext()

    def is_full(self, _reply: Reply | StreamReply) -> bool:
        """True if an answer says that a quota for what the suite writes is used up (R115)."""
        return False

    def relieve(self, _reply: Reply | StreamReply) -> bool:
        """True if the suite gave back something at the adapter because an answer says that it is full."""
        return False

    @property
    def holds_much(self) -> bool:
        """True if what tests wrote has to be deleted before others are begun."""
        return False

    @property
    def keeps_apart(self) -> bool:
        """True if what one test writes lies apart from what another looks at."""
        return True

    @property
    def most_in_flight(self) -> int | None:
        """The number of tests in flight that the store has room for; None if that is not limited."""
        return None

    def release(self, *, unlearn: bool) -> None:
        """Delete what the test before made and no other one needs."""

    def remove(self, until: float) -> None:
        """Delete what is left, as far as it can be deleted in time."""

    # -- around a request --------------------------------------------------------------------------------

    def foresee(self, request: Any) -> list[Thing]:
        """Note what a request may write before it is sent: a run that is interrupted never sees the answer.

        Returns:
            what was not known before.
        """
        writes = {} if self._subject.outages.lasting else self._written_by(request)
        for thing in writes:
            if not self.written.is_there(thing):
                self._make_room(thing)
        return self.written.add(writes)

    def answered(self, request: Any, *, is_success: bool) -> None:
        """Note if what a request was to write is there."""
        self.written.answered(self._written_by(request), is_success=is_success)

    def settle(self, request: Any, reply: Reply, fresh: Iterable[Thing], *, alone: bool = True) -> None:
        """Note what an answered request has written, and forget what it has not, or has deleted.

        Args:
            alone: True if no other request was under way.
        """
        self.answered(request, is_success=reply.is_success)
        if self._is_refused(reply):
            self.forget(fresh)
        elif reply.is_success and alone:
            self.forget(self._deleted_by(request))

    def forget(self, things: Iterable[Thing]) -> None:
        """Note that things are not there."""
        self.written.forget(things)

    # -- deleting ----------------------------------------------------------------------------------------

    def delete(self, place: Place, names: list[str]) -> Reply:
        """Delete things of one place in one request. In an outage that lasts nothing is waited for any more."""
        subject, request = self._subject, deletion(place, names)
        if subject.outages.lasting:
            reply = Reply(subject.client.send(request, subject.component))
            self.settle(request, reply, ())
            return reply
        with self._aside():
            found: Reply = subject.send(request)
        return found

    def delete_each(self, deletions: Iterable[tuple[Place, list[str]]]) -> Iterator[Reply]:
        """Delete things in a request each, as many at a time as tests may be in flight; the replies in order."""
        for part in parts_of([*deletions], self.together):
            if len(part) == 1 or self._subject.outages.lasting:
                yield from (self.delete(*each) for each in part)
                continue
            with self._aside():
                exchanges = self._subject.send_all([deletion(*each) for each in part])
            for exchange in exchanges:
                self.settle(exchange.request, reply := Reply(exchange), ())
                yield reply

    def tidy(self) -> None:
        """Delete all that was written; what an adapter refuses to delete stays."""
        with self._subject.settling.at_once(), suppress(*UNCALLABLE, Outage):
            self.remove(inputs.monotonic() + TIDY_S)


def _is_journaled(thing: Thing) -> bool:
    """True unless a thing goes with its namespace."""
    return thing[0][3] != "vector" or thing[0][2] is None


def by_place(things: Iterable[Thing]) -> dict[Place, list[str]]:
    """The names of things, by place."""
    found: dict[Place, list[str]] = {}
    for place, name in things:
        found.setdefault(place, []).append(name)
    return found


def parts_of(things: list[T], size: int) -> Iterator[list[T]]:
    """The parts of a list, with as many things as go together."""
    yield from (things[start : start + size] for start in range(0, len(things), size))
