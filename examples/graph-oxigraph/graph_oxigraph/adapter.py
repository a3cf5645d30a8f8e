"""The adapter for Oxigraph: its name, and the exceptions of its client."""

from corpus_wire import Failures
from corpus_wire.graph import GraphAdapter


class Adapter(GraphAdapter):
    """Oxigraph raises Python's own exceptions; `provider.py` sorts out why it refuses a query."""

    server = "graph-oxigraph"
    failures = Failures({UnicodeEncodeError: "BadRequest"})  # a lone surrogate
