"""Adapters on a vendor's API over plain sockets, each with one mistake that clients make with chunks and their ends."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_corpus.reference.embedding.adapter import ReferenceEmbedding
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.llm.adapter import ReferenceLLM
from pytest_corpus.reference.request import Call

DONE = "[DONE]"

KINDS = {
    "insufficient_quota": "quota_exhausted",
    "content_filter": "content_filtered",
    "server_is_overloaded": "overloaded",
}
"""The kinds of failures that are told by the vendor's code."""

STATUSES = {
    "rate_limit_exceeded": 429,
    "invalid_api_key": 401,
    "unsupported_country_region_territory": 403,
    "invalid_request_error": 400,
}
"""The statuses of failures in a stream, by the vendor's code or type."""


@dataclass(slots=True)
class Failure(Exception):
    """A refusal of the vendor, with the advice of its headers."""

    http_status: int
    code: str
    retry_after_ms: float | None

    @property
    def kind(self) -> str:
        return KINDS.get(self.code, "")


class Client:
    """One request a connection; chunks of the transport are handed on as they come."""

    def __init__(self, address: str) -> None:
        self.place, _, self.path = address.removeprefix("http://").partition("/")

    async def chunks(self, path: str, body: Any, call: Call) -> AsyncGenerator[bytes, None]:
        """The parts of an answer. Raises Failure if it is an error, EOFError if it breaks off."""
        host, _, port = self.place.partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        try:
            content = json.dumps(body).encode()
            trace = f"traceparent: {call.traceparent}\r\n" if call.traceparent else ""
            head = f"POST /{self.path}/{path} HTTP/1.1\r\nhost: {self.place}\r\n{trace}"
            writer.write(f"{head}content-length: {len(content)}\r\n\r\n".encode() + content)
            lines = (await reader.readuntil(b"\r\n\r\n")).decode().lower().split("\r\n")
            headers = dict(line.split(": ", 1) for line in lines[1:] if line)
            status = int(lines[0].split()[1])
            if "content-length" in headers:
                whole = await reader.readexactly(int(headers["content-length"]))
                if status != 200:
                    error = json.loads(whole)["error"]
                    advice = headers.get("retry-after-ms")
                    raise Failure(status, str(error.get("code")), float(advice) if advice else None)
                yield whole
                return
            while size := int(await reader.readuntil(b"\r\n"), 16):
                yield await reader.readexactly(size)
                await reader.readexactly(2)
        except (asyncio.IncompleteReadError, ConnectionError):
            raise Failure(502, "", None) from None
        finally:
            writer.close()


def in_stream(error: dict[str, Any]) -> Failure:
    """The failure that an event in a stream tells."""
    code = str(error["code"] or error["type"])
    return Failure(STATUSES.get(code, 0), code, None)


class ClientLLM(ReferenceLLM):
    """Completes and streams by the vendor's chat completions."""

    features: Mapping[str, bool] = {**ReferenceLLM.features, "supports_caching": False}
    context_window = 128_000

    def __init__(self, *, metrics: Any = None, provider: Any = None) -> None:
        super().__init__(metrics=metrics)
        self.vendor = Client(provider.url)

    def body(self, call: Call) -> dict[str, Any]:
        args = call.args.values
        taken = ("messages", "max_tokens", "temperature", "top_p", "tools", "tool_choice")
        body = {"model": self.read_model(call), **{key: args[key] for key in taken if args.get(key) is not None}}
        if args.get("system_message"):
            body["messages"] = [{"role": "system", "content": args["system_message"]}, *args["messages"]]
        return body

    async def parts(self, call: Call, **more: Any) -> AsyncIterator[bytes]:
        try:
            async for part in self.vendor.chunks("v1/chat/completions", {**self.body(call), **more}, call):
                yield part
        except Failure as failure:
            raise self.map_fault(failure) from None

    async def answer(self, call: Call, prompt: Any) -> dict[str, Any]:
        whole = b"".join([part async for part in self.parts(call)])
        answered = json.loads(whole)
        choice = answered["choices"][0]
        found = {"text": choice["message"]["content"] or "", "model": prompt.model, "usage": answered["usage"]}
        calls = choice["message"].get("tool_calls")
        return {
            **found,
            "finish_reason": self.reason(choice["finish_reason"]),
            **({"tool_calls": calls} if calls else {}),
        }

    def reason(self, given: str) -> str:
        return given

    async def events(self, parts: AsyncIterator[bytes]) -> AsyncIterator[str]:
        """The data of each event, however the parts were cut."""
        rest = b""
        async for part in parts:
            *whole, rest = (rest + part).split(b"\n\n")
            for each in whole:
                yield each.decode().partition("data: ")[2]

    async def count_tokens(self, call: Call) -> dict[str, int]:
        self.read_model(call)
        return {"tokens": self.token_count(call.args.required_text("text"))}

    async def stream(self, call: Call) -> AsyncGenerator[dict[str, Any], None]:
        prompt = self.read_prompt(call)
        calls: list[dict[str, Any]] = []
        ended = False
        async for data in self.events(self.parts(call, stream=True)):
            if data == DONE:
                ended = True
                break
            given = json.loads(data)
            if "error" in given:
                raise self.map_fault(in_stream(given["error"]))
            for choice in given["choices"]:
                self.join(calls, choice["delta"].get("tool_calls") or [])
                if text := choice["delta"].get("content"):
                    yield {"text": text, "is_final": False, "model": prompt.model}
        self.check_end(ended)
        yield {"text": "", "is_final": True, "model": prompt.model, **({"tool_calls": calls} if calls else {})}

    def check_end(self, ended: bool) -> None:
        if not ended:
            raise AdapterError("TransientNetwork", "The provider broke off")

    def join(self, calls: list[dict[str, Any]], fragments: list[dict[str, Any]]) -> None:
        """Add the fragments of tool calls to those that have begun."""
        for each in fragments:
            if "id" in each:
                calls.append({key: each[key] for key in ("id", "type", "function")})
            else:
                function = calls[each["index"]]["function"]
                function["arguments"] += each["function"]["arguments"]


