"""The adapter for Anthropic: its name, its claims, and the exceptions of its client."""

import json
from collections.abc import Mapping
from typing import Any

import anthropic
import httpx2
from corpus_wire import Failures
from corpus_wire.llm import LLMAdapter

FILTERED = "content filtering policy"


class AnthropicFailures(Failures):
    """Only the words of a message tell a filtered request from other bad requests."""

    def words(self, fault: Exception) -> list[str]:
        words = super().words(fault)
        filtered = words == ["invalid_request_error"] and FILTERED in (getattr(fault, "api_message", "") or "")
        return ["content_filtered", *words] if filtered else words


class Adapter(LLMAdapter):
    """An error in mid-stream has the status 200 of its stream; its type decides."""

    server = "llm-anthropic"
    claims: Mapping[str, Any] = {**LLMAdapter.claims, "supports_tools": True, "supports_tool_choice": True}
    failures = AnthropicFailures(
        classes={  # a subclass stands before its base; in mid-stream the client lets errors of its HTTP library through
            anthropic.APITimeoutError: "DeadlineExceeded",
            httpx2.TimeoutException: "DeadlineExceeded",
            anthropic.APIConnectionError: "TransientNetwork",
            httpx2.TransportError: "TransientNetwork",
            json.JSONDecodeError: "Unavailable",  # an answer that is not JSON; the client lets it through
        },
        codes={
            "rate_limit_error": "ResourceExhausted",
            "timeout_error": "TransientNetwork",
            "authentication_error": "AuthError",
            "permission_error": "AuthError",
            "billing_error": "ResourceExhausted",
            "invalid_request_error": "BadRequest",
            "not_found_error": "BadRequest",
        },
        subtypes={"content_filtered": "ContentFiltered", "overloaded_error": "ModelOverloaded"},
    )
