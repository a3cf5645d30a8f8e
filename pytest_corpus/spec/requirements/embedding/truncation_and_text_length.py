"""Truncation and the length of texts (BEHAVIORAL_CONFORMANCE 6.4; SPECIFICATION 10.4, 10.6; R12, R28, R29)."""

REQUIREMENTS = """
EMB-TRUNC-1 MUST: With `truncate`, a text beyond `max_text_length` is embedded, and `truncated` is true.
  from BEHAVIORAL_CONFORMANCE 6.4, R28; needs supports_truncation
  hint: cut a text of any length beyond the limit, and set `truncated` to true, for every model
EMB-TRUNC-2 MUST: A text of up to `max_text_length` is embedded, and `truncated` is not true.
  from BEHAVIORAL_CONFORMANCE 6.4, SPECIFICATION 10.6, R23
  hint: cut or refuse only above max_text_length, and set `truncated` only if something was cut
EMB-TRUNC-3 MUST: Without `truncate`, `embed` refuses a text beyond `max_text_length` with TEXT_TOO_LONG.
  from SPECIFICATION 10.4, SPECIFICATION 10.6, ERRORS 6.2, R12; needs supports_truncation
  hint: compare the length with max_text_length before you cut, and raise TextTooLong
EMB-TRUNC-4 MUST: The vector of a truncated text is the vector of the part that is left.
  from BEHAVIORAL_CONFORMANCE 6.4; needs supports_truncation
  hint: embed exactly the part of the text that you return
EMB-TRUNC-5 MUST: The part that is left of a truncated text does not exceed `max_text_length`.
  from BEHAVIORAL_CONFORMANCE 6.4, BEHAVIORAL_CONFORMANCE 6.7; needs supports_truncation
  hint: cut exactly at the limit, not after the token that crosses it
EMB-TRUNC-6 MUST: A missing `truncate` means true.
  from SPECIFICATION 10.3; needs supports_truncation
  hint: treat a missing `truncate` as true
EMB-TRUNC-7 MUST: If any part of a text is left out, `truncated` is true.
  from BEHAVIORAL_CONFORMANCE 6.4, R28
  hint: state a max_text_length that every model reads completely; set `truncated` if a model reads less
EMB-TRUNC-8 MUST: `embed_batch` truncates a text as `embed` does.
  from BEHAVIORAL_CONFORMANCE 6.4, SPECIFICATION 10.6; needs supports_truncation, supports_batch_embedding
  hint: cut the texts of a batch with the function and the limit that `embed` uses
EMB-TRUNC-9 MUST: Without `truncate`, `embed_batch` refuses, or reports, a text beyond `max_text_length` with
    TEXT_TOO_LONG.
  from SPECIFICATION 10.4, SPECIFICATION 10.6, ERRORS 6.2, R14; needs supports_truncation, supports_batch_embedding
  hint: compare the length of each text of a batch, and use TEXT_TOO_LONG, not BAD_REQUEST
EMB-TRUNC-10 MUST: Without `truncate`, `stream_embed` refuses a text beyond `max_text_length` with TEXT_TOO_LONG.
  from SPECIFICATION 10.4, SPECIFICATION 10.6, ERRORS 6.2, R12; needs supports_truncation, supports_streaming
  hint: compare the length in `stream_embed` too, before the first frame, and raise TextTooLong
EMB-TRUNC-11 MUST: `stream_embed` truncates a text as `embed` does.
  from BEHAVIORAL_CONFORMANCE 6.4; needs supports_truncation, supports_streaming
  hint: cut the text of a stream with the function and the limit that `embed` uses
EMB-TRUNC-12 MUST: If capabilities deny truncation, a text beyond `max_text_length` is refused with TEXT_TOO_LONG or
    NOT_SUPPORTED.
  from BEHAVIORAL_CONFORMANCE 6.7, SPECIFICATION 17.2, R29
  hint: compare the length before you call the provider, and refuse; do not cut
EMB-TRUNC-13 SHOULD: TEXT_TOO_LONG gives `details.max_text_length` and `details.provided_length`.
  from ERRORS 6.2
  hint: add max_text_length and provided_length to `details`
EMB-TRUNC-14 SHOULD: The end of a text within the limit, up to the last character, affects the vector.
  from BEHAVIORAL_CONFORMANCE 6.4, R28
  hint: embed the text up to its last character, or lower max_text_length to the model's limit
EMB-TRUNC-15 SHOULD: A text that is too long is cut at its end.
  from BEHAVIORAL_CONFORMANCE 6.4; needs supports_truncation
  hint: keep the beginning of the text, and drop what is beyond `max_text_length`
"""
