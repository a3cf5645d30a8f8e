"""The adapter for FalkorDB: its name, its claims, and the exceptions of `redis`, whose protocol the server speaks."""

from typing import Any

from corpus_wire import Failures
from corpus_wire.graph import GraphAdapter
from redis import exceptions

from .provider import Provider


class Adapter(GraphAdapter):
    """FalkorDB could do more: paths, indexes, and full-text search.

    A server that is loading its data or is a replica is `Unavailable`, like every exception that is not named here.
    """

    provider: Provider
    server = "graph-falkordb"
    failures = Failures(
        {  # a subclass stands before its base
            UnicodeEncodeError: "BadRequest",  # a lone surrogate
            exceptions.AuthenticationError: "AuthError",
            exceptions.AuthenticationWrongNumberOfArgsError: "AuthError",
            exceptions.NoPermissionError: "AuthError",
            exceptions.OutOfMemoryError: "ResourceExhausted",
            exceptions.MaxConnectionsError: "ResourceExhausted",
            exceptions.BusyLoadingError: "Unavailable",
            exceptions.ConnectionError: "TransientNetwork",
            exceptions.TimeoutError: "TransientNetwork",
        }
    )

    def limits(self) -> dict[str, Any]:
        return {**super().limits(), "extensions": {"falkordb:numbers": "15 significant digits of a double"}}
