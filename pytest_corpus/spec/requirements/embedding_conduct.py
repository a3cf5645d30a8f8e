"""Embedding: batches, streams, tokens, cache, statistics (SPECIFICATION 10, 11, 12.5; BEHAVIORAL_CONFORMANCE 6)."""

from __future__ import annotations

from functools import partial

from pytest_corpus.spec.requirements.model import Requirement

R = partial(Requirement, components=("embedding",))

_BATCH = (
    R(
        "EMB-BATCH-1",
        "MUST",
        "A plain batch is answered with a result of the schema.",
        ("SCHEMA 4.3.2", "SPECIFICATION 12.5", "R14"),
        needs=("supports_batch_embedding",),
        hint="compare the result with embedding.partial_success.result",
    ),
    R(
        "EMB-BATCH-2",
        "MUST",
        "Each text of a batch gets its own vector, in the order of the texts.",
        ("SPECIFICATION 12.5", "BEHAVIORAL_CONFORMANCE 6.6"),
        needs=("supports_batch_embedding",),
        hint="keep the positions when texts are sorted, grouped or sent in parts",
    ),
    R(
        "EMB-BATCH-3",
        "MUST",
        "Every text of a batch is either embedded or reported as failed, once.",
        ("SPECIFICATION 12.5", "R14"),
        needs=("supports_batch_embedding",),
        hint="equal texts are texts of their own",
    ),
    R(
        "EMB-BATCH-4",
        "MUST",
        "`index` is the position of the text in the batch.",
        ("SCHEMA 4.3.2", "SPECIFICATION 12.5", "R14"),
        needs=("supports_batch_embedding",),
    ),
    R(
        "EMB-BATCH-5",
        "MUST",
        "One bad text is reported for itself and leaves the others alone, or the batch is refused whole.",
        ("SPECIFICATION 10.6", "SPECIFICATION 12.5", "R14", "R45"),
        needs=("supports_batch_embedding",),
    ),
    R(
        "EMB-BATCH-6",
        "MUST",
        "A batch of more texts than `max_batch_size` is refused with BAD_REQUEST.",
        ("SPECIFICATION 10.6", "ERRORS 6.2", "R15"),
        needs=("supports_batch_embedding",),
    ),
    R(
        "EMB-BATCH-7",
        "MUST",
        "A batch of `max_batch_size` texts is embedded.",
        ("BEHAVIORAL_CONFORMANCE 6.7", "R23"),
        needs=("supports_batch_embedding",),
        hint="state the size that is served",
    ),
    R(
        "EMB-BATCH-8",
        "MUST",
        "`texts` that is missing or no list of strings is refused with BAD_REQUEST, or reported for the text.",
        ("SPECIFICATION 10.6", "ERRORS 6.2", "R8", "R45"),
        needs=("supports_batch_embedding",),
    ),
    R(
        "EMB-BATCH-9",
        "MUST",
        "`embed_batch` refuses `model`, `truncate` or `normalize` of the wrong type with BAD_REQUEST.",
        ("SPECIFICATION 10.3", "R8"),
        needs=("supports_batch_embedding",),
    ),
    R(
        "EMB-BATCH-10",
        "MUST",
        "Every model that capabilities list embeds batches.",
        ("SPECIFICATION 10.6", "R23"),
        needs=("supports_batch_embedding",),
    ),
    R(
        "EMB-BATCH-11",
        "MUST",
        "A failed text carries `index` and, in `error`, a class of the taxonomy or its code.",
        ("SPECIFICATION 12.5", "ERRORS 10", "R14"),
        needs=("supports_batch_embedding",),
    ),
    R(
        "EMB-BATCH-12",
        "MUST",
        "When the provider fails for some texts, order and positions are kept and none is lost.",
        ("BEHAVIORAL_CONFORMANCE 6.6", "SPECIFICATION 12.5", "R14"),
        needs=("provider", "supports_batch_embedding"),
        hint="go on with the texts after a failed one",
    ),
    R(
        "EMB-BATCH-13",
        "SHOULD",
        "An over-large batch is explained by `details.max_batch_size` and `details.suggested_batch_reduction`.",
        ("ERRORS 6.2", "ERRORS 10", "R15"),
        needs=("supports_batch_embedding",),
    ),
    R(
        "EMB-BATCH-14",
        "SHOULD",
        "`total_texts`, `processed_count` and `failed_count` count the texts.",
        ("SCHEMA 4.3.2", "SPECIFICATION 12.5"),
        needs=("supports_batch_embedding",),
    ),
    R(
        "EMB-BATCH-15",
        "SHOULD",
        "An empty batch is answered with no embeddings, or refused for good.",
        ("SPECIFICATION 12.1", "R29"),
        needs=("supports_batch_embedding",),
    ),
    R(
        "EMB-BATCH-16",
        "MUST",
        "A text that failed at the provider is reported with the class of that failure.",
        ("ERRORS 8", "SPECIFICATION 11.1", "SPECIFICATION 12.5"),
        needs=("provider", "supports_batch_embedding"),
    ),
    R(
        "EMB-BATCH-17",
        "SHOULD",
        "`model` of a batch and of its embeddings is the model that was asked for.",
        ("SCHEMA 4.3.2",),
        needs=("supports_batch_embedding",),
    ),
    R(
        "EMB-BATCH-18",
        "SHOULD",
        "A text has the same vector in a batch as alone.",
        ("SPECIFICATION 10.3", "SPECIFICATION 10.6"),
        needs=("supports_batch_embedding",),
    ),
)

