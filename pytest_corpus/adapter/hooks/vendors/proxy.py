"""A proxy before a real provider. A planned fault happens on the wire, and its request is not forwarded."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from pytest_corpus.adapter.exceptions import MissingAnswer
from pytest_corpus.adapter.hooks.http_server import HookConnection, HookRequest, LoopbackServer
from pytest_corpus.adapter.hooks.vendors.api import ENDPOINTS, UNKNOWN
from pytest_corpus.adapter.hooks.vendors.endpoint import Errors, Trouble, embedding_arrival
from pytest_corpus.adapter.hooks.vendors.provider_answers import (
    FullyRecordedAnswer,
    LiveAnswer,
    ProviderAnswer,
    ReplayedAnswer,
    headers_to_pass_on,
)
from pytest_corpus.adapter.hooks.vendors.recording import ProviderExchange, Recording
from pytest_corpus.adapter.hooks.vendors.shapes import error_shape_of_path
from pytest_corpus.adapter.hooks.vendors.visit import AnswerInParts, AnswerPart, Visit, context_of, json_answer
from pytest_corpus.text.strict_json import read_exactly

if TYPE_CHECKING:
    from pytest_corpus.adapter.fault_plan import Plan
from pytest_corpus.adapter.scope import Attribution

OpOf = Callable[[str, str, Any], "str | None"]
"""A function of method, path and JSON body that returns the operation of a request, or None if it is unknown."""

MAX_REQUEST_BYTES = 64 * 2**20
CONNECT_S = 30.0
LISTENING_S = 1.5
"""The longest time, after the last call, to wait for the end of answers that are being recorded."""

UNREACHABLE = {"error": {"message": "the upstream cannot be reached"}}
STATELESS = ("llm.", "embedding.", "models.")
"""If the name of an operation begins with one of these texts, its answers do not depend on earlier requests."""

LONGEST_LINE = 64 * 2**10

_PATHS: Mapping[str, str] = {
    r"(chat/completions|responses|messages|/chat|generate|completions)$": "llm.complete",
    r":generateContent$": "llm.complete",
    r":streamGenerateContent$": "llm.stream",
    r"(embeddings|embed|:embedContent|:batchEmbedContents)$": "embedding.embed",
    r"(tokenize|count_tokens|input_tokens|:countTokens)$": "llm.count_tokens",
    r"(models|api/tags)$": "models.list",
}
"""Maps regular expressions for usual paths to operations. A completion may also be a stream."""

_LINE = re.compile(rb"\n")
_SEPARATORS = {"text/event-stream": re.compile(rb"\r?\n\r?\n|\r\r"), "ndjson": _LINE, "jsonl": _LINE}
"""Maps a part of a content type to the pattern that ends an event of such a stream."""

_CONTENT = frozenset(("content", "text", "delta", "response", "arguments", "partial_json", "thinking", "embedding"))
"""The keys below which an event of a stream has content, in the APIs of most vendors."""


def usual_operation(path: str, body: Any) -> tuple[str | None, dict[str, Any]]:
    """Return the operation of a request, and the number of its items. If the path is unknown, the operation is None."""
    op = next((op for pattern, op in _PATHS.items() if re.search(pattern, f"/{path}")), None)
    given = body if isinstance(body, Mapping) else {}
    if op == "llm.complete":
        streams = given.get("stream", path.endswith(("api/chat", "api/generate")))  # Ollama streams by default
        return ("llm.stream" if streams else op), {}
    if op == "embedding.embed":
        found = next((given[key] for key in ("input", "texts", "inputs", "requests") if key in given), None)
        return embedding_arrival(found if isinstance(found, list) else [found])
    return op, {}


class MistakeLog(Protocol):
    """Keeps the mistakes of the adapter's author; `Mistakes` implements it."""

    def mistake_recorder(self) -> Callable[[BaseException], None]:
        """Return a recorder of mistakes in the answer to one request. Call this method when the request arrives."""


