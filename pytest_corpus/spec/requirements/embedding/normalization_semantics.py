"""Normalization (BEHAVIORAL_CONFORMANCE 6.4; SPECIFICATION 10.3, 10.6; R12, R23)."""

REQUIREMENTS = """
EMB-NORM-1 MUST: With `normalize`, `embed` gives a vector of unit norm.
  from BEHAVIORAL_CONFORMANCE 6.4; needs supports_normalization
  hint: divide by the square root of the sum of squares, for every model
EMB-NORM-2 MUST: With `normalize`, `embed_batch` gives vectors of unit norm.
  from BEHAVIORAL_CONFORMANCE 6.4; needs supports_normalization, supports_batch_embedding
  hint: pass `normalize` on to every text of a batch, the last one included
EMB-NORM-3 MUST: With `normalize`, `stream_embed` gives vectors of unit norm.
  from BEHAVIORAL_CONFORMANCE 6.4; needs supports_normalization, supports_streaming
  hint: pass `normalize` on to the code that streams, and apply it before the frame is sent
EMB-NORM-4 MUST: If capabilities deny normalization, `embed` refuses `normalize` with NOT_SUPPORTED.
  from SPECIFICATION 10.6, R12
  hint: raise NotSupported, not BadRequest; do not return the vector unchanged
EMB-NORM-5 MUST: If capabilities deny normalization, `embed_batch` refuses `normalize` with NOT_SUPPORTED.
  from SPECIFICATION 10.6, R12; needs supports_batch_embedding
  hint: check `normalize` in `embed_batch` with the function that `embed` uses, before the first text
EMB-NORM-6 MUST: If capabilities deny normalization, `stream_embed` refuses `normalize` with NOT_SUPPORTED.
  from SPECIFICATION 10.6, R12; needs supports_streaming
  hint: check `normalize` in `stream_embed` with the function that `embed` uses, before the first frame
EMB-NORM-7 MUST: A vector that the provider returns with unit norm is not normalized again.
  from BEHAVIORAL_CONFORMANCE 6.4; needs normalizes_at_source
  hint: pass the provider's vector on untouched if normalizes_at_source is true, in batches too
EMB-NORM-8 MUST: A normalized vector has the direction of the plain vector of the same text.
  from BEHAVIORAL_CONFORMANCE 6.4, SPECIFICATION 10.3; needs supports_normalization
  hint: multiply all components by the same positive number; do not centre the vector or change signs
EMB-NORM-9 MUST: A missing `normalize` means false, and false is always accepted.
  from SPECIFICATION 10.3
  hint: treat a missing `normalize` as false; refuse `normalize` as not supported only if it is true
EMB-NORM-10 SHOULD: If capabilities claim `normalizes_at_source`, vectors have unit norm even without `normalize`.
  from BEHAVIORAL_CONFORMANCE 6.4, R23; needs normalizes_at_source
  hint: claim normalizes_at_source only if the provider always normalizes, not if you do it
"""
