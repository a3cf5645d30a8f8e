"""Every fault of a provider with an address, through the official clients and the example adapters built on them.

The clients take seconds to import, so each has one test that goes through all of it.
"""

import asyncio
import importlib
import json
import logging
import os
import shutil
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cli_runs import run_process

from pytest_corpus.adapter.client import AdapterClient, Declaration
from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.adapter.hooks.provider import Plan, ProviderProbe
from pytest_corpus.spec.errors import FAULTS, FORMS

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
WIRE = EXAMPLES.parent / "skeletons" / "corpus-wire"
AT_CHUNK = 1
HINT_MS = 1234
BUDGET_MS = 300
PATIENCE_S = 30
MESSAGES = [{"role": "user", "content": "What is the sea?"}]

CASES = [(kind.kind, "") for kind in FAULTS] + [(kind, form) for form, kinds in FORMS.items() for kind in kinds]

COMMON = {
    "rate_limited": "RateLimitError -> ResourceExhausted 1234",
    "rate_limited retry_after_seconds": "RateLimitError -> ResourceExhausted 2000",
    "rate_limited retry_after_date": "RateLimitError -> ResourceExhausted about 2000",
    "quota_exhausted": "RateLimitError -> ResourceExhausted 1234",
    "quota_exhausted retry_after_seconds": "RateLimitError -> ResourceExhausted 2000",
    "quota_exhausted retry_after_date": "RateLimitError -> ResourceExhausted about 2000",
    "network": "InternalServerError -> TransientNetwork 1234",
    "network reset": "APIConnectionError -> TransientNetwork",
    "network truncated": "APIConnectionError -> TransientNetwork",
    "network unfinished": "APIConnectionError -> TransientNetwork",
    "gateway_timeout truncated": "APIConnectionError -> TransientNetwork",
    "auth": "AuthenticationError -> AuthError",
    "forbidden": "PermissionDeniedError -> AuthError",
    "content_filtered": "BadRequestError -> ContentFiltered",
    "content_filtered in_answer": "nothing -> content_filter",
    "invalid_request": "BadRequestError -> BadRequest",
    "unexpected": "InternalServerError -> Unavailable 1234",
    "unexpected garbage": "JSONDecodeError -> Unavailable",
    "hang": "APITimeoutError -> DeadlineExceeded",
    "slow": "nothing -> stop",
}
"""The exception of the client and the answer of the adapter, with the retry hint, if a call fails before its answer."""

COMMON_IN_STREAM = {
    "network unfinished": "nothing -> TransientNetwork",
    "content_filtered in_answer": "nothing -> final chunk",
    "unexpected garbage": "JSONDecodeError -> Unavailable",
    "slow": "nothing -> final chunk",
}
"""And where a stream fails that has begun."""


def with_hints(raised: Mapping[str, str]) -> dict[str, str]:
    """Errors of kinds that differ between the clients, in each spelling of the retry hint."""
    return {
        name: found
        for kind, said in raised.items()
        for name, found in {
            kind: f"{said} 1234",
            f"{kind} retry_after_seconds": f"{said} 2000",
            f"{kind} retry_after_date": f"{said} about 2000",
        }.items()
    }


OPENAI = {
    **COMMON,
    **with_hints(
        {"overloaded": "InternalServerError -> ModelOverloaded", "unavailable": "InternalServerError -> Unavailable"}
    ),
    "gateway_timeout": "InternalServerError -> TransientNetwork 1234",
}
ANTHROPIC = {
    **COMMON,
    **with_hints(
        {"overloaded": "OverloadedError -> ModelOverloaded", "unavailable": "ServiceUnavailableError -> Unavailable"}
    ),
    "gateway_timeout": "GatewayTimeoutError -> TransientNetwork 1234",
}


