"""An adapter of the Corpus Protocol v1.0 for Redis."""

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
    """Return the adapter for `pytest --corpus-adapter=vector_redis:factory`; `REDIS_URL` names the server.

    In a conformance run `metrics` records the observations, and `provider` stands between the client and the server,
    where it makes connections fail as planned; in production pass your own metrics and no `provider`.
    """
    url = os.environ.get("REDIS_URL", "redis://localhost:6379/0")
    if provider is None:
        return Adapter(Provider(url), metrics)
    parts = urlsplit(url)
    host, port = provider.tunnel(parts.hostname or "localhost", parts.port or 6379, without=LACKING)
    user, at, _ = parts.netloc.rpartition("@")
    return Adapter(Provider(parts._replace(netloc=f"{user}{at}{host}:{port}").geturl()), metrics)
