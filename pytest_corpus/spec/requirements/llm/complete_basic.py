"""Completion lifecycle; parameters honoured (BEHAVIORAL_CONFORMANCE 5.3; SPECIFICATION 8.3; SCHEMA 4.1.2)."""

REQUIREMENTS = """
LLM-COMPLETE-1 MUST: A plain request is answered with a completion that matches the schema: text, model, usage,
    finish_reason.
  from SCHEMA 4.1.2, SPECIFICATION 8.2
  hint: return text, model, usage, finish_reason and no other field; pass any text on unchanged, braces included
LLM-COMPLETE-2 MUST: `finish_reason` is stop, length, tool_call, tool_calls or content_filter.
  from SPECIFICATION 8.2, R29
  hint: map every finish reason of the provider to one of the five, with a default for unknown ones
LLM-COMPLETE-3 MUST: `usage.total_tokens` is the sum of prompt and completion tokens.
  from SCHEMA 4.1.2, SCHEMA 7.3, R29
  hint: set total_tokens to prompt_tokens + completion_tokens, counted after the text was cut
LLM-COMPLETE-4 MUST: A completion has no more tokens than `max_tokens`.
  from BEHAVIORAL_CONFORMANCE 5.3, SPECIFICATION 8.3, R117
  hint: pass max_tokens on to the provider, or cut both text and usage at exactly that number of tokens
LLM-COMPLETE-5 SHOULD: `model` in the result is the model that was asked for.
  from SCHEMA 4.1.2
  hint: return the name of the model from the request, not the default or an alias
LLM-COMPLETE-6 MUST: An optional argument with a valid value is accepted. If capabilities do not claim the argument, it
    may also be refused permanently.
  from SPECIFICATION 8.3, BEHAVIORAL_CONFORMANCE 5.3, R117
  hint: accept `max_tokens` and all claimed arguments; refuse others with BAD_REQUEST or NOT_SUPPORTED
LLM-COMPLETE-7 SHOULD: `model` may be left out.
  from SPECIFICATION 8.3
  hint: use a default model if none is named, in `complete`, `stream` and `count_tokens`
LLM-COMPLETE-8 MUST: `finish_reason` is "length" if `max_tokens` cut the text, and is not "length" if there was room
    left.
  from SPECIFICATION 8.2, R129
  hint: pass the provider's reason on; return "length" only if the text was cut
LLM-COMPLETE-9 MUST: `finish_reason` names a tool call only if the answer has one.
  from SPECIFICATION 8.2, R129
  hint: return `tool_calls` with the reason "tool_calls"; return "stop" if there are none
LLM-COMPLETE-10 MUST: If the text is not empty, `completion_tokens` is at least 1 and at most the number of bytes of the
    text.
  from SCHEMA 4.1.2, R129
  hint: pass the provider's usage on, or count the tokens of the text that you return
LLM-COMPLETE-11 SHOULD: A system message counts in `usage.prompt_tokens`.
  from SPECIFICATION 8.3, SPECIFICATION 8.4, R23
  hint: send the system message to the provider, and take `prompt_tokens` from its answer
LLM-COMPLETE-12 SHOULD: `finish_reason` of an answer with tool calls is tool_call or tool_calls.
  from SPECIFICATION 8.3, R140
  hint: map the provider's finish reason for a tool call to tool_calls
LLM-MODEL-1 MUST: `complete` works for every model that capabilities list.
  from BEHAVIORAL_CONFORMANCE 5.3, R23
  hint: list only models that work with `complete`
LLM-MODEL-2 MUST: `complete` refuses an unknown model with BAD_REQUEST, NOT_SUPPORTED or UNAVAILABLE.
  from BEHAVIORAL_CONFORMANCE 6.7, ERRORS 6.1, R13, R132
  hint: look the model up before you call the provider, and raise ModelNotFound; do not use a default instead
LLM-MODEL-3 MUST: `stream` refuses an unknown model with BAD_REQUEST, NOT_SUPPORTED or UNAVAILABLE.
  from BEHAVIORAL_CONFORMANCE 6.7, ERRORS 6.1, R13, R132; needs supports_streaming
  hint: look the model up in `stream` too, before the first frame, with the function that `complete` uses
LLM-MODEL-4 SHOULD: The refusal of an unknown model names it in `details.model`.
  from ERRORS 6.1
  hint: add the model name from the request to `details`, unchanged
LLM-CONTEXT-1 MUST: `complete` refuses a prompt beyond the stated context window with BAD_REQUEST.
  from BEHAVIORAL_CONFORMANCE 6.7, ERRORS 6.1, R12
  hint: count all messages and refuse, or map the provider's refusal to BadRequest; do not cut
LLM-CONTEXT-2 MUST: `stream` refuses a prompt beyond the stated context window with BAD_REQUEST.
  from BEHAVIORAL_CONFORMANCE 6.7, ERRORS 6.1, R12; needs supports_streaming
  hint: count the prompt of `stream` too, before the first frame, with the check of `complete`
LLM-CONTEXT-3 SHOULD: A prompt beyond the stated context window is reported as PromptTooLong, with `max_context_length`
    and `provided_tokens`.
  from ERRORS 6.1
  hint: raise PromptTooLong, with max_context_length and provided_tokens in `details`
LLM-CONTEXT-5 SHOULD: The refusal of a prompt that is too long gives `details.model`.
  from ERRORS 6.1
  hint: add the name of the model whose window is exceeded to `details`
LLM-CONTEXT-4 MUST: A prompt well within the stated context window is accepted.
  from BEHAVIORAL_CONFORMANCE 5.3, R23
  hint: state the window that you enforce, as max_context_length or context_window
LLM-CACHE-1 MUST: A cached answer is not returned for other messages.
  from SPECIFICATION 11.6, R27; needs provider, supports_caching
  hint: key the cache by a hash of all messages in their order, roles included
LLM-CACHE-2 MUST: A cached answer is not given if an argument other than `messages` differs and the adapter uses this
    argument.
  from SPECIFICATION 11.6, BEHAVIORAL_CONFORMANCE 6.6, R27, R117; needs provider, supports_caching
  hint: key the cache by a hash of every argument, including model, max_tokens and tools
LLM-CACHE-3 SHOULD: A completion at a temperature above 0 is not answered from a cache.
  from SPECIFICATION 16.3, R73; needs provider, supports_caching
  hint: use the cache at temperature 0 only
LLM-IDEM-1 MUST: A replay under the same idempotency key is answered as the first call was.
  from SPECIFICATION 6.1, SPECIFICATION 11.4, R24, R61; needs idempotent_writes
  hint: store the whole first completion, usage included, and return it; do not ask the model again
"""
