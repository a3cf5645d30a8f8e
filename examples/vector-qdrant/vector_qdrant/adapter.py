"""The adapter for Qdrant: its name, and the exceptions of its client."""

from corpus_wire import Failures
from corpus_wire.vector import VectorAdapter
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
from qdrant_client.http.exceptions import ResponseHandlingException


class Adapter(VectorAdapter):
    """An `UnexpectedResponse` has an HTTP status."""

    server = "vector-qdrant"
    failures = Failures(
        {
            ResourceExhaustedResponse: "ResourceExhausted",
            ResponseHandlingException: "TransientNetwork",  # no answer, or none that can be read
        }
    )
