"""A proxy before a real provider: what is planned happens on the wire instead of forwarding."""

from __future__ import annotations

import contextlib
import logging
import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
from aiohttp import web
from multidict import CIMultiDict
from yarl import URL

from pytest_corpus.adapter.exceptions import MissingAnswer
from pytest_corpus.adapter.hooks.http_server import HOST
from pytest_corpus.adapter.hooks.vendors.api import (
    ENDPOINTS,
    UNKNOWN,
    break_off,
    context_of,
    fail,
    has_a_form_in_streams,
)
from pytest_corpus.adapter.hooks.vendors.endpoint import Endpoint, Errors, Refusal, Trouble, embedding
from pytest_corpus.adapter.hooks.vendors.provider_answers import Forwarded, ProviderAnswer, Replayed, handed_on
from pytest_corpus.adapter.hooks.vendors.proxy_client import ProxyClient
from pytest_corpus.adapter.hooks.vendors.recording import ProviderExchange, Recording
from pytest_corpus.text.strict_json import read_exactly

if TYPE_CHECKING:
    from pytest_corpus.adapter.fault_plan import Plan
from pytest_corpus.adapter.scope import Attribution

OpOf = Callable[[str, str, Any], "str | None"]
"""A function of method, path and JSON body that returns the operation of a request, or None if it knows none."""

MAX_REQUEST_BYTES = 64 * 2**20
CONNECT_S = 30.0
LONGEST_LINE = 64 * 2**10

_PATHS: Mapping[str, str] = {
    r"(chat/completions|responses|messages|/chat|generate|completions)$": "llm.complete",
    r":generateContent$": "llm.complete",
    r":streamGenerateContent$": "llm.stream",
    r"(embeddings|embed|:embedContent|:batchEmbedContents)$": "embedding.embed",
    r"(tokenize|count_tokens|input_tokens|:countTokens)$": "llm.count_tokens",
    r"(models|api/tags)$": "models.list",
}
"""The operations of usual paths; a completion that asks for a stream is one."""

_LINE = re.compile(rb"\n")
_SEPARATORS = {"text/event-stream": re.compile(rb"\r?\n\r?\n|\r\r"), "ndjson": _LINE, "jsonl": _LINE}
"""The ends of the events of a stream, by a part of its content type."""

_CONTENT = frozenset(("content", "text", "delta", "response", "arguments", "partial_json", "thinking", "embedding"))
"""The keys below which an event of a stream has content, in the APIs of most vendors."""


_SILENT = logging.Logger("corpus-proxy", logging.CRITICAL + 1)
"""What aiohttp says of a client's mistakes would be taken for the adapter's log."""


def usual_operation(path: str, body: Any) -> tuple[str | None, dict[str, Any]]:
    """The operation of a request to one of the usual paths, and the number of its items; None if it is unusual."""
    op = next((op for pattern, op in _PATHS.items() if re.search(pattern, f"/{path}")), None)
    given = body if isinstance(body, Mapping) else {}
    if op == "llm.complete":
        streams = given.get("stream", path.endswith(("api/chat", "api/generate")))  # Ollama streams by default
        return ("llm.stream" if streams else op), {}
    if op == "embedding.embed":
        found = next((given[key] for key in ("input", "texts", "inputs", "requests") if key in given), None)
        return embedding(found if isinstance(found, list) else [found])
    return op, {}


class Noting(Protocol):
    """Keeps what went wrong in place of a provider."""

    def noting(self) -> Callable[[BaseException], None]:
        """The function that notes the mistakes of a request that comes now."""


class Planned(Protocol):
    """The probe of an adapter, to which requests arrive; without a recording, everything is forwarded."""

    attribution: Attribution
    recording: Recording | None

    @property
    def mistakes(self) -> Noting: ...

    @property
    def plans(self) -> list[Plan]: ...

    def arrived(self, op: str, **facts: Any) -> Plan | None:
        """Count a request or a chunk, and return what is planned for it."""


@dataclass(frozen=True, slots=True)
class Upstream:
    """A real provider: its address, the shape of its errors if that is known, the operations of its requests."""

    address: str
    errors: Errors | None = None
    op: OpOf | None = None

    def operation(self, method: str, path: str, body: Any) -> tuple[str | None, dict[str, Any]]:
        """The operation of a request, and further facts of it."""
        found = self.op(method, path, body) if self.op else None
        usual, facts = usual_operation(path, body)
        return (found or usual), (facts if found in (None, usual) else {})


def upstream_of(address: str) -> str:
    """An address as it is used, without a slash at its end.

    Raises:
        ValueError: it is not an address of HTTP, or has more than host, port and path.
    """
    try:
        parts = urlsplit(address)
        plain = parts.scheme in ("http", "https") and parts.hostname and (parts.port or True)
    except ValueError:
        plain = False
    if not plain:
        raise ValueError("provider.proxy: the address must be that of a server, as in https://api.example.com")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("provider.proxy: the address may have a host, a port and a path, and nothing else")
    return address.rstrip("/")


