"""``POST /v1/embeddings``."""

import base64
import hashlib
import math
import struct
from typing import Any

from pytest_corpus.adapter.hooks.vendors import fields
from pytest_corpus.adapter.hooks.vendors.endpoint import Body, Endpoint, Refusal, embedding
from pytest_corpus.adapter.hooks.vendors.openai_chat import ERRORS
from pytest_corpus.adapter.hooks.vendors.stand_in import split

DIMENSIONS = {"text-embedding-3-large": 3072}
USUAL_DIMENSIONS = 1536
MOST_INPUTS = 2048
MOST_TOKENS = 8192


class Embeddings(Endpoint):
    """Unit vectors; texts that share words are alike."""

    errors = ERRORS

    def reached(self, body: Body, /) -> tuple[str, dict[str, Any]]:
        return embedding(_inputs(body))

    def answer(self, body: Body, _filtered: bool, /) -> Body:
        model, inputs = fields.required(body, "model", str), _inputs(body)
        whole = DIMENSIONS.get(model, USUAL_DIMENSIONS)
        dimensions = fields.integer(body, "dimensions", 1, whole) or whole
        if not inputs or len(inputs) > MOST_INPUTS or not all(map(_fits, inputs)):
            raise Refusal(f"'input' must be 1 to {MOST_INPUTS} texts of 1 to {MOST_TOKENS} tokens")
        as_text = body.get("encoding_format") == "base64"
        vectors = [vector(_words(each), dimensions) for each in inputs]
        used = sum(map(_tokens, inputs))
        return {
            "object": "list",
            "model": model,
            "data": [
                {"object": "embedding", "index": index, "embedding": _written(each) if as_text else each}
                for index, each in enumerate(vectors)
            ],
            "usage": {"prompt_tokens": used, "total_tokens": used},
        }


def _inputs(body: Body) -> list[Any]:
    """Texts, or lists of token numbers."""
    given = body.get("input")
    if isinstance(given, list) and given and not isinstance(given[0], int):
        return given
    return [] if given is None or given == [] else [given]


def _fits(given: Any) -> bool:
    numbers = isinstance(given, list) and all(isinstance(each, int) for each in given)
    return (isinstance(given, str) or numbers) and 0 < _tokens(given) <= MOST_TOKENS


def _tokens(given: Any) -> int:
    return len(split(given)) if isinstance(given, str) else len(given)


def _words(given: Any) -> list[str]:
    return given.lower().split() or [given] if isinstance(given, str) else [str(each) for each in given]


def vector(words: list[str], dimensions: int) -> list[float]:
    """Each word adds to some components, by its hash."""
    components = [0.0] * dimensions
    for word in words:
        numbers = struct.unpack("<16H", hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest())
        for place, weight in zip(numbers[::2], numbers[1::2], strict=True):
            components[place % dimensions] += weight / 32768 - 1
    length = math.hypot(*components)
    return [each / length for each in components] if length else [1.0, *[0.0] * (dimensions - 1)]


def _written(components: list[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(components)}f", *components)).decode()
