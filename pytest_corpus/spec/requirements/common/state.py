"""State that every component keeps between calls: replays, caches, tenants."""

REQUIREMENTS = """
COM-IDEM-1 MUST: A request with the same idempotency key but other arguments is another request.
  from SPECIFICATION 6.1, R24; needs idempotent_writes
  hint: key replays by tenant, op, idempotency key and a hash of all arguments
COM-IDEM-2 MUST: A request with the same idempotency key from another tenant is another request.
  from SPECIFICATION 6.1, R24, R139; needs idempotent_writes, provider
  hint: include the tenant in the key under which you store replays
COM-CACHE-1 MUST: A cached answer is not given to another tenant.
  from BEHAVIORAL_CONFORMANCE 6.6, SPECIFICATION 11.6, R27, R139; needs provider, supports_caching;
    quiet for vector, graph
  hint: include the tenant hash in every cache key, in batches too
COM-CACHE-2 MUST: A cached answer is never given to another tenant, whatever `cache_scope` says.
  from SPECIFICATION 6.1, R55, R134, R139; needs provider, supports_caching; quiet for vector, graph
  hint: keep the tenant hash in the key, even if a `cache_scope` in `ctx` or in `attrs` says otherwise
COM-IDEM-3 MUST: A replay under the same idempotency key applies nothing again, and is answered as the first call was.
  from SPECIFICATION 6.1, SPECIFICATION 11.4, R24, R61; needs idempotent_writes; for vector, graph
  hint: store the whole first answer of every write, of batches too; return it to a replay and apply nothing
COM-IDEM-4 MUST: If two calls with the same idempotency key run concurrently, only one is carried out, and its answer
    is given to both.
  from SPECIFICATION 6.1, R61; needs idempotent_writes; for vector, graph; quiet
  hint: lock the key before you look for a stored answer; unlock it after you have stored the answer
COM-IDEM-5 SHOULD: If a request failed with a retryable error, it is carried out when it is sent again with the same
    idempotency key.
  from SPECIFICATION 6.1, SPECIFICATION 12.2, R61; needs idempotent_writes, provider
  hint: store the answer of a call under its key only if the call succeeded
COM-IDEM-6 MUST: An idempotency key still works after fifty other keys and five seconds.
  from SPECIFICATION 6.1, R126; needs idempotent_writes; for vector, graph
  hint: store first answers for a day, whatever their number; a small cache of recent keys is not enough
COM-IDEM-7 SHOULD: If two calls with the same idempotency key run concurrently, only one of them asks the provider.
  from SPECIFICATION 6.1, R126; needs idempotent_writes, provider; quiet
  hint: let the second call wait for the answer of the first, under a lock for the key
COM-IDEM-8 MUST: A request under another idempotency key is a different request, however similar the two keys are.
  from SPECIFICATION 6.1, R138, R139; needs idempotent_writes; for vector, graph
  hint: compare keys unchanged: do not change their case, strip them, or remove characters
COM-TENANT-2 SHOULD: Health and statistics for one tenant name no namespace or id that only another tenant uses.
  from SPECIFICATION 14.1, R68; needs supports_multi_tenant; for vector, embedding, graph
  hint: report only the namespaces of the calling tenant, or only counts
COM-TENANT-3 SHOULD: Tenants do not see each other's data, whether capabilities claim `supports_multi_tenant` or not.
  from SPECIFICATION 6.1, SPECIFICATION 14.1, R127, R139; for vector, graph
  hint: include the tenant in every storage key, and claim `supports_multi_tenant`
COM-READ-1 SHOULD: If capabilities claim strong consistency of reads after writes, a write is visible immediately.
  from SPECIFICATION B, R46; for vector, graph
  hint: wait for the index before you answer a write, or claim `read_after_write_consistency` of another kind
COM-TENANT-1 MUST: One tenant neither reads nor changes what another tenant wrote.
  from SPECIFICATION 6.1, BEHAVIORAL_CONFORMANCE 6.6, R25, R139; needs supports_multi_tenant; for vector, graph
  hint: include the tenant in every storage key, in writes, deletes, batches, queries and traversals
"""