def proxy_of(address: str) -> str | None:
    """The proxy of the environment before an address; None without one.

    aiohttp would look for it in each request, in a thread, and add the credentials of a `.netrc` to it.
    """
    parts = urlsplit(address)
    return None if proxy_bypass(parts.hostname or "") else getproxies().get(parts.scheme)


class ProxyServer:
    """Forwards every request to an upstream, on a free port of the loopback address, below a random path.

    The path keeps out web pages and other users of the machine: the requests carry the adapter's credentials.

    Attributes:
        url: the address, without a slash at its end; there once it is started.
    """

    url: str

    def __init__(self, upstream: Upstream, probe: Planned) -> None:
        self._upstream, self._probe = upstream, probe
        self._token = secrets.token_urlsafe(12)

    async def start(self) -> None:
        """Listen on a free port."""
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=timeout,
            auto_decompress=False,
            proxy=proxy_of(self._upstream.address),
            max_line_size=LONGEST_LINE,
            max_field_size=LONGEST_LINE,
        )
        server = web.Server(
            self._serve, handler_cancellation=True, auto_decompress=False, access_log=None, logger=_SILENT
        )
        self._runner = web.ServerRunner(server, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, HOST, 0)
        await site.start()
        self.url = f"http://{HOST}:{self._runner.addresses[0][1]}/{self._token}"

    async def aclose(self) -> None:
        """End every connection."""
        await self._runner.cleanup()
        await self._session.close()

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        token, _, target = request.raw_path.removeprefix("/").partition("/")
        if not secrets.compare_digest(token.partition("?")[0].encode(), self._token.encode()):
            return web.Response(status=404)
        return await _Visit(self._upstream, self._probe, self._session, request, target).carry_out()


