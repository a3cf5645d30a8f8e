"""The cosine of two texts by `embedding.embed` of an adapter, as a provider: of the prompt and the system prompt."""

from collections.abc import Callable, Mapping
from typing import Any

from pytest_corpus.adapter.client import AdapterClient
from pytest_corpus.bundles.providers.corpus import result_of
from pytest_corpus.bundles.providers.protocol import Answer, CompletionRequest, Provider, ProviderError


class SimilarityProvider(Provider):
    """Embeds both texts, with a call each, and answers with their cosine."""

    calls = 2

    def __init__(self, model: str, opened: Callable[[], AdapterClient] | None) -> None:
        self.label = f"embedding:{model}"
        self._opened = opened

    def complete(self, request: CompletionRequest) -> Answer:
        from scipy.spatial.distance import cosine

        found = [self._embedded(text, request) for text in (request.prompt, request.system)]
        one, other = (_vector(each) for each in found)
        if len(one) != len(other) or not any(one) or not any(other):
            raise ProviderError("BadRequest", "the vectors have no angle", is_own=True)
        tokens = [each["tokens_used"] for each in found if isinstance(each.get("tokens_used"), int)]
        known = sum(tokens) if len(tokens) == len(found) else None
        return Answer(f"{1 - float(cosine(one, other)):.6f}", prompt_tokens=known, completion_tokens=known and 0)

    def _embedded(self, text: str | None, request: CompletionRequest) -> Mapping[str, Any]:
        args = {"text": text, "model": request.model}
        return result_of(self._opened, "embedding.embed", args, request.remaining_s())[0]


def _vector(result: Mapping[str, Any]) -> list[float]:
    embedding = result.get("embedding")
    vector = embedding.get("vector") if isinstance(embedding, dict) else None
    if not isinstance(vector, list) or not all(type(each) in (int, float) for each in vector):
        raise ProviderError("Unavailable", "the answer is not an embedding", is_own=True)
    return vector
