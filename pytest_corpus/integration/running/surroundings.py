"""Parts of the process that fixtures and plugins may replace and that tests need: clocks, random numbers, sockets."""

import asyncio
import os
import random
import socket
import sys
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from pytest_corpus.adapter.exchange import Exchange, context_of
from pytest_corpus.adapter.inputs import Clock
from pytest_corpus.integration.running.evidence import Sighting
from pytest_corpus.redaction import secret_values

SHORT_S = 0.002
"""The seconds after which a clock must have moved on."""


def _moves(clock: Callable[[], Any]) -> bool:
    before, until = clock(), Clock.monotonic() + SHORT_S
    while Clock.monotonic() < until:
        pass
    return bool(clock() > before)


def _waits(sleep: Callable[[float], Any]) -> bool:
    for _ in range(3):  # something else may take time once
        started = Clock.monotonic()
        sleep(2 * SHORT_S)
        if Clock.monotonic() - started < SHORT_S:
            return False
    return True


def _waits_in_a_loop(sleep: Callable[[float], Any]) -> bool:
    loop = asyncio.new_event_loop()
    try:
        return _waits(lambda seconds: loop.run_until_complete(sleep(seconds)))
    finally:
        loop.close()


def _varies(*arguments: Any) -> Callable[[Callable[..., Any]], bool]:
    return lambda function: len({str(function(*arguments)) for _ in range(8)}) > 1


@dataclass(frozen=True, slots=True)
class Function:
    """A Python function that the adapter and the suite need, with a check that a replacement behaves alike."""

    module: ModuleType
    name: str
    works: Callable[[Callable[..., Any]], bool]
    original: Any

    @property
    def is_replaced(self) -> bool:
        """True if the function was replaced."""
        return getattr(self.module, self.name, None) is not self.original

    @property
    def is_broken(self) -> bool:
        """True if the function was replaced by one that behaves differently."""
        if not self.is_replaced:
            return False
        try:
            return not self.works(getattr(self.module, self.name))
        except Exception:  # noqa: BLE001 - the replacement of a stranger
            return True


def _functions(module: ModuleType, works: Callable[..., bool], *names: str) -> tuple[Function, ...]:
    return tuple(Function(module, name, works, getattr(module, name)) for name in names)


CLOCKS = _functions(time, _moves, "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "time", "time_ns")

FUNCTIONS = (
    *CLOCKS,
    *_functions(time, _waits, "sleep"),
    *_functions(asyncio, _waits_in_a_loop, "sleep"),
    *_functions(random, _varies(), "random"),
    *_functions(random, _varies(0, 1 << 30), "randint"),
    *_functions(random, _varies(range(1 << 30)), "choice"),
    *_functions(uuid, _varies(), "uuid1", "uuid4"),
    *_functions(os, _varies(8), "urandom"),
)

OF_TIME = frozenset(
    {"COM-ENV-3", "COM-ENV-6", "COM-ENV-7", "COM-ERR-9", "COM-ERR-22", "COM-STREAM-4", "COM-STREAM-10", "COM-STREAM-11",
     "COM-OBS-7", "COM-OBS-10", "COM-OBS-17", "COM-OBS-19", "COM-DEADLINE-8", "COM-FAULT-8", "COM-FAULT-10",
     "COM-FAULT-14", "COM-IDEM-6", "GRA-QUERY-19", "WIR-CTX-2", "TRA-CALL-5"}
)  # fmt: skip
"""The requirements, besides those of deadlines, that compare a time of the adapter with a time of the suite."""

CHANGED = "a plugin changed the parameters of tests (--corpus-repeat=N repeats them)"
FORKED = "a plugin (--forked) ran each test in a process of its own, in which the adapter does not live; run without it"


class Surroundings:
    """The process in which the adapters were opened; it is compared with the process state during a test."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._process, self._environment, self._variables = os.getpid(), environment, dict(environment)
        self._socket, self._connect = socket.socket, socket.socket.connect

    def obstacle(self) -> str:
        """The reason why no test can be judged in this process; empty if there is none."""
        if os.getpid() != self._process:
            return FORKED
        return _name_functions(each for each in FUNCTIONS if each.is_broken)

    def excuse(self, sighting: Sighting) -> str:
        """The reason why the process may have caused a violation; empty if it cannot.

        A replaced clock that advances may still differ from a clock that the adapter stored. This explains wrong times
        and failed calls. Sockets and variables only explain failed calls.
        """
        replaced = [each for each in FUNCTIONS if each.is_replaced]
        exchanges = sighting.violation.exchanges
        failed = any(map(_has_failed, exchanges))
        of_time = sighting.requirement in OF_TIME or any(map(_has_deadline, exchanges))
        if any(each not in CLOCKS for each in replaced) or (replaced and (failed or of_time)):
            return _name_functions(replaced)
        if not failed:
            return ""
        if socket.socket is not self._socket or socket.socket.connect is not self._connect:
            by = " by pytest-socket" if "pytest_socket" in sys.modules else ""
            return f"sockets were blocked{by} while tests ran; allow the hosts that the adapter needs (--allow-hosts)"
        lost = set(secret_values(self._variables)) - set(secret_values(os.environ))
        gone = [name for name, value in self._variables.items() if value in lost]
        if os.environ is not self._environment or gone:
            what = ", ".join(sorted(gone)[:3]) or "other variables"
            said = f"a fixture or a plugin changed os.environ ({what}) while tests ran"
            return f"{said}; keep it away from the suite's tests"
        return ""


def _name_functions(functions: Iterable[Function]) -> str:
    names = ", ".join(f"{each.module.__name__}.{each.name}" for each in functions)
    return (
        f"a fixture or a plugin replaced {names} while tests ran; keep it away from the suite's tests" if names else ""
    )


def _has_deadline(exchange: Exchange) -> bool:
    return "deadline_ms" in (context_of(exchange.request) or ())


def _has_failed(exchange: Exchange) -> bool:
    last = exchange.frames[-1].body if exchange.frames else None
    return exchange.fault is not None or (isinstance(last, dict) and last.get("error") is not None)
