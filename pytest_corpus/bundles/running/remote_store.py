"""Stores that the workers of a run share: the controller has them, and workers use them over a channel (R84).

A message is a JSON array: a method of `StoreServer` and its arguments. Workers write no file.
"""

import json
import threading
from collections.abc import Callable
from typing import Any, Protocol

from pytest_corpus.adapter.usage.budget import Budget
from pytest_corpus.bundles.results import CaseResult
from pytest_corpus.bundles.running.journal import Journal
from pytest_corpus.bundles.running.store import SpentBudget, Store
from pytest_corpus.text.records import bare, rebuilt


class Channel(Protocol):
    """The part of a channel of execnet that is used."""

    def send(self, item: object) -> None: ...

    def receive(self) -> Any: ...


class StoreServer:
    """Answers the messages of workers; each worker's messages arrive in a thread of its own.

    Args:
        opened: is called with the key and the description of each bundle that a worker begins.
    """

    def __init__(
        self, spent_budget: SpentBudget, journal: Journal | None, opened: Callable[[str, Any, Store], None]
    ) -> None:
        self.spent_budget = spent_budget
        self._journal, self._opened = journal, opened
        self._stores: dict[str, Store] = {}
        self._lock = threading.Lock()

    def take(self, worker: Channel, text: str | None) -> None:
        """Take a message of a worker; None says that the worker has ended."""
        if text is None:
            for store in list(self._stores.values()):
                store.abandon(worker)
            return
        name, *given = json.loads(text)
        match name:
            case "open":
                self._open(*given)
            case "next":
                found = self._stores[given[0]].next(given[1], worker)
                worker.send(json.dumps(bare(found) if isinstance(found, CaseResult) else found))
            case "keep":
                self._stores[given[0]].keep(rebuilt(CaseResult, given[1]))
            case "count":
                self.spent_budget.change(int(given[0]), int(given[1]), Budget())
            case "change":
                worker.send(json.dumps(self.spent_budget.change(given[0], given[1], Budget(**given[2]))))
            case "recall":
                worker.send(json.dumps(self._journal.recall(given[0]) if self._journal else None))
            case "record" if self._journal:
                self._journal.record(*given)

    def _open(self, key: str, cases: list[str], slots: int, about: Any) -> None:
        with self._lock:
            if key not in self._stores:
                self._stores[key] = Store(cases, slots, self.spent_budget, self._journal)
                self._opened(key, about, self._stores[key])


class StoreClient:
    """A worker's end of its channel."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._lock = threading.Lock()

    def tell(self, *message: Any) -> None:
        """Send a message that has no answer."""
        self._channel.send(json.dumps(message))

    def ask(self, *message: Any) -> Any:
        """Send a message and return its answer."""
        with self._lock:
            self._channel.send(json.dumps(message))
            return json.loads(self._channel.receive())


class RemoteSpentBudget(SpentBudget):
    """The calls and tokens of all workers, which the controller counts."""

    def __init__(self, client: StoreClient) -> None:
        super().__init__()
        self._client = client

    def change(self, calls: int, tokens: int, limit: Budget) -> str:
        if limit.limits:
            return str(self._client.ask("change", calls, tokens, limit.limits))
        self._client.tell("count", calls, tokens)
        return ""


class RemoteJournal(Journal):
    """The journal of the controller."""

    def __init__(self, client: StoreClient) -> None:
        self._client = client

    def recall(self, key: str) -> Any:
        return self._client.ask("recall", key)

    def record(self, key: str, entry: Any) -> None:
        self._client.tell("record", key, entry)

    def close(self) -> None:
        """Leave the file to the controller."""


class RemoteStore(Store):
    """A store of the controller, used by a worker; `local` has the cases, the places and the journal."""

    shared = True

    def __init__(self, client: StoreClient, key: str, local: Store, about: Any) -> None:
        super().__init__((), local.slots, RemoteSpentBudget(client), local.journal)
        self._client, self._key = client, key
        client.tell("open", key, list(local.waiting), local.slots, about)

    def next(self, wanted: str, owner: object = None) -> CaseResult | str | None:  # noqa: ARG002 - the channel tells it
        if (kept := self.results.get(wanted)) is not None:
            return kept
        found = self._client.ask("next", self._key, wanted)
        if not isinstance(found, dict):
            return None if found is None else str(found)
        self.results[wanted] = rebuilt(CaseResult, found)
        return self.results[wanted]

    def keep(self, result: CaseResult) -> None:
        if self.results.setdefault(result.case, result) is result:
            self._client.tell("keep", self._key, bare(result))
