"""Each kind and form of fault looks the same to a client through a proxy as from a server that fails by itself.

`faults_through_a_proxy.txt` has a line for each: what the client made of it.
"""

import asyncio
import importlib
import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pytest_corpus.adapter.hooks.provider import ProviderProbe
from pytest_corpus.spec.errors import FAULTS, FORMS

CASES = [(kind.kind, None) for kind in FAULTS] + [(kind, form) for form, kinds in FORMS.items() for kind in kinds]
WAIT_S = 0.4
MESSAGES = [{"role": "user", "content": "What is the sea?"}]
BODY = {"model": "m", "max_tokens": 50, "messages": MESSAGES}
HINTS = ("retry-after", "retry-after-ms")
Ask = Callable[[str, dict[str, Any]], str]
TABLE = Path(__file__).with_name("faults_through_a_proxy.txt")

NODE = """
import { createInterface } from "node:readline";
for await (const line of createInterface({ input: process.stdin })) {
  const { url, body, wait } = JSON.parse(line);
  let said;
  try {
    const signal = AbortSignal.timeout(wait);
    const answer = await fetch(url, { method: "POST", body, headers: { "content-type": "application/json" }, signal });
    const hints = ["retry-after", "retry-after-ms"].filter((name) => answer.headers.has(name));
    said = [answer.status, ...hints, await answer.text()];
  } catch (error) { said = [error.name, "thrown"]; }
  console.log(JSON.stringify(said));
}
"""


def seen(status: int, headers: Any, text: str) -> str:
    """An answer without what differs from one to the next."""
    return " ".join([str(status), *(name for name in HINTS if name in headers), shape(text)])


def shape(text: str) -> str:
    """The number of events and the last one of a stream; the members of an error."""
    if "data:" in text:
        events = text.strip().split("\n\n")
        return f"{len(events)} events, the last {'whole' if text.endswith(chr(10) * 2) else 'cut'}: {words(events[-1])}"
    return words(text)


def words(text: str) -> str:
    """The keys of JSON."""
    try:
        value = json.loads(text.rpartition("data: ")[2])
    except ValueError:
        return "[DONE]" if "[DONE]" in text else "not JSON"
    error = value.get("error") if isinstance(value, dict) else None
    if isinstance(error, dict):
        return f"error {error.get('type')} {error.get('code')}"
    return "an answer" if isinstance(value, dict) else "other JSON"


def failure(error: BaseException) -> str:
    """An exception of a client, with the status and the hints that it holds."""
    answer = getattr(error, "response", None)
    headers = getattr(answer, "headers", {}) or {}
    known = [str(getattr(error, "status_code", "")), *(name for name in HINTS if name in headers)]
    return " ".join([type(error).__name__, *filter(None, known)])


def by_requests(url: str, body: dict[str, Any]) -> str:
    requests = importlib.import_module("requests")
    answer = requests.post(f"{url}/v1/chat/completions", json=body, timeout=WAIT_S)
    return seen(answer.status_code, answer.headers, answer.content.decode())


def by_httpx(url: str, body: dict[str, Any]) -> str:
    httpx = importlib.import_module("httpx2")
    answer = httpx.post(f"{url}/v1/chat/completions", json=body, timeout=WAIT_S)
    return seen(answer.status_code, answer.headers, answer.text)


def by_aiohttp(url: str, body: dict[str, Any]) -> str:
    aiohttp = importlib.import_module("aiohttp")

    async def ask() -> str:
        timeout = aiohttp.ClientTimeout(total=WAIT_S)
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.post(f"{url}/v1/chat/completions", json=body) as answer,
        ):
            return seen(answer.status, answer.headers, await answer.text())

    return asyncio.run(ask())


def by_openai(url: str, body: dict[str, Any]) -> str:
    openai = importlib.import_module("openai")
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="unused", max_retries=0, timeout=WAIT_S)
    found = client.chat.completions.create(**body)
    if not body.get("stream"):
        return f"{found.choices[0].finish_reason}"
    chunks = list(found)
    return f"{len(chunks)} chunks, {[each.choices[0].finish_reason for each in chunks if each.choices][-1]}"


def by_anthropic(url: str, body: dict[str, Any]) -> str:
    anthropic = importlib.import_module("anthropic")
    client = anthropic.Anthropic(base_url=url, api_key="unused", max_retries=0, timeout=WAIT_S)
    found = client.messages.create(**body)
    return f"{[each.type for each in found][-1]}" if body.get("stream") else f"{found.stop_reason}"


def by_cohere(url: str, body: dict[str, Any]) -> str:
    cohere = importlib.import_module("cohere")
    client = cohere.ClientV2(api_key="unused", base_url=url, timeout=WAIT_S)
    plain = {"model": "m", "messages": MESSAGES, "request_options": {"max_retries": 0}}
    if not body.get("stream"):
        return f"{client.chat(**plain).finish_reason}"
    return f"{[each.type for each in client.chat_stream(**plain)][-1]}"


