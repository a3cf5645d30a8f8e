"""A whole embedding adapter of the Corpus Protocol v1.0 on one screen: a text becomes the counts of its bytes."""

import asyncio
import hashlib
import hmac
import math
import os
import re
import time
from contextvars import ContextVar

SALT = os.environ.get("TENANT_SALT", "change me").encode()
DIMENSIONS, LONGEST = 64, 1000
STATUSES = {400: "BadRequest", 401: "AuthError", 403: "AuthError", 429: "ResourceExhausted"}
STATUSES |= {502: "TransientNetwork", 503: "Unavailable", 504: "TransientNetwork", 529: "Unavailable"}
DENIED = ("stream_embed", "embed_batch", "count_tokens")
FACTS = {"server": "minimal", "version": "1.0.0", "protocol": "embedding/v1.0", "supported_models": ["bytes"]}
FACTS |= {"max_dimensions": DIMENSIONS, "max_text_length": LONGEST, "supports_deadline": True}
FACTS |= {"concurrency": 64, "rate_limit_qps": 100}
FLAGS = ["batch_embedding", "truncation", "normalization", "token_counting", "streaming", "multi_tenant", "caching"]
FACTS |= {f"supports_{flag}": False for flag in FLAGS} | {"idempotent_writes": False, "normalizes_at_source": False}


class Refusal(Exception):
    def __init__(self, error, message, retry_after_ms=None, **details):
        super().__init__(message)
        self.envelope = {"ok": False, "error": error, "message": message, "retry_after_ms": retry_after_ms}
        self.envelope |= {"code": re.sub(r"(?<=[a-z])(?=[A-Z])", "_", error).upper(), "details": details}


def check(sound, message, error="BadRequest", **details):
    """Refuse a request that is not sound; the message begins with the field and never quotes its value."""
    if not sound:
        raise Refusal(error, message, validation_errors=[{"field": message.split()[0], "code": "INVALID"}], **details)


def finite(value):
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return all(map(finite, members)) and not (isinstance(value, float) and not math.isfinite(value))


class Adapter:
    def __init__(self, metrics=None, provider=None):
        self.metrics, self.provider, self.texts = metrics, provider, 0
        self.along = ContextVar("along")  # what of a call's context goes along to the provider

    async def handle(self, envelope):
        begun, labels, answer = time.perf_counter(), {"component": "embedding", "op": "unknown", "extra": {}}, {}
        try:
            answer = {"ok": True, "code": "OK", "result": await self.result(envelope, labels)}
        except Refusal as refusal:
            answer = refusal.envelope
        except TimeoutError:
            answer = Refusal("DeadlineExceeded", "The time budget of the call is spent").envelope
        except Exception as fault:  # noqa: BLE001 - of the provider; its own words stay behind
            name = STATUSES.get(getattr(fault, "http_status", None), "Unavailable")
            after_ms, hint = getattr(fault, "retry_after_ms", None), {"throttle_scope": "provider"}
            if name == "ResourceExhausted":
                hint["resource_scope"] = "rate_limit"
            if name in ("BadRequest", "AuthError"):
                after_ms, hint = None, {}
            elif after_ms is None:
                hint["suggested_backoff_ms"] = 500
            name = "ContentFiltered" if getattr(fault, "kind", None) == "content_filtered" else name
            answer = Refusal(name, "The provider failed", after_ms, **hint).envelope
        finally:  # also of a call that was cancelled
            answer["ms"] = (time.perf_counter() - begun) * 1000
            outcome = {"ok": answer.get("ok", False), "code": answer.get("code", "UNAVAILABLE"), "ms": answer["ms"]}
            if self.metrics:
                self.metrics.observe(**labels, **outcome)
        return answer

    async def result(self, envelope, labels):
        check(isinstance(envelope, dict), "The request must be an object")
        op, ctx, args = str(envelope.get("op")).removeprefix("embedding."), envelope.get("ctx"), envelope.get("args")
        offered = {
            "capabilities": self.capabilities,
            "embed": self.embed,
            "get_stats": self.stats,
            "health": self.health,
        }
        if envelope.get("op") == f"embedding.{op}" and op in (*offered, *DENIED):
            labels["op"] = op
        check(isinstance(envelope.get("op"), str), "op must be a string")
        check(isinstance(ctx, dict) and isinstance(args, dict), "ctx and args must be objects")
        check(finite(ctx) and finite(args), "Numbers must be finite")
        for name in ("tenant", "request_id", "traceparent", "idempotency_key"):
            check(isinstance(ctx.get(name), (str, type(None))), f"ctx.{name} must be a string")
        check(isinstance(ctx.get("attrs"), (dict, type(None))), "ctx.attrs must be an object")
        if ctx.get("tenant") is not None:
            content = ctx["tenant"].encode("utf-8", "surrogatepass")
            labels["extra"]["tenant_hash"] = hmac.new(SALT, content, hashlib.sha256).hexdigest()[:32]
        deadline_ms, left_s = ctx.get("deadline_ms"), None
        if deadline_ms is not None:
            check(
                type(deadline_ms) in (int, float) and 0 < deadline_ms < 1e15,
                "ctx.deadline_ms must be epoch milliseconds",
            )
            left_s = deadline_ms / 1000 - time.time()
            labels["extra"]["deadline_bucket"] = "lt_10s" if left_s < 10 else "ge_10s"
            check(left_s > 0, "The time budget of the call is spent", "DeadlineExceeded")
        check(labels["op"] in offered, "The operation is not offered", "NotSupported")
        self.along.set({key: ctx[key] for key in ("traceparent", "deadline_ms") if ctx.get(key) is not None})
        return await asyncio.wait_for(offered[op](args), left_s)

    async def capabilities(self, args):
        return FACTS

    async def stats(self, args):
        return {"total_texts": self.texts}

    async def health(self, args):
        try:
            await self.reached("embedding.health")
        except Exception:  # noqa: BLE001 - why it does not answer is not the question
            return {"ok": False, "status": "down", "reason": "no answer", "server": "minimal", "version": "1.0.0"}
        return {"ok": True, "status": "ok", "server": "minimal", "version": "1.0.0"}

    async def embed(self, args):
        text, model = args.get("text"), args.get("model")
        check(isinstance(text, str) and isinstance(model, str), "args.text and args.model must be strings")
        for flag in ("truncate", "normalize"):
            check(isinstance(args.get(flag), (bool, type(None))), f"args.{flag} must be a boolean")
        check(model == "bytes", "args.model is not available", "ModelNotAvailable", model=model)
        check(not args.get("normalize"), "args.normalize is not supported", "NotSupported")
        limits = {"max_text_length": LONGEST, "provided_length": len(text)}
        check(len(text) <= LONGEST, "args.text is too long", "TextTooLong", **limits)
        await self.reached("embedding.embed")
        self.texts += 1
        vector = [0.0] * DIMENSIONS
        for byte in text.encode("utf-8", "surrogatepass"):
            vector[byte % DIMENSIONS] += 1
        embedding = {"vector": vector, "text": text, "model": model, "dimensions": len(vector)}
        return {"embedding": embedding, "model": model, "text": text, "truncated": False}

    async def reached(self, op):
        if self.provider:  # where another adapter would call its library
            await self.provider.reached(op, **self.along.get())


def factory(metrics=None, provider=None):
    return Adapter(metrics, provider)
