"""Nothing that an adapter says freely reaches a finding: not in a code, a class, a state, a label, a key or a path."""

import base64
import urllib.parse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tables import read_rows

from pytest_corpus.adapter.client import AdapterClient, Declaration
from pytest_corpus.adapter.exchange import CallFault, Exchange, Frame
from pytest_corpus.adapter.facts import Capabilities
from pytest_corpus.adapter.hooks.metrics import RecordingSink
from pytest_corpus.adapter.snapshot import NotJSON, to_bytes
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.run_state import Settings
from pytest_corpus.redaction import (
    GRAM,
    STARS,
    UnreadableValue,
    describe_value,
    describe_word,
    list_keys,
    list_names,
    mask_secrets,
    redact,
    redact_path,
    secret_values,
    shorten,
    type_name,
)
from pytest_corpus.reference import llm
from pytest_corpus.spec.errors import TAXONOMY
from pytest_corpus.spec.words import OBJECTS, TEXTS, VECTORS
from pytest_corpus.suites.llm.support.component import COMPONENT

SECRETS = [*read_rows(Path(__file__).with_name("secrets.txt")), "a\nb\x1b[31mred"]


def ids(secret: str) -> str:
    return ascii(secret)[1:9]


@pytest.mark.parametrize("secret", SECRETS, ids=ids)
def test_the_helpers_show_none(secret: str) -> None:
    """Each helper tells such a text by its size or number."""
    assert describe_word(secret) == f"a string of {len(secret)} characters"
    assert list_keys("the key", [secret]) == "1 the key" or secret not in list_keys("the key", [secret])
    assert secret not in redact_path(f"result.{secret}.text")


@pytest.mark.parametrize("value", [secret for secret in SECRETS if secret != "tenant_acme_42"], ids=ids)
def test_a_sentence_without_its_credential(value: str) -> None:
    """Words that look like a credential are left out of the text of an exception."""
    strong = [part for part in value.split() if len(part) > 9 and any(map(str.isdigit, part)) and not part.isdigit()]
    shown = redact(f"ValueError: bad key {value}, try again")
    assert shown.startswith("ValueError: bad key ")
    assert not [part for part in strong if part in shown]


@pytest.mark.parametrize("sentence", [
    "ModuleNotFoundError: No module named 'acme.adapters'",
    "ConnectionRefusedError: [Errno 111] Connect call failed ('127.0.0.1', 6379)",
    "FileNotFoundError: [Errno 2] No such file or directory: '/etc/acme/config.toml'",
    "TypeError: make() got an unexpected keyword argument 'timeout_ms'",
    "ServiceUnavailableError: the index is not ready",
])  # fmt: skip
def test_a_usual_sentence_stays(sentence: str) -> None:
    """Words that do not look like a credential stay in the explanation of a failure."""
    assert redact(sentence) == sentence


def test_the_name_of_a_type() -> None:
    """It is an identifier, or not shown; a class cannot pretend to be another."""

    class Meta(type):
        @property
        def __name__(cls) -> str:  # type: ignore[override]
            raise RuntimeError

    assert type_name(Meta("Plain", (), {})()) == "Plain"
    assert type_name(type("bad key sk_live", (), {})()) == "type of an unusual name"


@pytest.mark.parametrize("known", ["BadRequest", "BAD_REQUEST", "bad_request", "llm.complete", "OK", "stop", *TAXONOMY])
def test_words_of_the_protocol_are_shown(known: str) -> None:
    """Words of the protocol are shown in findings."""
    assert describe_word(known) == known


@pytest.mark.parametrize(("value", "shown"), [
    (None, "nothing"),
    (True, "true"),
    (-1, "-1"),
    (0.5, "0.5"),
    (10**400, "a number"),
    ([], "an array"),
    ({}, "an object"),
    ("x", "a string of 1 character"),
])  # fmt: skip
def test_other_values(value: object, shown: str) -> None:
    """Small numbers are themselves, everything else is its kind."""
    assert describe_word(value) == shown


def test_keys_that_read_like_names() -> None:
    """They are shown, the others counted."""
    assert (
        list_keys("the key", ["request_id", "sk_live_abcdef", "meta", "Ab1"]) == "the keys meta, request_id and 2 more"
    )
    assert list_keys("key", ["A1", "B2"]) == "2 keys"
    assert list_names(["a.b", "a.b", "x y"]) == "a.b, an unusual name"


