"""Capabilities of every component, and their truth."""

REQUIREMENTS = """
COM-CAP-1 MUST: `capabilities` answers with an object.
  from SPECIFICATION 6.2
  hint: return an object, not a list, for every call of `capabilities`
COM-CAP-2 MUST: Capabilities state `server`, `version` and `protocol` as non-empty strings.
  from SPECIFICATION 6.2, R22
  hint: state server, version and protocol as strings at the top of the result
COM-CAP-3 MUST: `protocol` is the component's protocol, e.g. llm/v1.0.
  from SPECIFICATION 4.2.2, SPECIFICATION 6.2
  hint: state `<component>/v1.0` as `protocol`, the minor version included, for example vector/v1.0
COM-CAP-4 MUST: Flags are booleans, limits are numbers and listings are lists, wherever they are stated.
  from SPECIFICATION 6.2, SPECIFICATION 8.4, R22
  hint: state 8192, not "8192 tokens", and a list, not a joined string; leave out what you do not know
COM-CAP-5 SHOULD: Keys under `extensions` are namespaced, e.g. vendor:name.
  from SPECIFICATION 6.2, R71
  hint: put a namespace before each key under `extensions`, for example acme:routing
COM-CAP-6 MUST: An operation works if capabilities claim it.
  from BEHAVIORAL_CONFORMANCE 5.3, R23
  hint: claim only operations that work
COM-CAP-7 MUST: An operation that capabilities deny answers NOT_SUPPORTED (or simply works).
  from BEHAVIORAL_CONFORMANCE 5.3, ERRORS 6, R23
  hint: answer NOT_SUPPORTED as soon as the flag of the operation is false, before its arguments are read
COM-CAP-8 SHOULD: An operation that works is not denied by capabilities.
  from R23
  hint: set the flag of the operation to true, or answer NOT_SUPPORTED
COM-CAP-9 MUST: `handle_stream` exists if streaming is claimed.
  from SPECIFICATION 4.2.3, R22; needs supports_streaming; for streaming
  hint: add handle_stream to the wire handler, or deny streaming in `capabilities`
COM-CAP-10 SHOULD: Undocumented keys of capabilities stand under `extensions`.
  from SPECIFICATION 6.2, R71
  hint: move undocumented keys to `extensions`, also those in `features` and `limits`
COM-CAP-11 SHOULD: Capabilities state the limits `concurrency` and `rate_limit_qps`.
  from SPECIFICATION 16.2, SPECIFICATION 6.2
  hint: state under `limits` how many calls you accept at once and per second
"""
