"""Facts that the workers of a run share. The controller keeps each fact, and lets one worker at a time find it out.

A message is a JSON array. A worker sends `["ask", name, null]` and receives `[name, fact]`; the fact is null if the
worker must find it out. The worker then sends `["tell", name, fact]`, with null if the fact must not be shared. A
worker waits while another worker finds out the fact, except if the two would wait for each other.
"""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from hashlib import sha256
from typing import Any, Protocol

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.client import AdapterClient
from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.adapter.fault_plan import Plan
from pytest_corpus.adapter.inputs import Clock
from pytest_corpus.adapter.reports import Arrival
from pytest_corpus.evidence import encoding
from pytest_corpus.kit.common_facts import CommonFacts, FoundFact
from pytest_corpus.kit.judgement import reading_separately
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.retries import UNRELATED
from pytest_corpus.spec.operations import BY_OP
from pytest_corpus.validation.schema.evidence import first_flaw

LARGEST_FACT, MOST_BYTES = 2**20, 2**26
"""The largest numbers of characters in a message, and in all facts that the controller keeps."""

SCHEMA, PART = "transcript/transcript", "CommonFact"
"""The schema of a fact that is handed over."""

LONGEST_S = 20.0
"""The seconds after which a worker no longer waits for a fact that another worker finds out."""


class WorkerChannel(Protocol):
    """The part of execnet's channel that is used here."""

    def send(self, item: object) -> None: ...

    def setcallback(self, callback: Callable[[Any], None], endmarker: object) -> None: ...


class FactServer:
    """Answers the messages of workers; a separate thread receives them for each worker."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._facts: dict[str, Any] = {}
        self._finders: dict[str, WorkerChannel] = {}
        self._waiting: dict[str, list[WorkerChannel]] = {}
        self._size = 0

    def handle_message(self, worker: WorkerChannel, text: str | None) -> None:
        """Handle a message of a worker; None means that the worker has ended."""
        with self._lock:
            if text is None:
                for waiting in self._waiting.values():
                    waiting[:] = [each for each in waiting if each is not worker]
                for name in [name for name, finder in self._finders.items() if finder is worker]:
                    self._end_search(name)
                return
            kind, name, given = json.loads(text)
            if kind == "ask":
                self._ask(worker, name)
                return
            if given is not None and name not in self._facts and self._size + len(text) <= MOST_BYTES:
                self._facts[name] = given
                self._size += len(text)
            if name in self._facts or self._finders.get(name) is worker:
                self._end_search(name)

    def _ask(self, worker: WorkerChannel, name: str) -> None:
        if name in self._facts:
            _send(worker, name, self._facts[name])
        elif name in self._finders and self._may_wait(worker, name):
            self._waiting.setdefault(name, []).append(worker)
        else:
            self._finders.setdefault(name, worker)
            _send(worker, name, None)

    def _may_wait(self, worker: WorkerChannel, name: str) -> bool:
        """True if the worker that finds out a fact does not wait for this worker, even indirectly."""
        finder = self._finders.get(name)
        while finder is not None and finder is not worker:
            wanted = next((each for each, waiting in self._waiting.items() if finder in waiting), None)
            finder = self._finders.get(wanted) if wanted is not None else None
        return finder is None

    def _end_search(self, name: str) -> None:
        """End the search for a fact. The waiting workers get the fact; if it is still missing, one of them searches."""
        self._finders.pop(name, None)
        for worker in self._waiting.pop(name, []):
            self._ask(worker, name)


def _send(worker: WorkerChannel, *message: Any) -> None:
    with suppress(OSError):  # the worker is lost; its last message will report that
        worker.send(json.dumps(message))


class FactChannel:
    """A worker's end of the channel to the controller."""

    def __init__(self, channel: WorkerChannel) -> None:
        self._channel, self._replies = channel, queue.SimpleQueue[str | None]()
        self._is_open = True
        channel.setcallback(self._replies.put, endmarker=None)

    def ask(self, name: str) -> Any:
        """Return a fact as JSON; None if this worker must find it out."""
        if self._is_open:
            _send(self._channel, "ask", name, None)
        until = Clock.monotonic() + LONGEST_S
        while self._is_open and (left_s := until - Clock.monotonic()) > 0:
            with suppress(queue.Empty):
                text = self._replies.get(timeout=left_s)
                self._is_open = text is not None
                answered, fact = json.loads(text or '["", null]')
                if answered == name:  # an answer to an earlier question may come first
                    return fact
        return None

    def tell(self, name: str, fact: Any) -> None:
        """Hand over a fact that this worker found out, or None if it must not be shared."""
        text = json.dumps(["tell", name, fact])
        with suppress(OSError):
            self._channel.send(text if len(text) <= LARGEST_FACT else json.dumps(["tell", name, None]))


