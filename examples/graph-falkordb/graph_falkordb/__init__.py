"""An adapter of the Corpus Protocol v1.0 for FalkorDB."""

import os
from urllib.parse import urlsplit

from corpus_wire import Metrics, Tunnels

from .adapter import Adapter
from .provider import Provider

__all__ = ["Adapter", "Provider", "factory"]

LACKING = (
    "rate_limited", "quota_exhausted", "overloaded", "auth", "forbidden", "content_filtered", "invalid_request",
    "unexpected", "traceparent", "deadline_ms",
)  # fmt: skip
"""Faults that the server never answers with, and context that it has no place for: our claim, which the attestation shows."""


def factory(metrics: Metrics | None = None, provider: Tunnels | None = None) -> Adapter:
    """Return the adapter for `pytest --corpus-adapter=graph_falkordb:factory`; `FALKORDB_URL` names the server.

    In a conformance run `metrics` records the observations, and `provider` stands between the client and the server,
    where it makes connections fail as planned; in production pass your own metrics and no `provider`.
    """
    url = os.environ.get("FALKORDB_URL", "redis://localhost:6379/0")
    if provider is None:
        return Adapter(Provider(url), metrics)
    parts = urlsplit(url)
    place = (parts.path, 1) if parts.scheme == "unix" else (parts.hostname or "localhost", parts.port or 6379)
    host, port = provider.tunnel(*place, without=LACKING)
    user, at, _ = parts.netloc.rpartition("@")
    netloc = f"{user}{at}{host}:{port}"
    if parts.scheme == "unix":  # the path is that of the socket, and the query names the database
        return Adapter(Provider(f"redis://{netloc}/?{parts.query}"), metrics)
    return Adapter(Provider(parts._replace(netloc=netloc).geturl()), metrics)
