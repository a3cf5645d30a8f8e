"""A stand-in for the provider. It counts calls and carries out planned faults."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.exceptions import MissingAnswer
from pytest_corpus.adapter.fault_plan import Plan, ProviderFault
from pytest_corpus.adapter.reports import Arrival
from pytest_corpus.adapter.scope import Attribution, current_call, part_of
from pytest_corpus.adapter.snapshot import snapshot
from pytest_corpus.adapter.tracebacks import EscapedException, escaped_exception
from pytest_corpus.redaction import type_name
from pytest_corpus.spec.errors import BY_KIND, FORMS

if TYPE_CHECKING:
    from pytest_corpus.adapter.hooks.vendors.api import ProviderServer
    from pytest_corpus.adapter.hooks.vendors.background import Background
    from pytest_corpus.adapter.hooks.vendors.endpoint import Endpoint, Endpoints, Errors
    from pytest_corpus.adapter.hooks.vendors.proxy import OpOf, ProxyServer
    from pytest_corpus.adapter.hooks.vendors.recording import Recording
    from pytest_corpus.adapter.hooks.vendors.tunnel import Tunnel

__all__ = ["Arrival", "Plan", "ProviderFault", "ProviderProbe"]


CONTEXT_FACTS = ("traceparent", "deadline_ms")
"""The members of a call's context that an adapter may pass on to the provider."""


MISTAKEN = "an endpoint of the provider's stand-in (provider.serve) raised"
"""The beginning of each sentence on a mistake of the author's own endpoints."""


class Mistakes:
    """Exceptions in the author's endpoints, and requests without an answer in a recording.

    A mistake is late if its request arrived before the last call of `take_mistakes`.
    """

    def __init__(self) -> None:
        self.noted: list[EscapedException | MissingAnswer] = []
        self._late: list[EscapedException | MissingAnswer] = []
        self._turn = 0

    def mistake_recorder(self) -> Callable[[BaseException], None]:
        """Return a recorder of mistakes in the answer to one request. Call this method when the request arrives."""
        turn = self._turn

        def note(error: BaseException) -> None:
            found = error if isinstance(error, MissingAnswer) else escaped_exception(error)
            (self.noted if turn == self._turn else self._late).append(found)

        return note

    def check_answers(self) -> None:
        """Raise MissingAnswer if a request had no answer in the recording."""
        if missing := next((each for each in self.noted if isinstance(each, MissingAnswer)), None):
            raise missing

    def take_mistakes(self) -> tuple[list[EscapedException | MissingAnswer], list[str]]:
        """Return the mistakes since the last call of this method, and a sentence for each late mistake."""
        self._turn += 1
        found = self.noted[:], list(map(_late_sentence, self._late))
        self.noted.clear()
        self._late.clear()
        return found


def _late_sentence(mistake: EscapedException | MissingAnswer) -> str:
    if isinstance(mistake, MissingAnswer):
        return f"{mistake}, after its test"
    return f"{MISTAKEN} {mistake}, after its test ({mistake.trail})"


