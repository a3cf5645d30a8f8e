"""CaseRunner: total time limits, retries, bounded concurrency, budgets, samples, cassettes."""

import json
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from email.message import Message
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest
from samples import bundle, echo

from pytest_corpus.adapter.usage import Budget
from pytest_corpus.bundles.loading.bundle import Bundle, ProviderChoice
from pytest_corpus.bundles.loading.bundle_file import load_bundle
from pytest_corpus.bundles.providers.hook import HookProvider
from pytest_corpus.bundles.providers.mock import MockProvider
from pytest_corpus.bundles.providers.protocol import Answer, CompletionRequest, ProviderError
from pytest_corpus.bundles.providers.registry import make_provider
from pytest_corpus.bundles.results import CaseResult
from pytest_corpus.bundles.running.asking import CaseRunner
from pytest_corpus.bundles.running.cassettes import Cassettes, mode_of
from pytest_corpus.bundles.running.pool import Pool
from pytest_corpus.bundles.running.store import CaseStore, SpentBudget


def asked(found: Bundle, answer: Callable[[CompletionRequest], Any] | None = None, **more: Any) -> list[CaseResult]:
    """The results of all cases, asked of a function or of the mock."""
    provider = HookProvider("fn", None, answer) if answer else MockProvider(more.pop("script", None))
    asking = CaseRunner(found, ProviderChoice("fn"), provider, **more)
    return results(asking)


def results(asking: CaseRunner) -> list[CaseResult]:
    found = asking.bundle
    pool = Pool(asking, found.cases, CaseStore([case.id for case in found.cases], found.concurrency, SpentBudget()))
    return [pool.result(case.id) for case in found.cases]


def made(folder: Path, count: int = 1, **changes: Any) -> Bundle:
    return replace(load_bundle(bundle(folder, [echo(number) for number in range(count)])), **changes)


def reasons(result: CaseResult) -> str:
    return "\n".join(reason.shape for reason in result.every_reason)


def test_a_blocking_provider_is_given_up(tmp_path: Path) -> None:
    """`timeout` is a total: a provider that blocks is left behind in its daemon thread."""
    release = threading.Event()
    started = time.monotonic()
    [result] = asked(made(tmp_path, timeout=0.2), lambda _: release.wait(20))
    assert time.monotonic() - started < 10
    assert result.status == "error"
    assert "no answer within 0.2 s" in reasons(result)
    release.set()


def test_the_timeout_covers_retries(tmp_path: Path) -> None:
    """Waiting for another attempt counts: where it does not fit, the case ends at once and says so."""
    calls = []

    def busy(_: CompletionRequest) -> str:
        calls.append(1)
        raise ProviderError("ResourceExhausted", "slow down", 60_000)

    started = time.monotonic()
    [result] = asked(made(tmp_path, timeout=5, retries=10), busy)
    assert time.monotonic() - started < 20
    assert (result.status, len(calls)) == ("error", 1)


def test_retries_wait_as_long_as_they_are_asked(tmp_path: Path) -> None:
    """`retry_after_ms` is honoured, with a random part more; latency is that of the answering attempt."""
    waited: list[float] = []
    script = tmp_path / "script.jsonl"
    tmp_path.mkdir(exist_ok=True)
    script.write_text(
        '{"id": "case-0", "error": "RESOURCE_EXHAUSTED", "retry_after_ms": 1000}\n'
        '{"id": "case-0", "error": "UNAVAILABLE"}\n{"id": "case-0", "output": "yes"}\n'
    )
    [result] = asked(made(tmp_path, retries=2), script=script, pause=waited.append)
    assert result.status == "passed"
    assert result.calls == 3
    assert 1.0 <= waited[0] <= 1.1
    assert 0.5 <= waited[1] <= 1.0
    [sample] = result.samples
    assert sample.latency_ms is not None
    assert sample.latency_ms < 1000


