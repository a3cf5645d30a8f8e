"""Token counting (BEHAVIORAL_CONFORMANCE 6.5; SPECIFICATION 10.3; R10, R13)."""

REQUIREMENTS = """
EMB-TOKENS-1 MUST: `count_tokens` answers with a whole number that is not negative.
  from SPECIFICATION 10.3, R10; needs supports_token_counting
  hint: round an estimate to an integer, and send a number, not text
EMB-TOKENS-2 MUST: A text never has fewer tokens than one of its prefixes.
  from BEHAVIORAL_CONFORMANCE 6.5; needs supports_token_counting
  hint: if a tokenizer counts fewer tokens for a longer text, return the largest count of its prefixes
EMB-TOKENS-3 MUST: Combining marks and characters beyond the basic plane are counted without an error.
  from BEHAVIORAL_CONFORMANCE 6.5; needs supports_token_counting
  hint: count any Unicode text, a combining mark alone and characters beyond U+FFFF included
EMB-TOKENS-4 MUST: `count_tokens` refuses an unknown model with BAD_REQUEST, NOT_SUPPORTED or UNAVAILABLE.
  from BEHAVIORAL_CONFORMANCE 6.5, R13, R132; needs supports_token_counting
  hint: look the model up before you count; do not use the tokenizer of another model
EMB-TOKENS-5 MUST: `count_tokens` works for every model that capabilities list.
  from SPECIFICATION 4.2.6, R23; needs supports_token_counting
  hint: give every model that you list a tokenizer, or an estimate
EMB-TOKENS-6 MUST: If `text` is missing, or `text` or `model` has the wrong type, `count_tokens` refuses the request
    with BAD_REQUEST.
  from SPECIFICATION 10.3, R8; needs supports_token_counting
  hint: check that `text` is there, and that `text` and `model` are strings, before you use them
EMB-TOKENS-7 SHOULD: The same text has the same number of tokens every time.
  from BEHAVIORAL_CONFORMANCE 6.5; needs supports_token_counting
  hint: use the same tokenizer for a model in every call and on every replica
EMB-TOKENS-8 MUST: A text of many words has more tokens than a single word of it.
  from SPECIFICATION 4.2.6; needs supports_token_counting
  hint: count the whole text; do not return a constant
EMB-TOKENS-9 SHOULD: `count_tokens` works without `model`.
  from SPECIFICATION 10.3; needs supports_token_counting
  hint: count with a default model if none is named
"""
