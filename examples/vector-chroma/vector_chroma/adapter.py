"""The adapter for Chroma: its name, and the exceptions of its client."""

from chromadb import errors
from corpus_wire import Failures
from corpus_wire.vector import VectorAdapter


class Adapter(VectorAdapter):
    """`InternalError`, like every exception that is not named here, is `Unavailable`."""

    server = "vector-chroma"
    failures = Failures(
        {
            errors.NotFoundError: "BadRequest",  # the collection was deleted by another call
            errors.InvalidArgumentError: "BadRequest",
            errors.InvalidDimensionException: "BadRequest",
            errors.BatchSizeExceededError: "BadRequest",
            errors.AuthorizationError: "AuthError",
            errors.ChromaAuthError: "AuthError",
            errors.RateLimitError: "ResourceExhausted",
            errors.QuotaError: "ResourceExhausted",
        }
    )
