"""Runs one case: requests its samples, with retries and pauses, until there is a result or the time is over."""

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from pytest_corpus.adapter.exceptions import MissingAnswer
from pytest_corpus.adapter.usage import Budget
from pytest_corpus.bundles.contract import Judge, Score, judge_answer
from pytest_corpus.bundles.loading.bundle import NOT_GIVEN, Bundle, Case, ProviderChoice
from pytest_corpus.bundles.metrics import uncached_samples
from pytest_corpus.bundles.providers.protocol import Answer, BundleProvider, CompletionRequest, ProviderError
from pytest_corpus.bundles.results import (
    ERROR,
    FAILED,
    PASSED,
    CaseContent,
    CaseResult,
    NotScored,
    Reason,
    Sample,
    ScorerResult,
    Usage,
)
from pytest_corpus.bundles.running.cassettes import Cassettes, key_of
from pytest_corpus.bundles.running.store import CaseStore
from pytest_corpus.redaction import describe_word, redact

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 20.0


class OverBudget(Exception):
    """Raised if the budget of the run allows no further call."""


@dataclass
class CaseProgress:
    """The progress of a running case. If the case is abandoned, its result contains these numbers.

    Attributes:
        deadline: the time at which the case must end, on the monotonic clock.
        ids: the ids of the answers so far.
        judging: calls, tokens and cost of the scorers of the current sample.
        over: True if the case was abandoned, so that it must make no further call.
    """

    deadline: float
    calls: int = 0
    samples: list[Sample] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    judging: Usage = Usage()  # noqa: RUF009 - it is frozen
    over: bool = False


