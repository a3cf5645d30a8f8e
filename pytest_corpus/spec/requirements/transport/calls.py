"""Calls over any transport: concurrent, abandoned, unreadable (SPECIFICATION 1.3, 4.2.1; R75, R87, R88)."""

REQUIREMENTS = """
TRA-CALL-1 MUST: A request that is not JSON is refused with BAD_REQUEST or, on a channel of messages, ignored.
  from SPECIFICATION 4.2.1, ERRORS 1, R87, R88; needs remote
  hint: catch the error of your JSON reader, answer it with a BAD_REQUEST envelope, and read on
TRA-CALL-2 MUST: Answers are UTF-8 without a byte order mark, except at the beginning of an event stream.
  from SPECIFICATION 4.2.1, R87; needs remote
  hint: encode every answer as UTF-8 without a signature, and name no other charset
TRA-CALL-3 MUST: Each of 50 concurrent calls gets its own answer.
  from SPECIFICATION 1.3, SPECIFICATION 4.2.1, R88; needs remote
  hint: keep nothing of a call in shared variables, and answer each call by its id or on its connection
TRA-CALL-4 MUST: After clients disconnect in the middle of a stream, the adapter still answers other clients.
  from SPECIFICATION 1.3, R75; needs remote, supports_streaming; for streaming
  hint: release locks, slots and connections in a `finally` around the stream
TRA-CALL-5 SHOULD: If a client closes a stream early, the adapter stops working on the stream within a second.
  from SPECIFICATION 1.3, R75; needs remote, provider, supports_streaming; for streaming
  hint: watch for the end of the connection, or for `cancel`, and cancel the call to the provider
"""
