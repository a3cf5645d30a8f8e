"""Token counting (BEHAVIORAL_CONFORMANCE 6.5; SPECIFICATION 8.3; R10, R13)."""

REQUIREMENTS = """
LLM-TOKENS-1 MUST: `count_tokens` answers with a whole number that is not negative.
  from SPECIFICATION 8.3, R10; needs supports_count_tokens
  hint: round an estimate to an integer, and send no -1 for words that are not in the vocabulary
LLM-TOKENS-2 MUST: A text never has fewer tokens than one of its prefixes.
  from BEHAVIORAL_CONFORMANCE 6.5; needs supports_count_tokens
  hint: if a tokenizer counts fewer tokens for a longer text, return the largest count of its prefixes
LLM-TOKENS-3 MUST: Combining marks and characters beyond the basic plane are counted without an error.
  from BEHAVIORAL_CONFORMANCE 6.5; needs supports_count_tokens
  hint: count any Unicode text, a combining mark alone and characters beyond U+FFFF included
LLM-TOKENS-4 MUST: `count_tokens` refuses an unknown model with BAD_REQUEST, NOT_SUPPORTED or UNAVAILABLE.
  from BEHAVIORAL_CONFORMANCE 6.5, R13, R132; needs supports_count_tokens
  hint: look the model up before you count; do not use a default tokenizer instead
LLM-TOKENS-5 MUST: `count_tokens` works for every model that capabilities list.
  from SPECIFICATION 4.2.6, R23; needs supports_count_tokens
  hint: give every model that you list a tokenizer, or an estimate
LLM-TOKENS-6 MUST: If `text` is missing or is not a string, the request is refused with BAD_REQUEST.
  from SPECIFICATION 8.3, R8; needs supports_count_tokens
  hint: check that `text` is there and a string before you split it
LLM-TOKENS-7 SHOULD: The same text has the same number of tokens every time.
  from BEHAVIORAL_CONFORMANCE 5.3; needs supports_count_tokens
  hint: use the same tokenizer for a model in every call and on every replica
LLM-TOKENS-8 MUST: A text of many words has more tokens than a single word of it.
  from SPECIFICATION 4.2.6; needs supports_count_tokens
  hint: count the whole text; do not return a constant or a capped number
LLM-TOKENS-9 SHOULD: For one model, `count_tokens` gives about the same number of tokens as `usage`.
  from SPECIFICATION 8.3, BEHAVIORAL_CONFORMANCE 5.3, R94; needs supports_count_tokens
  hint: count with the tokenizer of the model, not by words or characters
"""
