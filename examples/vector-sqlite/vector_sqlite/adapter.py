"""The adapter for SQLite: its name, and the exceptions of `apsw`."""

import apsw
from corpus_wire import Failures
from corpus_wire.vector import VectorAdapter


class Adapter(VectorAdapter):
    """A database that is busy, full or broken is `Unavailable`, like every exception that is not named here."""

    server = "vector-sqlite"
    failures = Failures(
        {
            apsw.ConstraintError: "BadRequest",  # the namespace was deleted by another call
            apsw.TooBigError: "BadRequest",
            apsw.PermissionsError: "AuthError",
        }
    )
