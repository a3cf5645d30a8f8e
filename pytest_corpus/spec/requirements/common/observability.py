"""The observations of every component, and their labels."""

REQUIREMENTS = """
COM-OBS-1 MUST: A call that succeeds is observed exactly once.
  from SPECIFICATION 6.4, BEHAVIORAL_CONFORMANCE 6.8, R19; needs metrics
  hint: call `observe` once in the outermost layer of every operation, `health` included, not once for each item
COM-OBS-2 MUST: A call that fails is observed exactly once, even if it was refused or its deadline had passed.
  from SPECIFICATION 6.4, BEHAVIORAL_CONFORMANCE 6.8, R19, R143; needs metrics
  hint: call `observe` in a `finally` that surrounds validation and the deadline check too
COM-OBS-3 MUST: A stream is observed exactly once, whatever its outcome.
  from SPECIFICATION 6.4, SPECIFICATION 11.2, R19; needs metrics, supports_streaming; for streaming
  hint: observe a stream in one `finally` around all of it, which covers refusals, failures and success
COM-OBS-4 MUST: The `component` of an observation is the component that was called; in all other metrics it is one of
    the four components.
  from SPECIFICATION 6.4; needs metrics
  hint: pass llm, vector, embedding or graph as `component` to every metric, in streams too
COM-OBS-5 MUST: The `ok` of an observation is the outcome of the call.
  from SPECIFICATION 6.4; needs metrics
  hint: take `ok` from the envelope or terminal frame that you send, not from how the iterator ended
COM-OBS-6 MUST: The `code` of an observation is OK or names the class of the failure.
  from ERRORS 5, SPECIFICATION 6.4, R20; needs metrics
  hint: pass OK, or the class or code of the error that you send, not one code for all failures
COM-OBS-7 MUST: The `ms` of an observation is a non-negative number.
  from SPECIFICATION 6.4, SPECIFICATION 4.1; needs metrics
  hint: measure `ms` from the start of the call on every path, failures included
COM-OBS-8 SHOULD: An observation has `tenant_hash` if a tenant was given.
  from SPECIFICATION 6.4, BEHAVIORAL_CONFORMANCE 6.8, R20, R122; needs metrics
  hint: add `tenant_hash` to `extra` in one place for all outcomes, streams and batches included
COM-OBS-9 MUST: `tenant_hash` is stable for one tenant, in all operations, and differs between tenants.
  from SPECIFICATION 4, R20; needs metrics
  hint: hash the whole tenant id with one fixed salt, which does not change between calls
COM-OBS-10 MUST: An observation has `deadline_bucket` if, and only if, a deadline was given.
  from BEHAVIORAL_CONFORMANCE 6.1, BEHAVIORAL_CONFORMANCE 6.8, R20; needs metrics
  hint: set `deadline_bucket` if there is a deadline, even an expired one, and omit the key otherwise
COM-OBS-11 MUST: A stream counts `count_stream_final_outcome` exactly once, whatever its outcome.
  from BEHAVIORAL_CONFORMANCE 6.2, ERRORS 6.1, R19; needs metrics, supports_streaming; for llm, graph
  hint: count the outcome once, in one `finally` at the end of the stream; refused streams must reach it too
COM-OBS-12 MUST: Metrics are reported with the arguments of the interface, by keyword.
  from SPECIFICATION 6.4; needs metrics
  hint: call observe(component=, op=, ms=, ok=, code=, extra=) and counter(component=, name=, value=, extra=)
COM-OBS-13 MUST: A value that a client invented (an unknown model) does not become a label.
  from SPECIFICATION 13.1, R21, R125; needs metrics
  hint: use `model` as a label only if you list that model; never use a hash of a text, vector or query
COM-OBS-14 SHOULD: Request ids and trace ids do not become labels.
  from BEHAVIORAL_CONFORMANCE 6.8, SPECIFICATION 13.1; needs metrics
  hint: keep request_id and traceparent out of `extra`; they belong in traces
COM-OBS-15 SHOULD: `tenant_hash` is salted: hashing the id of a tenant does not reveal it.
  from SPECIFICATION 15, SPECIFICATION 4; needs metrics
  hint: hash the tenant with a secret salt, for example by HMAC, not with plain SHA-256
COM-OBS-16 MUST: `tenant_hash` is not an encoding of the tenant that can be decoded.
  from SPECIFICATION 4, R63; needs metrics
  hint: hash the tenant; an encoding such as base64 or hex is not a hash
COM-OBS-17 MUST: The `ms` of an observation is the time that the call took.
  from SPECIFICATION 6.4, R64, R116; needs metrics, provider
  hint: measure from the arrival of the call to its end, with one monotonic clock, in milliseconds
COM-OBS-18 MUST: The outcome counter of a stream names the outcome of its last frame.
  from BEHAVIORAL_CONFORMANCE 6.2, ERRORS 6.1, R65; needs metrics, supports_streaming; for llm, graph
  hint: label count_stream_final_outcome with OK or with the class of the error, by `code`
COM-OBS-19 MUST: `deadline_bucket` has only a few different values, however many deadlines there are.
  from BEHAVIORAL_CONFORMANCE 6.8, R66; needs metrics
  hint: sort the remaining time into a few buckets, such as below a second, a minute, an hour
COM-OBS-26 MUST: The name of an operation that does not exist does not become a label.
  from SPECIFICATION 13.1, BEHAVIORAL_CONFORMANCE 6.8, R125; needs metrics
  hint: label a call of an unknown operation with one fixed word, such as invalid
COM-OBS-27 MUST: Two identical calls have the same labels.
  from BEHAVIORAL_CONFORMANCE 6.8, SPECIFICATION 13.1, R125; needs metrics
  hint: do not add ids, times and other values that differ in each call to `extra`; they belong in traces
COM-OBS-28 SHOULD: In an observation, the `code` of a failure is the name of its class, not the code in the envelope.
  from ERRORS 5, R125; needs metrics
  hint: pass BadRequest to `observe` if the envelope says BAD_REQUEST
COM-OBS-25 SHOULD: A call that is cancelled before it ends is observed too.
  from SPECIFICATION 11.2, SPECIFICATION 6.4, R99; needs metrics, provider; quiet
  hint: observe in a `finally`, or catch asyncio.CancelledError, observe and raise it again
"""