@pytest.mark.parametrize("key", sorted(OBJECTS | TEXTS | VECTORS))
def test_what_a_user_wrote_is_told_by_its_size(key: str) -> None:
    """At and below a key of the user's content no string is shown, though it reads like a word of the protocol."""
    assert (
        describe_value("stop", (key,), "enum")
        == describe_value("stop", (key, "name"), "enum")
        == "a string of 4 characters"
    )


def test_a_long_text_is_cut() -> None:
    """Dots stand where something is missing; the end is kept where it is asked for."""
    assert shorten("abcdef", 6) == "abcdef"
    assert shorten("abcdefg", 6) == "abcdef ..."
    assert shorten("abcdefg", 6, end=2) == "abcd ... fg"


def test_what_json_does_not_know_is_told_by_its_type() -> None:
    """Neither what it said of itself nor the stand-in is shown."""
    assert describe_word(UnreadableValue("Money", "1 EUR")) == "a Money"
    assert type_name(UnreadableValue("Money", "1 EUR")) == "Money"


@pytest.fixture(scope="module")
def subject() -> Iterator[Subject]:
    """The LLM component of the reference adapter, with metrics."""
    client = AdapterClient(Declaration("mine", llm, "tests:llm")).open(("llm",))
    yield COMPONENT(client, Capabilities("llm", {}), Settings())
    client.close()


USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def success(**changed: Any) -> dict[str, Any]:
    result = {"text": "x", "model": "m", "usage": USAGE, "finish_reason": "stop"}
    return {"ok": True, "code": "OK", "ms": 1.0, "result": result, **changed}


def error(**changed: Any) -> dict[str, Any]:
    said = {"ok": False, "code": "BAD_REQUEST", "error": "BadRequest", "message": "m", "retry_after_ms": None}
    return {**said, "details": None, "ms": 1.0, **changed}


def frame(**changed: Any) -> dict[str, Any]:
    return {"ok": True, "code": "STREAMING", "ms": 1.0, "chunk": {"text": "x", "is_final": True}, **changed}


ANSWERS: dict[str, Callable[[str], Any]] = {
    "code": lambda secret: success(code=secret),
    "error": lambda secret: error(error=secret),
    "error_code": lambda secret: error(code=secret),
    "both": lambda secret: error(code=secret, error=secret),
    "error_number": lambda secret: error(code=secret, error=7),
    "finish_reason": lambda secret: success(result={**success()["result"], "finish_reason": secret}),
    "ok": lambda secret: success(ok=secret),
    "ms": lambda secret: success(ms=secret),
    "details": lambda secret: error(details=secret),
    "retry": lambda secret: error(retry_after_ms=secret),
    "key": lambda secret: success(**{secret: 1}),
    "error_key": lambda secret: error(**{secret: 1}),
    "only_key": lambda secret: {secret: 1},
    "result_key": lambda secret: success(result={**success()["result"], secret: float("nan")}),
    "usage_key": lambda secret: success(result={**success()["result"], "usage": {**USAGE, secret: "x"}}),
    "text": lambda secret: secret,
    "frame_key": lambda secret: frame(**{secret: 1, f"{secret}2": 2}),
    "frame_code": lambda secret: frame(code=secret),
    "chunk_key": lambda secret: frame(chunk={"text": "x", "is_final": True, secret: secret, "usage_so_far": secret}),
    "chunk": lambda secret: frame(chunk=secret),
}


@pytest.mark.parametrize("where", ANSWERS)
def test_no_finding_of_an_answer_shows_it(subject: Subject, where: str) -> None:
    """No finding about the answer holds a secret that stands at this place."""
    found = 0
    for secret in SECRETS:
        for streaming in (False, True):
            exchange = Exchange(
                {"op": f"llm.{'stream' if streaming else 'complete'}", "ctx": {}, "args": {}}, streaming
            )
            exchange.frames.append(Frame(ANSWERS[where](secret), 10, 0.0))
            told = [str(violation) for _, violation in subject.auditor.findings(exchange)]
            told += [str(Reply(exchange)), str(StreamReply(exchange))]
            found += len(told) > 2
            assert not [text for text in told if secret in text]
    assert found


