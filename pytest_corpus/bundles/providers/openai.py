"""The chat completions of OpenAI and of servers that speak its API, by the official client."""

import os
from typing import Any

from pytest_corpus.bundles.errors import BundleError, Problem
from pytest_corpus.bundles.loading.bundle import ProviderChoice
from pytest_corpus.bundles.optional_libraries import library
from pytest_corpus.bundles.providers.official import answer_of, arguments, as_provider_error, refuse_options
from pytest_corpus.bundles.providers.protocol import Answer, CompletionRequest

KEY = "OPENAI_API_KEY"
MODEL = "gpt-4o-mini"
"""The model where none is named: the API has no default of its own."""


class OpenAIProvider:
    """Calls `chat.completions`; the client's own retries are off (R78)."""

    def __init__(self, choice: ProviderChoice, file: str, *, plays: bool = False) -> None:
        self._model = choice.model or MODEL
        self.label = f"openai:{self._model}"
        self._client: Any = None
        refuse_options(choice.options, file)
        if plays:
            return
        self._module = library("openai", file)
        if not os.environ.get(KEY):
            raise BundleError(Problem(file, f"the provider openai needs a key; set the environment variable {KEY}"))
        self._client = self._module.OpenAI(base_url=choice.base_url, max_retries=0)

    def complete(self, request: CompletionRequest) -> Answer:
        asked: dict[str, Any] = {"model": self._model, "messages": request.messages}
        if request.temperature is not None:
            asked["temperature"] = request.temperature
        if request.max_tokens is not None:
            asked["max_tokens"] = request.max_tokens
        asked |= request.options
        try:
            create = self._client.chat.completions.create
            found = create(**arguments(create, asked), timeout=request.remaining_s())
        except Exception as error:  # noqa: BLE001 - foreign code; whatever it raises is an error of the case
            raise as_provider_error(self._module, error) from None
        return answer_of(_read, found)

    def close(self) -> None:
        if self._client is not None:
            self._client.close()


def _read(found: Any) -> Answer:
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