class _Visit:
    """One request that passes through."""

    def __init__(
        self, upstream: Upstream, probe: Planned, session: aiohttp.ClientSession, request: web.BaseRequest, target: str
    ) -> None:
        self._upstream, self._probe, self._session = upstream, probe, session
        self._request, self._target, self._client = request, target, ProxyClient(request)
        self._path = target.partition("?")[0]
        self._endpoint = next((each for (_, form), each in ENDPOINTS.items() if self._is_at(form)), None)
        self._errors = upstream.errors or (self._endpoint.errors if self._endpoint else UNKNOWN)

    def _is_at(self, form: str) -> bool:
        """True if the request is for a built-in endpoint, whatever the upstream has before `chat/completions`."""
        return self._path == form or self._path.endswith(form.partition("/")[2])

    async def carry_out(self) -> web.StreamResponse:
        """Count it, and forward it or fail."""
        data = await self._read()
        if data is None:
            return web.Response(status=413)
        body, flaw = read_exactly(data) if data else (None, None)
        self._body = {} if flaw is not None or not isinstance(body, dict) else body
        op, facts = self._upstream.operation(self._request.method, self._path, self._body)
        self._op = op or self._probe.attribution.operation or "(unknown)"
        plan = self._probe.arrived(self._op, **facts, **context_of(_lower(self._request.headers)))
        await _wait(plan)
        if plan is None or plan.kind == "slow":
            return await self._forward(data)
        canned = self._canned() if plan.form == "in_answer" else None
        if canned is not None:
            await self._answer_filtered(canned)
        else:
            await fail(plan, self._errors, self._client)
        return self._client.response

    async def _read(self) -> bytes | None:
        """The body of the request; None if it is too large."""
        parts, size = [], 0
        async for part in self._request.content.iter_any():
            parts.append(part)
            size += len(part)
            if size > MAX_REQUEST_BYTES:
                return None
        return b"".join(parts)

    def _canned(self) -> Endpoint | None:
        """The stand-in for this path, if its answers can be filtered."""
        return self._endpoint if self._endpoint is not None and self._endpoint.filters else None

    async def _answer_filtered(self, endpoint: Endpoint) -> None:
        try:
            events = endpoint.events(self._body, True)
            answer = endpoint.answer(self._body, True) if events is None else {}
        except (Refusal, AttributeError, LookupError, TypeError, ValueError):
            events, answer = None, {}
        if events is None:
            await self._client.answer(200, answer, endpoint.errors.headers)
            return
        await self._client.begin(endpoint.errors.headers)
        await self._client.send(b"".join([events.opening, *events.chunks, events.closing]))
        await self._client.end()

    async def _forward(self, data: bytes) -> web.StreamResponse:
        headers = handed_on(self._request.headers)
        if self._body.get("stream"):
            headers["Accept-Encoding"] = "identity"  # events that are compressed cannot be told apart
        url = URL(f"{self._upstream.address}/{self._target}" if self._target else self._upstream.address, encoded=True)
        recording, exchange = self._probe.recording, None
        if recording is not None:
            note = self._probe.mistakes.noting()
            headers["Accept-Encoding"] = "identity"  # what is compressed cannot be searched for credentials
            try:
                exchange = recording.exchange(self._request.method, str(url), self._request.headers, data)
            except MissingAnswer as missing:
                note(missing)
                await self._client.answer(400, self._errors.body(Trouble("invalid_request", "not recorded")))
                return self._client.response
            if exchange.kept is not None:
                unknown = partial(_note_unknown, note, exchange)
                await self._hand_on(Replayed(exchange.kept, unknown, is_instant=recording.is_instant))
                return self._client.response
        try:
            await self._ask(url, headers, data, exchange)
        finally:
            if exchange is not None:
                exchange.keep()
        return self._client.response

    async def _ask(self, url: URL, headers: CIMultiDict[str], data: bytes, exchange: ProviderExchange | None) -> None:
        """Send a request to the provider, and hand its answer on."""
        try:
            answer = await self._session.request(
                self._request.method,
                url,
                headers=headers,
                data=data or None,
                allow_redirects=False,
                skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
            )
        except (aiohttp.ClientError, OSError, TimeoutError):
            await self._client.answer(502, {"error": {"message": "the upstream cannot be reached"}})
            return
        async with answer:
            await self._hand_on(Forwarded(answer, exchange))

    async def _hand_on(self, answer: ProviderAnswer) -> None:
        """Hand an answer on as it comes; it may be cut off."""
        try:
            await answer.begin()
            await self._client.open(answer.status, answer.reason, handed_on(answer.headers))
            await self._pass(answer)
        except (aiohttp.ClientError, OSError):
            self._client.reset()

    async def _pass(self, answer: ProviderAnswer) -> None:
        content_type = answer.headers.get("Content-Type", "").lower()
        separator = next((found for kind, found in _SEPARATORS.items() if kind in content_type), None)
        if separator is None or "Content-Encoding" in answer.headers:
            async for part in answer:
                await self._client.send(part)
        elif await self._pass_events(answer, separator):
            return
        await self._client.end()

    async def _pass_events(self, answer: ProviderAnswer, separator: re.Pattern[bytes]) -> bool:
        """Hand events on as they come; True if a planned fault ended the stream.

        While a fault is planned within the stream, an event waits until it is whole.
        """
        waiting, sent, number = b"", 0, 0
        async for part in answer:
            waiting += part
            while found := separator.search(waiting):
                one, waiting = waiting[: found.end()], waiting[found.end() :]
                if _has_content(one):
                    plan, number = self._probe.arrived(self._op, chunk=number), number + 1
                    if plan is not None and await self._strike(plan):
                        return True
                await self._client.send(one[sent:])
                sent = 0
            if not any(plan.at_chunk is not None and plan.fired < plan.times for plan in self._probe.plans):
                await self._client.send(waiting[sent:])
                sent = len(waiting)
        await self._client.send(waiting[sent:])
        return False

    async def _strike(self, plan: Plan) -> bool:
        await _wait(plan)
        if plan.form == "in_answer" and (canned := self._canned()) is not None:
            with contextlib.suppress(Refusal, AttributeError, LookupError, TypeError, ValueError):
                filtered = canned.events(self._body, True)
                await self._client.send(filtered.closing if filtered else b"")
                await self._client.end()
                return True
        if plan.kind == "slow" or not has_a_form_in_streams(plan, self._errors):
            return False
        await break_off(plan, self._errors, self._client)
        if not self._client.keeps_open:
            self._client.cut()
        return True


def _note_unknown(note: Callable[[BaseException], None], exchange: ProviderExchange) -> None:
    note(exchange.unknown())


async def _wait(plan: Plan | None) -> None:
    """Wait for a provider that is slow, or hangs; aiohttp cancels it if the client goes away."""
    if plan is not None and (plan.delay_ms or plan.kind == "hang"):
        await plan.wait()


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _has_content(event: bytes) -> bool:
    """True if an event holds a part of the answer; what opens and closes a stream does not."""
    lines = event.strip().splitlines()
    data = b"".join(line.removeprefix(b"data:") for line in lines if line.startswith((b"data:", b"{", b"[")))
    value, flaw = read_exactly(data) if data.strip() else (None, None)
    return flaw is None and any(_contents(value))


def _contents(value: Any, key: str = "") -> Iterator[bool]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _contents(item, str(name))
    elif isinstance(value, list):
        yield key == "embedding" and bool(value)
        for item in value:
            yield from _contents(item, key)
    else:
        yield isinstance(value, str) and value != "" and key in _CONTENT
