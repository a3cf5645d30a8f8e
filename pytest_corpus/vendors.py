"""What a stand-in for a vendor's API is made of: `provider.serve()` takes its endpoints (docs/adapter-guide.md)."""

from pytest_corpus.adapter.hooks.vendors.endpoint import (
    Body,
    Endpoint,
    Endpoints,
    Errors,
    Events,
    Refusal,
    Trouble,
    event,
)

__all__ = ["Body", "Endpoint", "Endpoints", "Errors", "Events", "Refusal", "Trouble", "event"]