def in_stream(event: str, broken: str, cut: str, late: str) -> dict[str, str]:
    """The exceptions of a client in mid-stream: for an event, a reset and a cut connection, and a silent one."""
    hinted = ("rate_limited", "quota_exhausted", "overloaded", "unavailable")
    classes = {
        "rate_limited": "ResourceExhausted", "quota_exhausted": "ResourceExhausted", "overloaded": "ModelOverloaded",
        "unavailable": "Unavailable", "auth": "AuthError", "forbidden": "AuthError",
        "content_filtered": "ContentFiltered", "invalid_request": "BadRequest", "unexpected": "Unavailable",
    }  # fmt: skip
    forms = {kind: ("", " retry_after_seconds", " retry_after_date") if kind in hinted else ("",) for kind in classes}
    return {
        **{f"{kind}{form}": f"{event} -> {found}" for kind, found in classes.items() for form in forms[kind]},
        "network": f"{broken} -> TransientNetwork",
        "network reset": f"{broken} -> TransientNetwork",
        "network truncated": f"{cut} -> TransientNetwork",
        "gateway_timeout": f"{cut} -> TransientNetwork",
        "gateway_timeout truncated": f"{cut} -> TransientNetwork",
        "hang": f"{late} -> DeadlineExceeded",
        **COMMON_IN_STREAM,
    }


EXPECTED = {
    "openai": (OPENAI, in_stream("APIError", "APIConnectionError", "APIConnectionError", "APITimeoutError")),
    "anthropic": (ANTHROPIC, in_stream("APIStatusError", "ReadError", "RemoteProtocolError", "ReadTimeout")),
}


