"""The vendors whose APIs are served, and the endpoints of each. A new vendor is a module and a row."""

from collections.abc import Mapping
from typing import Any

from pytest_corpus.adapter.hooks.vendors import cohere
from pytest_corpus.adapter.hooks.vendors.anthropic_messages import CountTokens, Messages
from pytest_corpus.adapter.hooks.vendors.endpoint import Body, Endpoint, Endpoints
from pytest_corpus.adapter.hooks.vendors.openai_chat import ERRORS, Chat
from pytest_corpus.adapter.hooks.vendors.openai_embeddings import Embeddings
from pytest_corpus.adapter.hooks.vendors.openai_responses import InputTokens, Responses

NAMES = ("stand-in-large", "stand-in-small")


class Models(Endpoint):
    """``GET /v1/models``: one list that the clients of all vendors can read; requests may name any other model."""

    errors = ERRORS

    def reached(self, _body: Body, /) -> tuple[str, dict[str, Any]]:
        return "models.list", {}

    def answer(self, _body: Body, _filtered: bool, /) -> Body:
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
        ("POST", "v1/responses/input_tokens"): InputTokens(),
        ("POST", "v1/embeddings"): Embeddings(),
    },
    "Anthropic": {("POST", "v1/messages"): Messages(), ("POST", "v1/messages/count_tokens"): CountTokens()},
    "Cohere": {
        ("POST", "v2/chat"): cohere.Chat(),
        ("POST", "v2/embed"): cohere.Embed(),
        ("POST", "v1/tokenize"): cohere.Tokenize(),
    },
    "all of them": {("GET", "v1/models"): Models()},
}
ENDPOINTS: Endpoints = {place: endpoint for endpoints in VENDORS.values() for place, endpoint in endpoints.items()}

UNKNOWN = ERRORS
"""The errors of a path that no vendor has."""
