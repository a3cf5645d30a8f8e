"""A stand-in for the API of Ollama, for runs on a machine without models: tags, show, and chats of made-up words."""

import json
import re
import threading
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import Any

MODELS = ("llama3.2:3b", "qwen3:4b")
CONTEXT = 4096
WORDS = ("amber", "bógen", "cèdre", "дельта", "ember", "fjørd", "grove", "港口", "🏝️", "ים")
LENGTH = 32
TOKEN = re.compile(r" ?\S{1,8}|\s")


class Refused(Exception):
    """A request that Ollama refuses, with the status and the text of its answer."""

    def __init__(self, status: int, text: str) -> None:
        self.status, self.text = status, text
        super().__init__(text)


class Ollama(ThreadingHTTPServer):
    """The server, on a free port of the loopback address."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Stop listening."""
        self.shutdown()
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        if self.path == "/api/tags":
            self.answer(200, {"models": [{"name": model, "model": model, "size": 1} for model in MODELS]})
        else:
            self.answer(404, {"error": "not found"})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            given = json.loads(body)
            if given.get("model") not in MODELS:
                raise Refused(404, f"model '{given.get('model')}' not found")
            if self.path == "/api/show":
                known = {"general.architecture": "llama", "llama.context_length": CONTEXT}
                self.answer(200, {"model_info": known, "capabilities": ["completion", "tools"]})
            elif self.path == "/api/chat":
                self.chat(given)
            else:
                raise Refused(404, "not found")
        except Refused as refused:
            self.answer(refused.status, {"error": refused.text})
        except (AttributeError, KeyError, TypeError, ValueError):
            self.answer(400, {"error": "json: cannot unmarshal the request"})

    def chat(self, given: Mapping[str, Any]) -> None:
        """Answer a chat, in a stream unless the request asks for a whole answer."""
        lines = list(chunks(given))
        if not given.get("stream", True):
            *parts, last = lines
            message = {"role": "assistant", "content": "".join(part["message"]["content"] for part in parts)}
            calls = [call for part in parts for call in part["message"].get("tool_calls", ())]
            self.answer(200, {**last, "message": {**message, **({"tool_calls": calls} if calls else {})}})
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for line in lines:
            data = json.dumps(line).encode() + b"\n"
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")

    def answer(self, status: int, value: Any) -> None:
        """Send one value."""
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_given: Any) -> None:
        """Say nothing."""


def chunks(given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The lines of an answer: the same to the same request, and within the limits that it sets."""
    options, messages = given.get("options") or {}, given["messages"]
    asked = sum(len(TOKEN.findall(message["content"])) for message in messages)
    if asked > options.get("num_ctx", CONTEXT) and given.get("truncate") is False:
        raise Refused(400, "the input length exceeds the context length")
    head = {"model": given["model"], "created_at": datetime.now(UTC).isoformat()}
    text = " ".join(Random(sha256(repr(messages).encode()).digest()).choices(WORDS, k=LENGTH))
    used = 1
    if called := next((tool for tool in given.get("tools") or () if names(messages[-1], tool)), None):
        call = {"function": {"name": called["function"]["name"], "arguments": {}}}
        yield {**head, "message": {"role": "assistant", "content": "", "tool_calls": [call]}, "done": False}
        reason = "stop"
    else:
        for stop in options.get("stop") or ():
            text = text.split(stop)[0]
        tokens, limit = TOKEN.findall(text), options.get("num_predict", -1)
        kept = tokens if limit < 0 else tokens[:limit]
        used, reason = len(kept), "stop" if len(kept) == len(tokens) else "length"
        for token in kept:
            yield {**head, "message": {"role": "assistant", "content": token}, "done": False}
    counts = {"prompt_eval_count": asked, "eval_count": used}
    last = {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": reason}
    yield {**head, **last, **counts, "total_duration": 1}


def names(message: Mapping[str, Any], tool: Mapping[str, Any]) -> bool:
    """True if a user speaks of a tool by its name: then it is called."""
    return message["role"] == "user" and tool["function"]["name"] in message["content"]