_STREAM = (
    R(
        "EMB-STREAM-1",
        "MUST",
        "Every chunk of a stream is of the schema: `embeddings`, `is_final` and nothing undocumented.",
        ("SPECIFICATION 4.2.3.1", "SPECIFICATION 4.2.3.3", "R3"),
        needs=("supports_streaming",),
    ),
    R(
        "EMB-STREAM-2",
        "MUST",
        "A stream that comes to its end has given at least one embedding.",
        ("SPECIFICATION 4.2.6",),
        needs=("supports_streaming",),
    ),
    R(
        "EMB-STREAM-3",
        "MUST",
        "The embedding of a stream is that of its text.",
        ("SPECIFICATION 4.2.6", "SPECIFICATION 4.2.3.3"),
        needs=("supports_streaming",),
    ),
    R(
        "EMB-STREAM-4",
        "MUST",
        "`usage.total_tokens` is the sum of prompt and completion tokens.",
        ("R29",),
        needs=("supports_streaming",),
    ),
    R(
        "EMB-STREAM-5",
        "MUST",
        "Every model that capabilities list streams.",
        ("SPECIFICATION 10.6", "R23"),
        needs=("supports_streaming",),
    ),
    R(
        "EMB-STREAM-6",
        "SHOULD",
        "`model` of a chunk and of its embeddings is the model that was asked for.",
        ("SCHEMA 4.3.2",),
        needs=("supports_streaming",),
    ),
    R(
        "EMB-STREAM-7",
        "SHOULD",
        "A stream of one embedding gives the vector that `embed` gives.",
        ("SPECIFICATION 4.2.6",),
        needs=("supports_streaming",),
    ),
)

