"""The arguments of LLM operations (SPECIFICATION 8.3, SCHEMA 4.1)."""

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_corpus.reference.errors import AdapterError, invalid
from pytest_corpus.reference.foundation import digest
from pytest_corpus.reference.language import Language
from pytest_corpus.reference.llm.messages import Messages
from pytest_corpus.reference.request import Call


@dataclass(frozen=True, slots=True)
class Prompt:
    """A checked request for at most `limit` tokens, or for a call of `tool`; `seed` determines the words."""

    model: str
    tokens: int
    limit: int
    stop_sequences: list[str]
    tool: str | None
    seed: str


class LLMArguments(Messages, Language):
    """Reads a request as a prompt, within the limits in the capabilities."""

    models: tuple[str, ...] = ("reference-large", "reference-small")
    context_window = 512
    ranges: Mapping[str, tuple[float, float]] = {
        "temperature": (0, 2),
        "top_p": (0, 1),
        "frequency_penalty": (-2, 2),
        "presence_penalty": (-2, 2),
    }

    def read_prompt(self, call: Call) -> Prompt:
        """Read and check the arguments of `complete` and `stream`."""
        model = self.read_model(call)
        texts = [*self.read_messages(call), self.read_system_message(call)]
        self.read_sampling(call)
        limit = self.read_max_tokens(call)
        stop_sequences = self.read_stop_sequences(call)
        tool = self.read_tool_choice(call, self.read_tools(call))
        tokens = sum(map(self.token_count, texts))
        self.check_context(model, tokens)
        room = self.context_window - tokens
        limit = room if limit is None else min(limit, room)
        return Prompt(model, tokens, limit, stop_sequences, tool, seed=digest([model, texts]))

    def read_model(self, call: Call) -> str:
        """Return the requested model, or the first model in the list."""
        model = call.args.text("model") or self.models[0]
        if model not in self.models:
            raise self.unknown_model_error(model)
        call.labels["model"] = model  # only a listed name becomes a label
        return model

    def unknown_model_error(self, model: str) -> AdapterError:
        rule = "is not available"
        return invalid("args.model", "MODEL_NOT_AVAILABLE", rule, error="ModelNotAvailable", model=model)

    def read_sampling(self, call: Call) -> None:
        for name, (low, high) in self.ranges.items():
            value = call.args.number(name)
            if value is not None and not self.in_range(name, value):
                raise call.args.invalid(name, "OUT_OF_RANGE", f"must lie between {low} and {high}")

    def in_range(self, name: str, value: float) -> bool:
        """True if a value lies in its range, ends included; `top_p` must be above 0 (R37)."""
        low, high = self.ranges[name]
        return low <= value <= high and not (name == "top_p" and value == 0)

    def read_max_tokens(self, call: Call) -> int | None:
        return call.args.integer("max_tokens", at_least=0)

    def read_stop_sequences(self, call: Call) -> list[str]:
        return [stop for stop in call.args.items("stop_sequences", "a string") if stop]

    def check_context(self, model: str, tokens: int) -> None:
        if tokens > self.context_window:
            raise invalid(
                "args.messages",
                "PROMPT_TOO_LONG",
                "exceed the model's context window",
                error="PromptTooLong",
                model=model,
                max_context_length=self.context_window,
                provided_tokens=tokens,
            )