@dataclass(frozen=True)
class CaseRunner:
    """Runs the cases of a bundle with one provider."""

    bundle: Bundle
    choice: ProviderChoice
    provider: BundleProvider
    scorers: Mapping[str, Score] = field(default_factory=dict)
    judges: tuple[Judge, ...] = ()
    limit: Budget = Budget()  # noqa: RUF009 - it is frozen
    cassettes: Cassettes | None = None
    keeps_content: bool = True
    """True if results keep the prompts and answers of samples that did not pass."""

    keeps_passing: bool = False
    """True if results also keep the prompts and answers of samples that passed."""

    pause: Callable[[float], None] = time.sleep

    def run_case(self, case: Case, store: CaseStore, progress: CaseProgress) -> CaseResult:
        """Run a case and return its result."""
        prompts = self.bundle.prompts(case)
        how = ""
        for number in range(self.bundle.samples):
            request = self._make_request(case, prompts, number, progress.deadline)
            try:
                answer, attempts, latency, how = self._get_answer(request, store, progress)
                progress.judging = Usage()
                sample = self._judge_sample(
                    case, request, (answer, attempts, latency), self._scorers(request, store, progress)
                )
                sample = replace(sample, judging=progress.judging if self.judges else None)
            except NotScored as error:
                failed = self._error_sample(error.reason, prompts, progress.calls, answer.text)
                progress.samples.append(replace(failed, judging=progress.judging))
                break
            except (ProviderError, OverBudget, MissingAnswer) as error:
                calls = 0 if isinstance(error, MissingAnswer) else progress.calls
                progress.samples.append(self._error_sample(_reason_of(error), prompts, calls))
                break
            # An answer with the id of an earlier one came from a cache, like an answer with the flag.
            repeated = number > 0 and (answer.cached or bool(answer.id and answer.id in progress.ids))
            progress.ids.add(answer.id)
            extra = number >= self.bundle.at_least
            progress.samples.append(replace(sample, from_cache=repeated, extra=extra))
            if number + 1 >= self.bundle.at_least and self._is_decided(progress.samples):
                break
        return self._make_result(case, progress, how)

    def _is_decided(self, samples: list[Sample]) -> bool:
        """True if enough samples passed or too many failed, so further samples cannot change the result."""
        passed = sum(sample.status == PASSED for sample in uncached_samples(samples))
        return not 0 < self.bundle.min_passing - passed <= self.bundle.samples - len(samples)

    def _make_request(
        self, case: Case, prompts: tuple[str, str | None], number: int, deadline: float
    ) -> CompletionRequest:
        return CompletionRequest(
            prompt=prompts[0],
            system=prompts[1],
            model=self.choice.model,
            temperature=self.choice.temperature,
            max_tokens=self.choice.max_tokens,
            options=self.choice.options,
            deadline=deadline,
            case=case.id,
            input=case.input,
            expected=case.expected,
            has_expected=case.expected is not NOT_GIVEN,
            sample=number,
        )

    def _scorers(self, asked: CompletionRequest, store: CaseStore, progress: CaseProgress) -> dict[str, Score]:
        """Return the functions of the scorers for one answer.

        Scorers with a provider share the time, budget and cassettes of the case.
        """
        own: dict[str, Score] = {}
        for judge in self.judges:
            other = replace(self, provider=judge.provider)

            def score(judge: Judge = judge, other: CaseRunner = other, **names: Any) -> ScorerResult | None:
                try:
                    return judge.score(asked, lambda request: other._ask_for_scorer(request, store, progress), names)
                except (ProviderError, OverBudget, MissingAnswer) as error:
                    reason, who = _reason_of(error), f"the scorer {judge.scorer.name}: "
                    full = who + reason.full if reason.full else ""
                    raise NotScored(replace(reason, shape=who + reason.shape, full=full)) from None

            own[judge.scorer.name] = score
        return {**self.scorers, **own}

    def _ask_for_scorer(self, request: CompletionRequest, store: CaseStore, progress: CaseProgress) -> Answer:
        """Send a request of a scorer to its provider. Such calls do not count as calls of the case."""
        before = progress.calls
        try:
            answer = self._get_answer(request, store, progress)[0]
        finally:
            calls, progress.calls = progress.calls - before, before
            progress.judging = progress.judging.plus(Usage(calls))
        tokens = _total_tokens(answer)
        cost = self.bundle.cost(
            (request.model or "", self.provider.label), answer.prompt_tokens, answer.completion_tokens
        )
        progress.judging = progress.judging.plus(Usage(0, tokens, cost))
        return answer

    def _get_answer(
        self, request: CompletionRequest, store: CaseStore, progress: CaseProgress
    ) -> tuple[Answer, int, float | None, str]:
        """Return an answer, the number of attempts, its latency in ms or None, and "replayed", "recorded" or an empty
        text.
        """
        tape = self.cassettes
        if tape is not None and (replayed := tape.replay(self.provider.label, request)) is not None:
            return replayed, 0, None, "replayed"
        answer, attempts, latency = self._saved_answer(request, store, progress)
        if tape is None:
            return answer, attempts, latency, ""
        tape.record(self.provider.label, request, answer)
        return answer, attempts, latency, "recorded"

    def _saved_answer(
        self, request: CompletionRequest, store: CaseStore, progress: CaseProgress
    ) -> tuple[Answer, int, float]:
        """Return the answer that an interrupted run saved; otherwise ask the provider and save the answer."""
        if store.journal is None:
            return self._ask_with_retries(request, store, progress)
        named = filter(None, (self.bundle.name, self.bundle.variant, request.case))
        key = f"{' '.join(named)} {key_of(self.provider.label, request)}"
        if (kept := store.journal.recall(key)) is not None:
            progress.calls += kept["attempts"]
            return Answer(**kept["answer"]), kept["attempts"], kept["latency_ms"]
        before = progress.calls
        answer, _, latency = self._ask_with_retries(request, store, progress)
        attempts = progress.calls - before
        store.journal.record(key, {"answer": asdict(answer), "attempts": attempts, "latency_ms": latency})
        return answer, attempts, latency

    def _ask_with_retries(
        self, request: CompletionRequest, store: CaseStore, progress: CaseProgress
    ) -> tuple[Answer, int, float]:
        """Ask the provider, with retries; return the answer, the number of attempts, and the ms of the last attempt."""
        attempt = 0
        while True:
            attempt += 1
            if progress.over:
                raise ProviderError("DeadlineExceeded", "no time is left", is_own=True)
            if refused := store.spent_budget.spend(self.limit, self.provider.calls):
                raise OverBudget(refused)
            progress.calls += self.provider.calls
            started = time.monotonic()
            try:
                answer = self.provider.complete(request)
                latency = (time.monotonic() - started) * 1000
                counted = (answer.prompt_tokens or 0) + (answer.completion_tokens or 0)
                store.spent_budget.add_tokens(answer.total_tokens or counted)
                if not answer.text.strip() and answer.finish_reason == "error":
                    raise ProviderError("Unavailable", "no answer, finish_reason error", is_own=True)
                return answer, attempt, latency if answer.latency_ms is None else answer.latency_ms
            except ProviderError as error:
                if attempt > self.bundle.retries or not error.retryable:
                    raise
                self._wait(error, attempt, request, progress)

    def _wait(self, error: ProviderError, attempt: int, request: CompletionRequest, progress: CaseProgress) -> None:
        """Wait before a retry: the time that the provider asked for, or a growing pause, with a random part."""
        asked = (error.retry_after_ms or 0) / 1000
        usual = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2 ** (attempt - 1))
        seconds = asked * random.uniform(1, 1.1) if asked else usual * random.uniform(0.5, 1)
        if time.monotonic() + seconds >= request.deadline or progress.over:
            said = f"{error.detail}; the time of the case does not suffice for another attempt"
            raise ProviderError(error.name, said, is_own=error.is_own)
        self.pause(seconds)

    def _judge_sample(
        self,
        case: Case,
        request: CompletionRequest,
        answered: tuple[Answer, int, float | None],
        scorers: Mapping[str, Score],
    ) -> Sample:
        answer, attempts, latency = answered
        found = judge_answer(self.bundle, case, answer.text, (request.prompt, request.system), scorers)
        notes = found.notes
        if answer.finish_reason not in ("stop", ""):
            notes = (*notes, f"finish_reason is {describe_word(answer.finish_reason)}")
        if not answer.text.strip() and not found.expected_met:
            notes = (*notes, "the answer is empty")
        models = (self.choice.model or "", self.provider.label)
        kept = self.keeps_content and (found.status != PASSED or self.keeps_passing)
        return replace(
            found,
            notes=notes,
            latency_ms=None if latency is None else round(latency, 3),
            prompt_tokens=answer.prompt_tokens,
            completion_tokens=answer.completion_tokens,
            total_tokens=_total_tokens(answer),
            cost=self.bundle.cost(models, answer.prompt_tokens, answer.completion_tokens),
            finish_reason=describe_word(answer.finish_reason),
            attempts=attempts,
            content=found.content if kept else None,
        )

    def _error_sample(
        self, reason: Reason, prompts: tuple[str, str | None], calls: int, output: str | None = None
    ) -> Sample:
        content = CaseContent(*prompts, output) if self.keeps_content else None
        return Sample(ERROR, (reason,), attempts=calls, content=content)

    def _make_result(self, case: Case, progress: CaseProgress, how: str) -> CaseResult:
        samples = tuple(progress.samples)
        own = uncached_samples(samples)
        passed = sum(sample.status == PASSED for sample in own)
        reasons: tuple[Reason, ...] = ()
        has_error = any(sample.status == ERROR for sample in samples)
        status = ERROR if has_error else PASSED if passed >= self.bundle.min_passing else FAILED
        if self.bundle.samples > 1:
            said = f"{passed} of {len(own)} samples passed, and {self.bundle.min_passing} must"
            if cached := len(samples) - len(own):
                said += f"; {cached} more came from a cache and do not count as independent"
            reasons = (Reason("samples", said),) if status != PASSED or cached else ()
        took = self.bundle.timeout - (progress.deadline - time.monotonic())
        seconds = max(took, sum(sample.latency_ms or 0 for sample in samples) / 1000)
        return CaseResult(case.id, status, samples, reasons, progress.calls, how, round(seconds, 3))

    def expired_result(self, case: Case, progress: CaseProgress) -> CaseResult:
        """Return the result of a case that ran out of time."""
        progress.over = True
        said = f"no answer within {self.bundle.timeout:g} s, the timeout of a case"
        prompts = self.bundle.prompts(case)
        samples = (*progress.samples, self._error_sample(Reason("provider", said), prompts, progress.calls))
        return CaseResult(case.id, ERROR, samples, calls=progress.calls, seconds=self.bundle.timeout)

    def broken_result(self, case: Case, said: str, calls: int = 0) -> CaseResult:
        """Return the result of a case that could not be run."""
        return CaseResult(case.id, ERROR, reasons=(Reason("provider", said),), calls=calls)


def _total_tokens(answer: Answer) -> int | None:
    if answer.total_tokens is not None or answer.prompt_tokens is None or answer.completion_tokens is None:
        return answer.total_tokens
    return answer.prompt_tokens + answer.completion_tokens


def _reason_of(error: ProviderError | OverBudget | MissingAnswer) -> Reason:
    """Return the reason why there is no answer. The provider's message may contain content."""
    if isinstance(error, OverBudget):
        return Reason("budget", str(error))
    if isinstance(error, MissingAnswer):
        return Reason("provider", error.shape, error.full)
    head = f"the provider answers {describe_word(error.name)}"
    own = f"{head}: {error.detail}" if error.is_own and error.detail else head
    return Reason("provider", own, f"{head}: {redact(error.detail)}" if error.detail else own)