class ProxyProbe(Protocol):
    """The part of a `ProviderProbe` that a proxy uses. Without a recording, every request is forwarded."""

    attribution: Attribution
    recording: Recording | None

    @property
    def mistakes(self) -> MistakeLog: ...

    @property
    def plans(self) -> list[Plan]: ...

    def count_arrival(self, op: str, **facts: Any) -> Plan | None:
        """Count a request or a chunk that reached the provider, and return its plan."""


@dataclass(frozen=True, slots=True)
class Upstream:
    """A real provider: its address, the form of its errors if known, and a function for the operations of requests."""

    address: str
    errors: Errors | None = None
    op: OpOf | None = None

    def operation(self, method: str, path: str, body: Any) -> tuple[str | None, dict[str, Any]]:
        """Return the operation of a request, and other facts about the request."""
        found = self.op(method, path, body) if self.op else None
        usual, facts = usual_operation(path, body)
        return (found or usual), (facts if found in (None, usual) else {})


def check_upstream_address(address: str) -> str:
    """Check the address of a provider, and return it without a slash at its end.

    Raises:
        ValueError: the address is not an address of HTTP, or has more than host, port and path.
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


def environment_proxy(address: str) -> str | None:
    """Return the proxy that the environment sets for an address; None without a proxy.

    aiohttp would look for the proxy at each request, in a thread, and add the credentials of a `.netrc`.
    """
    parts = urlsplit(address)
    return None if proxy_bypass(parts.hostname or "") else getproxies().get(parts.scheme)


class ProxyServer(LoopbackServer):
    """Forwards every request to a real provider, the upstream.

    The requests carry the adapter's credentials, so a random path keeps out web pages and other users of the machine.

    Attributes:
        session: the connections to the upstream; available after the start.
    """

    most_bytes = MAX_REQUEST_BYTES
    session: aiohttp.ClientSession

    def __init__(self, upstream: Upstream, probe: ProxyProbe) -> None:
        super().__init__()
        self.upstream, self.probe = upstream, probe
        self._listening: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Listen on a free port."""
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S)
        self.session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=timeout,
            auto_decompress=False,
            proxy=environment_proxy(self.upstream.address),
            max_line_size=LONGEST_LINE,
            max_field_size=LONGEST_LINE,
        )
        await super().start()

    async def aclose(self) -> None:
        """End every connection."""
        if self._listening:
            await asyncio.wait(self._listening, timeout=LISTENING_S)
        for task in list(self._listening):
            task.cancel()
        await asyncio.gather(*self._listening, return_exceptions=True)
        await super().aclose()
        await self.session.close()

    async def respond(self, request: HookRequest, _path: list[str], connection: HookConnection) -> None:
        """Forward a request; stop if its client no longer waits for the answer."""
        target = request.target.removeprefix("/").partition("/")[2]
        await connection.run_while_open(_Request(self, request, target).carry_out(connection))

    def finish_later(self, listening: Coroutine[Any, Any, None]) -> None:
        """Record the rest of an answer in the background. The server ends only after the recording is complete."""
        task = asyncio.ensure_future(listening)
        self._listening.add(task)
        task.add_done_callback(self._listening.discard)


