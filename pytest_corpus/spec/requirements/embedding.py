"""Embedding: texts, models, vectors (SPECIFICATION 10; SCHEMA 4.3; BEHAVIORAL_CONFORMANCE 5.1, 6; ERRORS 6.2)."""

from __future__ import annotations

from functools import partial

from pytest_corpus.spec.requirements import embedding_conduct
from pytest_corpus.spec.requirements.model import Requirement

R = partial(Requirement, components=("embedding",))

_EMBED = (
    R(
        "EMB-EMBED-1",
        "MUST",
        "A plain text is answered with a result of the schema: embedding, model, text.",
        ("SCHEMA 4.3.2", "SPECIFICATION 10.3", "R28"),
        hint="compare the result with embedding.types.result; it is singular for `embed`",
    ),
    R(
        "EMB-EMBED-2",
        "MUST",
        "`dimensions` of an embedding is the length of its vector.",
        ("SCHEMA 4.3.2", "SPECIFICATION 14.4"),
    ),
    R(
        "EMB-EMBED-3",
        "MUST",
        "`text` of an embedding is the text that was sent, or a part of it where it was truncated.",
        ("SCHEMA 4.3.2",),
        hint="give back the caller's text, not the provider's form of it",
    ),
    R("EMB-EMBED-4", "MUST", "Texts of any script are embedded.", ("SPECIFICATION 4.2.1", "SPECIFICATION 10.3")),
    R(
        "EMB-EMBED-5",
        "MUST",
        "Texts that have nothing in common have different vectors.",
        ("SPECIFICATION 4.2.6", "SPECIFICATION 10.1"),
        hint="embed the text, do not return a constant",
    ),
    R(
        "EMB-EMBED-6",
        "SHOULD",
        "`model` of a result and of its embedding is the model that was asked for.",
        ("SCHEMA 4.3.2",),
    ),
    R("EMB-EMBED-7", "SHOULD", "The same text has the same vector every time.", ("SPECIFICATION 11.6",)),
    R(
        "EMB-EMBED-8",
        "SHOULD",
        "`tokens_used` is what `count_tokens` counts for the text.",
        ("SCHEMA 4.3.2",),
        needs=("supports_token_counting",),
    ),
    R(
        "EMB-EMBED-9",
        "SHOULD",
        "`text` of an embedding is the text that was sent, letter by letter.",
        ("SCHEMA 4.3.2",),
    ),
    R(
        "EMB-DIM-1",
        "MUST",
        "All vectors of one model have the same number of dimensions.",
        ("SPECIFICATION 14.4", "ERRORS 6.2"),
    ),
    R(
        "EMB-DIM-2",
        "MUST",
        "No vector has more dimensions than the stated `max_dimensions`.",
        ("BEHAVIORAL_CONFORMANCE 6.7", "SPECIFICATION 10.5", "R23"),
        hint="state the dimensions of the largest model",
    ),
)

_ARGUMENTS = (
    R(
        "EMB-ARGS-1",
        "MUST",
        "A missing `text`, or one that is no string, is refused with BAD_REQUEST by `embed`.",
        ("SPECIFICATION 10.3", "ERRORS 6.2", "R8"),
    ),
    R(
        "EMB-ARGS-2",
        "MUST",
        "A `model` that is no string is refused with BAD_REQUEST by `embed`.",
        ("SPECIFICATION 10.3", "R8"),
    ),
    R(
        "EMB-ARGS-3",
        "MUST",
        "`truncate` or `normalize` that is no boolean is refused with BAD_REQUEST by `embed`.",
        ("SPECIFICATION 10.3", "R8"),
        hint='"false" is a true value in many languages',
    ),
    R(
        "EMB-ARGS-4",
        "MUST",
        "`stream_embed` refuses the arguments that `embed` refuses.",
        ("SPECIFICATION 10.3", "ERRORS 6.2", "R8"),
        needs=("supports_streaming",),
    ),
    R(
        "EMB-ARGS-5",
        "MUST",
        "A missing `model` is never answered with an error that may be retried.",
        ("SPECIFICATION 10.3", "SPECIFICATION 12.1"),
    ),
    R("EMB-ARGS-6", "SHOULD", "A missing `model` is refused.", ("SPECIFICATION 10.3", "SPECIFICATION 10.6")),
    R(
        "EMB-ARGS-7",
        "SHOULD",
        "An empty text is embedded, or refused for good.",
        ("SPECIFICATION 12.1", "R29"),
    ),
)