_TOKENS = (
    R(
        "EMB-TOKENS-1",
        "MUST",
        "`count_tokens` answers with a whole number that is not negative.",
        ("SPECIFICATION 10.3", "R10"),
        needs=("supports_token_counting",),
    ),
    R(
        "EMB-TOKENS-2",
        "MUST",
        "A text never has fewer tokens than a beginning of it.",
        ("BEHAVIORAL_CONFORMANCE 6.5",),
        needs=("supports_token_counting",),
    ),
    R(
        "EMB-TOKENS-3",
        "MUST",
        "Combining marks and characters beyond the basic plane are counted safely.",
        ("BEHAVIORAL_CONFORMANCE 6.5",),
        needs=("supports_token_counting",),
    ),
    R(
        "EMB-TOKENS-4",
        "MUST",
        "`count_tokens` refuses an unknown model with a class that is not retryable.",
        ("BEHAVIORAL_CONFORMANCE 6.5", "R13"),
        needs=("supports_token_counting",),
    ),
    R(
        "EMB-TOKENS-5",
        "MUST",
        "`count_tokens` works for every model that capabilities list.",
        ("SPECIFICATION 4.2.6", "R23"),
        needs=("supports_token_counting",),
    ),
    R(
        "EMB-TOKENS-6",
        "MUST",
        "A missing `text`, or `text` or `model` of the wrong type, is refused with BAD_REQUEST by `count_tokens`.",
        ("SPECIFICATION 10.3", "R8"),
        needs=("supports_token_counting",),
    ),
    R(
        "EMB-TOKENS-7",
        "SHOULD",
        "The same text has the same number of tokens every time.",
        ("BEHAVIORAL_CONFORMANCE 6.5",),
        needs=("supports_token_counting",),
    ),
    R(
        "EMB-TOKENS-8",
        "MUST",
        "A text of many words has more tokens than a single word of it.",
        ("SPECIFICATION 4.2.6",),
        needs=("supports_token_counting",),
        hint="count the text, do not return a constant",
    ),
    R(
        "EMB-TOKENS-9",
        "SHOULD",
        "`count_tokens` works without `model`.",
        ("SPECIFICATION 10.3",),
        needs=("supports_token_counting",),
    ),
)

_STATE = (
    R(
        "EMB-CACHE-1",
        "MUST",
        "A cached vector is not given to another text.",
        ("BEHAVIORAL_CONFORMANCE 6.6", "SPECIFICATION 11.6", "R27"),
        needs=("provider", "supports_caching"),
        hint="key the cache by a hash of the whole text and of every argument",
    ),
    R(
        "EMB-CACHE-2",
        "MUST",
        "A cached vector is not given to another model.",
        ("BEHAVIORAL_CONFORMANCE 6.6", "SPECIFICATION 16.3", "R27"),
        needs=("provider", "supports_caching"),
    ),
    R(
        "EMB-CACHE-3",
        "MUST",
        "A cached vector is not given where `normalize` differs.",
        ("BEHAVIORAL_CONFORMANCE 6.6", "SPECIFICATION 16.3", "R27"),
        needs=("provider", "supports_caching", "supports_normalization"),
    ),
    R(
        "EMB-CACHE-4",
        "MUST",
        "A cached answer has the `truncated` flag, and the refusal, of its own request.",
        ("BEHAVIORAL_CONFORMANCE 6.6", "R27"),
        needs=("provider", "supports_caching", "supports_truncation"),
    ),
    R(
        "EMB-IDEM-1",
        "MUST",
        "A replay under the same idempotency key is answered as the first call was.",
        ("SPECIFICATION 6.1", "SPECIFICATION 11.4", "R24"),
        needs=("idempotent_writes",),
    ),
)

_REPORTS = (
    R(
        "EMB-CAP-1",
        "SHOULD",
        "Capabilities list the supported models.",
        ("SPECIFICATION 10.5", "R13"),
    ),
    R(
        "EMB-CAP-2",
        "SHOULD",
        "Capabilities state every flag of the component, and its limits.",
        ("SPECIFICATION 10.5",),
    ),
    R(
        "EMB-STATS-1",
        "MUST",
        "`get_stats` answers with an object whose documented counters are numbers that are not negative.",
        ("SPECIFICATION 4.2.6", "SPECIFICATION 4.1"),
    ),
    R(
        "EMB-STATS-2",
        "SHOULD",
        "Statistics move with the work: their totals grow and never fall.",
        ("SPECIFICATION 4.2.6", "R29"),
    ),
    R(
        "EMB-STATS-3",
        "MUST",
        "Statistics tell no text that was embedded.",
        ("SPECIFICATION 14.1", "SPECIFICATION 15"),
        hint="they speak of the work for all tenants: count it, do not show it",
    ),
    R(
        "EMB-OBS-1",
        "SHOULD",
        "A stream counts `count_stream_final_outcome` exactly once, whatever its outcome.",
        ("BEHAVIORAL_CONFORMANCE 6.2", "R19"),
        needs=("metrics", "supports_streaming"),
    ),
)

REQUIREMENTS = (*_BATCH, *_STREAM, *_TOKENS, *_STATE, *_REPORTS)
