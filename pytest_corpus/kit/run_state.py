"""The settings of a run, and the knowledge that all instances of a component share."""

import copy
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ClassVar, TypeVar

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.client import AdapterClient
from pytest_corpus.adapter.turns import finding_out
from pytest_corpus.kit.common_facts import CommonFacts, FoundFact
from pytest_corpus.kit.judgement import reading_separately
from pytest_corpus.kit.outcomes import Undecided
from pytest_corpus.kit.store.leftovers import Journal
from pytest_corpus.kit.store.settling import SettleTime
from pytest_corpus.kit.store.store import Thing, WrittenThing
from pytest_corpus.redaction import PREFIX
from pytest_corpus.spec.dialects import DIALECTS, Dialect

MAX_NAMESPACES = 10
"""The default for the largest number of namespaces that exist at a time (R115)."""

MOST_WORDS = 64
"""The number of short words that tests use before one is repeated."""

TENANTS = 4
"""The number of tenants that graph tests share; their ids and groups differ."""

MIN_NAMESPACES = 3
"""The number of namespaces that a worker needs, because some tests compare this many."""

MOST_REPETITIONS = 1_000
"""The largest number of times that each test can run."""

MOST_IN_FLIGHT = 64
"""The largest number of tests that can run concurrently."""

MOST_WRITE_DELAY_S = 60
"""The longest write delay that a run waits for."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a run.

    Attributes:
        seed: the seed of generated inputs.
        edition: the schema version to validate against; None for all.
        run: the id of the run.
        process: the name of this process, if the run has several.
        dialects: the probe queries of the graph dialects.
        settle_s: the seconds after which a write is visible; None if the suite must measure them.
        remembers: True if a test may use the answer that another test got.
        max_namespaces: the largest number of namespaces that exist at a time.
        journal: the data that was written and not yet deleted.
    """

    seed: int = 0
    edition: str | None = None
    run: str = "run"
    process: str = ""
    dialects: Mapping[str, Dialect] = field(default_factory=lambda: DIALECTS)
    settle_s: float | None = None
    remembers: bool = True
    max_namespaces: int = MAX_NAMESPACES
    journal: Journal = field(default_factory=Journal)

    @property
    def prefix(self) -> str:
        """The beginning of each name that a test makes in an adapter's store."""
        return f"{PREFIX}{self.run}{inputs.process_mark()}"

    @property
    def process_prefix(self) -> str:
        """The beginning of names that the tests of a process share."""
        return f"{PREFIX}{self.run}{inputs.mark_of(self.process)}"

    def next_tenant(self) -> str:
        """Return one of a few shared tenants in turn.

        Findings mask the text of a tenant. So a tenant has no part in common with the names that begin with `prefix`.
        """
        return f"tenant{self.run[::-1]}{inputs.next_in_rotation('tenant') % TENANTS}"

    @property
    def run_prefix(self) -> str:
        """The beginning of names that all tests of a run share."""
        return f"{PREFIX}{self.run}{inputs.mark_of('')}"


@dataclass(slots=True)
class Actions:
    """The current test's actions on stored data, in the component's words.

    Sandboxes note the actions, and `RootCauses` reads them.
    """

    done: set[str] = field(default_factory=set)

    def forget(self) -> None:
        """Forget the actions, before another test begins."""
        self.done.clear()


@dataclass(slots=True)
class Shared:
    """Knowledge about an adapter that all its instances in a run share.

    Attributes:
        obstacles: by operation, the reason why tests cannot rely on the operation, or None.
        actions: the actions of the current test.
        settle_time: the time in which writes become visible, and the places of writes.
        written: the written things, except those that are known to be absent.
        cached: answers that later tests use (`kit/answer_cache.py`).
        unmade: the reasons why data that requests need could not be made.
        provider_ops: by operation, the ops at which a plain request reaches the provider.
        keys: the idempotency keys of the writes on the main instance.
        tenants: the tenants that several tests use.
        fault_client: the instance that tests with planned faults share; None before the first fault.
        needs_fresh_client: True if `fault_client` gave an unusual answer, so that each fault gets a new instance.
        common: the facts that all processes of the run share.
        handed: functions that forget the facts of other processes which `unlearn` keeps; None before the first fact
            of another process.
    """

    learnt: ClassVar[tuple[str, ...]] = ("obstacles", "unmade", "provider_ops", "cached")
    """The attributes that may be wrong if the provider failed."""

    settle_time: SettleTime = field(default_factory=SettleTime)
    actions: Actions = field(default_factory=Actions)
    obstacles: dict[str, Undecided | None] = field(default_factory=dict)
    unmade: list[Undecided] = field(default_factory=list)
    written: dict[Thing, WrittenThing] = field(default_factory=dict)
    provider_ops: dict[str, tuple[str, ...]] = field(default_factory=dict)
    cached: dict[Hashable, FoundFact] = field(default_factory=dict)
    keys: set[str] = field(default_factory=set)
    tenants: set[str] = field(default_factory=set)
    fault_client: AdapterClient | None = None
    needs_fresh_client: bool = False
    common: CommonFacts = field(default_factory=CommonFacts)
    handed: list[Callable[[], object]] | None = None

    def find_once(self, name: str, find: Callable[[], T]) -> T:
        """Return the attribute of this name; if it is None, set it to the result of `find` first."""
        scope = f"{type(self).__name__} {name}"

        def find_out() -> FoundFact:
            with inputs.fact_scope(scope), reading_separately():
                return FoundFact(find())

        with finding_out(id(self), name):
            if getattr(self, name) is None:
                setattr(self, name, self.find(scope, find_out, lambda: setattr(self, name, None)).answer)
        found: T = getattr(self, name)
        return found

    def find(
        self, name: str, find_out: Callable[[], FoundFact], forget: Callable[[], object] = lambda: None
    ) -> FoundFact:
        """Return a fact that another process found out, or the result of `find_out`.

        Args:
            forget: forgets the fact; needed only if `unlearn` does not forget it.
        """
        fact = self.common.find(name, find_out)
        if fact.handed:
            self.handed = [*(self.handed or ()), forget]
        return fact

    def distrust(self) -> bool:
        """Forget the facts of other processes, and find out later facts here; return False if nothing was forgotten."""
        handed, self.handed, self.common = self.handed, None, CommonFacts()
        for forget in handed or ():
            forget()
        return handed is not None

    def copy_state(self) -> dict[str, Any]:
        """Return a copy of all attributes, for `restore`."""
        return {each.name: copy.copy(getattr(self, each.name)) for each in fields(self)}

    def restore(self, kept: Mapping[str, Any]) -> None:
        """Set all attributes to a copy that `copy_state` returned."""
        for name, value in kept.items():
            setattr(self, name, value)

    def unlearn(self) -> None:
        """Clear the attributes that may be wrong, because the provider failed when they were found out."""
        for each in fields(self):
            if each.name in self.learnt:
                empty = each.default if each.default_factory is MISSING else each.default_factory()
                setattr(self, each.name, empty)


def find_limit(sizes: Sequence[int], takes: Callable[[int], bool]) -> int:
    """Return the largest size that an adapter takes, which states no limit (SPECIFICATION 16.2).

    Returns 0 if it takes the first size, or none: what is refused has another fault then.
    """
    found = next((size for size in sizes if takes(size)), 0)
    return 0 if found == sizes[0] else found
