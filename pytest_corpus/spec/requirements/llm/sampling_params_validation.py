"""Sampling parameters: ranges and types (SPECIFICATION 8.3; SCHEMA 4.1.3)."""

REQUIREMENTS = """
LLM-SAMPLING-1 MUST: `temperature` outside [0, 2] is refused with BAD_REQUEST.
  from SPECIFICATION 8.3, SCHEMA 4.1.3
  hint: check 0 <= temperature <= 2 before you call the provider; do not clamp other values
LLM-SAMPLING-2 MUST: `top_p` outside (0, 1] is refused with BAD_REQUEST.
  from SPECIFICATION 8.3, SCHEMA 4.1.3, R37
  hint: check 0 < top_p <= 1: zero itself is outside
LLM-SAMPLING-3 MUST: `frequency_penalty` outside [-2, 2] is refused with BAD_REQUEST.
  from SPECIFICATION 8.3, SCHEMA 4.1.3
  hint: check both ends: -2 <= frequency_penalty <= 2
LLM-SAMPLING-4 MUST: `presence_penalty` outside [-2, 2] is refused with BAD_REQUEST.
  from SPECIFICATION 8.3, SCHEMA 4.1.3
  hint: check -2 <= presence_penalty <= 2 yourself, before the provider fails on it
LLM-SAMPLING-5 MUST: `max_tokens` that is negative or not a whole number is refused with BAD_REQUEST.
  from SPECIFICATION 17.2, SPECIFICATION 4.1
  hint: refuse a max_tokens below zero or with a fraction; do not round it or treat it as no limit
LLM-SAMPLING-6 MUST: Values within a range that `sampling` states are accepted, both ends included; other values may be
    refused.
  from SPECIFICATION 8.3, SPECIFICATION 8.4, SCHEMA 4.1.3, R117
  hint: state in `sampling` the ranges that you accept, and use <= at ends that belong to the range
LLM-SAMPLING-7 MUST: A sampling parameter that is not a number is refused with BAD_REQUEST.
  from SCHEMA 4.1.3, R8
  hint: check the type before you compare or convert; a text, a list or an object is not a number
LLM-SAMPLING-8 MUST: `stream` refuses each value of `temperature` or `max_tokens` that `complete` refuses. If `complete`
    refuses another parameter, `stream` ignores it or refuses it permanently.
  from ERRORS 6.1, SPECIFICATION 8.3, R117; needs supports_streaming
  hint: check the parameters of `stream` with the function that `complete` uses, before the first frame
LLM-SAMPLING-9 SHOULD: A completion ends before the first of its `stop_sequences`.
  from SPECIFICATION 8.3, R29
  hint: pass `stop_sequences` on to the model, or cut the text at the first of them
LLM-SAMPLING-10 SHOULD: `complete` and `stream` accept each optional argument, alone and combined, with every value in
    its range.
  from SPECIFICATION 8.3, BEHAVIORAL_CONFORMANCE 5.3, R117
  hint: pass every argument on; if the provider takes fewer values, state the range in `sampling`
LLM-SAMPLING-11 SHOULD: Invalid `stop_sequences` are refused with BAD_REQUEST. In a stream, invalid values of `top_p`
    and the penalties are refused with BAD_REQUEST too.
  from SPECIFICATION 8.3, R8, R117, R118
  hint: check every argument of `stream` with the function that `complete` uses
"""
