"""The official clients of OpenAI and Anthropic against a small server of our own."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import http_servers
import pytest
from samples import QUESTION_ANSWERING, write
from test_running import results

from pytest_corpus.bundles.errors import BundleError
from pytest_corpus.bundles.evaluation.template import Template
from pytest_corpus.bundles.loading.bundle import ProviderChoice
from pytest_corpus.bundles.loading.bundle_file import load_bundle
from pytest_corpus.bundles.providers.registry import make_provider
from pytest_corpus.bundles.results import CaseResult
from pytest_corpus.bundles.running.asking import CaseRunner

GOOD = json.dumps({"answer": "x", "confidence": 0.9})


class Server(http_servers.Server):
    """Answers as the two vendors do; `answers` are texts, or a status with headers."""

    def __init__(self) -> None:
        super().__init__(Handler)
        self.answers: list[Any] = []
        self.requests: list[dict[str, Any]] = []


class Handler(http_servers.Handler):
    server: Server

    def answer(self) -> None:
        body = json.loads(self.read())
        self.server.requests.append(body)
        answer = self.server.answers.pop(0) if self.server.answers else GOOD
        if not isinstance(answer, str):
            self.reply({"error": {"message": "no", "type": "x"}}, *answer)
        elif self.path.endswith("/chat/completions"):
            message = {"role": "assistant", "content": answer}
            self.reply({
                "id": f"c-{len(self.server.requests)}", "object": "chat.completion", "created": 1,
                "model": body["model"],
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16},
            })  # fmt: skip
        else:
            self.reply({
                "id": f"m-{len(self.server.requests)}", "type": "message", "role": "assistant", "model": body["model"],
                "content": [{"type": "text", "text": answer}], "stop_reason": "end_turn", "stop_sequence": None,
                "usage": {"input_tokens": 11, "output_tokens": 5},
            })  # fmt: skip


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
    with http_servers.run_server(Server()) as found:
        yield found


def asked(folder: Path, name: str, url: str, **changes: Any) -> list[CaseResult]:
    """The results of the document's example with an official client."""
    pytest.importorskip(name, reason=f"the official client {name} is not installed")
    found = replace(load_bundle(write(folder, QUESTION_ANSWERING)), **changes)
    assert found.provider is not None
    choice = replace(found.provider, name=name, base_url=url)
    provider = make_provider(choice, found.file, {}, None)
    try:
        return results(CaseRunner(found, choice, provider, pause=lambda _: None))
    finally:
        provider.close()


@pytest.mark.parametrize(("name", "path"), [("openai", "/v1"), ("anthropic", "")])
def test_the_example_of_the_document(tmp_path: Path, server: Server, name: str, path: str) -> None:
    """The complete example runs against the vendor's API and passes where the answers keep the contract."""
    found = asked(tmp_path, name, server.url + path)
    assert [result.status for result in found] == ["passed"] * 3
    assert found[0].samples[0].total_tokens == 16
    assert server.requests[0]["model"] == "gpt-4o-mini"
    assert server.requests[0]["temperature"] == 0.0
    assert "What is the capital of Japan?" in server.requests[0]["messages"][-1]["content"]


@pytest.mark.parametrize(("name", "path"), [("openai", "/v1"), ("anthropic", "")])
def test_it_fails_where_an_answer_breaks_the_contract(tmp_path: Path, server: Server, name: str, path: str) -> None:
    """Prose instead of JSON, and too little confidence, fail their cases."""
    server.answers = ["It is Tokyo.", json.dumps({"answer": "8", "confidence": 0.1})]
    assert [result.status for result in asked(tmp_path, name, server.url + path)] == ["failed", "failed", "passed"]


@pytest.mark.parametrize(("name", "path"), [("openai", "/v1"), ("anthropic", "")])
def test_the_clients_own_retries_are_off(tmp_path: Path, server: Server, name: str, path: str) -> None:
    """A busy vendor is asked again as often as the bundle says, and no more."""
    server.answers = [(429, {"Retry-After": "1"}), GOOD, (401, {}), (503, {})]
    found = asked(tmp_path, name, server.url + path, retries=1)
    assert [result.status for result in found] == ["passed", "error", "passed"]
    assert [result.calls for result in found] == [2, 1, 2]
    assert "the provider answers AuthError" in found[1].samples[0].reasons[0].shape


@pytest.mark.parametrize(("name", "path"), [("openai", "/v1"), ("anthropic", "")])
def test_a_redirect_is_not_followed(tmp_path: Path, server: Server, name: str, path: str) -> None:
    """The key and the prompts stay with the server that the bundle names; it is asked once."""
    with http_servers.run_server(Server()) as other:
        server.answers = [(307, {"Location": f"{other.url}{path}/chat/completions"})]
        found = asked(tmp_path, name, server.url + path, retries=1)
    assert [(result.status, result.calls) for result in found] == [("error", 1), ("passed", 1), ("passed", 1)]
    assert "the provider answers BadRequest" in found[0].samples[0].reasons[0].shape
    assert other.requests == []


def test_options_are_passed_on(tmp_path: Path, server: Server) -> None:
    """`provider.options`, a system prompt and the limit of tokens reach the vendor."""
    choice = ProviderChoice("openai", "m", None, 7, None, None, {"seed": 3, "stop": ["."]})
    asked(tmp_path, "openai", server.url + "/v1", provider=choice, system=Template("Be brief.", "system.md"))
    sent = server.requests[0]
    assert (sent["seed"], sent["stop"], sent["max_tokens"]) == (3, ["."], 7)
    assert sent["messages"][0] == {"role": "system", "content": "Be brief."}
    assert "temperature" not in sent


@pytest.mark.parametrize(("name", "path"), [("openai", "/v1"), ("anthropic", "")])
def test_an_answer_of_another_form_is_an_error(tmp_path: Path, server: Server, name: str, path: str) -> None:
    """A server that only looks like the vendor's may send anything: the case says so, and its call counts."""
    server.answers = [(200, {}), (200, {"Content-Type": "text/html"})]
    found = asked(tmp_path, name, server.url + path)
    assert [(result.status, result.calls) for result in found] == [("error", 1), ("error", 1), ("passed", 1)]
    assert [reason.shape for reason in found[0].every_reason] == [
        "the provider answers Unavailable: the answer is not a completion"
    ]


@pytest.mark.parametrize("name", ["openai", "anthropic"])
def test_options_that_are_said_elsewhere(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An option that would fight with the bundle's own keys is refused before any call."""
    monkeypatch.setenv(f"{name.upper()}_API_KEY", "sk-test")
    choice = ProviderChoice(name, "m", options={"stream": True})
    with pytest.raises(
        BundleError, match=r"provider\.options\.stream cannot be passed on; answers are read as a whole"
    ):
        make_provider(choice, "bundle.yaml", {}, None)


def test_stop_is_spelled_as_the_vendor_does(tmp_path: Path, server: Server) -> None:
    """One bundle runs with several vendors: Anthropic's name of `stop` is another."""
    asked(tmp_path, "anthropic", server.url, provider=ProviderChoice("anthropic", "m", options={"stop": "."}))
    assert server.requests[0]["stop_sequences"] == ["."]
    assert "stop" not in server.requests[0]
