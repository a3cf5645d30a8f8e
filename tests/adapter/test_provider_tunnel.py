"""A tunnel before a provider over TCP: what passes, how connections fail, what counts, and what is left open."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from pytest_corpus.adapter.fault_plan import is_failing
from pytest_corpus.adapter.hooks.provider import ProviderProbe
from pytest_corpus.adapter.hooks.vendors import tunnel
from pytest_corpus.adapter.scope import Observed
from pytest_corpus.kit.faults import inexpressible_failures, is_tunnelled

WAIT_S = 10.0
QUERY, PING = b"query", b"ping"


class Upstream:
    """Answers everything in upper case, after a dash; `got` is what came, `open` how many connections are open."""

    def __init__(self, host: str = "127.0.0.1", greeting: bytes = b"") -> None:
        self.got: list[bytes] = []
        self.open = 0
        self._greeting = greeting
        self._listener = socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
        self.address = (host, int(self._listener.getsockname()[1]))
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self._serve, args=[self._listener.accept()[0]], daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        self.open += 1
        with contextlib.suppress(OSError), connection:
            connection.sendall(self._greeting)
            while data := connection.recv(2**16):
                self.got.append(data)
                connection.sendall(data.upper() + b"-")
        self.open -= 1

    def close(self) -> None:
        """Listen no more."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    made = Upstream()
    yield made
    with contextlib.suppress(OSError):
        made.close()


@pytest.fixture
def probe() -> Iterator[ProviderProbe]:
    made = ProviderProbe()
    yield made
    made.close()


@pytest.fixture
def client(probe: ProviderProbe, upstream: Upstream) -> Iterator[socket.socket]:
    """A connection through a tunnel, over which nothing has passed."""
    with connected(probe, upstream) as made:
        yield made


@contextlib.contextmanager
def connected(probe: ProviderProbe, upstream: Upstream) -> Iterator[socket.socket]:
    with socket.create_connection(probe.tunnel(*upstream.address), WAIT_S) as made:
        yield made


def answer(client: socket.socket, data: bytes) -> bytes:
    """The answer to some bytes; empty if the connection is closed. Raises OSError if it is reset."""
    client.sendall(data)
    return whole(client, len(data) + 1)


