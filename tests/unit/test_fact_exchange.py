"""Facts that workers share: each is found out by one worker at a time, and arrives as it was."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pytest_corpus.adapter.client import AdapterClient, Declaration
from pytest_corpus.adapter.facts import Capabilities
from pytest_corpus.adapter.scope import part_of
from pytest_corpus.integration.xdist import fact_exchange
from pytest_corpus.integration.xdist.fact_exchange import FactChannel, FactServer, SharedFacts, decode, encode
from pytest_corpus.kit.answer_cache import invoke_plain
from pytest_corpus.kit.common_facts import FoundFact
from pytest_corpus.kit.faults import call_with_fault
from pytest_corpus.kit.reply import Reply
from pytest_corpus.kit.run_state import Settings
from pytest_corpus.reference import llm as reference
from pytest_corpus.suites.llm.support.component import LLM


class Worker:
    """A channel between a worker and the server in this process."""

    def __init__(self, server: FactServer) -> None:
        self.server, self.taken = server, list[Any]()
        self._take: Callable[[Any], None] = lambda text: self.taken.append(json.loads(text))

    def send(self, item: object) -> None:
        """Take a message of the server."""
        self._take(item)

    def setcallback(self, callback: Callable[[Any], None], endmarker: object) -> None:
        """Hand messages over."""
        self._take = callback

    def ask(self, name: str) -> None:
        self.server.handle_message(self, json.dumps(["ask", name, None]))

    def tell(self, name: str, fact: Any) -> None:
        self.server.handle_message(self, json.dumps(["tell", name, fact]))


class Line(Worker):
    """The worker's end of a channel: what it sends goes to the server."""

    def __init__(self, server: FactServer) -> None:
        super().__init__(server)
        self.other, self.sent = Worker(server), list[Any]()

    def setcallback(self, callback: Callable[[Any], None], endmarker: object) -> None:
        self.other.setcallback(callback, endmarker)

    def send(self, item: object) -> None:
        self.sent.append(json.loads(str(item)))
        self.server.handle_message(self.other, str(item))


@pytest.fixture
def workers() -> list[Worker]:
    server = FactServer()
    return [Worker(server) for _ in range(3)]


def opened() -> Iterator[LLM]:
    client = AdapterClient(Declaration("a", reference, "a")).open(("llm",))
    with part_of(None):
        yield LLM(client, Capabilities("llm", {}), Settings())
    client.close()


one = pytest.fixture(opened, name="one")
other = pytest.fixture(opened, name="other")


def test_one_worker_finds_a_fact_out_and_the_others_wait(workers: list[Worker]) -> None:
    """The first that asks gets nothing, the second its answer, the third the same answer at once."""
    first, second, third = workers
    first.ask("a")
    second.ask("a")
    assert (first.taken, second.taken) == ([["a", None]], [])
    first.tell("a", {"answer": 1})
    third.ask("a")
    assert second.taken == third.taken == [["a", {"answer": 1}]]


@pytest.mark.parametrize("way", ["not shared", "lost"])
def test_the_next_worker_finds_out_what_the_first_does_not_share(workers: list[Worker], way: str) -> None:
    """If a worker keeps a fact to itself, or is lost, one that waits finds it out, and the others go on waiting."""
    first, second, third = workers
    for worker in workers:
        worker.ask("a")
    if way == "lost":
        first.server.handle_message(first, None)
    else:
        first.tell("a", None)
    assert (second.taken, third.taken) == ([["a", None]], [])
    second.tell("a", 7)
    assert third.taken == [["a", 7]]


def test_workers_never_wait_for_each_other(workers: list[Worker]) -> None:
    """A worker that finds out what another one waits for finds out the other's fact too, in a ring of three as well."""
    for worker, name in zip(workers, "abc", strict=True):
        worker.ask(name)
    for worker, name in zip(workers, "bca", strict=True):
        worker.ask(name)
    assert [worker.taken[1:] for worker in workers] == [[], [], [["a", None]]]
    workers[0].ask("a")
    assert workers[0].taken[1:] == [["a", None]]


def test_a_fact_that_is_too_large_stays_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """The channel carries no long message, and the controller keeps no more than its limit."""
    server = FactServer()
    channel, asker = FactChannel(Line(server)), Worker(server)
    monkeypatch.setattr(fact_exchange, "LARGEST_FACT", 40)
    channel.tell("a", "x" * 40)
    channel.tell("b", "x")
    monkeypatch.setattr(fact_exchange, "MOST_BYTES", 0)
    channel.tell("c", "x")
    for name in "abc":
        asker.ask(name)
    assert asker.taken == [["a", None], ["b", "x"], ["c", None]]


def test_an_answer_arrives_with_what_was_observed_of_it(one: LLM, other: LLM) -> None:
    """A plain call and a failed one keep their frames, reports, arrivals, faults and secrets."""
    plain = invoke_plain(one, "stream")
    failed = call_with_fault(one, "rate_limited", "complete", retry_after_ms=70)[1]
    fact = FoundFact([plain, (failed, True, {"a": 0.5})], [plain.exchange, failed.exchange], read=[failed.exchange])
    written = encode(fact, one.client)
    found = decode(json.loads(json.dumps(written)))
    assert encode(found, other.client) == written
    assert fact_exchange.first_flaw(fact_exchange.SCHEMA, written, fact_exchange.PART) == ""
    (stream, (refused, *rest)), made = found.answer, failed.exchange
    assert (type(stream), type(refused), rest) == (type(plain), Reply, [True, {"a": 0.5}])
    assert refused.exchange.observed.applied_plans == made.observed.applied_plans
    assert refused.exchange.observed.observations == made.observed.observations
    assert (refused.body, dict(refused.exchange.secrets)) == (failed.body, dict(made.secrets))
    assert [frame.body for frame in stream.exchange.frames] == [frame.body for frame in plain.exchange.frames]


@pytest.mark.parametrize("answer", [object(), {1: 2}, float("nan"), "\ud800"])
def test_what_is_no_json_stays_in_its_process(one: LLM, answer: object) -> None:
    """Another object, another key, NaN and half a character are not handed over."""
    assert encode(FoundFact(answer), one.client) is None


@pytest.mark.parametrize("given", [7, {}, {"answer": 1, "exchanges": [{}]}, "read"])
def test_what_is_no_fact_is_found_out_here(one: LLM, given: Any) -> None:
    """A message that is not a fact, or that points to an exchange that it lacks, is as good as none."""
    lacking = {"answer": ["reply", 3], "exchanges": [], "shown_by": 0, "read": [], "actions": [], "hooks": []}
    line, server = Line(FactServer()), FactServer()
    SharedFacts("a", one.client, FactChannel(line)).find("b", lambda: FoundFact(1))
    Worker(server).tell(line.sent[0][1], lacking if given == "read" else given)
    found = SharedFacts("a", one.client, FactChannel(Line(server))).find("b", lambda: FoundFact(5))
    assert (found.answer, found.handed) == (5, False)


def test_what_others_found_out_can_be_forgotten(one: LLM, other: LLM) -> None:
    """A process asks itself, once it distrusts the facts of the others; before, it makes no call for them."""
    server = FactServer()
    for llm in (one, other):
        llm.shared.common = SharedFacts("a", llm.client, FactChannel(Line(server)))
        invoke_plain(llm, "health")
        assert llm.usual_limit
    assert (one.calls, other.calls) == (2, 0)
    assert (one.shared.distrust(), other.shared.distrust()) == (False, True)
    other.begin(unlearn=True)
    invoke_plain(other, "health")
    assert other.usual_limit
    assert other.calls == 2
