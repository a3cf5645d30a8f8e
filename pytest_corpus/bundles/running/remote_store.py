"""Stores that the workers of a run share: the controller owns them, workers use them over a channel (R84).

A message is a JSON array. A worker sends the name of a method of `StoreServer` and its arguments. The server sends
`reply` with the answer, `case` with a case to run, or `results` that the worker waits for. Workers write no file.
"""

import json
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Protocol

from pytest_corpus.adapter.usage import Budget
from pytest_corpus.bundles.results import CaseResult
from pytest_corpus.bundles.running.store import AnswerJournal, CaseStore, SpentBudget
from pytest_corpus.text.values import from_json_value, to_json_value

MOST_AHEAD = 50
"""The maximum number of results in one message: the result that a worker waits for, and results of later cases."""


class Channel(Protocol):
    """The methods of execnet's channel that are used here."""

    def send(self, item: object) -> None: ...

    def setcallback(self, callback: Callable[[Any], None], endmarker: object) -> None: ...


class _SharedStore(CaseStore):
    """A store in the controller.

    Attributes:
        numbers: the position of each case.
        askers: the worker that runs each case.
        wanted: for each waiting worker, the case that it waits for.
        eager: the workers that run cases before they wait for results.
    """

    def __init__(self, cases: list[str], slots: int, spent_budget: SpentBudget, journal: AnswerJournal | None) -> None:
        super().__init__(cases, slots, spent_budget, journal)
        self.lock = threading.Lock()
        self.numbers = {case: number for number, case in enumerate(cases)}
        self.askers: dict[str, object] = {}
        self.wanted: dict[Any, str] = {}
        self.eager: list[Any] = []

    def next_message(self, worker: object) -> list[Any] | None:
        """Return the message for a waiting worker; None if it must keep waiting."""
        wanted = self.wanted[worker]
        found = self.results.get(wanted) if worker in self.eager else self.next(wanted, worker)
        if found is None:
            return None
        del self.wanted[worker]
        if not isinstance(found, CaseResult):
            self.askers[found] = worker
            return ["case", found]
        ahead = self.cases[self.numbers[wanted] + 1 :][: MOST_AHEAD - 1]
        more = [self.results[case] for case in ahead if case in self.results and self.askers.get(case) is not worker]
        return ["results", [to_json_value(each) for each in (found, *more)]]

    def early_messages(self) -> Iterator[tuple[Any, list[Any]]]:
        """Yield messages with cases for the eager workers, the least busy worker first."""
        while self.eager:
            worker = min(self.eager, key=list(self._running.values()).count)
            found = self.next(None, worker)
            if not isinstance(found, str):
                return
            self.askers[found] = worker
            yield worker, ["case", found]

    def forget(self, worker: object) -> None:
        """Send no further messages to a worker."""
        self.wanted.pop(worker, None)
        self.eager = [each for each in self.eager if each is not worker]


class StoreServer:
    """Answers the messages of workers; a separate thread receives the messages of each worker.

    Args:
        opened: called with the key, the description and the store of each bundle that a worker starts.
    """

    def __init__(
        self, spent_budget: SpentBudget, journal: AnswerJournal | None, opened: Callable[[str, Any, CaseStore], None]
    ) -> None:
        self.spent_budget = spent_budget
        self._journal, self._opened = journal, opened
        self._stores: dict[str, _SharedStore] = {}
        self._lock = threading.Lock()

    def handle_message(self, worker: Channel, text: str | None) -> None:
        """Handle a message of a worker; None means that the worker has ended."""
        if text is None:
            for key, store in list(self._stores.items()):
                with store.lock:
                    store.forget(worker)
                    store.abandon(worker)
                self._send_waiting(key)
            return
        name, *given = json.loads(text)
        match name:
            case "open":
                self._open_store(*given)
            case "ahead":
                self._stores[given[0]].eager.append(worker)
                self._send_waiting(given[0])
            case "want":
                self._stores[given[0]].wanted[worker] = given[1]
                self._send_waiting(given[0])
            case "keep":
                self._stores[given[0]].keep(from_json_value(CaseResult, given[1]))
                self._send_waiting(given[0])
            case "leave":
                with self._stores[given[0]].lock:
                    self._stores[given[0]].forget(worker)
                _send(worker, "reply", None)
            case "count":
                self.spent_budget.change(int(given[0]), int(given[1]), Budget())
            case "change":
                _send(worker, "reply", self.spent_budget.change(given[0], given[1], Budget(**given[2])))
            case "recall":
                _send(worker, "reply", self._journal.recall(given[0]) if self._journal else None)
            case "record" if self._journal:
                self._journal.record(*given)

    def _send_waiting(self, key: str) -> None:
        """Send the workers the cases or results that are ready for them."""
        store = self._stores[key]
        with store.lock:
            found = [(worker, message) for worker in list(store.wanted) if (message := store.next_message(worker))]
            for worker, (kind, value) in (*found, *store.early_messages()):
                _send(worker, kind, key, value)

    def _open_store(self, key: str, cases: list[str], slots: int, about: Any) -> None:
        with self._lock:
            if key not in self._stores:
                self._stores[key] = _SharedStore(cases, slots, self.spent_budget, self._journal)
                self._opened(key, about, self._stores[key])


