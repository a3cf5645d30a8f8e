"""Mistakes in what components share (COM-CACHE, COM-IDEM)."""

from __future__ import annotations

from pytest_corpus.reference.foundation import digest
from pytest_corpus.reference.llm.adapter import Prompt, ReferenceLLM
from pytest_corpus.reference.request import Call

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