_MODELS = (
    R(
        "EMB-MODEL-1",
        "MUST",
        "Every model that capabilities list embeds.",
        ("SPECIFICATION 10.6", "R23"),
        hint="list only models that work",
    ),
    R(
        "EMB-MODEL-2",
        "MUST",
        "`embed` refuses an unknown model with a class that is not retryable.",
        ("SPECIFICATION 10.6", "BEHAVIORAL_CONFORMANCE 6.7", "ERRORS 6.2", "R13"),
    ),
    R(
        "EMB-MODEL-3",
        "MUST",
        "`embed_batch` refuses an unknown model with a class that is not retryable.",
        ("SPECIFICATION 10.6", "BEHAVIORAL_CONFORMANCE 6.7", "ERRORS 6.2", "R13"),
        needs=("supports_batch_embedding",),
    ),
    R(
        "EMB-MODEL-4",
        "MUST",
        "`stream_embed` refuses an unknown model with a class that is not retryable.",
        ("SPECIFICATION 10.6", "BEHAVIORAL_CONFORMANCE 6.7", "ERRORS 6.2", "R13"),
        needs=("supports_streaming",),
    ),
)

_NORMALIZATION = (
    R(
        "EMB-NORM-1",
        "MUST",
        "With `normalize`, `embed` gives a vector of unit norm.",
        ("BEHAVIORAL_CONFORMANCE 6.4",),
        needs=("supports_normalization",),
        hint="divide by the square root of the sum of squares",
    ),
    R(
        "EMB-NORM-2",
        "MUST",
        "With `normalize`, `embed_batch` gives vectors of unit norm.",
        ("BEHAVIORAL_CONFORMANCE 6.4",),
        needs=("supports_normalization", "supports_batch_embedding"),
    ),
    R(
        "EMB-NORM-3",
        "MUST",
        "With `normalize`, `stream_embed` gives vectors of unit norm.",
        ("BEHAVIORAL_CONFORMANCE 6.4",),
        needs=("supports_normalization", "supports_streaming"),
    ),
    R(
        "EMB-NORM-4",
        "MUST",
        "`embed` refuses `normalize` with NOT_SUPPORTED where capabilities deny normalization.",
        ("SPECIFICATION 10.6", "R12"),
    ),
    R(
        "EMB-NORM-5",
        "MUST",
        "`embed_batch` refuses `normalize` with NOT_SUPPORTED where capabilities deny normalization.",
        ("SPECIFICATION 10.6", "R12"),
        needs=("supports_batch_embedding",),
    ),
    R(
        "EMB-NORM-6",
        "MUST",
        "`stream_embed` refuses `normalize` with NOT_SUPPORTED where capabilities deny normalization.",
        ("SPECIFICATION 10.6", "R12"),
        needs=("supports_streaming",),
    ),
    R(
        "EMB-NORM-7",
        "MUST",
        "A vector that the source gives with unit norm is not normalized again.",
        ("BEHAVIORAL_CONFORMANCE 6.4",),
        needs=("normalizes_at_source",),
    ),
    R(
        "EMB-NORM-8",
        "MUST",
        "A normalized vector points where the vector of the same text points.",
        ("BEHAVIORAL_CONFORMANCE 6.4", "SPECIFICATION 10.3"),
        needs=("supports_normalization",),
    ),
    R(
        "EMB-NORM-9",
        "MUST",
        "`normalize` is false where it is left out, and false is always accepted.",
        ("SPECIFICATION 10.3",),
    ),
    R(
        "EMB-NORM-10",
        "SHOULD",
        "Where the source is said to normalize, vectors have unit norm unasked.",
        ("BEHAVIORAL_CONFORMANCE 6.4", "R23"),
        needs=("normalizes_at_source",),
    ),
)

