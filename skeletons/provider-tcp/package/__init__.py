"""An adapter of the Corpus Protocol v1.0 for `COMPONENT`."""

from .adapter import Adapter
from .corpus_wire import Metrics, Tunnels
from .provider import Provider

__all__ = ["Adapter", "Provider", "factory"]

HOST, PORT = "localhost", 5432  # EDIT: the address of your provider
WITHOUT = ()  # EDIT: what its protocol cannot express, such as ("content_filtered", "traceparent", "deadline_ms")


def factory(metrics: Metrics | None = None, provider: Tunnels | None = None) -> Adapter:
    """Return the adapter for `pytest --corpus-adapter=COMPONENT_adapter:factory`.

    In a conformance run `metrics` records the observations, and the suite stands between your client and the provider;
    in production pass your own metrics and no `provider`.
    """
    made = Provider(provider)
    made.address, made.port = provider.tunnel(HOST, PORT, without=WITHOUT) if provider else (HOST, PORT)
    return Adapter(made, metrics)
