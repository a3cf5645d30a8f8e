"""The adapter for Redis: its name, and the exceptions of `redis`."""

from corpus_wire import Failures
from corpus_wire.vector import VectorAdapter
from redis import exceptions

from .provider import Provider


class Adapter(VectorAdapter):
    """A server that is loading its data or is a replica is `Unavailable`, like every exception that is not named here."""

    provider: Provider
    server = "vector-redis"
    failures = Failures(
        {  # a subclass stands before its base
            UnicodeEncodeError: "BadRequest",  # a lone surrogate in a name or an id
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
