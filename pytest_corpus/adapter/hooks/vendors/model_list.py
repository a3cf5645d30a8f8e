"""``GET /v1/models``: the one list that all vendors have, which each client can read."""

from typing import Any

from pytest_corpus.adapter.hooks.vendors import openai_errors
from pytest_corpus.adapter.hooks.vendors.endpoint import Body, Events

NAMES = ("stand-in-large", "stand-in-small")


class Models:
    """Two names; a request may name any other model too."""

    errors = openai_errors.CHAT
    filters = False

    def reached(self, _body: Body, /) -> tuple[str, dict[str, Any]]:
        return "models.list", {}

    def answer(self, _body: Body, _filtered: bool, /) -> Body:
        found = [
            {
                "id": name,
                "object": "model",
                "created": 1_700_000_000,
                "owned_by": "stand-in",
                "type": "model",
                "display_name": name,
                "created_at": "2023-11-14T22:13:20Z",
                "lifecycle": "active",
            }
            for name in NAMES
        ]
        named = [{"name": name, "endpoints": ["chat", "embed"]} for name in NAMES]
        ends = {"has_more": False, "first_id": NAMES[0], "last_id": NAMES[-1]}
        return {"object": "list", "data": found, **ends, "models": named, "next_page_token": None}

    def events(self, _body: Body, _filtered: bool, /) -> Events | None:
        return None
