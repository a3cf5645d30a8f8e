"""The hooks over the wire: a server on a loopback address, for adapters outside this process (R86).

A post to ``metrics/observe``, ``metrics/counter`` or ``provider/reached`` becomes the same call that an adapter in this
process makes, on the same sink and the same probe. The endpoints of vendors are served below ``provider``, for adapters
that are built on their clients.
"""

from collections import deque
from typing import Any

from pytest_corpus.adapter.hooks.http_server import Connection, HookRequest, LoopbackServer
from pytest_corpus.adapter.hooks.metrics import RecordingSink
from pytest_corpus.adapter.hooks.provider import ProviderFault, ProviderProbe
from pytest_corpus.adapter.hooks.vendors.api import serve, unplanned
from pytest_corpus.text.strict_json import read_exactly

MAX_REPORTS = 1_000

PLACES = ("metrics", "provider")
HOOKS = ("metrics/observe", "metrics/counter", "provider/reached")
VENDORS = "provider/v"
"""The paths of vendors' endpoints begin with a version."""


class HookServer(LoopbackServer):
    """Serves the hooks of one adapter, in the event loop in which it was started.

    Each call has its own address, so that a report can be assigned to its call even if several run concurrently. An
    observation or a counter for a call before the current turn is kept: it comes late. An arrival at the provider is
    answered and dropped: a plan would strike another call. `url` is right for every call as long as only one is under
    way.

    Attributes:
        called: the hooks, `metrics` and `provider`, that were called at all.
        reports: the latest reports, each with the call that its address belongs to.
        given_up: the number of times that an adapter closed a connection while it waited for the provider.
    """

    def __init__(self, metrics: RecordingSink, provider: ProviderProbe) -> None:
        super().__init__()
        self._metrics, self._provider = metrics, provider
        self.called: set[str] = set()
        self.reports: deque[tuple[str, str, Any]] = deque(maxlen=MAX_REPORTS)
        self._turn, self._number = 1, 0
        self.given_up = 0

    def turn(self) -> int:
        """Count from now on only calls that are still to begin as reaching the provider; the number of the turn."""
        self._turn += 1
        return self._turn

    def address(self) -> tuple[str, str]:
        """Return the name of a call that begins, and the address for its reports."""
        self._number += 1
        call = f"{self._turn}-{self._number}"
        return call, f"{self.url}/{call}"

    @property
    def nowhere(self) -> str:
        """An address of no call: reports there are answered and dropped."""
        return f"{self.url}/0-0"

    async def respond(self, request: HookRequest, path: list[str], connection: Connection) -> None:
        """Answer a report, or a request of a vendor's client."""
        call = "" if not path or path[0] in PLACES else path.pop(0)
        place = "/".join(path)
        named = call.partition("-")[0]
        turn = int(named) if named.isdecimal() else 0
        is_over = bool(call) and turn != self._turn
        if place.startswith(VENDORS):
            if not is_over:
                self.called.add("provider")
            arrived = unplanned if is_over else self._provider.arrived
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
                self.reports.append((call, place, value))
            self._metrics.turn = turn or None
            is_dropped = is_over and not (path[0] == "metrics" and 0 < turn < self._turn)
            await connection.answer(200, {} if is_dropped else await self._report(place, value, connection))

    async def _report(self, place: str, value: Any, connection: Connection) -> dict[str, Any]:
        named = isinstance(value, dict) and "self" not in value
        if place != "provider/reached":
            report = self._metrics.observe if place == "metrics/observe" else self._metrics.counter
            report(**value) if named else report(value)
            return {}
        facts = {name: each for name, each in value.items() if name != "self"} if isinstance(value, dict) else {}
        try:
            await connection.while_open(self._provider.reached(facts.pop("op", None), **facts))
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