class SharedFacts(CommonFacts):
    """The facts about one adapter, in a run with several processes.

    Args:
        channel: the connection to the controller. It is None if there is no controller, and for a transcript, which
            already contains the exchanged facts.
    """

    def __init__(self, label: str, client: AdapterClient, channel: FactChannel | None) -> None:
        self._label, self._client, self._channel = label, client, channel

    def find(self, name: str, find_out: Callable[[], FoundFact]) -> FoundFact:
        key = f"{self._label} {name}"
        key = f"{key[:60]} {sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
        if (handed := self._take_fact(inputs.read(f"fact {key}", lambda: self._ask(key)))) is not None:
            return handed
        found: FoundFact | None = None
        try:
            found = find_out()
            return found
        finally:
            if self._channel is not None:
                self._channel.tell(key, encode(found, self._client) if found and found.lasting else None)

    def _ask(self, key: str) -> Any:
        return self._channel.ask(key) if self._channel is not None else None

    def _take_fact(self, given: Any) -> FoundFact | None:
        """Decode a fact and note the hooks and operations that its calls used; return None if it cannot be read."""
        if given is None or first_flaw(SCHEMA, given, PART):
            return None
        try:
            fact = decode(given)
        except (ValueError, TypeError, LookupError):
            return None
        if self._client.remote is not None:
            self._client.remote.hooks.called |= set(given["hooks"])
        for exchange in fact.exchanges:
            op = BY_OP.get(exchange.op)
            if op is not None and op.name not in UNRELATED and exchange.frames and not exchange.frames[-1].is_error:
                self._client.meter.outages.worked[op.op] = None
        return fact


def encode(fact: FoundFact, client: AdapterClient) -> Any:
    """Return a fact as JSON; None if its answer contains objects that cannot be encoded."""
    exchanges = [*dict.fromkeys([*fact.exchanges, *fact.read])]
    try:
        with reading_separately():
            answer = _encode(fact.answer, exchanges)
        found = {
            "answer": answer,
            "exchanges": [_encode_exchange(each) for each in exchanges],
            "shown_by": len(fact.exchanges),
            "read": [exchanges.index(each) for each in fact.read],
            "actions": sorted(fact.actions),
            "hooks": sorted(client.hooks),
        }
        json.dumps(found, ensure_ascii=False, allow_nan=False).encode()  # refuses lone surrogates
    except (ValueError, TypeError):
        return None
    return found


def decode(given: Any) -> FoundFact:
    """Decode a fact. Raises ValueError, TypeError or LookupError if it is not one."""
    exchanges = list(map(_decode_exchange, given["exchanges"]))
    read = [exchanges[number] for number in given["read"]]
    answer = _decode(given["answer"], exchanges)
    return FoundFact(answer, exchanges[: given["shown_by"]], frozenset(given["actions"]), read, handed=True)


def _encode(value: Any, exchanges: list[Exchange]) -> Any:
    """Encode a value: lists, tuples and replies become lists that begin with the name of their kind."""
    kind = type(value)
    if value is None or kind in (bool, int, float, str):
        return value
    if kind in (list, tuple):
        return [kind.__name__, *(_encode(each, exchanges) for each in value)]
    if kind is dict and all(type(key) is str for key in value):
        return {key: _encode(each, exchanges) for key, each in value.items()}
    # A reply that combines several pages cannot be encoded.
    if kind is StreamReply or (kind is Reply and value.body is Reply(value.exchange).body):
        if value.exchange not in exchanges:
            exchanges.append(value.exchange)
        return ["stream" if kind is StreamReply else "reply", exchanges.index(value.exchange)]
    raise TypeError(kind.__name__)


def _decode(value: Any, exchanges: list[Exchange]) -> Any:
    if isinstance(value, dict):
        return {key: _decode(each, exchanges) for key, each in value.items()}
    if not isinstance(value, list):
        return value
    kind, *parts = value
    if kind in ("reply", "stream"):
        return (Reply if kind == "reply" else StreamReply)(exchanges[parts[0]])
    found = [_decode(each, exchanges) for each in parts]
    return found if kind == "list" else tuple(found)


def _encode_exchange(made: Exchange) -> dict[str, Any]:
    observed = made.observed
    return {
        **encoding.encode_exchange(made, encoding.encode_value(made.request)),
        "own": made.own,
        "secrets": dict(made.secrets),
        "arrivals": encoding.encode_arrivals(observed.arrivals),
        "struck": [asdict(plan) for plan in observed.applied_plans],
        "is_due": observed.is_due,
        "ops": list(observed.ops),
    }


def _decode_exchange(given: Any) -> Exchange:
    is_stream = given["entry_point"] == "handle_stream"
    made = Exchange(encoding.decode_value(given["request"]), is_stream, component=given.get("component", ""))
    encoding.restore_exchange(made, given)
    made.own, made.secrets, made.limited = given["own"], given["secrets"], given.get("limited", False)
    observed, operation = made.observed, BY_OP.get(made.op)
    observed.streaming = is_stream or (operation is not None and operation.streaming)
    observed.arrivals = [
        Arrival(each["op"], encoding.decode_value(each.get("facts", {})), encoding.decode_value(each.get("chunk")))
        for each in given["arrivals"]
    ]
    observed.applied_plans = [Plan(**{**each, "hints_ms": tuple(each["hints_ms"])}) for each in given["struck"]]
    observed.is_due, observed.ops, observed.ended = given["is_due"], tuple(given["ops"]), 0.0
    return made
