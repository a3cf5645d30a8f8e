"""Mistakes in what components share (COM-CACHE, COM-IDEM)."""

from __future__ import annotations

from pytest_corpus.reference.foundation import digest
from pytest_corpus.reference.llm.adapter import ReferenceLLM
from pytest_corpus.reference.llm.arguments import Prompt
from pytest_corpus.reference.request import Call, Fields

from .. import catches


@catches("COM-IDEM-1")
class KeyAndModel(ReferenceLLM):
    """It replays by tenant, key and model, whatever the messages."""

    def replay_key(self, call: Call) -> str | None:
        key = super().replay_key(call)
        return key and digest([call.tenant_hash, call.op, call.args.values.get("model"), call.idempotency_key])


@catches("COM-IDEM-2")
class KeyOfAnyTenant(ReferenceLLM):
    """It replays by key and arguments, whoever asks."""

    def replay_key(self, call: Call) -> str | None:
        key = super().replay_key(call)
        return key and digest([call.op, call.args.values, call.idempotency_key])


@catches("COM-CACHE-1")
class CacheOfAnyTenant(ReferenceLLM):
    """It leaves the tenant out of the key of its cache."""

    def cache_key(self, call: Call, prompt: Prompt) -> str | None:
        return super().cache_key(call, prompt) and digest([prompt.model, call.args.values])


@catches("COM-CACHE-2")
class GlobalScopeIsGlobal(ReferenceLLM):
    """It shares cached answers among tenants where a request asks for a global cache."""

    scope: object = None

    def read_context(self, call: Call, ctx: Fields) -> None:
        super().read_context(call, ctx)
        attrs = ctx.values.get("attrs") or {}
        self.scope = ctx.values.get("cache_scope") or attrs.get("cache_scope")

    def cache_key(self, call: Call, prompt: Prompt) -> str | None:
        key = super().cache_key(call, prompt)
        return key and digest([prompt.model, call.args.values]) if self.scope == "global" else key