def whole(client: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size and (more := client.recv(size - len(found))):
        found += more
    return found


def begin(probe: ProviderProbe, op: str, *, streaming: bool = False) -> None:
    """Begin a call, as an adapter's client does."""
    probe.settle()
    end(probe)
    probe.attribution.begin(Observed(ops=(op,), streaming=streaming))


def end(probe: ProviderProbe) -> None:
    """End the latest call."""
    if probe.attribution.latest is not None:
        probe.attribution.latest.ended = time.monotonic()


def until(condition: Any) -> None:
    limit = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < limit, "it does not happen"
        time.sleep(0.005)


def test_bytes_pass_as_they_are(probe: ProviderProbe, upstream: Upstream, client: socket.socket) -> None:
    """Large ones too, in both directions, and the end of what is asked for."""
    assert answer(client, QUERY) == b"QUERY-"
    large = bytes(range(97, 123)) * 40_000
    sender = threading.Thread(target=client.sendall, args=[large])
    sender.start()
    received = b""
    while received.count(b"Z") < 40_000 or not received.endswith(b"-"):
        received += client.recv(2**16)
    sender.join()
    assert received.replace(b"-", b"") == large.upper()
    client.shutdown(socket.SHUT_WR)
    assert client.recv(1) == b""
    assert probe.tunnel(*upstream.address) == probe.tunnel(*upstream.address)


def test_a_server_that_speaks_first_is_heard(probe: ProviderProbe) -> None:
    """A greeting arrives before anything is sent."""
    greeting = Upstream(greeting=b"220 welcome\n")
    with connected(probe, greeting) as client:
        assert whole(client, 12) == b"220 welcome\n"
    greeting.close()


@pytest.mark.skipif(not socket.has_ipv6, reason="this machine has no IPv6")
def test_an_upstream_may_have_an_address_of_ipv6(probe: ProviderProbe) -> None:
    """The tunnel itself stays on the loopback address of IPv4."""
    try:
        upstream = Upstream("::1")
    except OSError:
        pytest.skip("this machine has no loopback address of IPv6")
    with connected(probe, upstream) as client:
        assert answer(client, QUERY) == b"QUERY-"
    upstream.close()


def test_an_upstream_may_be_a_unix_socket(probe: ProviderProbe, tmp_path: Any) -> None:
    """Its path takes the place of the host."""
    place = str(tmp_path / "s")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(place)
        listener.listen()
        with socket.create_connection(probe.tunnel(place, 1), WAIT_S) as client:
            client.sendall(QUERY)
            with listener.accept()[0] as accepted:
                assert accepted.recv(100) == QUERY


def test_a_call_counts_once_for_each_connection(
    probe: ProviderProbe, upstream: Upstream, client: socket.socket
) -> None:
    """However many round trips it makes; another connection counts again, as does the next call."""
    begin(probe, "vector.query")
    for _ in range(3):
        answer(client, QUERY)
    assert probe.arrivals == ("vector.query",)
    with connected(probe, upstream) as other:
        answer(other, QUERY)
    assert probe.calls() == 2
    end(probe)
    begin(probe, "vector.upsert")
    answer(client, QUERY)
    assert probe.arrivals == ("vector.query", "vector.query", "vector.upsert")


def test_pings_do_not_count(probe: ProviderProbe, client: socket.socket) -> None:
    """Bytes that are sent between calls belong to none of them, and are recognized during one."""
    assert answer(client, PING) == b"PING-"
    plan = probe.plan("network", times=9)
    begin(probe, "vector.query")
    assert answer(client, PING) == b"PING-"
    assert (probe.calls(), plan.fired) == (0, 0)
    with pytest.raises(ConnectionError):
        answer(client, QUERY)
    assert (probe.calls(), plan.fired) == (1, 1)


def test_what_was_sent_before_a_call_is_not_its_own(probe: ProviderProbe, client: socket.socket) -> None:
    """Bytes that lie at the tunnel when a call begins are those of the time before."""
    for number in range(200):
        client.sendall(b"late %d" % number)
        begin(probe, "vector.query")
        end(probe)
    assert probe.calls() == 0


@pytest.mark.parametrize("form", [None, "reset"])
def test_a_network_failure_resets_the_connection(
    probe: ProviderProbe, upstream: Upstream, client: socket.socket, form: str | None
) -> None:
    """Nothing is handed on; a retry counts and is struck again, as often as that is planned."""
    begin(probe, "vector.query")
    answer(client, QUERY)
    end(probe)
    plan = probe.plan("network", times=2, form=form)
    begin(probe, "vector.query")
    with pytest.raises(ConnectionResetError):
        answer(client, QUERY)
    with connected(probe, upstream) as again, pytest.raises(ConnectionResetError):
        answer(again, QUERY)
    with connected(probe, upstream) as again:
        assert answer(again, QUERY) == b"QUERY-"
    assert (plan.fired, probe.calls(), len(upstream.got), plan.on_wire) == (2, 4, 2, True)


def test_an_unavailable_provider_resets_what_is_open_and_what_is_opened(
    probe: ProviderProbe, upstream: Upstream, client: socket.socket
) -> None:
    """A new connection is reset before anything is sent; there is no place for a hint."""
    plan = probe.plan("unavailable", times=2, retry_after_ms=500)
    begin(probe, "vector.query")
    with pytest.raises(ConnectionResetError):
        answer(client, QUERY)
    with pytest.raises(ConnectionResetError), connected(probe, upstream) as again:
        again.recv(1)
    assert (plan.fired, plan.hints_ms, upstream.got) == (2, (), [])
    with connected(probe, upstream) as again:
        assert answer(again, QUERY) == b"QUERY-"


@pytest.mark.parametrize(("kind", "form"), [("network", "truncated"), ("gateway_timeout", "truncated")])
def test_an_answer_is_cut_in_its_middle(
    probe: ProviderProbe, upstream: Upstream, client: socket.socket, kind: str, form: str
) -> None:
    """The question is handed on, and the connection is closed after a part of the answer."""
    probe.plan(kind, form=form)
    begin(probe, "vector.query")
    client.sendall(QUERY)
    assert whole(client, 100) == b"QUE"
    assert upstream.got == [QUERY]


def test_a_gateway_that_times_out_closes_a_silent_connection(probe: ProviderProbe, client: socket.socket) -> None:
    """Nothing comes for a while, and then the end."""
    probe.plan("gateway_timeout")
    begin(probe, "vector.query")
    started = time.monotonic()
    assert answer(client, QUERY) == b""
    assert time.monotonic() - started > tunnel.SILENT_S * 0.9


def test_a_slow_provider_answers_later(probe: ProviderProbe, upstream: Upstream, client: socket.socket) -> None:
    """Bytes that are sent during the delay wait in their order."""
    plan = probe.plan("slow", delay_ms=200)
    begin(probe, "vector.query")
    started = time.monotonic()
    client.sendall(b"one")
    until(lambda: plan.waiting)
    client.sendall(b"two")
    assert whole(client, 3) == b"ONE"
    assert time.monotonic() - started > 0.19
    assert (b"".join(upstream.got), plan.waiting) == (b"onetwo", 0)


def test_a_hanging_provider_never_answers(probe: ProviderProbe, upstream: Upstream, client: socket.socket) -> None:
    """Until the client goes away."""
    plan = probe.plan("hang")
    begin(probe, "vector.query")
    client.settimeout(0.2)
    with pytest.raises(TimeoutError):
        answer(client, QUERY)
    assert plan.waiting == 1
    client.close()
    until(lambda: not plan.waiting)
    assert upstream.got == []


def test_a_hanging_provider_comes_back_with_the_next_call(
    probe: ProviderProbe, upstream: Upstream, client: socket.socket
) -> None:
    """A client that has one connection for all calls goes on; the next call may be struck, too."""
    plan = probe.plan("hang", times=2)
    for number in range(2):
        begin(probe, "vector.query")
        client.sendall(b"%d" % number)
        until(lambda number=number: plan.fired == number + 1)
        end(probe)
    client.sendall(b"c")  # what gives up the call
    time.sleep(0.05)
    assert upstream.got == []
    begin(probe, "vector.query")
    client.sendall(b"2")
    assert whole(client, 4) == b"01C2"
    assert plan.waiting == 0


@pytest.mark.parametrize(("kind", "form", "seen"), [
    ("network", "reset", None), ("unavailable", None, None), ("network", "truncated", b"QUE"),
    ("gateway_timeout", None, b""), ("slow", None, b"QUERY-"),
])  # fmt: skip
def test_the_answer_to_a_stream_fails_in_its_parts(
    probe: ProviderProbe, client: socket.socket, kind: str, form: str | None, seen: bytes | None
) -> None:
    """A fault planned at a chunk happens to that part of the answer; other operations have no parts."""
    plan = probe.plan(kind, at_chunk=1, form=form, delay_ms=50 if kind == "slow" else 0)
    begin(probe, "vector.query")
    assert [answer(client, QUERY) for _ in range(2)] == [b"QUERY-"] * 2
    begin(probe, "graph.stream_query", streaming=True)
    assert answer(client, QUERY) == b"QUERY-"
    assert plan.fired == 0
    if seen is None:
        with pytest.raises(ConnectionResetError):
            answer(client, QUERY)
    else:
        assert answer(client, QUERY) == seen
    assert (plan.fired, plan.on_wire, probe.calls("graph.stream_query")) == (1, True, 1)


def test_an_answer_that_hangs_ends_with_the_wait_of_its_client(probe: ProviderProbe, client: socket.socket) -> None:
    """It goes away, or goes on with another call."""
    plan = probe.plan("hang", at_chunk=0, times=2)
    for number in range(2):
        begin(probe, "graph.stream_query", streaming=True)
        client.sendall(b"%d" % number)
        until(lambda number=number: plan.fired == number + 1)
        until(lambda: plan.waiting == 1)
    client.close()
    until(lambda: not plan.waiting)


def test_an_unavailable_provider_may_take_its_time(probe: ProviderProbe, upstream: Upstream) -> None:
    """A new connection is refused after the delay that is planned."""
    probe.plan("unavailable", delay_ms=100)
    begin(probe, "vector.query")
    started = time.monotonic()
    with pytest.raises(ConnectionResetError), connected(probe, upstream) as client:
        client.recv(1)
    assert time.monotonic() - started > 0.09


def test_a_plan_that_no_connection_can_have_does_not_strike(probe: ProviderProbe, client: socket.socket) -> None:
    """A rate limit stands in no stream of bytes; the next plan may strike."""
    limited, network = probe.plan("rate_limited", times=9), probe.plan("network")
    begin(probe, "vector.query")
    with pytest.raises(ConnectionResetError):
        answer(client, QUERY)
    assert (limited.fired, network.fired) == (0, 1)


def test_an_upstream_that_is_gone_resets(probe: ProviderProbe, upstream: Upstream, client: socket.socket) -> None:
    """As the adapter would see it without the tunnel, as nearly as that can be."""
    answer(client, QUERY)
    upstream.close()
    with pytest.raises(ConnectionResetError), connected(probe, upstream) as later:
        later.recv(1)
    assert answer(client, QUERY) == b"QUERY-"


def test_probes_do_not_see_each_other(upstream: Upstream, probe: ProviderProbe) -> None:
    """Two instances with a probe each have an address each: plans and counts stay apart."""
    other = ProviderProbe()
    assert probe.tunnel(*upstream.address) != other.tunnel(*upstream.address)
    plan = other.plan("network", times=9)
    for each in (probe, other):
        begin(each, "vector.query")
    with connected(probe, upstream) as client:
        assert answer(client, QUERY) == b"QUERY-"
    assert (plan.fired, probe.calls(), other.calls()) == (0, 1, 0)
    other.close()


def test_closing_leaves_nothing_open(probe: ProviderProbe, upstream: Upstream, client: socket.socket) -> None:
    """Neither a connection, one that hangs included, nor the address, nor a thread."""
    address, before = probe.tunnel(*upstream.address), threading.active_count()
    answer(client, PING)
    probe.plan("hang")
    begin(probe, "vector.query")
    client.sendall(QUERY)
    until(lambda: is_failing(probe.plans))
    probe.close()
    with pytest.raises(ConnectionResetError):
        client.recv(1)
    until(lambda: upstream.open == 0)
    assert threading.active_count() < before
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address, WAIT_S)