@pytest.mark.parametrize("where", ["component", "op", "code", "ok", "ms", "extra_code", "name", "value", "argument"])
def test_no_finding_of_metrics_shows_it(subject: Subject, where: str) -> None:
    """No finding about telemetry holds a secret that stands in a label."""
    found = 0
    for secret in SECRETS:
        for failed in (False, True):
            sink, given = RecordingSink(), {"component": "llm", "op": "stream", "ms": 1, "ok": not failed}
            count = {"component": "llm", "name": "count_stream_final_outcome", "value": 1}
            if where in ("component", "op", "code", "ok", "ms"):
                given[where] = secret
            sink.observe(**given, **({secret: 1} if where == "argument" else {}))
            sink.counter(
                **{**count, **({where: secret} if where in ("name", "value", "component") else {})},
                extra={"code": secret} if where == "extra_code" else {},
            )
            exchange = Exchange({"op": "llm.stream", "ctx": {}, "args": {}}, streaming=True)
            exchange.frames.append(Frame(error(error=secret) if failed else frame(), 10, 0.0))
            exchange.observed.observations, exchange.observed.counts = sink.observations, sink.counts
            told = [str(violation) for _, violation in subject.auditor.findings(exchange)]
            found += len(told)
            assert not [text for text in told if secret in text]
    assert found


@pytest.mark.parametrize("code", [["OK"], {"a": 1}, {1}, None, 7])
def test_a_code_that_is_no_text(subject: Subject, code: Any) -> None:
    """A label of any type is a finding, never a fault of the kit."""
    sink = RecordingSink()
    sink.observe(component="llm", op="complete", ms=1, ok=True, code=code, extra={"tenant_hash": code})
    exchange = Exchange({"op": "llm.complete", "ctx": {}, "args": {}}, streaming=False)
    exchange.frames.append(Frame(success(), 10, 0.0))
    exchange.observed.observations = sink.observations
    assert "COM-OBS-6" in {requirement for requirement, _ in subject.auditor.findings(exchange)}


def test_a_fault_names_the_type_alone(subject: Subject) -> None:
    """The text of an exception is nowhere."""
    exchange = Exchange({"op": "llm.complete", "ctx": {}, "args": {}}, streaming=False)
    exchange.fault = CallFault("raised", type_name(ValueError(SECRETS[0])))
    assert [str(violation) for _, violation in subject.auditor.findings(exchange)] == [
        "expected an envelope, whatever happens; got the exception ValueError"
    ]


def test_secret_values_of_the_environment() -> None:
    """Keys and passwords are secret; working directories, switches, words of the protocol and limits are not."""
    kept = {"ACME_API_KEY": "abcdefgh", "DB_PWD": "hunter22", "API_TOKEN": "1234567", "PASSWORD": "geheim"}
    plain = {"PWD": "/home/me/my-embedding", "OLDPWD": "/home/me", "TOKENIZERS_PARALLELISM": "false"}
    plain |= {"MAX_TOKENS": "4096", "MY_KEY": "vector", "KEY": "abc"}
    found = secret_values({**kept, **plain})
    assert set(found) >= set(kept.values())
    assert found == secret_values(kept)


@pytest.mark.parametrize("before", ["", "x", "me:", "user:"])
def test_encoded_secrets_are_masked(before: str) -> None:
    """A secret in base 64, at whatever place of a text, and percent-encoded is masked as it is itself."""
    secret = "p/ss+w~rd of mine?"
    secrets = secret_values({"SERVICE_PASSWORD": secret})
    data = f"{before}{secret}:more".encode()
    for encoded in (base64.b64encode(data), base64.urlsafe_b64encode(data)):
        text = mask_secrets(encoded.decode(), secrets)
        assert STARS in text
        assert not any(text[at : at + GRAM] in encoded.decode() for at in range(GRAM, len(text) - 2 * GRAM))
    quoted = urllib.parse.quote(secret, safe="")
    for encoded_text in (quoted, urllib.parse.quote_plus(secret), secret.encode().hex()):
        assert set(mask_secrets(encoded_text, secrets)) == {"*"}


def test_the_place_of_what_is_not_json() -> None:
    """A value that JSON does not have is named by its type and its place, in which no key is content."""

    class Money:
        pass

    for value, place_of in (
        ({"result": {"hits": [1, Money()]}}, "result.hits[1]"),
        ({"What I asked": Money()}, "(a key)"),
    ):
        with pytest.raises(NotJSON) as caught:
            to_bytes(value)
        assert str(caught.value) == f"a value of type Money is not JSON  (at {place_of})"
