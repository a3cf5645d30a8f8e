"""Single texts: results, arguments, models, streams (SPECIFICATION 10.2, 10.3, 10.6; SCHEMA 4.3.2; R13, R28)."""

REQUIREMENTS = """
EMB-EMBED-1 MUST: A plain text is answered with a result that matches the schema: embedding, model, text.
  from SCHEMA 4.3.2, SPECIFICATION 10.3, R28
  hint: return `embedding` as one object, not a list, with `model` and `text`, as embedding.types.result says
EMB-EMBED-2 MUST: `dimensions` of an embedding is the length of its vector.
  from SCHEMA 4.3.2, SPECIFICATION 14.4
  hint: set `dimensions` to len(vector) once the vector is complete
EMB-EMBED-3 MUST: `text` of an embedding is the text that was sent, or a part of it if it was truncated.
  from SCHEMA 4.3.2
  hint: return the caller's text, without changes that the provider needs
EMB-EMBED-4 MUST: Texts of any script are embedded.
  from SPECIFICATION 4.2.1, SPECIFICATION 10.3
  hint: pass any Unicode text on as UTF-8; if you look characters up in a table, use a default for unknown ones
EMB-EMBED-5 MUST: Texts that have nothing in common have different vectors.
  from SPECIFICATION 4.2.6, SPECIFICATION 10.1
  hint: embed all words of the text, with every model; do not return a constant
EMB-EMBED-6 SHOULD: `model` of a result and of its embedding is the model that was asked for.
  from SCHEMA 4.3.2
  hint: return the name of the model from the request, not its dated version
EMB-EMBED-7 SHOULD: The same text has the same vector every time.
  from SPECIFICATION 11.6
  hint: pin one version of each model on all replicas
EMB-EMBED-8 SHOULD: `tokens_used` is the number of tokens that `count_tokens` counts for the text.
  from SCHEMA 4.3.2; needs supports_token_counting
  hint: count tokens_used with the tokenizer of `count_tokens`
EMB-EMBED-9 SHOULD: `text` of an embedding is the text that was sent, letter by letter.
  from SCHEMA 4.3.2
  hint: keep the original text next to the form that you embed, and return the original
EMB-DIM-1 MUST: All vectors of one model have the same number of dimensions.
  from SPECIFICATION 14.4, ERRORS 6.2
  hint: ask the provider for the same dimensions for every text, single and in batches
EMB-DIM-2 MUST: No vector has more dimensions than the stated `max_dimensions`.
  from BEHAVIORAL_CONFORMANCE 6.7, SPECIFICATION 10.5, R23
  hint: state the dimensions of the largest model
EMB-ARGS-1 MUST: If `text` is missing or is not a string, `embed` refuses the request with BAD_REQUEST.
  from SPECIFICATION 10.3, ERRORS 6.2, R8
  hint: check that `text` is there and a string before you strip or convert it
EMB-ARGS-2 MUST: If `model` is not a string, `embed` refuses the request with BAD_REQUEST.
  from SPECIFICATION 10.3, R8
  hint: check that `model` is a string before you look it up
EMB-ARGS-3 MUST: If `truncate` or `normalize` is not a boolean, `embed` refuses the request with BAD_REQUEST.
  from SPECIFICATION 10.3, R8
  hint: check that the value is a boolean; in many languages the text "false" counts as true
EMB-ARGS-4 MUST: `stream_embed` refuses the arguments that `embed` refuses.
  from SPECIFICATION 10.3, ERRORS 6.2, R8; needs supports_streaming
  hint: check the arguments of `stream_embed` with the function that `embed` uses, before the first frame
EMB-ARGS-5 MUST: A missing `model` never leads to a retryable error. An empty `model` may be treated as an unknown
    model.
  from SPECIFICATION 10.3, SPECIFICATION 12.1, R132
  hint: check that `model` exists before you read it, in `embed_batch` too
EMB-ARGS-6 SHOULD: A missing `model` is refused.
  from SPECIFICATION 10.3, SPECIFICATION 10.6
  hint: answer BAD_REQUEST if `model` is missing; do not choose a model for the caller
EMB-ARGS-7 SHOULD: An empty text is embedded, or refused permanently.
  from SPECIFICATION 12.1, R29
  hint: allow zero tokens (do not divide by the token count), or answer BAD_REQUEST
EMB-MODEL-1 MUST: `embed` works for every model that capabilities list.
  from SPECIFICATION 10.6, R23
  hint: list only models that work with `embed`
EMB-MODEL-2 MUST: `embed` refuses an unknown model with BAD_REQUEST, NOT_SUPPORTED or UNAVAILABLE.
  from SPECIFICATION 10.4, SPECIFICATION 10.6, BEHAVIORAL_CONFORMANCE 6.7, ERRORS 6.2, R13, R132
  hint: compare the whole name with the list, and raise ModelNotFound; do not use another model instead
EMB-MODEL-3 MUST: `embed_batch` refuses an unknown model with BAD_REQUEST, NOT_SUPPORTED or UNAVAILABLE.
  from SPECIFICATION 10.4, SPECIFICATION 10.6, BEHAVIORAL_CONFORMANCE 6.7, ERRORS 6.2, R13, R132; needs
    supports_batch_embedding
  hint: look the model up in `embed_batch` too, before quotas, with the function that `embed` uses
EMB-MODEL-4 MUST: `stream_embed` refuses an unknown model with BAD_REQUEST, NOT_SUPPORTED or UNAVAILABLE.
  from SPECIFICATION 10.4, SPECIFICATION 10.6, BEHAVIORAL_CONFORMANCE 6.7, ERRORS 6.2, R13, R132; needs
    supports_streaming
  hint: look the model up in `stream_embed` too, before the first frame
EMB-MODEL-5 SHOULD: The refusal of an unknown model names it in `details.model`.
  from ERRORS 6.1, ERRORS 8
  hint: add the model name from the request to `details`, unchanged
EMB-MODEL-6 MUST: A batch is embedded by the model that was asked for.
  from SPECIFICATION 10.3, SPECIFICATION 10.6; needs supports_batch_embedding
  hint: pass `model` on to the provider in `embed_batch` too
EMB-STREAM-1 MUST: Every chunk of a stream matches the schema: `embeddings`, `is_final` and nothing undocumented.
  from SPECIFICATION 4.2.3.1, SPECIFICATION 4.2.3.3, R3; needs supports_streaming
  hint: send `embeddings` as a list in each chunk, [] included, with `is_final` and no undocumented key
EMB-STREAM-2 MUST: A stream that ends without an error contains at least one embedding.
  from SPECIFICATION 4.2.6; needs supports_streaming
  hint: send the embedding in the final chunk or in one before it
EMB-STREAM-3 MUST: The embedding of a stream is the embedding of the text that was sent.
  from SPECIFICATION 4.2.6, SPECIFICATION 4.2.3.3; needs supports_streaming
  hint: embed the whole text unchanged
EMB-STREAM-4 MUST: `usage.total_tokens` is the sum of prompt and completion tokens.
  from R29; needs supports_streaming
  hint: set total_tokens of `usage` to prompt_tokens + completion_tokens
EMB-STREAM-5 MUST: `stream_embed` works for every model that capabilities list.
  from SPECIFICATION 10.6, R23; needs supports_streaming
  hint: list only models that stream, or send the result of `embed` as one final chunk
EMB-STREAM-6 SHOULD: `model` of a chunk and of its embeddings is the model that was asked for.
  from SCHEMA 4.3.2; needs supports_streaming
  hint: set `model` of each chunk and embedding to the name in the request
EMB-STREAM-7 SHOULD: A stream of one embedding gives the vector that `embed` gives.
  from SPECIFICATION 4.2.6; needs supports_streaming
  hint: send the vector with the precision that `embed` has
"""
