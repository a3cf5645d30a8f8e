"""Chat completions of OpenAI and of compatible servers, called with the official client."""

from typing import Any

from pytest_corpus.bundles.providers.official import OfficialProvider
from pytest_corpus.bundles.providers.protocol import Answer, CompletionRequest


class OpenAIProvider(OfficialProvider):
    """Calls `chat.completions`. The API has no default model, so this class sets one."""

    vendor, client, method = "openai", "OpenAI", "chat.completions.create"
    default_model = "gpt-4o-mini"

    def arguments(self, request: CompletionRequest) -> dict[str, Any]:
        limits = {"temperature": request.temperature, "max_tokens": request.max_tokens}
        given = {key: value for key, value in limits.items() if value is not None}
        return {"model": self.model, "messages": request.messages, **given, **request.options}

    def answer(self, found: Any) -> Answer:
        first = found.choices[0]
        usage = getattr(found, "usage", None)
        return Answer(
            text=first.message.content or "",
            finish_reason=str(first.finish_reason or "unknown"),
            prompt_tokens=getattr(usage, "prompt_tokens", None),
            completion_tokens=getattr(usage, "completion_tokens", None),
            total_tokens=getattr(usage, "total_tokens", None),
            id=str(getattr(found, "id", "") or ""),
        )
