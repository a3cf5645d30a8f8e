"""A sound request, and the builder and the case it comes from."""

from typing import Any

from pytest_corpus import wire
from pytest_corpus.reference.request_builders import ReferenceClient

COMPLETE = wire.case_of("llm.complete")
CLIENT: Any = ReferenceClient(tenant="acme")


def complete(**more: Any) -> dict[str, Any]:
    """A sound `llm.complete` request with more arguments."""
    envelope = CLIENT.build_complete_request()
    return {**envelope, "args": {**envelope["args"], **more}}
