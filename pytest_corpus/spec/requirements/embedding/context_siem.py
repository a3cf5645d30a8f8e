"""Context, observability and privacy (SPECIFICATION 6.1, 6.4, 15; BEHAVIORAL_CONFORMANCE 6.8; R19 to R21)."""

REQUIREMENTS = """
EMB-OBS-1 SHOULD: A stream counts `count_stream_final_outcome` exactly once, whatever its outcome.
  from BEHAVIORAL_CONFORMANCE 6.2, R19; needs metrics, supports_streaming
  hint: count the outcome once, in one `finally` at the end; refused and failed streams must reach it too
EMB-OBS-2 MUST: If a stream ends without an error, its outcome counter names no error.
  from BEHAVIORAL_CONFORMANCE 6.2, R65; needs metrics, supports_streaming
  hint: count the outcome OK when you send the final chunk, before the stream is closed
"""
