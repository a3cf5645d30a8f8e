"""The adapter for Cohere: its name, its claims, and the exceptions of its client."""

from collections.abc import Mapping
from typing import Any

import httpx
from cohere.core.api_error import ApiError
from corpus_wire import Failures
from corpus_wire.errors import STATUSES
from corpus_wire.llm import LLMAdapter

OVERLOADED = 529
FILTERED = ("blocked output", "blocked input")


class CohereFailures(Failures):
    """Cohere has no codes: a status, or the first words of a message, decide on the subtype."""

    def words(self, fault: Exception) -> list[str]:
        if not isinstance(fault, ApiError):
            return super().words(fault)
        message = fault.body.get("message") if isinstance(fault.body, Mapping) else None
        blocked = ["blocked"] if str(message).startswith(FILTERED) else []
        return ["overloaded"] if fault.status_code == OVERLOADED else blocked


class Adapter(LLMAdapter):
    """The client has classes for some statuses only, so the status decides. An answer that is not JSON has status 200."""

    server = "llm-cohere"
    claims: Mapping[str, Any] = {
        **LLMAdapter.claims,
        "supports_tools": True,
        "supports_parallel_tool_calls": True,
        "supports_tool_choice": True,
    }
    failures = CohereFailures(
        classes={  # a subclass stands before its base; the client lets errors of its HTTP library through
            httpx.TimeoutException: "DeadlineExceeded",
            httpx.TransportError: "TransientNetwork",
            httpx.DecodingError: "Unavailable",
        },
        statuses={**STATUSES, 498: "AuthError", 501: "NotSupported"},
        subtypes={"blocked": "ContentFiltered", "overloaded": "ModelOverloaded"},
    )
