"""The arguments of embedding operations (SPECIFICATION 10.6, 12.5)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_corpus.reference.errors import AdapterError, invalid
from pytest_corpus.reference.request import Admission, Call


@dataclass(frozen=True, slots=True)
class EmbedOptions:
    """The options that all texts of a request share."""

    model: str
    truncate: bool
    normalize: bool


@dataclass(frozen=True, slots=True)
class Job:
    """A checked text, truncated if requested, with its options."""

    text: str
    truncated: bool
    options: EmbedOptions


class EmbeddingArguments(Admission):
    """Reads texts as jobs, within the limits in the capabilities."""

    models: Mapping[str, int] = {"reference-large": 24, "reference-small": 16}
    """The dimensions of each model."""
    max_text_length = 512
    max_batch_size = 8

    def read_job(self, call: Call) -> Job:
        """Read and check the arguments of `embed` and `stream_embed`."""
        options = self.read_options(call)
        return self.job(call.args.required_text("text"), "args.text", options)

    def read_options(self, call: Call) -> EmbedOptions:
        model = self.read_model(call)
        truncate = call.args.flag("truncate", default=True)
        normalize = call.args.flag("normalize", default=False)
        if normalize:
            self.require("supports_normalization")
        return EmbedOptions(model, truncate, normalize)

    def read_model(self, call: Call) -> str:
        model = call.args.required_text("model")
        if model not in self.models:
            raise self.unknown_model_error(model)
        call.labels["model"] = model  # only a listed name becomes a label
        return model

    def unknown_model_error(self, model: str) -> AdapterError:
        rule = "is not available"
        return invalid("args.model", "MODEL_NOT_AVAILABLE", rule, error="ModelNotAvailable", model=model)

    def read_texts(self, call: Call) -> list[str]:
        """Return the texts of a batch. If an item is not a string, the whole batch is refused (ERRORS 6.2)."""
        texts: list[str] = replace(call.args, error="InputFormatError").items("texts", "a string", required=True)
        self.check_batch_size(len(texts))
        return texts

    def check_batch_size(self, size: int) -> None:
        if size > self.max_batch_size:
            raise invalid(
                "args.texts",
                "TOO_MANY",
                "hold more texts than a batch may",
                max_batch_size=self.max_batch_size,
                suggested_batch_reduction=math.ceil(100 - 100 * self.max_batch_size / size),
            )

    def job(self, text: str, path: str, options: EmbedOptions) -> Job:
        """Return the job that embeds a text; the text is truncated if it is too long."""
        cut = self.cut(text)
        truncated = len(cut) < len(text)
        if truncated and not (options.truncate and self.features["supports_truncation"]):
            raise self.too_long_error(len(text), path)
        return Job(cut, truncated, options)

    def cut(self, text: str) -> str:
        return text[: self.max_text_length]

    def too_long_error(self, length: int, path: str) -> AdapterError:
        return invalid(
            path,
            "TEXT_TOO_LONG",
            "is longer than a text may be",
            error="TextTooLong",
            max_text_length=self.max_text_length,
            provided_length=length,
        )

    def batch_jobs(self, texts: Sequence[str], options: EmbedOptions) -> tuple[dict[int, Job], dict[int, AdapterError]]:
        """Return the jobs of the accepted texts and the errors of the refused ones, by index."""
        jobs: dict[int, Job] = {}
        failures: dict[int, AdapterError] = {}
        for index, text in enumerate(texts):
            try:
                jobs[index] = self.job(text, f"args.texts[{index}]", options)
            except AdapterError as error:
                failures[index] = error
        return jobs, failures