@pytest.mark.parametrize(("name", "calls"), [("BadRequest", 1), ("AuthError", 1), ("Unavailable", 3)])
def test_only_what_may_pass_is_tried_again(tmp_path: Path, name: str, calls: int) -> None:
    """An error that is not retryable ends the case."""
    made_calls = []

    def fails(_: CompletionRequest) -> str:
        made_calls.append(1)
        raise ProviderError(name)

    asked(made(tmp_path, retries=2), fails, pause=lambda _: None)
    assert len(made_calls) == calls


def _raised_from(cause: BaseException) -> Exception:
    error = RuntimeError("the client failed")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "calls"),
    [
        (ConnectionResetError("reset"), 3),
        (TimeoutError(), 3),
        (_raised_from(ConnectionRefusedError()), 3),
        (HTTPError("http://x", 503, "busy", Message(), None), 3),
        (HTTPError("http://x", 429, "slow down", Message(), None), 3),
        (HTTPError("http://x", 404, "not there", Message(), None), 1),
        (ValueError("x"), 1),
    ],
    ids=repr,
)
def test_errors_of_a_function_that_may_pass_are_tried_again(tmp_path: Path, error: Exception, calls: int) -> None:
    """A failed connection, a time limit, a 429 and a 5xx are transient, also as the cause of another error (R135)."""
    made_calls = []

    def fails(_: CompletionRequest) -> str:
        made_calls.append(1)
        raise error

    [result] = asked(made(tmp_path, retries=2), fails, pause=lambda _: None)
    assert (result.status, len(made_calls)) == ("error", calls)


@pytest.mark.parametrize("expected", ["", "yes"])
def test_an_empty_answer_is_an_answer(tmp_path: Path, expected: str) -> None:
    """It passes if it is expected; if not, a note says that it is empty (R135)."""
    [result] = asked(load_bundle(bundle(tmp_path, [echo(0, expected)])), lambda _: Answer(""))
    assert result.status == ("failed" if expected else "passed")
    assert result.samples[0].notes == (("the answer is empty",) if expected else ())


def test_without_a_schema_every_answer_is_valid(tmp_path: Path) -> None:
    """`schema_valid_rate` of a bundle without a schema is 1, and reported only if a threshold names it."""
    gate = "thresholds: [{metric: schema_valid_rate, operator: '>=', value: 1}]\nprovider: {name: mock}\n"
    found = load_bundle(bundle(tmp_path, [echo(0)], gate))
    assert [each.schema_valid for each in asked(found, lambda _: "no")[0].samples] == [True]
    assert asked(made(tmp_path / "b"))[0].samples[0].schema_valid is None


@pytest.mark.parametrize(("parallel", "most"), [(False, 1), (True, 3)])
def test_concurrency_is_bounded(tmp_path: Path, parallel: bool, most: int) -> None:
    """No more than `max_parallel` calls at a time; one where `parallel` is off."""
    running, seen, lock = [0], [], threading.Lock()

    def answer(_: CompletionRequest) -> str:
        with lock:
            running[0] += 1
            seen.append(running[0])
        time.sleep(0.01)
        with lock:
            running[0] -= 1
        return "yes"

    found = asked(made(tmp_path, 12, parallel=parallel, max_parallel=3), answer)
    assert all(result.status == "passed" for result in found)
    assert max(seen) == most


def test_another_finish_reason_is_shown(tmp_path: Path) -> None:
    """An answer that was cut off says so."""
    [result] = asked(made(tmp_path), lambda _: Answer("yes", "length"))
    assert result.samples[0].notes == ("finish_reason is length",)


def test_budget(tmp_path: Path) -> None:
    """After the last call of the budget no other is made; the cases say why."""
    found = asked(made(tmp_path, 4), lambda _: "yes", limit=Budget(calls=2))
    assert [result.status for result in found] == ["passed", "passed", "error", "error"]
    assert "budget of 2 calls is used up" in reasons(found[3])
    found = asked(made(tmp_path, 3), lambda _: Answer("yes", total_tokens=60), limit=Budget(tokens=100))
    assert [result.status for result in found] == ["passed", "passed", "error"]


