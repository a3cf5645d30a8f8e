"""Recordings of stores: an adapter that forwards its requests over HTTP, through a proxy, to one that keeps data."""

from pathlib import Path

import pytest
from cli_runs import read_statuses, run_suite
from served_adapters import served

FORWARDING = '''import asyncio, json, os, time, urllib.error, urllib.request

CLASSES = {
    400: ("BAD_REQUEST", "BadRequest"), 401: ("AUTH_ERROR", "AuthError"), 403: ("AUTH_ERROR", "AuthError"),
    429: ("RESOURCE_EXHAUSTED", "ResourceExhausted"), 502: ("TRANSIENT_NETWORK", "TransientNetwork"),
    504: ("TRANSIENT_NETWORK", "TransientNetwork"),
}
KEPT = ("tenant", "idempotency_key", "request_id")


class Forwarding:
    """Sends each request on to an adapter over HTTP; its deadline, which is never the same again, stays here."""

    def __init__(self, base):
        self.base = base

    async def handle(self, envelope):
        (answer,) = await self.answers(envelope, "application/json")
        return answer

    async def handle_stream(self, envelope):
        for answer in await self.answers(envelope, "application/x-ndjson"):
            yield answer

    async def answers(self, envelope, accept):
        began, left = time.perf_counter(), None
        ctx = envelope.get("ctx") if isinstance(envelope, dict) else None
        if isinstance(ctx, dict) and type(ctx.get("deadline_ms")) in (int, float) and 0 < ctx["deadline_ms"] < 1e15:
            left = ctx["deadline_ms"] / 1000 - time.time()
            envelope = {**envelope, "ctx": {name: value for name, value in ctx.items() if name in KEPT}}
        try:
            answers = await asyncio.wait_for(asyncio.to_thread(self.ask, envelope, accept, left), left)
        except TimeoutError:
            answers = [self.failed("DEADLINE_EXCEEDED", "DeadlineExceeded")]
        except (OSError, ValueError):
            answers = [self.failed("TRANSIENT_NETWORK", "TransientNetwork")]
        return [{**answer, "ms": (time.perf_counter() - began) * 1000} for answer in answers]

    def failed(self, code, name, hint=None):
        return {"ok": False, "code": code, "error": name, "message": "failed", "retry_after_ms": hint, "details": {}}

    def ask(self, envelope, accept, left):
        headers = {"Content-Type": "application/json", "Accept": accept}
        place = "stream" if "ndjson" in accept else "call"  # a recording knows requests by their address and body alone
        request = urllib.request.Request(f"{self.base}/{place}", json.dumps(envelope).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=max(0.01, min(10, left or 10))) as answer:
                return [json.loads(line) for line in answer if line.strip()]
        except urllib.error.HTTPError as error:
            body, hint = json.loads(error.read() or b"null"), error.headers["retry-after-ms"]
            if isinstance(body, dict) and body.get("ok") is False:
                return [body]
            return [self.failed(*CLASSES.get(error.code, ("UNAVAILABLE", "Unavailable")), hint and float(hint))]


def adapter(provider):
    return Forwarding(provider.proxy(os.environ["UPSTREAM"]))
'''


@pytest.mark.slow
@pytest.mark.parametrize("component", ["vector", "embedding"])
def test_what_a_store_answers_replays_in_its_order(tmp_path: Path, component: str) -> None:
    """In another order a store may be asked what it was not asked before: that is not assessed, and never worse."""
    (tmp_path / "recorded.py").write_text(FORWARDING)
    common = ("--corpus-adapter=recorded:adapter", f"--corpus-components={component}", "--corpus-report=r.json",
              "--corpus-recording=r.jsonl")  # fmt: skip
    with served(f"pytest_corpus.reference:{component}") as (address, _):
        place = {"PYTHONPATH": str(tmp_path), "UPSTREAM": f"http://{address}/"}
        ended = run_suite(tmp_path, *common, **place)
    live = read_statuses(tmp_path / "r.json")
    assert list(live.values()).count("satisfied") > 100, ended.stdout
    instant = (*common, "--corpus-record=none", "--corpus-recording-speed=instant")
    ended = run_suite(tmp_path, *instant, **place)
    assert read_statuses(tmp_path / "r.json") == live, ended.stdout
    ended = run_suite(tmp_path, *instant, "-p", "randomly", **place)
    again = read_statuses(tmp_path / "r.json")
    assert {again[name] for name in again if again[name] != live[name]} <= {"not_assessed"}, ended.stdout
