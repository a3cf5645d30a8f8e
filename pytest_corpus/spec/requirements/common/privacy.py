"""Secrets that no component may reveal: content, tenants, keys, texts of the provider."""

REQUIREMENTS = """
COM-LEAK-1 MUST: The message and the details of an error contain no content of the request.
  from ERRORS 2.1, SPECIFICATION 15, R21
  hint: name the field and the rule that it breaks, but no part of its value
COM-LEAK-2 MUST: Metrics contain no content of a request.
  from SPECIFICATION 6.4, BEHAVIORAL_CONFORMANCE 6.8, R21; needs metrics
  hint: use op, code and counts as labels, and nothing from texts, vectors, queries, filters or metadata
COM-LEAK-3 MUST: Log records contain no content of a request.
  from SPECIFICATION 15, SPECIFICATION 11.2, R21, R74; needs logs
  hint: log hashes and lengths instead of content, in extra fields of the record too
COM-LEAK-4 MUST: No error, metric or log record contains a raw tenant id.
  from SPECIFICATION 6.1, BEHAVIORAL_CONFORMANCE 6.8, R21
  hint: use the tenant hash instead of the tenant everywhere, in throttle_scope too
COM-LEAK-5 MUST: No error or metric contains an idempotency key.
  from R21, R124
  hint: keep the idempotency key out of details and labels; say at most that there was one
COM-LEAK-6 MUST: No answer, metric or log record contains raw text of the provider.
  from ERRORS 8, R6; needs provider
  hint: write your own message for each class; do not pass str(error) on or log it with its traceback
COM-LEAK-7 SHOULD: Log records at debug level contain no content of a request.
  from SPECIFICATION 15, R74; needs logs
  hint: log hashes and lengths at debug level too
COM-LEAK-8 SHOULD: No error, metric or log record contains a value of `ctx.attrs`.
  from SPECIFICATION 15, SPECIFICATION 6.1
  hint: do not copy `attrs` into labels, details or log records: a client may put anything there
COM-LEAK-9 MUST: The message of an error contains no id of an item, a request or a trace.
  from ERRORS 2.1, R59
  hint: name the field in `message`, and leave the id to `details`
COM-LEAK-10 SHOULD: Log records contain no idempotency key.
  from R124, R74; needs logs
  hint: log at most that there was an idempotency key, or a hash of it
"""
