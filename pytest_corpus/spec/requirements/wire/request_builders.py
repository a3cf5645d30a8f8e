"""Request builders: the stages of the pipeline that each envelope passes (SCHEMA 6.3, 8.2)."""

REQUIREMENTS = """
WIR-OFFER-1 MUST: A client library offers a request builder for at least one operation.
  from SCHEMA 8.2
  hint: name a method `build_<op>_request` or `build_<component>_<op>_request`, see docs/wire.md
WIR-BUILD-1 MUST: A builder that is called without arguments ends, raises no exception, and returns an envelope.
  from SCHEMA 8.2
  hint: give every parameter a default; corpus_call_timeout limits the time of a call
WIR-ENV-1 MUST: A request envelope is a dict.
  from SCHEMA 3.1, SCHEMA 6.3, SPECIFICATION 4.2.1
  hint: return the dict itself, not its JSON text or a model object
WIR-ENV-2 MUST: A request envelope has the keys `op`, `ctx` and `args`.
  from SCHEMA 3.1, SCHEMA 6.3
  hint: return all three keys, `ctx` and `args` as {} if they are empty
WIR-ENV-3 MUST: The `op` of a request is exactly the name of the operation that the builder is named for.
  from SCHEMA 6.3, SPECIFICATION 4.2.6
  hint: set `op` to `<component>.<operation>` in lower case, as in SPECIFICATION 4.2.6
WIR-CTX-1 MUST: The `ctx` of a request is an object, and its documented members are of the documented type and range.
  from SCHEMA 3.2, SCHEMA 6.3, SPECIFICATION 6.1
  hint: make `ctx` a dict of strings, with an object as `attrs` and a deadline_ms of at least 1
WIR-CTX-2 SHOULD: A `deadline_ms` is a point in time in milliseconds since the epoch, not a duration, and not in
    seconds.
  from SCHEMA 3.2, SPECIFICATION 6.1
  hint: add the budget to the current time: `int(time.time() * 1000) + budget_ms`
WIR-JSON-1 MUST: A request can be written as UTF-8 JSON, with finite numbers and integers of 64 bits.
  from SCHEMA 6.3, SPECIFICATION 4.1, SPECIFICATION 4.2.1, R34
  hint: convert dates, bytes, sets, decimals and library arrays before they go into the envelope
WIR-JSON-2 MUST: A request that is written as JSON and read again is the same.
  from SCHEMA 6.3
  hint: write every key of an object as a string, because JSON has no other keys
WIR-SCHEMA-1 MUST: A request meets the schema of its component's request envelope, in an accepted edition.
  from SCHEMA 3.1, SCHEMA 6.3, SCHEMA 10.1, R18
  hint: send only `op`, `ctx` and `args`, without a version
WIR-ARGS-1 MUST: The `args` of a request follow the documented rules of the operation.
  from SCHEMA 6.3, SPECIFICATION 8.3, SPECIFICATION 9.3, SPECIFICATION 10.3, SPECIFICATION 17.2
  hint: check the arguments as you build: required keys, sampling ranges, top_k of at least 1, finite vectors
WIR-ARGS-2 MUST: The `args` of a request meet the schema of the operation's request.
  from SCHEMA 2.2, SCHEMA 4, R42
  hint: give each argument the type that the operation's request schema demands
WIR-ARGS-3 SHOULD: A request carries `messages` rather than `prompt`, and `vector` rather than `text`.
  from SPECIFICATION 8.3, SPECIFICATION 9.2, SCHEMA 6.3
  hint: send a prompt as one message of role user, and a query as a vector, not as text
"""
