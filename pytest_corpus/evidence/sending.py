"""Opens a Python adapter outside of a test run. Scripts that repeat recorded requests import this module."""

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

from pytest_corpus.adapter.exceptions import DeclarationError
from pytest_corpus.adapter.hooks.metrics import RecordingSink
from pytest_corpus.adapter.hooks.provider import ProviderProbe
from pytest_corpus.adapter.opening.factory import OpenedAdapter, accepted_hooks, import_factory, open_factory
from pytest_corpus.adapter.transports.protocol import CallFailed

Send = Callable[..., AsyncIterator[str]]


@asynccontextmanager
async def open_adapter(declared: str, component: str) -> AsyncIterator[Send]:
    """Open the adapter of `module:factory` as the suite does, but without planned faults, and close it afterwards.

    The result is `send(request, streaming=False)`, which yields frames as JSON texts; an exception of the adapter goes
    to stderr. If the factory cannot be found or called, the process ends with one sentence.
    """
    metrics, provider, opened = RecordingSink(), ProviderProbe(), OpenedAdapter()
    hooks = {"metrics": metrics, "provider": provider, "component": component}
    try:
        factory = import_factory(declared)
        keywords = {name: hooks[name] for name in accepted_hooks(factory, declared)}
        await open_factory(factory, keywords, metrics, declared, opened)
        transport = opened.transport(component)

        async def send(request: Any, *, streaming: bool = False) -> AsyncIterator[str]:
            try:
                if not streaming:
                    yield (await transport.send(request)).decode()
                    return
                async with aclosing(transport.stream(request)) as frames:
                    async for frame in frames:
                        yield frame.decode()
            except CallFailed as failed:
                raised = failed.fault.raised
                sys.stderr.write(f"the adapter failed: {failed.fault}{f': {raised.message}' if raised else ''}\n")

        yield send
    except DeclarationError as error:
        raise SystemExit(str(error)) from None
    finally:
        for said in await opened.close():
            sys.stderr.write(f"closing the adapter raised {said}\n")
        provider.close()
