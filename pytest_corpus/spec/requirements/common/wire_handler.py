"""The wire of every component: envelopes, errors, numbers, concurrent calls."""

REQUIREMENTS = """
COM-WIRE-1 MUST: `handle` and `handle_stream` answer every request with an envelope; no exception escapes.
  from SPECIFICATION 4.2.1, ERRORS 8, R8
  hint: turn every exception into an error envelope at the outermost layer, in streams and before `op` is read
COM-WIRE-2 MUST: Every call comes to an end.
  from SPECIFICATION 1.3, SPECIFICATION 4.2.1
  hint: limit every wait, release locks in a `finally`, end the iterator; corpus_call_timeout limits the time of a call
COM-WIRE-3 MUST: An answer is a JSON object that is a success envelope, an error envelope or a frame.
  from SPECIFICATION 4.2, SPECIFICATION 4.2.1
  hint: wrap the result in an envelope, and turn dates, bytes, objects and numpy numbers into plain JSON
COM-WIRE-4 MUST: If a request is not a JSON object, `handle` answers with an error that is not worth a retry.
  from SCHEMA 3.1, R8
  hint: check that the request is an object before you read `op` from it, and refuse it with BAD_REQUEST
COM-WIRE-5 MUST: If a request is not a JSON object, `handle_stream` answers with an error that is not worth a retry.
  from SCHEMA 3.1, R8; needs supports_streaming; for streaming
  hint: check the type of the request in handle_stream too, and yield a single error envelope
COM-WIRE-6 MUST: A request is refused with BAD_REQUEST if it lacks `op`, `ctx` or `args` in exactly this spelling.
  from SCHEMA 3.1, SPECIFICATION 4, R8
  hint: refuse a missing `op`, `ctx` or `args` before you look up the operation; do not replace it by an empty one
COM-WIRE-7 MUST: A request whose `op`, `ctx` or `args` has the wrong type is refused with BAD_REQUEST.
  from SCHEMA 3.1, R8
  hint: check that `op` is a string and `ctx` and `args` are objects before you use them; do not convert them
COM-WIRE-8 MUST: An unknown operation is refused with NOT_SUPPORTED.
  from BEHAVIORAL_CONFORMANCE 7, R12
  hint: answer NOT_SUPPORTED, not BAD_REQUEST, if you find no handler for the operation
COM-WIRE-9 MUST: A malformed `op` is refused with BAD_REQUEST or NOT_SUPPORTED.
  from SCHEMA 3.1, SPECIFICATION 4.2.6
  hint: compare `op` with the reserved names exactly: no lower-casing, no stripping
COM-WIRE-10 MUST: A streaming operation sent to `handle` is refused with BAD_REQUEST or NOT_SUPPORTED.
  from SPECIFICATION 4.2.3, R8; for streaming
  hint: look streaming operations up in handle_stream only, and refuse them in `handle`
COM-WIRE-11 MUST: `handle_stream` refuses an unknown operation with NOT_SUPPORTED, and a unary operation with
    NOT_SUPPORTED or BAD_REQUEST.
  from SPECIFICATION 4.2.3, R8, R12; needs supports_streaming; for streaming
  hint: look up only streaming operations in handle_stream, and refuse any other operation with one error envelope
COM-WIRE-12 MUST: An unknown key next to `op`, `ctx` and `args` is ignored or refused with BAD_REQUEST.
  from SCHEMA 3.1, R8
  hint: read `op`, `ctx` and `args` by name; do not pass the envelope as keyword arguments
COM-WIRE-13 MUST: An unknown key in `args`, or in an object inside it, is ignored or refused with BAD_REQUEST.
  from SPECIFICATION 4.2.5, SCHEMA 3.1, R8
  hint: read known arguments by name; do not pass `args` as keyword arguments
COM-ENV-1 MUST: A unary success has no keys beyond `ok`, `code`, `ms` and `result`.
  from SPECIFICATION 4.2.1, SCHEMA 3.1, R5
  hint: drop extra keys such as a request id, or put them into `result` if its schema allows them
COM-ENV-2 MUST: The `code` of a unary success is OK, PARTIAL_SUCCESS or ACCEPTED.
  from SPECIFICATION 12.4, SCHEMA 3.1, R9
  hint: answer every unary success with OK; a status, such as the one that `health` reports, belongs inside `result`
COM-ENV-3 MUST: A unary success carries `ms`, a non-negative number.
  from SCHEMA 3.1, R6
  hint: measure the call with a monotonic clock, and send `ms` as a number, not as text
COM-ENV-4 SHOULD: The `code` of a unary success is exactly OK.
  from SPECIFICATION 12.5, R9
  hint: send OK instead of ACCEPTED or PARTIAL_SUCCESS; report failures inside `result`
COM-ENV-5 MUST: `ok` is true in a unary success.
  from SPECIFICATION 4.2.1, SCHEMA 3.1
  hint: send the boolean true, not 1 or "true"
COM-ENV-6 MUST: The `ms` of a unary success is the time that the call took.
  from SPECIFICATION 4, SPECIFICATION 4.2.1, R116
  hint: measure from the arrival of the call to its answer, with a monotonic clock, in milliseconds
COM-ENV-7 SHOULD: If calls take long, at least one answer has an `ms` above 0.
  from SPECIFICATION 4, SCHEMA 3.1, R116; needs provider
  hint: measure the call with a monotonic clock; do not send a constant
COM-ERR-1 MUST: An error envelope has no keys beyond ok, code, error, message, retry_after_ms, details, ms.
  from SPECIFICATION 4.2.1, SCHEMA 3.1, R5
  hint: move http_status, throttle_scope and other additions into `details`
COM-ERR-2 MUST: An error envelope carries `ok` false and the strings `code`, `error` and `message`.
  from SPECIFICATION 4.2.1, SCHEMA 3.1
  hint: build every error, in streams too, in one function that sets `ok`, `code`, `error` and `message`
COM-ERR-3 MUST: The `code` of an error is written in UPPER_SNAKE_CASE.
  from SPECIFICATION 4, SCHEMA 3.1
  hint: derive `code` from the class name in upper-case words: BadRequest gives BAD_REQUEST
COM-ERR-4 MUST: `error` is a canonical class or an allowed subtype, and `code` names the same class.
  from SPECIFICATION 4.2.1, ERRORS 1, ERRORS 2.1, R7
  hint: take `error` and `code` from one table of classes; your own codes belong in details.adapter_code
COM-ERR-5 MUST: The `message` of an error is not empty, and contains a readable word.
  from ERRORS 2.1, SPECIFICATION 11.1, R6
  hint: give each class its own default message, in words
COM-ERR-6 MUST: `retry_after_ms` is absent, null or a non-negative number.
  from ERRORS 2.1, R6
  hint: omit `retry_after_ms`, or send null, if there is no reason to wait; do not send -1
COM-ERR-7 MUST: `details` is absent, null or an object.
  from ERRORS 2.1, SCHEMA 3.1, R6
  hint: put lists and texts under a key of `details`, for example details.validation_errors
COM-ERR-8 MUST: If `details.retryable` is given, it agrees with the retry table.
  from ERRORS 4, R11
  hint: derive `details.retryable` from the class by the table of ERRORS 4, or leave it out
COM-ERR-9 MUST: An error carries `ms`, a non-negative number.
  from SCHEMA 3.1, R6
  hint: start the clock when the call arrives, and send `ms` as a number, in the error of a stream too
COM-ERR-10 SHOULD: `code` names the class in `error` itself, not its parent class.
  from ERRORS 2.1, R7
  hint: send the code of the subtype itself: TextTooLong goes with TEXT_TOO_LONG, not with BAD_REQUEST
COM-ERR-11 SHOULD: A refused request names the fields at fault in `details.validation_errors`.
  from BEHAVIORAL_CONFORMANCE 6.3
  hint: list the refused fields by name, without their values, in details.validation_errors
COM-ERR-12 MUST: The same bad request is answered with the same class every time.
  from ERRORS 0, BEHAVIORAL_CONFORMANCE 6.3, BEHAVIORAL_CONFORMANCE 7
  hint: give each failed check one fixed class, and keep no state between calls in the error mapping
COM-ERR-13 MUST: Hints in `details` have the documented types and lie within the documented bounds.
  from ERRORS 7, R60
  hint: state a batch reduction in percent, waiting times in milliseconds, `resource_scope` as one of the eight words
COM-ERR-14 SHOULD: `details.http_status` is the status of the error's class.
  from ERRORS 3.1, R60
  hint: take the status from the table of ERRORS 3.1, not from the provider
COM-ERR-15 MUST: An error shows no stack trace.
  from ERRORS 8, ERRORS 2.1, R60
  hint: write the traceback to your own log, and a neutral sentence to `message`
COM-ERR-21 SHOULD: An error that may not be retried has no `retry_after_ms`, not even 0.
  from ERRORS 2.1, ERRORS 4, R99
  hint: leave retry_after_ms null for BadRequest, AuthError and NotSupported; 0 means that a client retries at once
COM-ERR-22 MUST: The `ms` of an error is the time that the call took.
  from SPECIFICATION 4, SPECIFICATION 4.2.1, R116
  hint: start the clock before you check the request, so that failures are timed too; do not send 0
COM-ERR-16 SHOULD: DEADLINE_EXCEEDED gives no `retry_after_ms`.
  from ERRORS 14
  hint: leave retry_after_ms out of DeadlineExceeded: waiting does not help, a longer deadline does
COM-SUBTYPE-1 SHOULD: An error does not use a subtype that the taxonomy reserves for other protocols.
  from ERRORS 1.1, R58
  hint: use the subtypes that ERRORS 1.1 lists for your component, or their parent class
COM-WIRE-14 MUST: A read is answered even if it is the first call to an instance.
  from SPECIFICATION 4.2.6, R8, R74
  hint: make every operation work as the first call to a fresh instance: create tables, do not divide by a count of 0
COM-WIRE-15 MUST: An optional argument with the value null is treated as missing, or refused permanently.
  from SCHEMA 4.2.2, SCHEMA 4.4.2, BEHAVIORAL_CONFORMANCE 6.3, R144; for vector, graph
  hint: treat null as a missing argument, because many clients send it for omitted arguments
COM-NUM-1 MUST: NaN and infinities in a request are refused with BAD_REQUEST.
  from SPECIFICATION 4.1, SPECIFICATION 17.2, R34
  hint: check math.isfinite of every number in `ctx` and `args`, at any depth, in every operation
COM-NUM-2 MUST: No answer holds NaN or an infinity.
  from SPECIFICATION 4.1, R34
  hint: guard every division (averages, norms, health figures) against a divisor of zero
COM-NUM-3 SHOULD: An integer beyond signed 64 bits is refused with BAD_REQUEST.
  from SPECIFICATION 4.1
  hint: refuse integers outside `-2**63` to `2**63 - 1` where you check the types
COM-NUM-4 SHOULD: An integer beyond the range of floats is refused with BAD_REQUEST, or used with its true value.
  from SPECIFICATION 4.1, R8
  hint: check the range first: dividing a Python integer beyond the range of floats raises OverflowError
COM-NUM-5 SHOULD: NaN and infinities inside `ctx.attrs` are refused with BAD_REQUEST.
  from SPECIFICATION 4.1, R34
  hint: check the numbers of `attrs` where you check those of `args`, at any depth
COM-NUM-6 MUST: An integer of more than 32 bits is used with its true value, or refused permanently.
  from SPECIFICATION 4.1, BEHAVIORAL_CONFORMANCE 6.3, R144; for llm, vector, graph
  hint: check the range of an integer before a client with 32-bit fields gets it
COM-CONC-1 MUST: Calls that run at the same time do not disturb each other.
  from SPECIFICATION 1.3, R148; quiet
  hint: keep the state of a call in local variables; other calls can change the adapter object during an await
COM-CONC-2 SHOULD: Concurrent calls beyond `concurrency` are carried out, or refused with RESOURCE_EXHAUSTED or
    UNAVAILABLE.
  from SPECIFICATION 12.6, SPECIFICATION 12.1; quiet
  hint: queue the surplus calls, or refuse them with RESOURCE_EXHAUSTED and retry_after_ms
"""
