"""The vendors whose APIs are served, and the endpoints of each. A new vendor is a module and a row."""

from collections.abc import Mapping

from pytest_corpus.adapter.hooks.vendors import cohere
from pytest_corpus.adapter.hooks.vendors.anthropic_messages import COUNT_TOKENS, Messages
from pytest_corpus.adapter.hooks.vendors.endpoint import Body, Endpoints, Plain
from pytest_corpus.adapter.hooks.vendors.openai_chat import ERRORS, Chat
from pytest_corpus.adapter.hooks.vendors.openai_embeddings import Embeddings
from pytest_corpus.adapter.hooks.vendors.openai_responses import INPUT_TOKENS, Responses

NAMES = ("stand-in-large", "stand-in-small")


def models(_body: Body) -> Body:
    """``GET /v1/models``: one list that the clients of all vendors can read; requests may name any other model."""
    common = {"object": "model", "created": 1_700_000_000, "owned_by": "stand-in", "type": "model",
              "created_at": "2023-11-14T22:13:20Z", "lifecycle": "active"}  # fmt: skip
    found = [{"id": name, "display_name": name, **common} for name in NAMES]
    named = [{"name": name, "endpoints": ["chat", "embed"]} for name in NAMES]
    ends = {"has_more": False, "first_id": NAMES[0], "last_id": NAMES[-1]}
    return {"object": "list", "data": found, **ends, "models": named, "next_page_token": None}


VENDORS: Mapping[str, Endpoints] = {
    "OpenAI": {
        ("POST", "v1/chat/completions"): Chat(),
        ("POST", "v1/responses"): Responses(),
        ("POST", "v1/responses/input_tokens"): INPUT_TOKENS,
        ("POST", "v1/embeddings"): Embeddings(),
    },
    "Anthropic": {("POST", "v1/messages"): Messages(), ("POST", "v1/messages/count_tokens"): COUNT_TOKENS},
    "Cohere": {
        ("POST", "v2/chat"): cohere.Chat(),
        ("POST", "v2/embed"): cohere.Embed(),
        ("POST", "v1/tokenize"): Plain("llm.count_tokens", cohere.ERRORS, cohere.tokenize),
    },
    "all of them": {("GET", "v1/models"): Plain("models.list", ERRORS, models)},
}
ENDPOINTS: Endpoints = {place: endpoint for endpoints in VENDORS.values() for place, endpoint in endpoints.items()}

UNKNOWN = ERRORS
"""The errors of a path that no vendor has."""
