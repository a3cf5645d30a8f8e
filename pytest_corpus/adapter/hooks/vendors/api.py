"""The endpoints at one address. Each request is counted, and then answered or made to fail as planned.

`ProviderServer` serves `provider.url` in a separate thread and event loop, for clients of every kind.
"""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

from pytest_corpus.adapter.hooks.http_server import HookConnection, HookRequest, LoopbackServer
from pytest_corpus.adapter.hooks.vendors import cohere
from pytest_corpus.adapter.hooks.vendors.anthropic_messages import COUNT_TOKENS, MessagesEndpoint
from pytest_corpus.adapter.hooks.vendors.background import Background
from pytest_corpus.adapter.hooks.vendors.endpoint import Body, Endpoint, Endpoints, FunctionEndpoint, Trouble
from pytest_corpus.adapter.hooks.vendors.openai import ERRORS, INPUT_TOKENS, ChatCompletions, Embeddings, Responses
from pytest_corpus.adapter.hooks.vendors.visit import (
    CountArrival,
    Note,
    Visit,
    context_of,
    ignore_error,
    stand_in_answer,
)
from pytest_corpus.text.strict_json import read_exactly

NAMES = ("stand-in-large", "stand-in-small")


def models(_body: Body) -> Body:
    """Answer ``GET /v1/models``: one list that all vendors' clients can read. Requests may name any other model."""
    common = {"object": "model", "created": 1_700_000_000, "owned_by": "stand-in", "type": "model",
              "created_at": "2023-11-14T22:13:20Z", "lifecycle": "active"}  # fmt: skip
    found = [{"id": name, "display_name": name, **common} for name in NAMES]
    named = [{"name": name, "endpoints": ["chat", "embed"]} for name in NAMES]
    ends = {"has_more": False, "first_id": NAMES[0], "last_id": NAMES[-1]}
    return {"object": "list", "data": found, **ends, "models": named, "next_page_token": None}


VENDORS: Mapping[str, Endpoints] = {
    "OpenAI": {
        ("POST", "v1/chat/completions"): ChatCompletions(),
        ("POST", "v1/responses"): Responses(),
        ("POST", "v1/responses/input_tokens"): INPUT_TOKENS,
        ("POST", "v1/embeddings"): Embeddings(),
    },
    "Anthropic": {("POST", "v1/messages"): MessagesEndpoint(), ("POST", "v1/messages/count_tokens"): COUNT_TOKENS},
    "Cohere": {
        ("POST", "v2/chat"): cohere.Chat(),
        ("POST", "v2/embed"): cohere.Embed(),
        ("POST", "v1/tokenize"): FunctionEndpoint("llm.count_tokens", cohere.ERRORS, cohere.tokenize),
    },
    "all of them": {("GET", "v1/models"): FunctionEndpoint("models.list", ERRORS, models)},
}
ENDPOINTS: Endpoints = {place: endpoint for endpoints in VENDORS.values() for place, endpoint in endpoints.items()}

UNKNOWN = ERRORS
"""The form of errors for a path that no vendor has."""


def plan_nothing(op: str, **facts: Any) -> None:
    """Return no plan for a request that belongs to no call; the request is not counted."""


async def serve(
    request: HookRequest,
    path: str,
    connection: HookConnection,
    arrived: CountArrival,
    *,
    own: Endpoints | None = None,
    note: Note = ignore_error,
) -> None:
    """Answer a request for `path`, or break off as planned. Raises OSError if the connection is closed.

    The author's endpoints take precedence; a `*` in a path stands for any text. If an author's endpoint raises, `note`
    gets the exception, and the request is refused, or the connection is closed.
    """
    endpoint = _find_endpoint(own or {}, request.method, path)
    if endpoint is not None:
        try:
            await _answer(request, endpoint, connection, arrived, note)
        except ConnectionError:  # the client has gone
            raise
        except Exception as error:  # noqa: BLE001 - the author's code: what it raises is noted, whatever it is
            note(error)
            connection.reset()
        return
    endpoint = _find_endpoint(ENDPOINTS, request.method, path)
    if endpoint is None:
        trouble = Trouble("not_found", "there is no such endpoint")
        await connection.answer(404, UNKNOWN.body(trouble), UNKNOWN.headers)
        return
    await _answer(request, endpoint, connection, arrived, ignore_error)


def _find_endpoint(endpoints: Endpoints, method: str, path: str) -> Endpoint | None:
    every = endpoints.items()
    return next((each for (verb, form), each in every if verb == method and fnmatchcase(path, form.strip("/"))), None)


async def _answer(
    request: HookRequest, endpoint: Endpoint, connection: HookConnection, arrived: CountArrival, note: Note
) -> None:
    body, flaw = read_exactly(request.body or b"{}")
    if flaw is not None or not isinstance(body, dict):
        trouble = Trouble("invalid_request", "We could not parse the JSON body of your request")
        await connection.answer(400, endpoint.errors.body(trouble), endpoint.errors.headers)
        return
    op, facts = endpoint.reached(body)
    visit = Visit(connection, arrived, endpoint.errors, body, endpoint)
    answer = partial(stand_in_answer, endpoint, body, note=note)
    await visit.carry_out(op, {**facts, **context_of(request.headers)}, lambda: nullcontext(answer()))


class ProviderServer(LoopbackServer):
    """A server of vendors' endpoints on a free port, from its construction until it is closed."""

    def __init__(
        self,
        arrived: CountArrival,
        own: Endpoints,
        background: Background,
        noting: Callable[[], Note] = lambda: ignore_error,
    ) -> None:
        super().__init__()
        self._arrived, self._own, self._noting = arrived, own, noting
        background.run(self.start())

    @property
    def is_plain(self) -> bool:
        """True if only the built-in endpoints answer, not endpoints of the author."""
        return not self._own

    async def respond(self, request: HookRequest, path: list[str], connection: HookConnection) -> None:
        """Serve a request at an endpoint of a vendor."""
        await serve(request, "/".join(path), connection, self._arrived, own=self._own, note=self._noting())
