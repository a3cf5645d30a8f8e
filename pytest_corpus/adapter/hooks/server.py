"""The hooks over the wire: a server on a loopback address, for adapters outside of this process (R86).

A post to ``metrics/observe``, ``metrics/counter`` or ``provider/reached`` calls the same sink or probe that an adapter
in this process would call. Vendors' endpoints are served below ``provider``, for adapters that use their clients.
"""

from collections import deque
from typing import Any

from pytest_corpus.adapter.hooks.http_server import HookConnection, HookRequest, LoopbackServer
from pytest_corpus.adapter.hooks.metrics import RecordingSink
from pytest_corpus.adapter.hooks.provider import ProviderFault, ProviderProbe
from pytest_corpus.adapter.hooks.vendors.api import plan_nothing, serve
from pytest_corpus.adapter.scope import Observed, call_scope, current_call
from pytest_corpus.text.strict_json import read_exactly

MAX_REPORTS = 1_000

PLACES = ("metrics", "provider")
HOOKS = ("metrics/observe", "metrics/counter", "provider/reached")
VENDORS = "provider/v"
"""The paths of vendors' endpoints begin with this text, followed by a version."""


class HookServer(LoopbackServer):
    """Serves the hooks of one adapter in the event loop in which it was started.

    Each call has an address, so a report can be assigned to its call even if several calls run concurrently.
    Observations and counters for earlier calls are late reports. Late arrivals at the provider are answered and
    dropped, because the plans of a later call must not affect them. Reports to `url` name no call.

    Attributes:
        reports: the latest reports, each with the call of its address.
        called: the hooks that the adapter called, here or in another process of the run.
        given_up: the number of connections that an adapter closed while it waited for the provider.
    """

    def __init__(self, metrics: RecordingSink, provider: ProviderProbe) -> None:
        super().__init__()
        self._metrics, self._provider = metrics, provider
        self.called: set[str] = set()
        self.reports: deque[tuple[str, str, Any]] = deque(maxlen=MAX_REPORTS)
        self._calls: dict[str, Observed] = {}
        self._number = 0
        self.given_up = 0

    @property
    def called_hooks(self) -> set[str]:
        """The hooks that were called; a request to a proxy counts as a call of `provider`."""
        is_reached = self._provider.is_proxied and self._provider.calls()
        return self.called | {"provider"} if is_reached else self.called

    def assign_address(self) -> tuple[str, str]:
        """Return the number of the current call, and the address for its reports."""
        self._number += 1
        number = str(self._number)
        if (call := current_call()) is not None:
            self._calls[number] = call
            if len(self._calls) > MAX_REPORTS:
                del self._calls[next(iter(self._calls))]
        return number, f"{self.url}/{number}"

    @property
    def unassigned_url(self) -> str:
        """An address for requests that belong to no call. Reports to it are answered and dropped."""
        return f"{self.url}/0"

    async def respond(self, request: HookRequest, path: list[str], connection: HookConnection) -> None:
        """Answer a report, or a request of a vendor's client."""
        number = "" if not path or path[0] in PLACES else path.pop(0)
        place, call = "/".join(path), self._calls.get(number)
        is_over = bool(number) and (call is None or self._provider.attribution.is_past(call))
        with call_scope(call):
            if place.startswith(VENDORS):
                if not is_over:
                    self.called.add("provider")
                arrived = plan_nothing if is_over else self._provider.count_arrival
                await serve(request, place.removeprefix("provider/"), connection, arrived)
            elif place not in HOOKS:
                await connection.answer(404, {})
            elif request.method != "POST":
                await connection.answer(405, {})
            else:
                value, flaw = read_exactly(request.body)
                if flaw is not None and value is None:
                    await connection.answer(400, {})
                    return
                self.called.add(path[0])
                if not is_over:
                    self.reports.append((number, place, value))
                is_dropped = is_over and (path[0] != "metrics" or call is None)
                await connection.answer(200, {} if is_dropped else await self._record_report(place, value, connection))

    async def _record_report(self, place: str, value: Any, connection: HookConnection) -> dict[str, Any]:
        named = isinstance(value, dict) and "self" not in value
        if place != "provider/reached":
            report = self._metrics.observe if place == "metrics/observe" else self._metrics.counter
            report(**value) if named else report(value)
            return {}
        facts = {name: each for name, each in value.items() if name != "self"} if isinstance(value, dict) else {}
        try:
            await connection.run_while_open(self._provider.reached(facts.pop("op", None), **facts))
        except ConnectionResetError:
            self.given_up += 1
            raise
        except ProviderFault as fault:
            return {"fault": {"kind": fault.kind, "http_status": fault.http_status,
                              "retry_after_ms": fault.retry_after_ms, "message": fault.message}}  # fmt: skip
        except RuntimeError as error:
            message = str(error)
            return {"fault": {"kind": "unexpected", "http_status": None, "retry_after_ms": None, "message": message}}
        return {}