def test_samples(tmp_path: Path) -> None:
    """A case passes by its minimum of passing samples."""
    answers = iter(["yes", "no", "yes", "no", "no", "yes"])
    found = made(tmp_path, 2, samples=3, min_passing=2)
    assert [result.status for result in asked(found, lambda _: next(answers))] == ["passed", "failed"]


def test_samples_of_a_cache_are_not_independent(tmp_path: Path) -> None:
    """An answer with the id of an earlier one, or that says that it is cached, is the same sample."""
    [result] = asked(made(tmp_path, samples=3, min_passing=2), lambda _: Answer("yes", id="one"))
    assert result.status == "failed"
    assert "1 of 1 samples passed, and 2 must; 2 more came from a cache" in reasons(result)


def test_scorers(tmp_path: Path) -> None:
    """A scorer gives a number that has to reach its minimum; one that raises fails the case."""
    more = "provider: {name: mock}\noutput_contract: {scorers: [{name: length, minimum: 4}]}\n"
    found = load_bundle(bundle(tmp_path, [echo(0, "yes")], more))
    [result] = asked(found, scorers={"length": lambda raw_output, **_: len(raw_output)})
    assert "the scorer length gives 3, below 4" in reasons(result)


def test_a_scorer_may_be_a_coroutine_and_gives_a_finite_number(tmp_path: Path) -> None:
    """A score that is not a JSON number fails the case and is in no metric."""
    more = "provider: {name: mock}\noutput_contract: {scorers: [{name: one, minimum: 0}]}\n"
    found = load_bundle(bundle(tmp_path, [echo(0, "yes")], more))

    async def half(**_: Any) -> float:
        return 0.5

    [result] = asked(found, scorers={"one": half})
    assert (result.status, result.samples[0].scores) == ("passed", {"one": 0.5})
    [result] = asked(found, scorers={"one": lambda **_: float("nan")})
    assert "the scorer one gives nan, and must give a finite number" in reasons(result)
    assert result.samples[0].scores == {}


def _exits(_: CompletionRequest) -> str:
    raise SystemExit(3)


def _fails(_: CompletionRequest) -> str:
    pytest.fail("not today")


@pytest.mark.parametrize(
    ("answer", "status", "said"),
    [
        (lambda _: "no", "failed", "not as expected"),
        (lambda _: Answer("", "length"), "failed", "not as expected"),
        (lambda _: Answer("", "error"), "error", "no answer, finish_reason error"),
        (_exits, "error", "the provider answers BadRequest"),
        (_fails, "error", "the provider answers BadRequest"),
        (lambda _: None, "error", "the provider gave a NoneType, and must give an Answer or a text"),
        (lambda _: Answer(None), "error", "the provider gave an Answer whose text is a NoneType"),  # type: ignore[arg-type]
        (lambda _: Answer("x", prompt_tokens="1"), "error", "an Answer whose prompt_tokens is a str"),  # type: ignore[arg-type]
    ],
)
def test_an_answer_that_is_wrong_ends_its_case_at_once(tmp_path: Path, answer: Any, status: str, said: str) -> None:
    """Anything that a function raises or gives is its case's result, long before the timeout, and its call counts."""
    [result] = asked(made(tmp_path, timeout=600), answer)
    assert said in reasons(result)
    assert (result.status, result.calls) == (status, 1)


def recorded(found: Bundle, mode: str, answer: Callable[[CompletionRequest], Any]) -> CaseResult:
    [result] = asked(found, answer, cassettes=Cassettes(found.folder, mode, {"MY_API_KEY": "sk-verysecret"}))
    return result


