"""The adapter for OpenAI: its name, its claims, and the exceptions of its client."""

import json
from collections.abc import Mapping
from typing import Any

import openai
from corpus_wire import Failures
from corpus_wire.llm import LLMAdapter


class Adapter(LLMAdapter):
    """An error in mid-stream has no status, only its code or, without one, the type of its event."""

    server = "llm-openai"
    claims: Mapping[str, Any] = {**LLMAdapter.claims, "supports_tools": True, "supports_tool_choice": True}
    failures = Failures(
        classes={  # a subclass stands before its base; all others have a status
            openai.APITimeoutError: "DeadlineExceeded",
            openai.APIConnectionError: "TransientNetwork",
            json.JSONDecodeError: "Unavailable",  # an answer that is not JSON; the client lets it through
        },
        codes={
            "rate_limit_exceeded": "ResourceExhausted",
            "insufficient_quota": "ResourceExhausted",
            "invalid_api_key": "AuthError",
            "unsupported_country_region_territory": "AuthError",
            "content_filter": "BadRequest",
            "invalid_request_error": "BadRequest",
        },
        subtypes={"content_filter": "ContentFiltered", "server_is_overloaded": "ModelOverloaded"},
    )
