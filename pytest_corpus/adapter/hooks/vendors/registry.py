"""The vendors whose APIs are served, and the endpoints of each. A new vendor is a module and a row."""

from collections.abc import Mapping

from pytest_corpus.adapter.hooks.vendors import cohere, openai_errors
from pytest_corpus.adapter.hooks.vendors.anthropic_messages import CountTokens, Messages
from pytest_corpus.adapter.hooks.vendors.endpoint import Endpoints
from pytest_corpus.adapter.hooks.vendors.model_list import Models
from pytest_corpus.adapter.hooks.vendors.openai_chat import Chat
from pytest_corpus.adapter.hooks.vendors.openai_embeddings import Embeddings
from pytest_corpus.adapter.hooks.vendors.openai_responses import InputTokens, Responses

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

UNKNOWN = openai_errors.CHAT
"""The errors of a path that no vendor has."""
