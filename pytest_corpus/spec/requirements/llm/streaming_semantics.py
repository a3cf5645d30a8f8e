"""Stream rules: data, end, error (BEHAVIORAL_CONFORMANCE 6.2; SPECIFICATION 4.2.3, 8.3; SCHEMA 5)."""

REQUIREMENTS = """
LLM-STREAM-1 MUST: Every chunk of a stream matches the schema: `text`, `is_final` and nothing undocumented.
  from SCHEMA 4.1.2, SPECIFICATION 4.2.3.1, R3; needs supports_streaming
  hint: give every chunk a string `text` and a boolean `is_final`, and no key that llm.types.chunk lacks
LLM-STREAM-2 MUST: `usage_so_far.total_tokens` is the sum of prompt and completion tokens.
  from SCHEMA 4.1.2, R29; needs supports_streaming
  hint: set total_tokens of usage_so_far to prompt_tokens + completion_tokens in every chunk
LLM-STREAM-3 MUST: A stream has no more tokens than `max_tokens`.
  from BEHAVIORAL_CONFORMANCE 5.3, SPECIFICATION 8.3, R117; needs supports_streaming
  hint: cut the last chunk at max_tokens
LLM-STREAM-4 SHOULD: `usage_so_far` never decreases.
  from SPECIFICATION 8.2; needs supports_streaming
  hint: report in usage_so_far the tokens used since the beginning, not those that are left
LLM-STREAM-5 MUST: `stream` works for every model that capabilities list.
  from BEHAVIORAL_CONFORMANCE 5.3, R23; needs supports_streaming
  hint: list only models that stream, or set supports_streaming to false in the entry of others
LLM-STREAM-6 MUST: `stream` accepts an optional argument with a valid value. If capabilities do not claim the argument,
    it may also be refused permanently.
  from SPECIFICATION 8.3, ERRORS 6.1, R117; needs supports_streaming
  hint: accept claimed arguments in `stream` too; answer BAD_REQUEST or NOT_SUPPORTED to others
LLM-STREAM-7 SHOULD: `model` of a chunk is the model that was asked for.
  from SCHEMA 4.1.2; needs supports_streaming
  hint: name the model in chunks as the request does, not by its dated version
LLM-STREAM-8 SHOULD: If `complete` repeats its text at temperature 0, a stream at temperature 0 gives the same text, in
    order.
  from SPECIFICATION 8.5, BEHAVIORAL_CONFORMANCE 6.2, R36; needs supports_streaming
  hint: send each token of a stream once and in order
LLM-STREAM-9 MUST: Each chunk has only the new text, not the whole text so far.
  from SPECIFICATION 4.2.3.3, SCHEMA 5.3, R129; needs supports_streaming
  hint: send only the text that earlier chunks did not have; it may be empty
"""
