"""The adapter for PostgreSQL: its name, its `extensions`, and the exceptions of `psycopg`."""

from typing import Any

import psycopg
from corpus_wire import Failures
from corpus_wire.vector import VectorAdapter
from psycopg import errors

from .provider import Provider


class Adapter(VectorAdapter):
    """A server that stops or starts is `Unavailable`, like every exception that is not named here."""

    provider: Provider
    server = "vector-pgvector"
    failures = Failures(
        {  # a subclass stands before its base
            psycopg.DataError: "BadRequest",  # such as a NUL in a text
            UnicodeEncodeError: "BadRequest",  # a lone surrogate
            errors.ProgramLimitExceeded: "BadRequest",  # an id that is too long for an index
            errors.UndefinedTable: "BadRequest",  # the namespace was deleted by another call
            errors.InvalidPassword: "AuthError",
            errors.InvalidAuthorizationSpecification: "AuthError",
            errors.InsufficientPrivilege: "AuthError",
            errors.TooManyConnections: "ResourceExhausted",
            errors.DiskFull: "ResourceExhausted",
            errors.ConnectionFailure: "TransientNetwork",
        }
    )

    def limits(self) -> dict[str, Any]:
        extensions = dict(self.provider.index.extensions)
        return {**super().limits(), **({"extensions": extensions} if extensions else {})}
