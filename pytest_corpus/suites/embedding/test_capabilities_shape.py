"""Capabilities and their truth, and statistics (SPECIFICATION 6.2, 10.5; R22, R23, R29)."""

import json
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import remembered
from pytest_corpus.kit.component import expect_audited
from pytest_corpus.kit.fixtures import core, subject
from pytest_corpus.kit.judgement import look_at_capabilities
from pytest_corpus.kit.requests import canary
from pytest_corpus.spec.capabilities import FACTS
from pytest_corpus.suites.embedding.support.answers import STATISTICS, is_number
from pytest_corpus.suites.embedding.support.component import Embedding, embedding
from pytest_corpus.suites.shared.claims.capabilities import TestCapabilities, TestStreamingClaim
from pytest_corpus.suites.shared.contexts import new_tenant_context

SHORT = 8
"""A shorter text may occur in statistics by chance."""

STATED = (
    "supports_normalization",
    "normalizes_at_source",
    "supports_truncation",
    "supports_token_counting",
    "supports_deadline",
    "idempotent_writes",
    "supports_multi_tenant",
)
"""The flags that SPECIFICATION 10.5 requires; limits are optional."""

GROWING = ("total_requests", "total_texts", "total_tokens", "cache_hits", "cache_misses", "error_count")


@pytest.mark.requirement("EMB-CAP-1")
def test_models_are_listed(embedding: Embedding) -> None:
    """Capabilities list at least one model."""
    look_at_capabilities(embedding.capabilities)
    expect.check(embedding.capabilities.models, "a list of models", "no list of models", "result.supported_models")


@pytest.mark.requirement("EMB-CAP-2")
@pytest.mark.parametrize("name", STATED)
def test_flags_are_declared(embedding: Embedding, name: str) -> None:
    """Each flag of the component is declared."""
    look_at_capabilities(embedding.capabilities)
    assert any(fact.name == name for fact in FACTS)
    expect.check(embedding.capabilities.raw(name) is not None, "a value", "no value", f"result.{name}")


@core("EMB-STATS-1")
def test_statistics_are_counters(embedding: Embedding) -> None:
    """`get_stats` returns an object whose documented counters are not negative."""
    reply = embedding.call("get_stats")
    expect.applicable(
        not reply.is_a("NotSupported"), "the optional operation embedding.get_stats answers NOT_SUPPORTED"
    )
    expect_audited("EMB-STATS-1", reply, embedding, claim="statistics")


@pytest.mark.requirement("EMB-STATS-2")
@pytest.mark.parametrize(
    ("name", "operation"), [("total_requests", "embed"), ("total_texts", "embed"), ("total_texts", "embed_batch")]
)
def test_statistics_move(embedding: Embedding, name: str, operation: str) -> None:
    """After some texts are embedded, alone or in a batch, the total has grown by at least their number."""
    embedding.require("get_stats", operation)
    many, *statistics = embed_between_statistics(embedding, operation)
    before, after = (each.get(name) for each in statistics)
    expect.applicable(is_number(before), f"{name} is not reported")
    grown = after - before if is_number(after) else 0
    expect.check(grown >= many, f"at least {many} more", f"{grown} more", f"result.{name}")


@remembered
def embed_between_statistics(embedding: Embedding, operation: str) -> tuple[int, Any, Any]:
    """Embed some texts, and return their number with the statistics before and after."""
    before, texts = statistics_of(embedding), [embedding.unique() for _ in range(embedding.cap_batch_size(3))]
    if operation == "embed_batch":
        expect.success(embedding.batch(texts), "a batch")
    else:
        for text in texts:
            embedding.embed(text)
    return len(texts), before, statistics_of(embedding)


@pytest.mark.requirement("EMB-STATS-2")
def test_statistics_never_fall(embedding: Embedding) -> None:
    """Totals never decrease, whatever is requested meanwhile."""
    embedding.require("get_stats", "embed")
    before = statistics_of(embedding)
    expect.applicable(any(is_number(before.get(key)) for key in GROWING), "no total is reported")
    for name in ("embed", "embed_batch", "stream_embed", "count_tokens"):
        if embedding.works(name):
            embedding.invoke(name, embedding.requests.distinct(name))
            embedding.invoke(name, embedding.requests.wrong_types(name))
        after = statistics_of(embedding)
        for key in GROWING:
            if is_number(before.get(key)) and is_number(after.get(key)):
                expect.check(
                    after[key] >= before[key], f"{before[key]} or more", found=after[key], path=f"result.{key}"
                )
        before = after


@pytest.mark.requirement("EMB-STATS-3")
def test_statistics_tell_no_text(embedding: Embedding) -> None:
    """Statistics for one tenant do not contain texts of another tenant."""
    embedding.require("get_stats", "embed")
    text = embedding.cut_to_limit(canary())
    for name in ("embed", "embed_batch", "stream_embed", "count_tokens"):
        if embedding.works(name):
            embedding.invoke(name, embedding.requests.with_text(name, text), new_tenant_context())
    told = embedding.call("get_stats", {}, new_tenant_context())
    result = json.dumps(expect.success(told, "statistics"), default=str, ensure_ascii=False)
    expect.check(len(text) < SHORT or text not in result, "no text", "a text of a request", "result")


def statistics_of(embedding: Embedding) -> dict[str, Any]:
    """Return the present statistics."""
    result = expect.success(embedding.call("get_stats"), "statistics")
    return {key: result.get(key) for key in STATISTICS} if isinstance(result, dict) else {}
