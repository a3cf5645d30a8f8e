"""Frames and terminals of every streaming component."""

REQUIREMENTS = """
COM-STREAM-1 MUST: A success frame has exactly the keys `ok`, `code`, `ms` and `chunk`.
  from SPECIFICATION 4.2.3.1, R1, R5; needs supports_streaming; for streaming
  hint: move usage into `chunk`, drop every other key, and leave {event, data} frames to a gateway
COM-STREAM-2 MUST: `ok` is true in a success frame.
  from SPECIFICATION 4.2.3.1; needs supports_streaming; for streaming
  hint: build every frame, the last one too, in one function that sets `ok` to true
COM-STREAM-3 MUST: The `code` of a success frame is STREAMING.
  from SPECIFICATION 4.2.3.1, R2; needs supports_streaming; for streaming
  hint: send STREAMING in every success frame, the final one too; OK is the code of unary answers
COM-STREAM-4 MUST: A success frame carries `ms`, a non-negative number.
  from SPECIFICATION 4.2.3.1, R6; needs supports_streaming; for streaming
  hint: set `ms` in each frame, the final one too, to the milliseconds since the stream began
COM-STREAM-10 MUST: The `ms` of a frame is the time since the stream began.
  from SPECIFICATION 4.2.3.1, R116; needs supports_streaming; for streaming
  hint: send in each frame the milliseconds since the request arrived
COM-STREAM-5 MUST: A frame is at most 1 MiB long.
  from SPECIFICATION 4.2.3.4, R4; needs supports_streaming; for streaming
  hint: measure each frame as UTF-8 JSON, and split larger content into several chunks
COM-STREAM-6 MUST: A stream ends with a terminal frame: a final chunk or an error envelope.
  from SPECIFICATION 4.2.3.2, BEHAVIORAL_CONFORMANCE 6.2, R4; needs supports_streaming; for streaming
  hint: end every stream with a final chunk, also if a limit cuts it, or with an error envelope after a failure
COM-STREAM-7 MUST: Nothing follows the terminal frame.
  from SPECIFICATION 4.2.3.2, BEHAVIORAL_CONFORMANCE 6.2, R4; needs supports_streaming; for streaming
  hint: return from the generator after the terminal frame; send usage or a summary in that frame or before it
COM-STREAM-8 MUST: A refused stream is a single error envelope without data.
  from SPECIFICATION 4.2.3.2, ERRORS 6.1, R8; needs supports_streaming; for streaming
  hint: check all arguments before the first frame, and yield only the error envelope
COM-STREAM-9 MUST: A provider's failure in mid-stream ends the stream with one error envelope.
  from BEHAVIORAL_CONFORMANCE 6.2, SPECIFICATION 4.2.3.2; needs provider, supports_streaming; for streaming
  hint: catch the provider's exception around the loop over its chunks, yield its error envelope and return
COM-STREAM-11 SHOULD: If a consumer closes a stream early, the adapter stops working on the stream within a second.
  from SPECIFICATION 1.3, R75; needs provider, supports_streaming; for streaming
  hint: close the upstream, and cancel the tasks that read it, in a `finally` of the generator
"""
