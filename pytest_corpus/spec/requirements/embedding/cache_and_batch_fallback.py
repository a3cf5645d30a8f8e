"""Caches, idempotency keys, and batches that fall back to single texts (BEHAVIORAL_CONFORMANCE 6.6; R14, R24, R27)."""

REQUIREMENTS = """
EMB-CACHE-1 MUST: A cached vector is not returned for another text.
  from BEHAVIORAL_CONFORMANCE 6.6, SPECIFICATION 11.6, R27; needs provider, supports_caching
  hint: key the cache by a hash of the whole unchanged text
EMB-CACHE-2 MUST: A cached vector is not returned for another model.
  from BEHAVIORAL_CONFORMANCE 6.6, SPECIFICATION 16.3, R27; needs provider, supports_caching
  hint: include `model` in the cache key, in batches too
EMB-CACHE-3 MUST: A cached vector is not returned if `normalize` differs.
  from BEHAVIORAL_CONFORMANCE 6.6, SPECIFICATION 16.3, R27; needs provider, supports_caching, supports_normalization
  hint: include `normalize` in the cache key, or cache plain vectors and normalize them afterwards
EMB-CACHE-4 MUST: A cached answer has the right `truncated` for each request, and is not given to a request that must be
    refused.
  from BEHAVIORAL_CONFORMANCE 6.6, R27; needs provider, supports_caching, supports_truncation
  hint: check the length before you read the cache, and do not cache `truncated`
EMB-IDEM-1 MUST: A replay under the same idempotency key is answered as the first call was.
  from SPECIFICATION 6.1, SPECIFICATION 11.4, R24, R61; needs idempotent_writes
  hint: store the whole first answer, failures of a batch included, and return it; do not refuse a known key
"""