@pytest.mark.parametrize(("arguments", "said"), [
    ({"without": ("rate_limit",)}, "unknown kind 'rate_limit' in `without`; use rate_limited, quota_exhausted"),
    ({"without": ("network",)}, "'network' happens to any connection; leave it out of `without`"),
    ({"without": "auth"}, "without='auth' must be a tuple of names: without=('auth',)"),
    ({"port": 0}, "the port must be an integer from 1 to 65535, not 0"),
    ({"port": "5432"}, "the port must be an integer from 1 to 65535, not '5432'"),
    ({"host": ""}, "the host must be a name, an address, or the path of a Unix socket"),
])  # fmt: skip
def test_a_mistake_in_the_arguments_is_told(probe: ProviderProbe, arguments: dict[str, Any], said: str) -> None:
    """In a sentence, and nothing is started."""
    with pytest.raises(ValueError, match=r"provider\.tunnel: ") as told:
        probe.tunnel(**{"host": "localhost", "port": 5432, **arguments})
    assert said in str(told.value)
    assert not is_tunnelled(probe)


def test_what_all_tunnels_lack_is_stated(probe: ProviderProbe, upstream: Upstream) -> None:
    """A fault that one of several protocols has is not lacking, nor any if the provider is reached otherwise."""
    assert inexpressible_failures(probe) == frozenset()
    probe.tunnel(*upstream.address, without=("auth", "rate_limited", "traceparent"))
    other = Upstream()
    assert inexpressible_failures(probe) == {"auth", "rate_limited", "traceparent"}
    probe.tunnel(*other.address, without=("auth",))
    assert inexpressible_failures(probe) == {"auth"}
    probe.count_arrival("vector.query")
    assert inexpressible_failures(probe) == frozenset()
    other.close()
