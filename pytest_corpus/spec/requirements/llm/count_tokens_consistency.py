"""Token counting (BEHAVIORAL_CONFORMANCE 6.5; SPECIFICATION 8.3; R10, R13)."""

from __future__ import annotations

from functools import partial

from pytest_corpus.spec.requirements.model import Requirement

R = partial(Requirement, components=("llm",))

REQUIREMENTS = (
    R(
        "LLM-TOKENS-1",
        "MUST",
        "`count_tokens` answers with a whole number that is not negative.",
        ("SPECIFICATION 8.3", "R10"),
        needs=("supports_count_tokens",),
        hint="round an estimate to an integer, and send no -1 for words that are not in the vocabulary",
    ),
    R(
        "LLM-TOKENS-2",
        "MUST",
        "A text never has fewer tokens than a beginning of it.",
        ("BEHAVIORAL_CONFORMANCE 6.5",),
        needs=("supports_count_tokens",),
        hint="where a tokenizer's count falls as a word is completed, give the most that any beginning has",
    ),
    R(
        "LLM-TOKENS-3",
        "MUST",
        "Combining marks and characters beyond the basic plane are counted safely.",
        ("BEHAVIORAL_CONFORMANCE 6.5",),
        needs=("supports_count_tokens",),
        hint="count any Unicode text, a combining mark alone and characters beyond U+FFFF included",
    ),
    R(
        "LLM-TOKENS-4",
        "MUST",
        "`count_tokens` refuses an unknown model with BAD_REQUEST, NOT_SUPPORTED or UNAVAILABLE.",
        ("BEHAVIORAL_CONFORMANCE 6.5", "R13", "R132"),
        needs=("supports_count_tokens",),
        hint="look the model up before you count; do not fall back to a default tokenizer",
    ),
    R(
        "LLM-TOKENS-5",
        "MUST",
        "`count_tokens` works for every model that capabilities list.",
        ("SPECIFICATION 4.2.6", "R23"),
        needs=("supports_count_tokens",),
        hint="give every model that you list a tokenizer, or an estimate",
    ),
    R(
        "LLM-TOKENS-6",
        "MUST",
        "A missing `text` or one that is not a string is refused with BAD_REQUEST.",
        ("SPECIFICATION 8.3", "R8"),
        needs=("supports_count_tokens",),
        hint="check that `text` is there and a string before you split it",
    ),
    R(
        "LLM-TOKENS-7",
        "SHOULD",
        "The same text has the same number of tokens every time.",
        ("BEHAVIORAL_CONFORMANCE 5.3",),
        needs=("supports_count_tokens",),
        hint="use one tokenizer for a model in every call and on every replica",
    ),
    R(
        "LLM-TOKENS-8",
        "MUST",
        "A text of many words has more tokens than a single word of it.",
        ("SPECIFICATION 4.2.6",),
        needs=("supports_count_tokens",),
        hint="count the whole text; return neither a constant nor a capped number",
    ),
    R(
        "LLM-TOKENS-9",
        "SHOULD",
        "`count_tokens` counts about as `usage` does, within one model.",
        ("SPECIFICATION 8.3", "BEHAVIORAL_CONFORMANCE 5.3", "R94"),
        needs=("supports_count_tokens",),
        hint="count with the tokenizer of the model, not by words or characters",
    ),
)
