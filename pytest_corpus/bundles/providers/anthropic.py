"""The messages of Anthropic, by the official client."""

import os
from typing import Any

from pytest_corpus.bundles.errors import BundleError, Problem
from pytest_corpus.bundles.loading.bundle import ProviderChoice
from pytest_corpus.bundles.optional_libraries import library
from pytest_corpus.bundles.providers.official import answer_of, arguments, as_provider_error, refuse_options
from pytest_corpus.bundles.providers.protocol import Answer, CompletionRequest

KEY = "ANTHROPIC_API_KEY"
MAX_TOKENS = 1024
"""The API wants a limit; this one where the bundle names none."""

_OPTIONS = {"stop": "stop_sequences"}
"""Options that other vendors spell otherwise, for bundles that run with several."""

_FINISHED = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length", "tool_use": "tool_calls",
             "refusal": "content_filter"}  # fmt: skip


class AnthropicProvider:
    """Calls `messages`; the client's own retries are off (R78)."""

    def __init__(self, choice: ProviderChoice, file: str, *, plays: bool = False) -> None:
        if not choice.model:
            raise BundleError(Problem(file, "the provider anthropic has no default model; name one in provider.model"))
        self._model = choice.model
        self.label = f"anthropic:{self._model}"
        self._client: Any = None
        refuse_options(choice.options, file)
        if plays:
            return
        self._module = library("anthropic", file)
        if not os.environ.get(KEY):
            raise BundleError(Problem(file, f"the provider anthropic needs a key; set the environment variable {KEY}"))
        self._client = self._module.Anthropic(base_url=choice.base_url, max_retries=0)

    def complete(self, request: CompletionRequest) -> Answer:
        asked: dict[str, Any] = {
            "model": self._model,
            "max_tokens": request.max_tokens or MAX_TOKENS,
            "messages": [{"role": "user", "content": request.prompt}],
        }
        if request.system is not None:
            asked["system"] = request.system
        if request.temperature is not None:
            asked["temperature"] = request.temperature
        for key, value in request.options.items():
            asked[_OPTIONS.get(key, key)] = [value] if key == "stop" and isinstance(value, str) else value
        try:
            create = self._client.messages.create
            found = create(**arguments(create, asked), timeout=request.remaining_s())
        except Exception as error:  # noqa: BLE001 - foreign code; whatever it raises is an error of the case
            raise as_provider_error(self._module, error) from None
        return answer_of(_read, found)

    def close(self) -> None:
        if self._client is not None:
            self._client.close()


def _read(found: Any) -> Answer:
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
