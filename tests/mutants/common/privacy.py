"""Mistakes in what components share (COM-LEAK)."""

from __future__ import annotations

import json
import logging
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.foundation import Provider
from pytest_corpus.reference.llm.adapter import ReferenceLLM, Reply
from pytest_corpus.reference.llm.arguments import Prompt
from pytest_corpus.reference.request import Call, Fields
from pytest_corpus.reference.telemetry import MetricsSink

from .. import catches

Envelope = dict[str, Any]
log = logging.getLogger("mutants.adapter")
apart = logging.getLogger("mutants.audit")
apart.propagate = False


@catches("COM-LEAK-1")
class MessageQuotesTheRequest(ReferenceLLM):
    """It quotes the arguments in the message of an error."""

    def failure(self, call: Call, fault: Exception) -> Envelope:
        error = super().failure(call, fault)
        return {**error, "message": f"{error['message']}: {json.dumps(call.args.values)}"}


@catches("COM-LEAK-1")
class DetailsHoldTheText(ReferenceLLM):
    """It puts the text of a refused token count into the details."""

    def failure(self, call: Call, fault: Exception) -> Envelope:
        error = super().failure(call, fault)
        received = {"received": call.args.values.get("text")} if call.op == "count_tokens" else {}
        return {**error, "details": {**error["details"], **received}}


@catches("COM-LEAK-1")
class StreamDetailsHoldTheMessages(ReferenceLLM):
    """It puts the messages of a refused stream into the details."""

    def failure(self, call: Call, fault: Exception) -> Envelope:
        error = super().failure(call, fault)
        received = {"received": call.args.values.get("messages")} if call.streaming else {}
        return {**error, "details": {**error["details"], **received}}


@catches("COM-LEAK-1")
class MessageQuotesABeginning(ReferenceLLM):
    """It quotes the first ten characters of a message whose role it refuses."""

    def read_message(self, message: Fields) -> list[str]:
        try:
            return super().read_message(message)
        except AdapterError as error:
            said = str(message.values.get("content"))[:10]
            raise message.invalid("role", "NOT_ALLOWED", f"is wrong in {said}") from error


@catches("COM-LEAK-1")
class LateErrorHoldsThePrompt(ReferenceLLM):
    """It gives the prompt back in the details of an expired call, to be sent again."""

    def failure(self, call: Call, fault: Exception) -> Envelope:
        error = super().failure(call, fault)
        if error["error"] == "DeadlineExceeded":
            error["details"]["resubmit"] = dict(call.args.values)
        return error


@catches("COM-LEAK-2")
class PromptLabelled(ReferenceLLM):
    """It labels by the beginning of the prompt."""

    def read_messages(self, call: Call) -> list[str]:
        texts = super().read_messages(call)
        call.labels["prompt"] = texts[0][:12] if texts else ""
        return texts


@catches("COM-LEAK-2")
class SystemMessageLabelled(ReferenceLLM):
    """It labels by the system message, as if it were the name of a persona."""

    def read_system_message(self, call: Call) -> str:
        text = super().read_system_message(call)
        if text:
            call.labels["persona"] = text
        return text


@catches("COM-LEAK-2")
class RefusedContentCounted(ReferenceLLM):
    """It counts refusals by what was refused."""

    def failure(self, call: Call, fault: Exception) -> Envelope:
        if call.args.values:
            self.count("refusals", 1, {"reason": repr(call.args.values)})
        return super().failure(call, fault)


@catches("COM-LEAK-3")
class RefusalsLogged(ReferenceLLM):
    """It logs what it refuses."""

    def failure(self, call: Call, fault: Exception) -> Envelope:
        log.warning("refused %s", call.args.values)
        return super().failure(call, fault)


@catches("COM-LEAK-3")
class CountedTextsLogged(ReferenceLLM):
    """It keeps the texts that it counts in an extra field of a log record."""

    async def count_tokens(self, call: Call) -> dict[str, int]:
        log.warning("counting", extra={"subject": call.args.values.get("text")})
        return await super().count_tokens(call)


@catches("COM-LEAK-3")
class PromptsAudited(ReferenceLLM):
    """It writes every prompt to an audit log that does not propagate."""

    def read_messages(self, call: Call) -> list[str]:
        texts = super().read_messages(call)
        apart.error("asked: %s", texts)
        return texts


@catches("COM-LEAK-4")
class TenantIsItsHash(ReferenceLLM):
    """It uses the tenant itself in place of a hash."""

    def tenant_hash(self, tenant: str) -> str:
        return tenant


