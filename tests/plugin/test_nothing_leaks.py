"""An adapter that leaks all it knows, wherever it can: what of that a run shows, in every format.

It repeats what it was asked and what the environment keeps secret in messages, codes, classes, keys, results, streams,
capabilities, exceptions and their types, the names of its functions and loggers, metrics, logs and what it prints.
"""

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from inner_runs import Project, said

from pytest_corpus.integration.running.evidence import EvidenceCapture

SECRETS = {
    "ACME_API_KEY": "Env_Value_4711_abcdef",
    "ACME_TOKEN": "correct_horse_battery_staple",
    "ACME_PASSWORD": "geheim",
    "DB_CREDENTIALS": "postgres://app:Wolkenkuckuck@db.example/x",
}
LEAKING = """
import itertools, json, logging, os, types

SECRETS = [os.environ[name] for name in NAMES]
TURN = itertools.count()
WELL = 150
ASKED = open("asked.txt", "a", encoding="utf-8", errors="backslashreplace")

def texts(value, key=""):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from texts(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item, key)

def known(envelope):
    args = envelope.get("args") if isinstance(envelope, dict) else None
    args = args if isinstance(args, dict) else {}
    prompts = [*texts(args.get("messages")), *texts(args.get("system_message")), *texts(args.get("text"))]
    for each in prompts:
        ASKED.write(json.dumps(each) + "\\n")
    ASKED.flush()
    context = list(texts(envelope.get("ctx"))) if isinstance(envelope, dict) else []
    return [*SECRETS, *context, *prompts]

def throw(text, words):
    kind = type(SECRETS[next(TURN) % 2], (ValueError,), {})
    try:
        raise KeyError(text)
    except KeyError as error:
        raise kind(text, words) from error

def named(name):
    return types.FunctionType(throw.__code__.replace(co_name=name, co_qualname=name), globals(), name)

def is_spoiled(answer, words):
    # The first and plainest requests are answered well: else these block all others.
    return next(TURN) > WELL and len(words) > len(SECRETS) + 2 and next(TURN) % 3 == 0

class Leaking(Wrapped):
    def tell(self, words, text):
        turn = next(TURN)
        if len(words) < len(SECRETS) + 2:
            return
        if turn % 3 == 0:
            print(text)
            logging.getLogger(words[turn % len(words)]).error("%s", text, extra={words[0]: text})
        if turn % 5 == 0 and self.metrics:
            labels = {word: text for word in words} | {"code": text, "tenant_hash": text}
            self.metrics.observe(component=words[0], op=words[1], ms=text, ok=text, code=words[-1], extra=labels)
            self.metrics.counter(component=words[0], name=words[1], value=text, extra=labels)
            self.metrics.counter(component="llm", name="count_stream_final_outcome", value=1, extra=labels)

    def spoiled(self, answer, words, text, turn):
        spoil = turn % 11
        first = words[turn % len(words)]
        if not isinstance(answer, dict):
            return answer
        if spoil == 0:
            named(SECRETS[turn % 2])(text, words)
        if spoil == 1:
            return {**answer, "code": first, "error": text, "message": text, first: text}
        if spoil == 2:
            return {"ok": False, "code": "BAD_REQUEST", "error": "BadRequest", "message": text, "ms": 1,
                    "details": {word: text for word in words} | {"model": text, "field": first}, "retry_after_ms": text}
        if spoil == 3:
            return {first: text}
        if spoil == 4:
            return {**answer, "ms": text, "ok": first}
        if spoil == 5:
            return {**answer, "result": {first: {text: first}}}
        if spoil == 6:
            return {**answer, "result": type(SECRETS[turn % 2], (), {"__repr__": lambda self: text})()}
        part = answer.get("chunk", answer.get("result"))
        if isinstance(part, dict):
            for key in list(part):
                if spoil == 7 or (isinstance(part[key], str) and spoil > 7):
                    part[key] = first if turn % 2 else text
            part[first] = text
        return answer

    async def handle(self, envelope):
        words = known(envelope)
        text = " ".join(words)
        self.tell(words, text)
        answer = await self.inner.handle(envelope)
        op = op_of(envelope)
        if op == "llm.capabilities":
            result = answer.get("result")
            if isinstance(result, dict):
                result |= {"server": text, "version": words[0], "extensions": {word: text for word in words}}
                result |= {word: [text] for word in SECRETS}
            return answer
        return self.spoiled(answer, words, text, next(TURN)) if is_spoiled(answer, words) else answer

    async def handle_stream(self, envelope):
        words = known(envelope)
        text = " ".join(words)
        self.tell(words, text)
        turn = next(TURN)
        async for frame in self.inner.handle_stream(envelope):
            yield self.spoiled(frame, words, text, turn) if is_spoiled(frame, words) else frame
"""
FILES = ("r.json", "r.intoto.json", "r.badge.json", "r.svg", "r.md", "r.html", "r.junit.xml")
ATTESTATIONS = FILES[:4]
FEW = "COM-ENV-*,COM-ERR-*,COM-OBS-*,COM-LEAK-*,COM-STREAM-*,COM-CTX-*,LLM-COMPLETE-*,LLM-STREAM-*,LLM-MSG-*"
LONG = 12  # A shorter prompt is a word that every page has


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The texts that the tests of a run planted in requests and in the provider's failures."""
    found: set[str] = set()
    complete = EvidenceCapture.complete

    def noting(self: EvidenceCapture, *given: object) -> object:
        found.update(self.planted_secrets)
        return complete(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(EvidenceCapture, "complete", noting)
    return found


@pytest.fixture
def leaking(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A folder with the adapter, in GitHub Actions, and secrets in the environment."""
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project.path / "summary.md"))
    project.adapter(f"NAMES = {list(SECRETS)}\n" + LEAKING)
    return project


def shown(project: Project, level: str, *options: str) -> dict[str, str]:
    """The output of a run by place: the terminal with its annotations, the summary of the step, and each file."""
    given = ("--corpus-adapter=mine:Leaking", "--corpus-components=llm", f"--corpus-evidence={level}")
    result = project.run(*given, *options, *(f"--corpus-report={name}" for name in FILES))
    assert result.ret == pytest.ExitCode.TESTS_FAILED, said(result)[-2000:]
    texts = {name: (project.path / name).read_text("utf-8") for name in (*FILES, "summary.md")}
    return {"terminal": said(result), **texts}


def prompts(folder: Path) -> set[str]:
    """The prompts that the adapter received, but for the shortest."""
    lines = (folder / "asked.txt").read_text("utf-8").splitlines()
    return {text for line in lines if len(text := json.loads(line)) >= LONG and text.isprintable()}


def pieces(secrets: set[str]) -> Iterator[str]:
    """Each secret, and where it is a word that was made up for the run, its last characters."""
    for secret in secrets:
        yield secret
        if len(secret) > LONG:
            yield secret[-LONG:]


def held(texts: dict[str, str], wanted: set[str]) -> list[tuple[str, str, str]]:
    """The texts that are found, with their places and what precedes them, also as HTML, XML or JSON write them."""
    found: list[tuple[str, str, str]] = []
    for name, text in texts.items():
        plain = unescape(text)
        for each in wanted:
            if (at := plain.find(each)) >= 0 or (at := plain.find(json.dumps(each)[1:-1])) >= 0:
                found.append((name, each, plain[max(0, at - 60) : at + 20]))
    return found


def test_shape_shows_nothing(leaking: Project, planted: set[str]) -> None:
    """At `shape` no format and no annotation has a planted secret or a key-like value of the environment.

    A prompt stands in requests alone, which are the suite's own, and in nothing that the adapter made of it.
    """
    texts = shown(leaking, "shape", f"--corpus-requirement={FEW}")
    asked = prompts(leaking.path)
    assert len(asked) > 50
    assert "::error" in texts["terminal"]
    leaks = held(texts, {*SECRETS.values(), *pieces(planted)})
    assert not leaks, leaks
    answers = {name: re.sub(r"handle(_stream)? [\[{].*?(</code>|`\n|\n)", "\n", text) for name, text in texts.items()}
    assert held({**answers, **{name: texts[name] for name in ATTESTATIONS}}, asked) == []
    assert held({"terminal": texts["terminal"]}, asked)


def test_full_shows_no_secret(leaking: Project, planted: set[str]) -> None:
    """At `full` no format has a secret, and the attestations have no prompt either."""
    texts = shown(leaking, "full", f"--corpus-requirement={FEW}")
    asked = prompts(leaking.path)
    assert planted
    leaks = held(texts, {*SECRETS.values(), *pieces(planted)})
    assert not leaks, leaks
    assert held({name: texts[name] for name in ATTESTATIONS}, asked) == []
    assert held({"terminal": texts["terminal"]}, asked)