def test_cassettes(tmp_path: Path) -> None:
    """A recording is played without a call; a miss shows what differs; secrets are masked."""
    found = made(tmp_path)
    first = recorded(found, "once", lambda _: Answer("yes", prompt_tokens=3))
    assert (first.cassette, first.calls) == ("recorded", 1)
    again = recorded(found, "none", lambda _: pytest.fail("called"))
    assert (again.status, again.cassette, again.calls) == ("passed", "replayed", 0)
    assert again.samples[0].latency_ms is None
    changed = replace(found, prompt=replace(found.prompt, source="Question: {{ q }}"))
    miss = recorded(changed, "none", lambda _: pytest.fail("called"))
    assert miss.status == "error"
    assert "differs from the recorded one: prompt" in reasons(miss)
    [full] = [reason.full for reason in miss.every_reason]
    assert "-Q: 0" in full
    assert "+Question: 0" in full
    assert recorded(changed, "once", lambda _: pytest.fail("called")).status == "error"
    assert recorded(changed, "new", lambda _: "yes").cassette == "recorded"
    recorded(found, "all", lambda _: "yes, sk-verysecret")
    [file] = (tmp_path / "cassettes").glob("*.json")
    text = file.read_text()
    assert "sk-verysecret" not in text
    assert text == json.dumps(json.loads(text), sort_keys=True, indent=2) + "\n"
    assert Cassettes(tmp_path, "none").unused_files(["another"]) == [file.name]


def test_cassettes_of_several_providers(tmp_path: Path) -> None:
    """`once` records what a provider has nothing of, though another one's answer is there already."""
    found = made(tmp_path)
    for name in ("one", "two"):
        asking = CaseRunner(found, ProviderChoice(name), HookProvider(name, None, lambda _: "yes"))
        asking = replace(asking, cassettes=Cassettes(tmp_path, "once", {}))
        assert [each.cassette for each in results(asking)] == ["recorded"]
    [file] = (tmp_path / "cassettes").glob("*.json")
    assert [each["request"]["provider"] for each in json.loads(file.read_text())["recordings"]] == ["one", "two"]


def test_samples_count_the_same_when_they_are_played(tmp_path: Path) -> None:
    """A sample that was not independent is not independent on replay either."""
    found = made(tmp_path, samples=3, min_passing=2)
    first = recorded(found, "once", lambda _: Answer("yes", id="one"))
    again = recorded(found, "none", lambda _: pytest.fail("called"))
    assert (first.status, again.status) == ("failed", "failed")
    assert reasons(first) == reasons(again)


def test_a_recording_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """The case has an error, and its call was paid for."""
    found = made(tmp_path)
    (tmp_path / "cassettes").write_text("a file where a folder belongs")
    result = recorded(found, "all", lambda _: "yes")
    assert "the recording cannot be written to cassettes: " in reasons(result)
    assert (result.status, result.calls) == ("error", 1)


@pytest.mark.parametrize("name", ["openai", "anthropic"])
def test_playing_takes_no_key(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """If only recordings are played, neither the client nor its key is needed."""
    monkeypatch.delenv(f"{name.upper()}_API_KEY", raising=False)
    found = made(tmp_path)
    choice = ProviderChoice(name, "some-model")
    stub = HookProvider(name, "some-model", lambda _: "yes")
    results(CaseRunner(found, choice, stub, cassettes=Cassettes(tmp_path, "once", {})))
    player = make_provider(choice, "bundle.yaml", {}, None, plays=True)
    asking = CaseRunner(found, choice, player, cassettes=Cassettes(tmp_path, "none", {}))
    [result] = results(asking)
    player.close()
    assert (result.status, result.cassette) == ("passed", "replayed")


def test_cassettes_by_default(tmp_path: Path) -> None:
    """`none` under CI where there are some, else `off`."""
    assert mode_of(None, tmp_path, {"CI": "1"}) == "off"
    recorded(made(tmp_path), "once", lambda _: "yes")
    assert mode_of(None, tmp_path, {"CI": "1"}) == "none"
    assert mode_of(None, tmp_path, {}) == "off"


@pytest.mark.slow
def test_a_thousand_cases(tmp_path: Path) -> None:
    """1,000 cases with a provider of 50 ms, 20 at a time, end in under 6 s with flat memory."""
    import resource

    def answer(_: CompletionRequest) -> str:
        time.sleep(0.05)
        return "yes"

    found = made(tmp_path, 1000, parallel=True, max_parallel=20)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.monotonic()
    ended = asked(found, answer, keeps_content=False)
    assert time.monotonic() - started < 6
    assert all(result.status == "passed" for result in ended)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 30 * 1024