def _send(worker: Channel, *message: Any) -> None:
    with suppress(OSError):  # the worker has died; its channel reports that separately
        worker.send(json.dumps(message))


class StoreClient:
    """A worker's end of the channel to the controller."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._lock = threading.Lock()
        self._replies = queue.SimpleQueue[Any]()
        self.stores: dict[str, RemoteStore] = {}
        channel.setcallback(self._receive, endmarker=None)

    def _receive(self, text: str | None) -> None:
        given: list[Any]
        kind, *given = json.loads(text) if text is not None else ("reply", EOFError("the controller is gone"))
        if kind == "reply":
            self._replies.put(given[0])
        else:
            self.stores[given[0]].handle_message(kind, given[1])

    def send(self, *message: Any) -> None:
        """Send a message that needs no answer."""
        self._channel.send(json.dumps(message))

    def ask(self, *message: Any) -> Any:
        """Send a message and return its answer."""
        with self._lock:
            self._channel.send(json.dumps(message))
            found = self._replies.get()
        if isinstance(found, EOFError):
            raise found
        return found


class RemoteSpentBudget(SpentBudget):
    """The calls and tokens of all workers together, counted by the controller."""

    def __init__(self, client: StoreClient) -> None:
        super().__init__()
        self._client = client

    def change(self, calls: int, tokens: int, limit: Budget) -> str:
        if limit.limits:
            return str(self._client.ask("change", calls, tokens, limit.limits))
        self._client.send("count", calls, tokens)
        return ""


class RemoteJournal(AnswerJournal):
    """The controller's journal, as workers use it."""

    def __init__(self, client: StoreClient) -> None:
        self._client = client

    def recall(self, key: str) -> Any:
        return self._client.ask("recall", key)

    def record(self, key: str, entry: Any) -> None:
        self._client.send("record", key, entry)

    def close(self) -> None:
        """Do nothing, because the controller closes the file."""


class RemoteStore(CaseStore):
    """The controller's store, as workers use it.

    Args:
        local: provides the cases, the slots and the journal.
        about: the description of the bundle for the controller.
        eager: True if the worker starts concurrent cases at once, and not only while it waits.
    """

    is_shared = True

    def __init__(self, client: StoreClient, key: str, local: CaseStore, about: Any, *, eager: bool = False) -> None:
        super().__init__((), local.slots, RemoteSpentBudget(client), local.journal)
        self._client, self._key = client, key
        self._wanted = ""
        self._eager = eager and local.slots > 1
        self._opening = ("open", key, local.cases, local.slots, about)

    def begin(self, start: Callable[[str], None], changed: Callable[[], None]) -> None:
        self._start, self._changed = start, changed
        self._client.stores[self._key] = self
        self._client.send(*self._opening)
        if self._eager:
            self._client.send("ahead", self._key)

    def handle_message(self, kind: str, value: Any) -> None:
        """Handle a message that the controller sends unasked: a case to run, or results."""
        if kind == "case":
            self._start(value)
            if self._eager:  # an eager worker still waits for its result
                return
        self._wanted = ""
        for each in value if kind == "results" else ():
            self.results.setdefault(each["case"], from_json_value(CaseResult, each))
        self._changed()

    def next(self, wanted: str | None, owner: object = None) -> CaseResult | str | None:  # noqa: ARG002 - the channel tells it
        if wanted and wanted not in self.results and self._wanted != wanted:
            self._wanted = wanted
            self._client.send("want", self._key, wanted)
        return self.results.get(wanted or "")

    def keep(self, result: CaseResult) -> None:
        if self.results.setdefault(result.case, result) is result:
            self._client.send("keep", self._key, to_json_value(result))

    def leave(self) -> None:
        self._client.ask("leave", self._key)