class RememberingTenants(ReferenceLLM):
    """The reference, which remembers tenants by their hashes."""

    def __init__(self, *, metrics: MetricsSink | None = None, provider: Provider | None = None) -> None:
        super().__init__(metrics=metrics, provider=provider)
        self.tenants: dict[str | None, str] = {}

    def tenant_hash(self, tenant: str) -> str:
        hashed = super().tenant_hash(tenant)
        self.tenants[hashed] = tenant
        return hashed


@catches("COM-LEAK-4")
class TenantThrottled(RememberingTenants):
    """It names the raw tenant in the throttling scope."""

    def throttle_scope(self, tenant_hash: str | None) -> str:
        return f"tenant:{self.tenants.get(tenant_hash)}:llm"


@catches("COM-LEAK-4")
class LateTenantLogged(RememberingTenants):
    """It logs who sent a call that came too late."""

    def failure(self, call: Call, fault: Exception) -> Envelope:
        error = super().failure(call, fault)
        if error["error"] == "DeadlineExceeded":
            log.error("%s came too late", self.tenants.get(call.tenant_hash))
        return error


@catches("COM-LEAK-4")
class TenantCounted(RememberingTenants):
    """It counts the tokens of each tenant by name."""

    def count(self, name: str, value: int, extra: Any) -> None:
        for tenant in tuple(self.tenants.values()) if name == "tokens_total" else ():
            super().count("tenant_tokens", value, {"tenant": tenant})
        super().count(name, value, extra)


@catches("COM-LEAK-5")
class KeyLabelled(ReferenceLLM):
    """It labels by idempotency key."""

    def context_labels(self, call: Call) -> dict[str, Any]:
        key = call.idempotency_key
        return {**super().context_labels(call), **({"idempotency_key": key} if key else {})}


@catches("COM-LEAK-5")
class KeyInDetails(ReferenceLLM):
    """It names the idempotency key of a failed call in the details."""

    def failure(self, call: Call, fault: Exception) -> Envelope:
        error = super().failure(call, fault)
        key = {"idempotency_key": call.idempotency_key} if call.idempotency_key else {}
        return {**error, "details": {**error["details"], **key}}


@catches("COM-LEAK-10")
class StreamKeyLogged(ReferenceLLM):
    """It logs that it does not replay a stream, with the key."""

    def read_context(self, call: Call, ctx: Fields) -> None:
        super().read_context(call, ctx)
        if call.streaming and call.idempotency_key:
            log.warning("the key %s is of no use", call.idempotency_key)


@catches("COM-LEAK-6")
class UnexpectedLogged(ReferenceLLM):
    """It logs an unexpected exception with its traceback."""

    def map_fault(self, fault: Exception) -> AdapterError:
        if getattr(fault, "http_status", None) is None:
            log.error("unexpected", exc_info=fault)
        return super().map_fault(fault)


@catches("COM-LEAK-6")
class RateLimitQuoted(ReferenceLLM):
    """It keeps what the provider said about a rate limit in the details."""

    def map_fault(self, fault: Exception) -> AdapterError:
        error = super().map_fault(fault)
        if error.kind.family == "ResourceExhausted":
            error.details["provider_message"] = str(fault)
        return error


@catches("COM-LEAK-6")
class StreamFaultLabelled(ReferenceLLM):
    """It labels a failing stream by what the provider said."""

    async def reach(self, call: Call, **facts: Any) -> None:
        try:
            if self.provider is not None and call.operation is not None:
                await self.provider.reached(call.operation.op, **facts)
        except Exception as fault:
            if call.streaming:
                call.labels["cause"] = str(fault)
            raise self.map_fault(fault) from None


@catches("COM-LEAK-7")
class RepliesLoggedForDebugging(ReferenceLLM):
    """It writes prompts to debug records."""

    def read_messages(self, call: Call) -> list[str]:
        texts = super().read_messages(call)
        log.debug("asked: %s", texts)
        return texts

    def reply(self, prompt: Prompt) -> Reply:
        log.debug("answering %d tokens", prompt.tokens)
        return super().reply(prompt)


@catches("COM-LEAK-8")
class AttributesAsLabels(ReferenceLLM):
    """It labels a call with what the client put into `attrs`."""

    def read_context(self, call: Call, ctx: Fields) -> None:
        super().read_context(call, ctx)
        call.labels.update(ctx.values.get("attrs") or {})


@catches("COM-LEAK-9")
class RequestIsNamed(ReferenceLLM):
    """It names the request in the message of an error."""

    request_id = ""

    def read_context(self, call: Call, ctx: Fields) -> None:
        self.request_id = ctx.text("request_id") or ""
        super().read_context(call, ctx)

    def failure(self, call: Call, fault: Exception) -> Envelope:
        error = super().failure(call, fault)
        named = f" (request {self.request_id})" if self.request_id else ""
        return {**error, "message": f"{error['message']}{named}"}
