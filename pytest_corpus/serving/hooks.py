"""The hooks of a served adapter, whose reports go to the address that the request at hand names."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any

from pytest_corpus.adapter.hooks.provider import ProviderFault
from pytest_corpus.serving.hook_client import HookClient
from pytest_corpus.spec.transports import PROVIDER_PATH, PROVIDER_VARIABLE

_REQUEST: ContextVar[Reports | None] = ContextVar("corpus_request", default=None)


class Reports:
    """The reports of one request, posted in order before its answer leaves, or at once after that."""

    def __init__(self, url: str, posting: HookClient) -> None:
        self.url, self._posting = url, posting
        self._loop = asyncio.get_running_loop()
        self._kept: list[tuple[str, bytes]] = []
        self._turn = asyncio.Lock()
        self._over = False
        self._late: set[asyncio.Task[None]] = set()

    def add(self, path: str, report: Mapping[str, Any]) -> None:
        """Note a report, from any thread."""
        self._kept.append((path, json.dumps(report, default=str).encode()))
        if self._over:
            self._loop.call_soon_threadsafe(self._post_late)

    def _post_late(self) -> None:
        task = self._loop.create_task(self.flush())
        self._late.add(task)
        task.add_done_callback(self._late.discard)

    async def flush(self) -> None:
        """Post the noted reports; a hook that does not answer delays no answer."""
        if not self._kept and not self._turn.locked():
            return
        async with self._turn:
            while self._kept:
                path, body = self._kept.pop(0)
                try:
                    await self._posting.post(self.url, path, body)
                except (OSError, ValueError, EOFError):
                    continue

    async def end(self) -> None:
        """Post the rest; later reports are posted at once."""
        self._over = True
        await self.flush()

    async def reached(self, facts: Mapping[str, Any]) -> None:
        """Report that the provider would be called now.

        Raises:
            ProviderFault, RuntimeError: what the provider answers.
        """
        await self.flush()
        try:
            answer = json.loads(await self._posting.post(self.url, "provider/reached", json.dumps(facts).encode()))
        except (OSError, ValueError, EOFError):
            return
        fault = answer.get("fault") if isinstance(answer, Mapping) else None
        if not isinstance(fault, Mapping):
            return
        if not isinstance(fault.get("http_status"), int):
            raise RuntimeError(str(fault.get("message")))
        raise ProviderFault(
            str(fault.get("kind")), fault["http_status"], fault.get("retry_after_ms"), str(fault.get("message"))
        )


class RequestMetrics:
    """A `MetricsSink` (SPECIFICATION 6.4) that reports to the request at hand."""

    def observe(
        self, *, component: str, op: str, ms: float, ok: bool, code: str = "OK", extra: Mapping[str, Any] | None = None
    ) -> None:
        """Report an operation."""
        _add(
            "metrics/observe",
            {"component": component, "op": op, "ms": ms, "ok": ok, "code": code, "extra": dict(extra or {})},
        )

    def counter(self, *, component: str, name: str, value: int = 1, extra: Mapping[str, Any] | None = None) -> None:
        """Report a count."""
        _add("metrics/counter", {"component": component, "name": name, "value": value, "extra": dict(extra or {})})


class RequestProvider:
    """Replaces the provider, and does what the hooks of the request at hand say."""

    async def reached(self, op: str, **facts: Any) -> None:
        """The provider would be called.

        Raises:
            ProviderFault, RuntimeError: it fails, as is planned.
        """
        if (reports := _REQUEST.get()) is not None:
            await reports.reached({"op": op, **facts})

    @property
    def url(self) -> str:
        """The address of a provider for the clients of vendors: that of the request at hand, or of the program.

        Raises:
            LookupError: there is no request, and the environment names none.
        """
        if (reports := _REQUEST.get()) is not None:
            return f"{reports.url}/{PROVIDER_PATH}"
        if not (url := os.environ.get(PROVIDER_VARIABLE)):
            raise LookupError(
                f"provider.url is known only while a request is handled, or where {PROVIDER_VARIABLE} names it; "
                "ask for it in the call, or serve with --stdio"
            )
        return url


def _add(path: str, report: Mapping[str, Any]) -> None:
    if (reports := _REQUEST.get()) is not None:
        reports.add(path, report)


@asynccontextmanager
async def reporting(url: str, posting: HookClient) -> AsyncIterator[Reports | None]:
    """Send the reports of the adapter to the hooks at `url` within the context; to no hooks if that is empty."""
    # It is not set back: whoever handles a request begins with this, and a stream may be closed in another context.
    reports = Reports(url, posting) if url else None
    _REQUEST.set(reports)
    try:
        yield reports
    finally:
        if reports is not None:
            await reports.end()