_TRUNCATION = (
    R(
        "EMB-TRUNC-1",
        "MUST",
        "With `truncate`, a text beyond `max_text_length` is embedded, and `truncated` is true.",
        ("BEHAVIORAL_CONFORMANCE 6.4", "R28"),
        needs=("supports_truncation",),
    ),
    R(
        "EMB-TRUNC-2",
        "MUST",
        "A text of up to `max_text_length` is embedded, and `truncated` is not true.",
        ("BEHAVIORAL_CONFORMANCE 6.4", "SPECIFICATION 10.6", "R23"),
        hint="the limit itself is still within the limit",
    ),
    R(
        "EMB-TRUNC-3",
        "MUST",
        "Without `truncate`, `embed` refuses a text beyond `max_text_length` with TEXT_TOO_LONG.",
        ("SPECIFICATION 10.4", "SPECIFICATION 10.6", "ERRORS 6.2", "R12"),
        needs=("supports_truncation",),
    ),
    R(
        "EMB-TRUNC-4",
        "MUST",
        "The vector of a truncated text is the vector of what is left of it.",
        ("BEHAVIORAL_CONFORMANCE 6.4",),
        needs=("supports_truncation",),
    ),
    R(
        "EMB-TRUNC-5",
        "MUST",
        "What is left of a truncated text is no longer than `max_text_length`.",
        ("BEHAVIORAL_CONFORMANCE 6.4", "BEHAVIORAL_CONFORMANCE 6.7"),
        needs=("supports_truncation",),
    ),
    R(
        "EMB-TRUNC-6",
        "MUST",
        "`truncate` is true where it is left out.",
        ("SPECIFICATION 10.3",),
        needs=("supports_truncation",),
    ),
    R(
        "EMB-TRUNC-7",
        "MUST",
        "No part of a text is left out without `truncated` saying so.",
        ("BEHAVIORAL_CONFORMANCE 6.4", "R28"),
        hint="state the length that the provider reads as max_text_length",
    ),
    R(
        "EMB-TRUNC-8",
        "MUST",
        "`embed_batch` truncates a text as `embed` does.",
        ("BEHAVIORAL_CONFORMANCE 6.4", "SPECIFICATION 10.6"),
        needs=("supports_truncation", "supports_batch_embedding"),
    ),
    R(
        "EMB-TRUNC-9",
        "MUST",
        "Without `truncate`, `embed_batch` refuses, or reports, a text beyond `max_text_length` with TEXT_TOO_LONG.",
        ("SPECIFICATION 10.4", "SPECIFICATION 10.6", "ERRORS 6.2", "R14"),
        needs=("supports_truncation", "supports_batch_embedding"),
    ),
    R(
        "EMB-TRUNC-10",
        "MUST",
        "Without `truncate`, `stream_embed` refuses a text beyond `max_text_length` with TEXT_TOO_LONG.",
        ("SPECIFICATION 10.4", "SPECIFICATION 10.6", "ERRORS 6.2", "R12"),
        needs=("supports_truncation", "supports_streaming"),
    ),
    R(
        "EMB-TRUNC-11",
        "MUST",
        "`stream_embed` truncates a text as `embed` does.",
        ("BEHAVIORAL_CONFORMANCE 6.4",),
        needs=("supports_truncation", "supports_streaming"),
    ),
    R(
        "EMB-TRUNC-12",
        "MUST",
        "Where truncation is denied, a text beyond `max_text_length` is refused with TEXT_TOO_LONG or NOT_SUPPORTED.",
        ("BEHAVIORAL_CONFORMANCE 6.7", "SPECIFICATION 17.2", "R29"),
    ),
    R(
        "EMB-TRUNC-13",
        "SHOULD",
        "TEXT_TOO_LONG gives `details.max_text_length` and `details.provided_length`.",
        ("ERRORS 6.2",),
    ),
    R(
        "EMB-TRUNC-14",
        "SHOULD",
        "The very end of a text within the limit counts too.",
        ("BEHAVIORAL_CONFORMANCE 6.4", "R28"),
    ),
)

REQUIREMENTS = (
    *_EMBED,
    *_ARGUMENTS,
    *_MODELS,
    *_NORMALIZATION,
    *_TRUNCATION,
    *embedding_conduct.REQUIREMENTS,
)
