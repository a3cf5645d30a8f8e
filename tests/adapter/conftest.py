"""Fixtures of the tests of the adapter layer, which knows no pytest."""

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pytest_corpus.adapter.client import AdapterClient, Declaration
from pytest_corpus.adapter.event_loop.loop import LoopThread


@pytest.fixture(autouse=True)
def asyncio_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks that another test left in a blocked loop are collected at any moment, and asyncio logs that."""
    monkeypatch.setattr(logging.getLogger("asyncio"), "disabled", True)


@pytest.fixture
def loop() -> Iterator[LoopThread]:
    """A running loop."""
    thread = LoopThread("test")
    yield thread
    thread.stop()


@pytest.fixture
def opened() -> Iterator[Callable[..., AdapterClient]]:
    """Opens a factory in a client, which is closed in the end."""
    clients: list[AdapterClient] = []

    def open_it(factory: Callable[..., Any], timeout: float = 5.0, *components: str) -> AdapterClient:
        client = AdapterClient(Declaration("test", factory, "tests:factory"), timeout)
        clients.append(client)
        return client.open(components or ("llm",))

    yield open_it
    for client in clients:
        client.close()