@pytest.fixture(params=list(EXPECTED))
def vendor(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a vendor whose client is there and whose example can be imported."""
    name: str = request.param
    pytest.importorskip(name, reason=f"the official client {name} is not installed")
    monkeypatch.syspath_prepend(str(EXAMPLES / f"llm-{name}"))
    monkeypatch.syspath_prepend(str(WIRE))
    yield name
    for module in [each for each in sys.modules if each.partition(".")[0] == f"llm_{name}"]:
        del sys.modules[module]


def test_each_fault_raises_the_clients_own_error_and_is_answered_with_its_class(vendor: str) -> None:
    """Before the answer and in mid-stream: the exception, the class, the retry hint, and no word of the provider's."""
    example = importlib.import_module(f"llm_{vendor}")
    client = AdapterClient(Declaration(vendor, example.factory, vendor)).open()
    probe = ProviderProbe()
    try:
        for streaming, expected in zip((False, True), EXPECTED[vendor], strict=True):
            raised = asyncio.run(raised_by(vendor, probe, streaming=streaming))
            answered = {name_of(case): answer_to(client, *case, streaming=streaming) for case in CASES}
            assert {name: f"{raised[name]} -> {answered[name]}" for name in raised} == expected
    finally:
        client.close()
        probe.close()


def test_the_other_endpoints_fail_alike() -> None:
    """Responses, embeddings and token counts raise the same errors; in the stream of a response it is an event."""
    openai = pytest.importorskip("openai", reason="the official client openai is not installed")
    probe = ProviderProbe()

    async def ask() -> list[str]:
        found = []
        async with openai.AsyncOpenAI(base_url=f"{probe.url}/v1", api_key="key", max_retries=0) as client:
            for ask in (
                lambda: client.responses.create(model="m", input="hi"),
                lambda: client.embeddings.create(model="m", input=["hi", "you"]),
                lambda: client.responses.input_tokens.count(model="m", input="hi"),
                client.models.list,
            ):
                probe.plan("rate_limited", retry_after_ms=HINT_MS)
                found.append(await failing(ask))
            probe.plan("unavailable", at_chunk=1)
            found += [event.type async for event in await client.responses.create(model="m", input="hi", stream=True)]
        return found

    *errors, last_delta, event = asyncio.run(ask())
    probe.close()
    assert errors[:4] == ["RateLimitError"] * 4
    assert (last_delta, event) == ("response.output_text.delta", "error")
    assert probe.arrivals == ("llm.complete", "embedding.embed_batch", "llm.count_tokens", "models.list", "llm.stream")


def test_the_clients_own_retries_read_the_hint(vendor: str, caplog: pytest.LogCaptureFixture) -> None:
    """A client that may retry comes again after the time of the hint, and is then answered."""
    probe = ProviderProbe()
    probe.plan("rate_limited", retry_after_ms=30)
    caplog.set_level(logging.INFO, vendor)

    async def ask() -> None:
        async with client_of(vendor, probe, max_retries=1) as client:
            create = client.chat.completions.create if vendor == "openai" else client.messages.create
            await create(model="some-model", max_tokens=100, messages=MESSAGES)

    asyncio.run(ask())
    probe.close()
    assert probe.calls() == 2
    assert " in 0.030000 seconds" in caplog.text


@pytest.mark.slow
def test_the_example_is_conformant(vendor: str, tmp_path: Path) -> None:
    """The whole suite, with both hooks, asks nothing of it in vain; `provider.reached` is never called by hand."""
    shutil.copytree(EXAMPLES / f"llm-{vendor}", tmp_path / "example")
    options = ["-q", "-p", "no:cacheprovider", "--corpus-strict", "--corpus-report=r.json"]
    environment = {**os.environ, "PYTHONPATH": str(WIRE)}
    run_process(sys.executable, "-m", "pytest", *options, cwd=tmp_path / "example", env=environment, timeout=500)
    assert json.loads((tmp_path / "example" / "r.json").read_text())["verdict"] == "conformant"


def planned(probe: ProviderProbe, kind: str, form: str, *, streaming: bool) -> Plan:
    """A fault in place of any other."""
    probe.clear()
    at_chunk = AT_CHUNK if streaming else None
    return probe.plan(kind, None, at_chunk, retry_after_ms=HINT_MS, delay_ms=20, form=form or None)


async def raised_by(vendor: str, probe: ProviderProbe, *, streaming: bool) -> dict[str, str]:
    """The class of the client's exception in each case; "nothing" if there is none."""
    found = {}
    async with client_of(vendor, probe, max_retries=0) as client:
        create = client.chat.completions.create if vendor == "openai" else client.messages.create

        async def ask(kind: str) -> None:
            timeout = BUDGET_MS / 1000 if kind == "hang" else PATIENCE_S
            answer = await create(
                model="some-model", max_tokens=100, messages=MESSAGES, stream=streaming, timeout=timeout
            )
            if streaming:
                async with answer:
                    async for _ in answer:
                        pass

        for case in CASES:
            plan = planned(probe, *case, streaming=streaming)
            found[name_of(case)] = await failing(partial(ask, case[0]))
            assert plan.fired == 1, case
    return found


def client_of(vendor: str, probe: ProviderProbe, **settings: Any) -> Any:
    """The vendor's official client, of this provider."""
    module = importlib.import_module(vendor)
    if vendor == "openai":
        return module.AsyncOpenAI(base_url=f"{probe.url}/v1", api_key="key", **settings)
    return module.AsyncAnthropic(base_url=probe.url, api_key="key", **settings)


async def failing(ask: Callable[[], Awaitable[Any]]) -> str:
    try:
        await ask()
    except Exception as error:
        return type(error).__name__
    return "nothing"


def answer_to(client: AdapterClient, kind: str, form: str, *, streaming: bool) -> str:
    """The answer of the adapter: the class of an error with its retry hint, or the end of a good answer."""
    op = "llm.stream" if streaming else "llm.complete"
    ctx = {"deadline_ms": time.time() * 1000 + BUDGET_MS} if kind == "hang" else {}
    plan = planned(client.provider, kind, form, streaming=streaming)
    request = {"op": op, "ctx": ctx, "args": {"messages": MESSAGES}}
    exchange = client.send(request, "llm", streaming=streaming, debug_logs=True)
    assert plan.fired == 1, (kind, form)
    assert exchange.observed.reached_provider == 1, (kind, form)
    assert_nothing_leaks(exchange, plan.canary)
    last = exchange.frames[-1].body
    if not last["ok"]:
        return f"{last['error']}{hint(last['retry_after_ms'])}"
    return last["result"]["finish_reason"] if not streaming else "final chunk" * last["chunk"]["is_final"]


def hint(retry_after_ms: float | None) -> str:
    """A retry hint in words; a date has no fractions of a second."""
    if retry_after_ms is None:
        return ""
    exact = f" {retry_after_ms:g}"
    return exact if retry_after_ms in (HINT_MS, 2000) else " about 2000" if 0 < retry_after_ms < 2500 else exact


def assert_nothing_leaks(exchange: Exchange, canary: str) -> None:
    """No text of the provider on the wire, in metrics or logs; no prompt in logs."""
    observed = exchange.observed
    told = [json.dumps([frame.body for frame in exchange.frames]), *observed.logs, *observed.debug_logs]
    told += [repr(report.labels()) for group in (observed.observations, observed.counts) for report in group]
    assert canary not in "".join(told)
    assert "upstream said" not in "".join(told)
    assert MESSAGES[0]["content"] not in "".join((*observed.logs, *observed.debug_logs))
    assert observed.observations


def name_of(case: tuple[str, str]) -> str:
    return " ".join(filter(None, case))