class ProviderProbe:
    """The hook of a factory that takes `provider`.

    The author's provider stub awaits `reached(op, **facts)` whenever it would call the provider. For a stream it does
    so again before each chunk, with `chunk=0, 1, 2 ...`; for a batch it passes `items=n`. It may pass the `traceparent`
    and the absolute `deadline_ms` that it would send to the provider.

    An adapter with a vendor's client sets the client's base URL to `url` instead, and makes no calls of the hook.

    Attributes:
        attribution: knows the calls of the adapter.
        mistakes: exceptions in the author's endpoints, which are not faults of the adapter.
        lacking: for each tunnel, the faults and facts that its protocol cannot express, as the author states.
        is_on_wire: True if requests go to an address of this probe: a stand-in, a proxy or a tunnel.
        has_other_ways: True if a call reached the provider in another way than through a tunnel.
        recording: records the traffic of proxies, or replays it.
        is_proxied: True if a proxy was requested.
    """

    def __init__(self, recording: Recording | None = None) -> None:
        self.recording, self.is_proxied = recording, False
        self.attribution = Attribution()
        self.mistakes = Mistakes()
        self.lacking: dict[tuple[str, int], frozenset[str]] = {}
        self.has_other_ways = False
        self.is_on_wire = False
        self.server: ProviderServer | None = None
        self._background: Background | None = None
        self._proxies: dict[str, ProxyServer] = {}
        self._tunnels: dict[tuple[str, int], Tunnel] = {}
        self._own: dict[tuple[str, str], Endpoint] = {}
        self._operations: list[str] = []
        self._untaken: list[Arrival] = []

    @property
    def url(self) -> str:
        """Start a server on first access; return its address. It speaks the OpenAI, Anthropic and Cohere APIs.

        The server has a loopback address and supports the vendors' clients. Planned faults happen on the wire, and each
        request counts as `reached`. Append ``/v1`` for OpenAI's client, nothing for the others.
        """
        if self.server is None:
            from pytest_corpus.adapter.hooks.vendors.api import ProviderServer

            self.server = ProviderServer(
                self.count_arrival, self._own, self._get_background(), self.mistakes.mistake_recorder
            )
        return self.server.url

    def proxy(self, upstream: str, *, op: OpOf | None = None, errors: str | Errors | None = None) -> str:
        """Return the loopback address of a proxy before the real provider at `upstream`, for the adapter's own client.

        Every request is forwarded and counts as `reached`. A planned fault happens on the wire instead of forwarding.
        `op` is a function of method, path and JSON body that returns the operation of a request. If `op` is missing or
        returns None, the path determines the operation; if the path is unknown, the active call does. `errors` is the
        shape of the provider's errors: `openai`, `anthropic`, `cohere`, `google`, `ollama`, `problem+json` or an
        `Errors` of `pytest_corpus.vendors`; by default the shape for the host or the path, else OpenAI's.

        Raises:
            ValueError: the address is not an HTTP address, or the shape is unknown.
            ModuleNotFoundError: aiohttp is not installed; `pip install 'pytest-corpus[http]'`.
        """
        from pytest_corpus.adapter.hooks.vendors.shapes import SHAPES, error_shape_of_host

        try:
            from pytest_corpus.adapter.hooks.vendors import proxy
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                "provider.proxy needs aiohttp, which is not installed; pip install 'pytest-corpus[http]'",
                name=error.name,
            ) from None
        address, self.is_proxied = proxy.check_upstream_address(upstream), True
        if isinstance(errors, str) and errors not in SHAPES:
            raise ValueError(f"provider.proxy: unknown shape of errors {errors!r}; one of {', '.join(SHAPES)}")
        if address not in self._proxies:
            shape = SHAPES[errors] if isinstance(errors, str) else errors
            shape = shape or error_shape_of_host(urlsplit(address).hostname or "")
            server = proxy.ProxyServer(proxy.Upstream(address, shape, op), self)
            self._get_background().run(server.start())
            self._proxies[address] = server
        return self._proxies[address].url

    def tunnel(self, host: str, port: int, *, without: Collection[str] = ()) -> tuple[str, int]:
        """Open a tunnel over TCP to the real provider at `host` and `port`; return its loopback address, host and port.

        Bytes are relayed unchanged, also TLS. A planned fault affects the connection: it is reset, refused, cut off,
        slow or silent. Data that the adapter sends during a call counts as `reached`, for the operation of that call.
        `host` may be the path of a Unix socket. `without` names the kinds of faults that the provider's protocol cannot
        express, and `traceparent` and `deadline_ms` if it cannot transmit them. Reports show this as your claim.

        Raises:
            ValueError: the address or a kind of fault is not valid.
        """
        from pytest_corpus.adapter.hooks.vendors.tunnel import Tunnel, check_inexpressible

        place = host, port
        if self.recording is not None and self.recording.plays and not _is_on_this_machine(host):
            raise ValueError(
                "provider.tunnel: a tunnel is not recorded, and a run on recorded answers calls no provider"
            )
        self.lacking[place] = check_inexpressible(host, port, without)
        if place not in self._tunnels:
            self._tunnels[place] = Tunnel(host, port, self)
            self._get_background().run(self._tunnels[place].start())
        return self._tunnels[place].address

    def settle(self) -> None:
        """Count data that already waits at the tunnels, so that it does not count for the next call."""
        if self._tunnels and self._background is not None:
            with suppress(TimeoutError):
                self._background.run(_run_loop_briefly())

    def _get_background(self) -> Background:
        if self._background is None:
            from pytest_corpus.adapter.hooks.vendors.background import Background

            self._background = Background()
            self.is_on_wire = True
        return self._background

    def serve(self, endpoints: Endpoints) -> None:
        """Serve the API of another vendor at `url` too: endpoints by method and path (`pytest_corpus.vendors`).

        They take precedence over the built-in endpoints; a `*` in a path matches any text.

        Raises:
            TypeError: a key is not a pair of method and path, or a value lacks the methods of an endpoint.
        """
        for place, endpoint in endpoints.items():
            if not (isinstance(place, tuple) and [type(each) for each in place] == [str, str]):
                raise TypeError(f'provider.serve: {place!r}: write the method and the path, as in ("POST", "v1/chat")')
            if missing := [name for name in ("errors", "reached", "answer", "events") if not hasattr(endpoint, name)]:
                raise TypeError(
                    f"provider.serve: the endpoint {place[1]} has no `{missing[0]}`: derive it from Endpoint"
                )
        self._own.update(endpoints)

    def close(self) -> None:
        """Close every server and every connection."""
        servers: list[ProviderServer | ProxyServer | Tunnel] = [*self._proxies.values(), *self._tunnels.values()]
        servers += [self.server] if self.server is not None else []
        background, self._background = self._background, None
        if background is not None:
            background.close(self._close_servers(servers))
        self.server, self._proxies, self._tunnels, self.is_on_wire = None, {}, {}, False

    async def _close_servers(self, servers: Iterable[ProviderServer | ProxyServer | Tunnel]) -> None:
        await asyncio.gather(*(server.aclose() for server in servers), return_exceptions=True)

    async def reached(self, op: str, **facts: Any) -> None:
        """Record that an operation or a chunk reached the provider, and carry out its planned fault. Chunks are not
        counted. Other calls continue.

        Raises:
            ProviderFault: a fault is planned.
            RuntimeError: an unexpected fault is planned.
        """
        plan = self.count_arrival(op, **facts)
        await (asyncio.sleep(0) if plan is None else plan.carry_out())

    def count_arrival(self, op: str, *, able: Collection[str] | None = None, **facts: Any) -> Plan | None:
        """Record that an operation or a chunk reached the provider, and return its planned fault.

        The caller carries out the fault. Chunks are not counted.

        A tunnel passes in `able` the kinds of faults that it can carry out.
        """
        self.has_other_ways |= able is None
        named, chunk = snapshot(op), snapshot(facts.get("chunk"))
        name = named if isinstance(named, str) else f"({type_name(op)})"
        arrival = Arrival(name, {fact: snapshot(facts[fact]) for fact in CONTEXT_FACTS if fact in facts}, chunk)
        call = self.attribution.call_of_arrival()
        self._untaken.append(arrival)
        if chunk is None:
            self._operations.append(name)
        if call is not None:
            call.arrivals.append(arrival)
        owner = call or current_call()
        for plan in self.plans if owner is None or owner.plans is None else owner.plans:
            if plan.applies_to(name, chunk) and (able is None or plan.kind in able):
                plan.fired += 1
                if call is not None:
                    call.applied_plans.append(plan)
                return plan
        return None

    def calls(self, op: str | None = None) -> int:
        """Return the number of arrivals of one operation, or of all operations, at the provider."""
        return len(self._operations) if op is None else self._operations.count(op)

    @property
    def arrivals(self) -> tuple[str, ...]:
        """The name of each operation that reached the provider, in order."""
        return tuple(self._operations)

    def take_arrivals(self) -> list[Arrival]:
        """Return all arrivals at the provider since the last call of this method."""
        taken, self._untaken = self._untaken, []
        return taken

    def plan(  # noqa: PLR0917 - the documented signature
        self,
        kind: str,
        op: str | None = None,
        at_chunk: int | None = None,
        times: int = 1,
        retry_after_ms: float | None = None,
        delay_ms: float = 0,
        form: str | None = None,
    ) -> Plan:
        """Plan a behaviour for the next `times` arrivals of `op` (None: of any op).

        Without `at_chunk` the plan affects the operation, otherwise the chunk with that number. `form` is the form of
        the fault on the wire at `url`, one of `pytest_corpus.spec.errors.FORMS`.

        Raises:
            ValueError: the kind or the form is unknown, or the kind does not have the form.
        """
        if kind not in BY_KIND:
            raise ValueError(f"unknown fault kind {kind!r}; one of {', '.join(BY_KIND)}")
        if form is not None and kind not in FORMS.get(form, ()):
            forms = [name for name, kinds in FORMS.items() if kind in kinds]
            raise ValueError(f"unknown form {form!r} of {kind}; one of {', '.join(forms) or 'none'}")
        canary = f"raw-{inputs.random_hex(8)}"
        plan = Plan(kind, op, at_chunk, times, retry_after_ms, delay_ms, form, canary)
        self.plans.append(plan)
        return plan

    def clear(self) -> None:
        """Remove all plans; the counts stay."""
        self.plans.clear()

    @property
    def plans(self) -> list[Plan]:
        """The plans of the current test, or of the shared fact that is being determined."""
        return self.attribution.part.plans

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Carry out no plan within this block. The suite uses it to prepare the call that a plan is for."""
        with part_of(self.attribution.part):
            yield


def _is_on_this_machine(host: str) -> bool:
    """True if a provider is on this machine."""
    return host.startswith(("/", "127.")) or host in ("localhost", "::1")


LOOP_ITERATIONS = 6
"""After this number of loop iterations, bytes that waited at a socket have been read and counted."""


async def _run_loop_briefly() -> None:
    for _ in range(LOOP_ITERATIONS):
        await asyncio.sleep(0)


def is_stand_in(probe: ProviderProbe) -> bool:
    """True if only built-in endpoints answer requests, so the texts of answers are known."""
    return probe.server is not None and probe.server.is_plain and not (probe.is_proxied or probe.lacking)