class CutsCharacters(ClientLLM):
    """Decodes each part of the transport for itself."""

    async def events(self, parts: AsyncIterator[bytes]) -> AsyncIterator[str]:
        rest = ""
        async for part in parts:
            *whole, rest = (rest + part.decode(errors="replace")).split("\n\n")
            for each in whole:
                yield each.partition("data: ")[2]


class OneEventAPart(ClientLLM):
    """Takes each part of the transport for one event, and leaves out what it cannot read."""

    async def events(self, parts: AsyncIterator[bytes]) -> AsyncIterator[str]:
        async for part in parts:
            data = part.decode(errors="replace").strip().removeprefix("data: ")
            try:
                yield data if data == DONE else json.dumps(json.loads(data))
            except ValueError:
                continue

    def check_end(self, ended: bool) -> None:
        """The last event may be one that was left out."""


class DropsFragments(ClientLLM):
    """Reads the fragments of a tool call that have an id, and no others."""

    def join(self, calls: list[dict[str, Any]], fragments: list[dict[str, Any]]) -> None:
        super().join(calls, [each for each in fragments if "id" in each])


class EndsAnywhere(ClientLLM):
    """Takes a stream for whole as soon as the connection ends."""

    def check_end(self, ended: bool) -> None:
        """Any end will do."""


class FilteredIsStopped(ClientLLM):
    """Gives an answer that the vendor's filter cut as one that ended by itself."""

    def reason(self, given: str) -> str:
        return "stop" if given == "content_filter" else given


class ClientEmbedding(ReferenceEmbedding):
    """Embeds by the vendor's embeddings, batches in one request."""

    features: Mapping[str, bool] = {
        **ReferenceEmbedding.features,
        "supports_caching": False,
        "supports_streaming": False,
        "supports_normalization": False,
        "supports_token_counting": False,
    }
    models: Mapping[str, int] = {"text-embedding-3-small": 1536}

    def __init__(self, *, metrics: Any = None, provider: Any = None) -> None:
        super().__init__(metrics=metrics)
        self.vendor = Client(provider.url)
        self.vectors: dict[str, list[float]] = {}

    async def reach(self, call: Call, **facts: Any) -> None:
        raise NotImplementedError

    async def asked(self, call: Call, texts: list[str]) -> list[list[float]]:
        body = {"model": call.args.values["model"], "input": texts}
        try:
            whole = b"".join([part async for part in self.vendor.chunks("v1/embeddings", body, call)])
        except Failure as failure:
            raise self.map_fault(failure) from None
        return self.in_order(json.loads(whole)["data"])

    def in_order(self, data: list[dict[str, Any]]) -> list[list[float]]:
        return [each["embedding"] for each in sorted(data, key=lambda each: each["index"])]

    async def ask(self, call: Call, job: Any) -> dict[str, Any]:
        [vector] = await self.asked(call, [job.text])
        return {"vector": vector, "text": job.text, "model": job.options.model, "dimensions": len(vector)}

    async def ask_together(self, call: Call, jobs: Any) -> Any:
        vectors = await self.asked(call, [job.text for job in jobs])
        return [
            {"vector": vector, "text": job.text, "model": job.options.model, "dimensions": len(vector)}
            for job, vector in zip(jobs, vectors, strict=True)
        ]


class TrustsTheOrder(ClientEmbedding):
    """Takes the vectors in the order in which they come."""

    def in_order(self, data: list[dict[str, Any]]) -> list[list[float]]:
        return [each["embedding"] for each in data]
