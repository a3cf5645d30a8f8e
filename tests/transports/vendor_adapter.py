"""An adapter that is built on a vendor's API, with nothing but the standard library, for runs in another process."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from pytest_corpus.spec.transports import PROXY_VARIABLE


class Adapter:
    """It completes; of errors it knows only the rate limit. `address` says where the vendor is."""

    def __init__(self, address: Callable[[], str]) -> None:
        self.address = address

    async def handle(self, envelope: Any) -> dict[str, Any]:
        if envelope["op"] == "llm.capabilities":
            result: Any = {"server": "vendor", "version": "1", "protocol": "llm/v1.0", "supported_models": ["m"]}
            return {"ok": True, "code": "OK", "ms": 1.0, "result": result}
        try:
            answer = await asyncio.to_thread(self.ask, self.address(), envelope["args"])
        except HTTPError as error:
            hint = error.headers["retry-after-ms"]
            return {
                "ok": False, "code": "RESOURCE_EXHAUSTED", "error": "ResourceExhausted", "message": "busy",
                "retry_after_ms": hint and int(hint), "details": None, "ms": 1.0,
            }  # fmt: skip
        choice = answer["choices"][0]
        result = {"text": choice["message"]["content"], "model": "m", "usage": answer["usage"]}
        return {"ok": True, "code": "OK", "ms": 1.0, "result": {**result, "finish_reason": choice["finish_reason"]}}

    async def handle_stream(self, envelope: Any) -> AsyncIterator[dict[str, Any]]:
        yield await self.handle(envelope)

    def ask(self, url: str, args: Any) -> Any:
        body = json.dumps({"model": "m", "messages": args["messages"]}).encode()
        with urlopen(Request(f"{url}/v1/chat/completions", body)) as answer:
            return json.load(answer)


def factory(provider: Any) -> Adapter:
    """With the address that is right for every call, read once."""
    url = provider.url
    return Adapter(lambda: url)


def careful(provider: Any) -> Adapter:
    """With the address of each call."""
    return Adapter(lambda: provider.url)


def proxied() -> Adapter:
    """With the address of the proxy before the vendor, which the environment names."""
    return Adapter(lambda: os.environ[PROXY_VARIABLE])
