"""An adapter of the Corpus Protocol v1.0 for the models of Ollama, over its own HTTP API."""

import os
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import aiohttp
from corpus_wire import Metrics, Proxies

from .adapter import Adapter
from .provider import Provider

__all__ = ["Adapter", "Provider", "factory"]

PORT = 11434
LONGEST_LINE = 2**20


async def factory(metrics: Metrics | None = None, provider: Proxies | None = None) -> AsyncIterator[Adapter]:
    """Yield the adapter for `pytest --corpus-adapter=llm_ollama:factory`, then close the client.

    `OLLAMA_HOST` names the server, whose models are read once. In a conformance run `metrics` records the observations,
    and `provider` stands between the client and the server, where it makes requests fail as planned; in production
    pass your own metrics and no `provider`.
    """
    base = address_of(os.environ.get("OLLAMA_HOST", ""))
    async with aiohttp.ClientSession(read_bufsize=LONGEST_LINE) as session:
        ollama = Provider(session, provider.proxy(base) if provider else base)
        await ollama.load()
        yield Adapter(ollama, metrics)


def address_of(host: str) -> str:
    """The address of a server that is named as for Ollama's own client, with or without scheme and port."""
    parts = urlsplit(host if "://" in host else f"http://{host or '127.0.0.1'}")
    port = parts.port or {"https": 443}.get(parts.scheme, PORT if "://" not in host else 80)
    name = parts.hostname or "127.0.0.1"
    return f"{parts.scheme}://{f'[{name}]' if ':' in name else name}:{port}{parts.path.rstrip('/')}"
