"""The LLM component as tests use it."""

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import cached
from pytest_corpus.kit.audit.auditor import ComponentAuditor
from pytest_corpus.kit.component import Parts
from pytest_corpus.kit.fixtures import fixture_of
from pytest_corpus.kit.outcomes import NotAssessed, Violation, Violations
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.redaction import describe_word
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.spec.operations import Operation
from pytest_corpus.suites.llm.support.answers import chunk_problems, completion_problems, repetition
from pytest_corpus.suites.llm.support.capabilities import MOST_WINDOW, LLMCapabilities, LLMShared
from pytest_corpus.suites.llm.support.requests import LLMRequests

SCRIPTS = "Gr\u00fc\u00dfe, e\u0301 \u6771\u4eac \u05e9\u05dc\u05d5\u05dd \U0001f600\U0001d11e"
"""A prompt with letters of several scripts, a combining mark and characters beyond the basic plane."""


class LLMAuditor(ComponentAuditor):
    """Checks the payloads of the LLM component."""

    _calls: LLMCapabilities
    content = ("text", "tool_calls")

    def result_findings(self, operation: Operation, result: Any) -> Violations:
        if operation.name == "count_tokens":
            for violation in self._calls.token_problems(result):
                yield "LLM-TOKENS-1", violation
        elif operation.name in ("capabilities", "health") and not isinstance(result, Mapping):
            yield operation.shaped, Violation("an object", describe_word(result), "result")

    def chunk_findings(self, chunk: Mapping[str, Any]) -> Violations:
        yield from chunk_problems(chunk)

    def call_findings(self, exchange: Exchange, answers: Sequence[Any]) -> Violations:
        """Yield the contradictions between an answer's statements and its request."""
        known = [each for each in answers if isinstance(each, Mapping)]
        if exchange.op == "llm.complete" and known:
            args = exchange.request.get("args")
            yield from completion_problems(args if isinstance(args, Mapping) else {}, known[0])
        elif exchange.op == "llm.stream":
            texts = [text for chunk in known if isinstance(text := chunk.get("text"), str)]
            if problem := repetition(texts):
                yield "LLM-STREAM-9", problem


class LLM(LLMCapabilities):
    """The LLM component: completions, streams and counts of tokens."""

    parts = Parts(LLMRequests, LLMShared, auditor=LLMAuditor)
    requests: LLMRequests

    def complete(self, **changed: Any) -> Reply:
        """Complete a plain request with some arguments changed."""
        return self.call("complete", self.requests.args(**changed))

    def open_stream(self, **changed: Any) -> StreamReply:
        """Stream a plain request with some arguments changed."""
        return self.stream("stream", self.requests.args(**changed))

    def ask(self, name: str, **changed: Any) -> Reply | StreamReply:
        """Call `complete` or `stream` with a plain request in which some arguments are changed."""
        return self.invoke(name, self.requests.args(**changed))

    def half_window_text(self) -> str:
        """Return a text that fills between a quarter and half of the context window, by the adapter's own count.

        Raises:
            NotApplicable: no window is stated, or it is too small or too expensive to fill.
            NotAssessed: tokens cannot be counted.
        """
        window = self.window()
        expect.applicable(
            window <= MOST_WINDOW and not self.has_small_limit, f"the suite does not fill a window of {window} tokens"
        )
        self.require("count_tokens")
        words = [f"w{number % 97}" for number in range(window // 2)]
        while words:
            text = " ".join(words)
            reply = self.ask_count(text)
            if reply.is_success and self.tokens_of(reply.result) <= window // 2:
                return text
            words = words[: len(words) * 3 // 4]
        raise NotAssessed(Obstacle.NO_HALF)

    def expect_refused(self, *names: str, **changed: Any) -> None:
        """Check that each operation refuses the changed request with BAD_REQUEST.

        NOT_SUPPORTED is also right for an argument that is not offered at all.
        """
        for operation in names:
            offered = all(self.accepts_argument(name, operation) for name in changed)
            expect.refusal(self.ask_once(operation, **changed), "BadRequest", *([] if offered else ["NotSupported"]))

    def too_long_text(self, model: str | None = None) -> str:
        """Return a text with more tokens than the context window of a model, by default of the model in use.

        Raises:
            NotAssessed: the window is too large, or the length cannot be verified.
        """
        window = self.window(model)
        return cached(
            self, ("too long", window), lambda: self._find_too_long_text(model or self.model, window), common=True
        )

    def _find_too_long_text(self, model: str | None, window: int) -> str:
        expect.assessable(window <= 400_000, Obstacle.LARGE_WINDOW, tokens=window)
        words = max(8, window + window // 4 + 8)
        text = " ".join(f"w{number % 97}" for number in range(words))
        while self.works("count_tokens"):
            reply = self.ask_count(text, **({"model": model} if model else {}))
            if reply.is_a("BadRequest") or self.tokens_of(expect.success(reply, "a token count")) > window:
                return text
            if len(text) > 64 * window + 4096:
                raise NotAssessed(Obstacle.NO_LONGER)
            text = f"{text} {text}"
        return " ".join([text] * 3)


llm = fixture_of(LLM)

COMPONENT = LLM