class _Request:
    """One request that passes through the proxy."""

    def __init__(self, server: ProxyServer, request: HookRequest, target: str) -> None:
        self._upstream, self._probe, self._proxy = server.upstream, server.probe, server
        self._request, self._target = request, target
        self._path = target.partition("?")[0]
        known = error_shape_of_path(self._path)
        self._endpoint = next((each for (_, form), each in ENDPOINTS.items() if not known and self._is_at(form)), None)
        self._errors = self._upstream.errors or known or (self._endpoint.errors if self._endpoint else UNKNOWN)

    def _is_at(self, form: str) -> bool:
        """True if the path of the request ends like the path of a built-in endpoint."""
        return self._path == form or self._path.endswith(form.partition("/")[2])

    async def carry_out(self, client: HookConnection) -> None:
        """Count the request, and forward it or fail as planned."""
        data = self._request.body
        body, flaw = read_exactly(data) if data else (None, None)
        self._body = {} if flaw is not None or not isinstance(body, dict) else body
        op, facts = self._upstream.operation(self._request.method, self._path, self._body)
        visit = Visit(client, self._probe.count_arrival, self._errors, self._body, self._endpoint)
        op = op or self._probe.attribution.operation or "(unknown)"
        self._is_stateless = op.startswith(STATELESS)
        facts |= context_of(self._request.headers)
        try:
            await visit.carry_out(op, facts, partial(self._answer, data))
        except (aiohttp.ClientError, OSError):
            client.reset()

    @contextlib.asynccontextmanager
    async def _answer(self, data: bytes) -> AsyncIterator[AnswerInParts]:
        """Return the answer of the provider, live or from the recording."""
        headers = headers_to_pass_on(CIMultiDict(self._request.fields))
        if self._body.get("stream"):
            headers["Accept-Encoding"] = "identity"  # events that are compressed cannot be told apart
        url = URL(f"{self._upstream.address}/{self._target}" if self._target else self._upstream.address, encoded=True)
        recording, exchange = self._probe.recording, None
        if recording is not None:
            note = self._probe.mistakes.mistake_recorder()
            headers["Accept-Encoding"] = "identity"  # what is compressed cannot be searched for credentials
            try:
                exchange = recording.exchange(
                    self._request.method, str(url), self._request.headers, data, is_stateless=self._is_stateless
                )
            except MissingAnswer as missing:
                note(missing)
                yield json_answer(400, self._errors.body(Trouble("invalid_request", "not recorded")))
                return
            if exchange.kept is not None:
                unknown = partial(_note_unknown, note, exchange)
                yield await self._begin_answer(ReplayedAnswer(exchange.kept, unknown, is_instant=recording.is_instant))
                return
        ask = partial(self._ask, url, headers, data)
        if exchange is not None:
            overheard = FullyRecordedAnswer(ask, exchange)
            self._proxy.finish_later(overheard.listen())
            try:
                begun = await self._begin_answer(overheard)
            except (aiohttp.ClientError, OSError, TimeoutError):
                begun = json_answer(502, UNREACHABLE)
            yield begun
            return
        try:
            answer = await ask()
        except (aiohttp.ClientError, OSError, TimeoutError):
            yield json_answer(502, UNREACHABLE)
            return
        async with answer:
            yield await self._begin_answer(LiveAnswer(answer, None))

    async def _ask(self, url: URL, headers: CIMultiDict[str], data: bytes) -> aiohttp.ClientResponse:
        """Send a request to the provider."""
        return await self._proxy.session.request(
            self._request.method,
            url,
            headers=headers,
            data=data or None,
            allow_redirects=False,
            skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
        )

    async def _begin_answer(self, answer: ProviderAnswer) -> AnswerInParts:
        """Return an answer that has begun, in parts. A stream with known separators is split into events."""
        await answer.begin()
        content_type = answer.headers.get("Content-Type", "").lower()
        separator = next((found for kind, found in _SEPARATORS.items() if kind in content_type), None)
        if "Content-Encoding" in answer.headers:
            separator = None
        return AnswerInParts(
            answer.status, answer.reason, headers_to_pass_on(answer.headers), self._parts(answer, separator)
        )

    async def _parts(self, answer: ProviderAnswer, separator: re.Pattern[bytes] | None) -> AsyncIterator[AnswerPart]:
        """Yield the parts of an answer as they arrive.

        While a fault is planned within the stream, each event is held back until it is complete.
        """
        waiting, sent = b"", 0
        async for part in answer:
            if separator is None:
                yield AnswerPart(part)
                continue
            waiting += part
            while found := separator.search(waiting):
                one, waiting = waiting[: found.end()], waiting[found.end() :]
                yield AnswerPart(one[sent:], _has_content(one))
                sent = 0
            if not any(plan.at_chunk is not None and plan.fired < plan.times for plan in self._probe.plans):
                yield AnswerPart(waiting[sent:])
                sent = len(waiting)
        yield AnswerPart(waiting[sent:])


def _note_unknown(note: Callable[[BaseException], None], exchange: ProviderExchange) -> None:
    note(exchange.missing_answer_error())


def _has_content(event: bytes) -> bool:
    """True if an event of a stream holds content of the answer, instead of only opening or closing the stream."""
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
