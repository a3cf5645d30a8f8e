"""An adapter of the Corpus Protocol v1.0 for PostgreSQL with the extension pgvector."""

import os
from functools import partial

from corpus_wire import Metrics, Tunnels
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from .adapter import Adapter
from .indexes import EXACT, HNSW, IVFFLAT, Index
from .provider import Provider

__all__ = ["Adapter", "Provider", "factory", "hnsw", "ivfflat"]

LACKING = (
    "rate_limited", "quota_exhausted", "overloaded", "auth", "forbidden", "content_filtered", "invalid_request",
    "unexpected", "traceparent", "deadline_ms",
)  # fmt: skip
"""Faults that the server never answers with, and context that it has no place for: our claim, which the attestation shows."""


def factory(metrics: Metrics | None = None, provider: Tunnels | None = None, index: Index = EXACT) -> Adapter:
    """Return the adapter for `pytest --corpus-adapter=vector_pgvector:factory`; `DATABASE_URL` names the database.

    In a conformance run `metrics` records the observations, and `provider` stands between the client and the server,
    where it makes connections fail as planned; in production pass your own metrics and no `provider`.
    """
    url = os.environ.get("DATABASE_URL", "")
    if provider is not None:
        host, port = provider.tunnel(*place_of(url), without=LACKING)
        url = make_conninfo(url, hostaddr=host, port=port)  # `host` stays: a certificate is for that name
    return Adapter(Provider(url, index), metrics)


def place_of(url: str) -> tuple[str, int]:
    """The host and port of a database; for a server on a Unix socket, the path of that."""
    given = conninfo_to_dict(url)
    host, port = str(given.get("host") or "localhost"), int(given.get("port") or 5432)
    return (f"{host}/.s.PGSQL.{port}" if host.startswith("/") else host), port


hnsw = partial(factory, index=HNSW)
ivfflat = partial(factory, index=IVFFLAT)