GO = """
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"
)

type question struct {
	URL, Body string
	Wait      float64
}

func ask(given question) []any {
	limit, cancel := context.WithTimeout(context.Background(), time.Duration(given.Wait)*time.Millisecond)
	defer cancel()
	request, _ := http.NewRequestWithContext(limit, "POST", given.URL, strings.NewReader(given.Body))
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return failure(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return failure(err)
	}
	said := []any{answer.StatusCode}
	for _, name := range []string{"retry-after", "retry-after-ms"} {
		if answer.Header.Get(name) != "" {
			said = append(said, name)
		}
	}
	return append(said, string(text))
}

func failure(err error) []any {
	for _, known := range []error{context.DeadlineExceeded, syscall.ECONNRESET, io.ErrUnexpectedEOF, io.EOF} {
		if errors.Is(err, known) {
			return []any{known.Error(), "returned"}
		}
	}
	return []any{err.Error(), "returned"}
}

func main() {
	lines, said := bufio.NewReader(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		line, err := lines.ReadBytes(10)
		if err != nil {
			return
		}
		var given question
		json.Unmarshal(line, &given)
		said.Encode(ask(given))
	}
}
"""


def node(_folder: Path) -> list[str]:
    """The command of Node's fetch."""
    return ["node", "--input-type=module", "-e", NODE]


def go(folder: Path) -> list[str]:
    """The command of Go's net/http, which is compiled before."""
    (folder / "client.go").write_text(GO)
    subprocess.run(["go", "build", "-o", "client", "client.go"], cwd=folder, check=True, timeout=600)
    return [str(folder / "client")]


PROGRAMS: dict[str, Callable[[Path], list[str]]] = {"node": node, "go": go}


@contextmanager
def program(command: list[str]) -> Iterator[Ask]:
    """A client of another language, in one process: it gets a line of JSON and answers with one."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        source, sink = process.stdout, process.stdin

        def ask(url: str, body: dict[str, Any]) -> str:
            line = {"url": f"{url}/v1/chat/completions", "body": json.dumps(body), "wait": WAIT_S * 1000}
            sink.write(json.dumps(line) + "\n")
            sink.flush()
            said = json.loads(source.readline())
            return " ".join(said) if isinstance(said[0], str) else seen(said[0], said[1:-1], said[-1])

        try:
            yield ask
        finally:
            process.kill()


CLIENTS: dict[str, Ask] = {"requests": by_requests, "httpx2": by_httpx, "aiohttp": by_aiohttp, "openai": by_openai,
           "anthropic": by_anthropic, "cohere": by_cohere}  # fmt: skip


@pytest.fixture
def servers() -> Iterator[dict[str, ProviderProbe]]:
    """A server that fails by itself, and a proxy that fails before one that does not."""
    own, proxy, upstream = ProviderProbe(), ProviderProbe(), ProviderProbe()
    own.address, proxy.address = own.url, proxy.proxy(upstream.url)  # type: ignore[attr-defined]
    yield {"server": own, "proxy": proxy}
    for each in (own, proxy, upstream):
        each.close()


def outcome(
    probe: ProviderProbe, ask: Callable[[str, dict[str, Any]], str], case: tuple[str, str | None], at: Any
) -> str:
    """The outcome of a fault at a client."""
    kind, form = case
    hinted = 1234 if kind in ("rate_limited", "quota_exhausted", "overloaded", "unavailable") else None
    probe.clear()
    plan = probe.plan(kind, at_chunk=at, form=form, retry_after_ms=hinted, delay_ms=10 if kind == "slow" else 0)
    try:
        said = ask(probe.address, {**BODY, **({"stream": True} if at is not None else {})})  # type: ignore[attr-defined]
    except Exception as error:
        said = failure(error)
    return f"{said}{'' if plan.fired else ' (did not happen)'}"


@pytest.mark.slow
@pytest.mark.parametrize("name", CLIENTS)
def test_a_client_sees_the_same(name: str, servers: dict[str, ProviderProbe]) -> None:
    """Before the answer, and at the second chunk of a stream."""
    pytest.importorskip(name)
    compare(name, CLIENTS[name], servers)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_client_of_another_language_sees_the_same(
    name: str, servers: dict[str, ProviderProbe], tmp_path: Path
) -> None:
    """As those of Python do."""
    if shutil.which(name) is None:
        pytest.skip(f"there is no {name}: apt-get install {'nodejs' if name == 'node' else 'golang-go'}")
    with program(PROGRAMS[name](tmp_path)) as ask:
        compare(name, ask, servers)


def compare(name: str, ask: Ask, servers: dict[str, ProviderProbe]) -> None:
    """Every fault through the proxy, from the server and in the table."""
    measured, differing = [], []
    for kind, form in CASES:
        for at in (None, 1):
            both = {side: outcome(probe, ask, (kind, form), at) for side, probe in servers.items()}
            case = " ".join(filter(None, (name, kind, form, "in mid-stream" if at else "")))
            measured.append(f"{case}: {both['proxy']}")
            differing += [] if both["server"] == both["proxy"] else [f"{case}: {both}"]
    assert not differing, "\n".join(differing)
    known = [line for line in TABLE.read_text().splitlines() if line.startswith(f"{name} ")]
    assert measured == known, "\n".join(sorted(set(measured) ^ set(known)))
