"""The writes of a component to the adapter's store. They are noted before they are sent, and deleted at the end (R115).

Each written thing has one record. A component defines which things a request writes, and how to delete them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from enum import Enum, auto
from itertools import chain
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.exceptions import UNCALLABLE
from pytest_corpus.adapter.exchange import context_of
from pytest_corpus.adapter.scope import Part, current_part
from pytest_corpus.kit.outcomes import Outage, QuotaUsedUp
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.store.leftovers import TIDY_S, Leftovers, Place, deletion_request
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.text.values import strings_of

T = TypeVar("T")

Thing = tuple[Place, str]
"""The place of an item of data, and its name."""


class State(Enum):
    """The state of a thing: written by the current test, or by an earlier one; not deletable (`STUCK`); or deleted."""

    NEW = auto()
    OLD = auto()
    STUCK = auto()
    GONE = auto()


EXISTING_STATES = (State.NEW, State.OLD)
"""The states of an existing thing: written by the current test, or by an earlier one."""


class Use(Enum):
    """The use of a stored thing: no particular test, only the test whose sandbox contains it, or several tests."""

    ANY = auto()
    SANDBOX = auto()
    LASTING = auto()


@dataclass(frozen=True, slots=True)
class WrittenThing:
    """A thing that the suite wrote and that may be in a store. `ends` are the two nodes of an edge."""

    state: State = State.NEW
    use: Use = Use.ANY
    ends: tuple[Thing, ...] = ()


Writes = Mapping[Thing, tuple[Thing, ...]]
"""The things that a request writes. An edge has its two nodes as the value, other things have an empty tuple."""


def tenant_context(tenant: str | None) -> dict[str, Any]:
    """Return the context that names a tenant; empty without a tenant."""
    return {} if tenant is None else {"tenant": tenant}


def tenant_of(request: Any) -> str | None:
    """Return the tenant that a request names, or None."""
    tenant = (context_of(request) or {}).get("tenant")
    return tenant if isinstance(tenant, str) and tenant else None


def has_key(request: Any) -> bool:
    """True if a request has an idempotency key. Its success may then be the replay of an older success."""
    return "idempotency_key" in (context_of(request) or {})


def is_exhausted(reply: Reply | StreamReply) -> bool:
    """True if a request, or one of its items, fails because a quota or a rate limit is used up."""
    return reply.fails_as("ResourceExhausted") if isinstance(reply, Reply) else reply.is_a("ResourceExhausted")


def names_quota(reply: Reply | StreamReply) -> bool:
    """True if the error of a request, or of one of its items, names a quota."""
    errors = [reply.error, *(reply.failed_items if isinstance(reply, Reply) else ())]
    details = [found for error in errors if isinstance(found := error.get("details"), Mapping)]
    return any("quota" in str(word).lower() for word in (*chain(*errors, *details), *strings_of(errors)))


class Records:
    """The records of all things that may be in the store. A journal has their names, too."""

    def __init__(self, shared: Any, journal: Leftovers) -> None:
        self._shared, self._journal = shared, journal
        self._of_part = WeakKeyDictionary[Part, list[Thing]]()

    @property
    def _all(self) -> dict[Thing, WrittenThing]:
        found: dict[Thing, WrittenThing] = self._shared.written
        return found

    def is_there(self, thing: Thing) -> bool:
        """True if a thing may be in the store and, as far as is known, can be deleted."""
        return thing in self._all and self._all[thing].state in EXISTING_STATES

    def use_of(self, thing: Thing) -> Use:
        """Return the `Use` of a thing; `Use.ANY` for an unknown thing."""
        return self._all[thing].use if thing in self._all else Use.ANY

    def select(self, *states: State, use: Use | None = None, kind: str = "") -> list[Thing]:
        """Return the things in some states, in the order in which they were added or moved."""
        return [
            thing
            for thing, record in self._all.items()
            if record.state in states and use in (None, record.use) and kind in ("", thing[0][3])
        ]

    def edges_at(self, nodes: Iterable[Thing]) -> list[Thing]:
        """Return the edges at nodes."""
        ends = {*nodes}
        return [thing for thing, record in self._all.items() if not ends.isdisjoint(record.ends)]

    def add(self, writes: Writes) -> list[Thing]:
        """Record things that may be in the store; return the things that were not recorded before."""
        fresh = [thing for thing in writes if not self.is_there(thing)]
        for thing in fresh:
            self._all.pop(thing, None)
            self._all[thing] = WrittenThing(ends=writes[thing])
        part = current_part()
        for each in part.family if part is not None else ():
            self._of_part.setdefault(each, []).extend(fresh)
        for place, names in names_by_place(fresh).items():
            if place[3] != "vector" or place[2] is None:  # other vectors are deleted with their namespace
                self._journal.add(place, names)
        return fresh

    def move_to_end(self, thing: Thing) -> None:
        """Move a thing to the end of the order."""
        if self.is_there(thing):
            self._all[thing] = self._all.pop(thing)

    def change_records(self, things: Iterable[Thing], **changed: Any) -> None:
        """Change these members in the records of things. The journal drops deleted things."""
        for place, names in names_by_place(things).items():
            for name in names:
                self._all[place, name] = replace(self._all[place, name], **changed)
            if changed.get("state") is State.GONE:
                self._journal.remove(place, names)

    def end_test(self, test: Part) -> None:
        """Record that the test which wrote certain things has ended."""
        new = set(self.select(State.NEW))
        self.change_records([thing for thing in self._of_part.pop(test, ()) if thing in new], state=State.OLD)

    def note_outcome(self, things: Iterable[Thing], *, is_success: bool) -> None:
        """Record the outcome of a write of things."""
        for place, names in names_by_place(things).items():
            self._journal.note_outcome(place, names, is_success=is_success)

    def forget(self, things: Iterable[Thing]) -> None:
        """Remove the records of things that turned out not to exist."""
        for place, names in names_by_place(things).items():
            for name in names:
                self._all.pop((place, name), None)
            self._journal.remove(place, names)


class Store:
    """Notes the things that the requests of a component write, and deletes them.

    Attributes:
        together: the number of deletions that may be sent at the same time.
    """

    together = 1

    def __init__(self, subject: Any) -> None:
        self._subject = subject
        self.written = Records(subject.shared, subject.settings.journal)

    def prepare(self, request: Any) -> Any:
        """Prepare everything that a request needs; return the request."""
        return request

    def _things_written(self, _request: Any) -> Writes:
        """Return the things that a request writes."""
        return {}

    def _things_deleted(self, _request: Any) -> Iterable[Thing]:
        """Return the things that are surely deleted after a request has succeeded."""
        return ()

    def _is_refused(self, reply: Reply) -> bool:
        """True if an answer shows that nothing was written."""
        return reply.is_error

    def _make_room(self, thing: Thing) -> None:
        """Delete another thing if the store has no room for this thing."""

    def _pause_faults(self) -> AbstractContextManager[None]:
        """Return a context in which planned faults do not affect the suite's own calls."""
        return nullcontext()

    def is_full(self, _reply: Reply | StreamReply) -> bool:
        """True if an answer reports that a quota for the suite's data is used up (R115)."""
        return False

    def free_space(self, _reply: Reply | StreamReply | None = None) -> bool:
        """Delete data if an answer reports a full store; return True if there is room now.

        Without an answer, delete data of ended tests while other tests go on.
        """
        return False

    @property
    def has_much_data(self) -> bool:
        """True if data must be deleted before other tests begin."""
        return False

    @property
    def isolates_tests(self) -> bool:
        """True if tests do not read data of other tests."""
        return True

    @property
    def most_in_flight(self) -> int | None:
        """The largest number of concurrent tests that the store has room for; None without a limit."""
        return None

    def release(self, *, unlearn: bool) -> None:
        """Delete things of the previous test that no other test needs."""

    def remove_leftovers(self, until: float) -> None:
        """Delete all remaining data, as far as time allows."""

    def note_planned_writes(self, request: Any) -> list[Thing]:
        """Before a request is sent, note the things that it may write; return the things that were not known."""
        writes = {} if self._subject.outages.lasting else self._things_written(request)
        for thing in writes:
            if not self.written.is_there(thing):
                self._make_room(thing)
        return self.written.add(writes)

    def note_outcome(self, request: Any, *, is_success: bool) -> None:
        """Record the success or failure of a request for the things that it wrote."""
        self.written.note_outcome(self._things_written(request), is_success=is_success)

    def note_reply(self, request: Any, reply: Reply, fresh: Iterable[Thing], *, alone: bool = True) -> None:
        """Update the records after a reply: forget the things that were not written or that were deleted.

        Args:
            fresh: the things that only this request may have written.
            alone: True if no other request was under way.
        """
        self.note_outcome(request, is_success=reply.is_success)
        if self._is_refused(reply):
            self.forget(fresh)
        elif reply.is_success and alone:
            self.forget(self._things_deleted(request))

    def forget(self, things: Iterable[Thing]) -> None:
        """Remove things from the list of written things, because they do not exist."""
        self.written.forget(things)

    def delete(self, place: Place, names: list[str]) -> Reply:
        """Delete things of one place in one request. During a lasting outage, the request is not repeated."""
        subject, request = self._subject, deletion_request(place, names)
        if subject.outages.lasting:
            reply = Reply(subject.client.send(request, subject.component))
            self.note_reply(request, reply, ())
            return reply
        with self._pause_faults():
            found: Reply = subject.send(request)
        return found

    def delete_each(self, deletions: Iterable[tuple[Place, list[str]]]) -> Iterator[Reply]:
        """Send one deletion request for each place and its names, many at a time; yield the replies in order."""
        for part in parts_of([*deletions], self.together):
            if len(part) == 1 or self._subject.outages.lasting:
                yield from (self.delete(*each) for each in part)
                continue
            with self._pause_faults():
                exchanges = self._subject.send_all([deletion_request(*each) for each in part])
            for exchange in exchanges:
                self.note_reply(exchange.request, reply := Reply(exchange), ())
                yield reply

    def tidy(self) -> None:
        """Delete everything that was written, unless the adapter refuses."""
        with self._subject.settling.reading_at_once(), suppress(*UNCALLABLE, Outage):
            self.remove_leftovers(inputs.monotonic() + TIDY_S)


def names_by_place(things: Iterable[Thing]) -> dict[Place, list[str]]:
    """Return the names of things by place."""
    found: dict[Place, list[str]] = {}
    for place, name in things:
        found.setdefault(place, []).append(name)
    return found


def parts_of(things: list[T], size: int) -> Iterator[list[T]]:
    """Split a list into parts that each fit into one request, and yield them."""
    yield from (things[start : start + size] for start in range(0, len(things), size))


def quota_used_up(reply: Reply | StreamReply) -> QuotaUsedUp:
    """Return the exception for a request that a quota stops, wholly or for some of its items."""
    return QuotaUsedUp(Obstacle.QUOTA, reply=reply if reply.is_error else "failed items")


def are_stopped_by_quota(store: Store, replies: Sequence[Reply | StreamReply], *, others_work: bool) -> bool:
    """True if a quota stops requests. If others work, an answer must name the quota (R115)."""
    full = [reply for reply in replies if store.is_full(reply)]
    return any(map(names_quota, full)) if others_work else bool(full)
