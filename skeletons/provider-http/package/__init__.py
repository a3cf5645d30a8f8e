"""An adapter of the Corpus Protocol v1.0 for `COMPONENT`."""

from .adapter import Adapter
from .corpus_wire import Metrics, Proxies
from .provider import Provider

__all__ = ["Adapter", "Provider", "factory"]

ADDRESS = "https://api.example.com"  # EDIT: the address of your provider


def factory(metrics: Metrics | None = None, provider: Proxies | None = None) -> Adapter:
    """Return the adapter for `pytest --corpus-adapter=COMPONENT_adapter:factory`.

    In a conformance run `metrics` records the observations, and the suite stands between your client and the provider;
    in production pass your own metrics and no `provider`.
    """
    made = Provider(provider)
    made.address = provider.proxy(ADDRESS) if provider else ADDRESS
    return Adapter(made, metrics)
