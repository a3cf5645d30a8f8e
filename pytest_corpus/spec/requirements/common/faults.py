"""Faults of the provider, and the errors that every component reports for them."""

REQUIREMENTS = """
COM-FAULT-1 MUST: A provider's rate limit or exhausted quota (429) is reported as ResourceExhausted.
  from ERRORS 8, SPECIFICATION 12.4; needs provider
  hint: map every 429, exhausted quotas included, to ResourceExhausted, in batches too
COM-FAULT-2 MUST: A provider that is overloaded or unavailable (503, 529) is reported as Unavailable.
  from ERRORS 1, SPECIFICATION 12.4; needs provider
  hint: map 503 and 529 to Unavailable, each by its own entry, not by one rule for all of 5xx
COM-FAULT-3 MUST: A network failure or gateway timeout (502, 504) is reported as TransientNetwork.
  from ERRORS 6.1, ERRORS 8, SPECIFICATION 12.4; needs provider
  hint: map 502 and 504 to TransientNetwork; the provider's timeout is not the caller's deadline
COM-FAULT-4 MUST: A provider's refusal of credentials or permission (401, 403) is reported as AuthError.
  from ERRORS 1, SPECIFICATION 12.4; needs provider
  hint: map 401 and 403 alike to AuthError
COM-FAULT-5 MUST: A refusal by the provider's content filter is reported as BadRequest or its subtype ContentFiltered.
  from ERRORS 6.1, SPECIFICATION 8.5, R12; needs provider
  hint: recognize the provider's content filter, and raise ContentFiltered or BadRequest for it
COM-FAULT-6 MUST: A request that the provider finds invalid (400) is reported as BadRequest.
  from ERRORS 1, SPECIFICATION 12.4; needs provider
  hint: map the provider's 400 to BadRequest, even if the request passed your own checks
COM-FAULT-7 MUST: An unexpected exception is reported as Unavailable.
  from ERRORS 8, R7; needs provider
  hint: end the mapping with a default for any other exception: Unavailable with a neutral message
COM-FAULT-8 MUST: The provider's `retry_after_ms` is passed on.
  from ERRORS 4, ERRORS 8, R111; needs provider
  hint: copy the provider's retry_after_ms into the error envelope, in milliseconds, in streams too
COM-FAULT-9 MUST: A stream classifies a provider's failure as the unary operation does.
  from ERRORS 6.1, ERRORS 6.4; needs provider, supports_streaming; for streaming
  hint: map the exceptions of a stream with the function that maps those of the unary call
COM-FAULT-10 SHOULD: A retryable error without `retry_after_ms` gives `details.suggested_backoff_ms`.
  from SPECIFICATION 12.1; needs provider
  hint: if the provider gives no hint, add an integer details.suggested_backoff_ms to retryable errors
COM-FAULT-11 SHOULD: A content filter is reported as ContentFiltered.
  from SPECIFICATION 14.4, ERRORS 6.1, R12; needs provider; for llm, embedding
  hint: distinguish the content filter from other 400s by the error type of the provider, and raise ContentFiltered
COM-FAULT-12 MUST: After a provider's failure the next call works again.
  from BEHAVIORAL_CONFORMANCE 6.3, SPECIFICATION 12.3; needs provider
  hint: do not cache failures, rebuild a broken client, and open a circuit breaker only after repeated failures
COM-FAULT-13 SHOULD: A rate limit or exhausted quota gives `details.throttle_scope`.
  from SPECIFICATION 12.1, SPECIFICATION 11.1, R5; needs provider
  hint: state in details.throttle_scope what is throttled; name a tenant by its hash
COM-FAULT-14 SHOULD: `retry_after_ms` is also passed on if the provider is overloaded or unavailable, or its quota is
    exhausted.
  from ERRORS 7, SPECIFICATION 11.1, R111; needs provider
  hint: copy retry_after_ms from every failure that has it, not only from rate limits
COM-FAULT-15 SHOULD: `details.throttle_scope` is a short identifier, the same for all requests of a tenant.
  from ERRORS 7; needs provider
  hint: build throttle_scope from the tenant's hash and the component, without ids of the request
COM-FAULT-16 SHOULD: A rate limit gives `details.resource_scope`.
  from ERRORS 7, ERRORS 8, ERRORS 13, R5; needs provider
  hint: set details.resource_scope to rate_limit if the provider throttles
COM-FAULT-17 SHOULD: A model that is overloaded (529) is reported as ModelOverloaded.
  from SPECIFICATION 8.5, ERRORS 6.1, R12; needs provider; for llm
  hint: distinguish 529 from 503, and raise ModelOverloaded for it
"""
