"""The Messages API of Anthropic, called with the official client."""

from typing import Any

from pytest_corpus.bundles.providers.official import OfficialProvider
from pytest_corpus.bundles.providers.protocol import Answer, CompletionRequest

MAX_TOKENS = 1024
"""The limit of tokens if the bundle names no limit, because the API requires a limit."""

_FINISHED = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length", "tool_use": "tool_calls",
             "refusal": "content_filter"}  # fmt: skip


class AnthropicProvider(OfficialProvider):
    """Calls `messages.create`."""

    vendor, client, method = "anthropic", "Anthropic", "messages.create"

    def arguments(self, request: CompletionRequest) -> dict[str, Any]:
        optional = {"system": request.system, "temperature": request.temperature}
        return {
            "model": self.model,
            "max_tokens": request.max_tokens or MAX_TOKENS,
            "messages": [{"role": "user", "content": request.prompt}],
            **{key: value for key, value in optional.items() if value is not None},
            **request.options_with_stop_sequences,
        }

    def answer(self, found: Any) -> Answer:
        usage = getattr(found, "usage", None)
        sent, got = getattr(usage, "input_tokens", None), getattr(usage, "output_tokens", None)
        reason = str(getattr(found, "stop_reason", "") or "unknown")
        return Answer(
            text="".join(part.text for part in found.content if getattr(part, "type", "") == "text"),
            finish_reason=_FINISHED.get(reason, reason),
            prompt_tokens=sent,
            completion_tokens=got,
            total_tokens=sent + got if isinstance(sent, int) and isinstance(got, int) else None,
            id=str(getattr(found, "id", "") or ""),
        )
