"""Answers in pages (SPECIFICATION 11.5; R32, R67): the request for the next page, and the matches of all pages."""

from collections.abc import Callable, Mapping
from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.outcomes import NotAssessed
from pytest_corpus.kit.reply import Reply
from pytest_corpus.kit.store.results import next_cursor
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.vector.support.answers import id_of, matches_of
from pytest_corpus.suites.vector.support.shared import VectorShared

KEYS = ("page_token", "next_page_token", "cursor")
"""The arguments that may take the token of the next page."""

MOST_PAGES = 150

Send = Callable[[Mapping[str, Any]], Reply]
"""Sends a query with these arguments."""


def next_page(shared: VectorShared, send: Send, query: Mapping[str, Any], result: Any) -> Any:
    """Return the next page of an answer. The first call finds out which argument takes the page token (R32)."""
    token, before = next_cursor(result), [*map(id_of, matches_of(result))]
    if shared.page_key:
        return expect.success(send({**query, shared.page_key: token}), "the next page")
    for key in KEYS:
        reply = send({**query, key: token})
        if reply.is_success and [*map(id_of, matches_of(reply.result))] != before:
            shared.page_key = key
            return reply.result
    raise NotAssessed(Obstacle.NO_PAGE_TOKEN)


def join_pages(shared: VectorShared, send: Send, query: Mapping[str, Any], result: Any) -> Any:
    """Return a result with the matches of the following pages, up to `top_k`."""
    matches = list(matches_of(result))
    pages = 0
    while next_cursor(result) and len(matches) < query["top_k"] and pages < MOST_PAGES:
        result, pages = next_page(shared, send, query, result), pages + 1
        matches += matches_of(result)
    return {**result, "matches": matches}


def ask_for_all(shared: VectorShared, send: Send, query: Mapping[str, Any]) -> Reply:
    """Return the answer to a query, with the matches of all its pages."""
    reply = send(query)
    if not reply.is_success or not next_cursor(reply.result):
        return reply
    return Reply(reply.exchange, {**reply.body, "result": join_pages(shared, send, query, reply.result)})
