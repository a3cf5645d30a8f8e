"""The normative sentences of SPECIFICATION 11 to 18 and of its appendices."""

SENTENCES = """
11.1 MUST: errors of providers are mapped | COM-FAULT-1:7,9 EMB-BATCH-16
11.1 MUST: errors have code and message | COM-ERR-2,5
11.1 SHOULD: retry_after_ms, throttle_scope, provider_error_id | COM-FAULT-8,13:15 | `provider_error_id`: the provider
    that the suite plays has no ids
11.2 MUST: all components use the sink | COM-OBS-4,12
11.2 MUST: exactly one final observation | COM-OBS-1:3,25
11.2 MUST: no content and no tenants in logs | COM-LEAK-3:4
11.3 MUST: one context flows across components | COM-CTX-6
11.3 MUST: `traceparent` is forwarded unchanged | COM-CTX-5
11.3 MUST: each hop computes what is left of the deadline | COM-DEADLINE-4:6,9
11.4 MUST: duplicate keys are safe replays | COM-IDEM-3,5 EMB-IDEM-1 LLM-IDEM-1
11.4 MUST: side effects are not doubled | COM-IDEM-3:4
11.4 SHOULD: idempotency is audited | not: unseen
11.5 MUST: a page has an opaque token where more exists | VEC-QUERY-14 GRA-BULK-3:4 | pages of graph queries
11.5 MUST: no token, no further pages | GRA-BULK-3,5,7 VEC-QUERY-14
11.5 MUST: tokens mean nothing to clients | not: clients
11.6 MUST: caches go by content | EMB-EMBED-7 LLM-CACHE-1 EMB-CACHE-1 GRA-CACHE-1 | that the key is a hash
11.6 MUST: caches include model, parameters and tenant | LLM-CACHE-2 EMB-CACHE-2:4 COM-CACHE-1
11.6 SHOULD: `cache_tags` serve to invalidate groups | not: unseen
11.6 MUST: tenants stay apart in caches | COM-CACHE-1
11.7 MUST: failures of a coordinator respect tenants | not: clients
12.1 MUST: which classes are retryable | COM-ERR-8 COM-FAULT-1:3
12.1 MUST: which are not | COM-ERR-8 COM-FAULT-4:6 EMB-ARGS-5
12.1 MUST: DeadlineExceeded is conditional | COM-ERR-8
12.1 SHOULD: `suggested_backoff_ms` where there is no `retry_after_ms` | COM-FAULT-10
12.1 SHOULD: `throttle_scope` of exhausted resources | COM-FAULT-13,15
12.2 SHOULD: backoff and jitter | not: clients
12.3 MAY: circuits may open | not: free
12.3 MUST: and close again | COM-FAULT-12
12.3 SHOULD: an open circuit fails fast, with a hint | not: unseen
12.4 MUST: the code of a success | COM-ENV-2,4
12.4 MUST: the codes of errors | COM-ERR-3:4
12.4 MUST: the table of classes | COM-FAULT-1:6 COM-DEADLINE-1
12.4 SHOULD: the HTTP status of each class | TRA-HTTP-2
12.4 MUST: DimensionMismatch, IndexNotReady, TextTooLong, QueryParseError | VEC-DIM-1 VEC-QUERY-13 EMB-TRUNC-3
    GRA-QUERY-6:7 | that it is QueryParseError is a SHOULD (R12)
12.5 MUST: a batch is `ok` with code OK, whatever failed | COM-ENV-2,4 GRA-BATCH-2 | that it is OK and nothing else is a
    MUST (R9)
12.5 MUST: a failed item has index and error | VEC-UPSERT-12 VEC-DIM-5 EMB-BATCH-4,11 GRA-BATCH-4 GRA-NODE-7 GRA-EDGE-7
12.5 MUST: successes keep the order of the request | GRA-NODE-11 GRA-BATCH-3,11 EMB-BATCH-2 VEC-MULTI-1:2 GRA-TXN-4:5
12.5 MUST: no failed item is dropped in silence | EMB-BATCH-3,5,12,16 GRA-EDGE-9 GRA-TXN-3 VEC-UPSERT-3,7,11 GRA-NODE-3
    GRA-BATCH-5 | blank texts that an `embed_batch` drops
12.5 MUST: counts are true | VEC-UPSERT-1,7 VEC-DELETE-1,3,7 EMB-BATCH-1 GRA-NODE-4:5 GRA-DELETE-8 GRA-EDGE-8 | beside
    several kinds of bad items
12.5 SHOULD: counts of embeddings, and of deletes | EMB-BATCH-14 GRA-DELETE-9 VEC-DELETE-14 GRA-BATCH-10
12.6 SHOULD: backpressure is cooperative | COM-CONC-2
12.6 MUST: saturation is ResourceExhausted or Unavailable | COM-FAULT-1:2 COM-CONC-2
13.1 MUST: `ops_total` and `latency_ms` (R70) | not: unseen
13.1 MUST: `tokens_total` and `matches_returned_total` (R70) | not: unseen
13.1 MUST: no free text, queries or tenants in labels | COM-LEAK-2,4
13.1 MUST: cardinality is controlled | COM-OBS-13:14,26:27 VEC-CAP-5:6 GRA-OBS-1:2 | how many values a label
    takes over time
13.2 SHOULD: logs are structured JSON | not: operator
13.3 SHOULD: `traceparent` is propagated | COM-CTX-5
13.3 SHOULD: spans have attributes | not: unseen
13.3 MUST: the final span of a stream says what its terminal frame says | not: unseen
14.1 MUST: data of tenants are apart | COM-TENANT-1
14.1 MUST: control planes are apart | EMB-STATS-3 COM-TENANT-2 | what `health` tells of others is a SHOULD (R68)
14.1 MUST: nothing leaks between tenants in caches and logs | COM-CACHE-1 COM-LEAK-4
14.1 MUST: nothing leaks in training | not: unseen
14.2 MUST: credentials are provisioned out of band | not: operator
14.2 MUST: credentials are not logged | COM-LEAK-3,6 | credentials that the provider's client alone holds
14.2 MUST: least privilege and roles | not: operator
14.3 SHOULD: the threats are addressed | not: process
14.4 MUST: injection: bindings, strict roles and dialects | GRA-QUERY-3,9 GRA-STREAM-4 LLM-MSG-1 GRA-DIALECT-4:5
14.4 MUST: exfiltration: logs without prompts, vectors, tenants | COM-LEAK-3:4
14.4 MUST: spoofed keys: replays, exactly once | COM-IDEM-1:4 COM-LEAK-5
14.4 MUST: poisoning: dimensions, NaN and infinities | VEC-DIM-1,4 COM-NUM-1 EMB-DIM-1 EMB-EMBED-2 | access lists
14.4 MUST: exhaustion: deadlines are enforced | COM-DEADLINE-1,4 | rate limits of a tenant: no capability
    states one, and reaching the limit of an adapter would take its service away
14.4 MUST: leakage: tenants apart, also in cache keys | COM-TENANT-1 COM-CACHE-1 COM-IDEM-2
14.4 MUST: misuse: ranges are enforced, filters are mapped to ContentFiltered | LLM-SAMPLING-1:4 COM-FAULT-5,11 | that
    it is the subtype is a SHOULD (R12)
14.4 MUST: traversals: limits of depth and rows | GRA-TRAV-3,8:10 GRA-BULK-4 | timeouts, rows of queries, schemas and
    roles
14.4 SHOULD: what the last column recommends | not: operator
15 MUST: no prompts, texts, vectors or tenants are logged | COM-LEAK-1,3:4
15 SHOULD: nor what a client says of itself in `attrs` | COM-LEAK-8
15 SHOULD: tenants are hashed with a salt | COM-OBS-15
15 SHOULD: logs are kept for 30 days at most | not: operator
15 MUST: what is kept for training is explicit | not: operator
15 MUST: in logs, strings of more than 64 bytes become a hash and a length | COM-LEAK-3 | that a hash and a length take
    their place
15 MUST: raw content is not in logs | EMB-STATS-3 GRA-SCHEMA-4 COM-LEAK-3,7
16.1 SHOULD: latencies, which are only indicative | not: free
16.2 SHOULD: limits are stated | VEC-CAP-3 COM-CAP-11 GRA-CAP-2
16.3 MUST: embeddings are cached by model, normalize and text | EMB-CACHE-1:3
16.3 SHOULD: only deterministic completions are cached | LLM-CACHE-3
16.3 MUST: graphs cache reads by dialect, text and parameters | GRA-CACHE-1/CacheForgetsTheDialect
16.3 MUST: caches respect tenants | COM-CACHE-1
17.1 SHOULD: validation, errors and metrics are in one place | not: process
17.2 MUST: empty labels are rejected | GRA-NODE-6 GRA-EDGE-6
17.2 MUST: a negative `top_k` is rejected | VEC-QUERY-9
17.2 MUST: NaN and infinities are rejected | COM-NUM-1
17.2 MUST: properties and metadata are JSON | GRA-NODE-10 VEC-UPSERT-9
17.2 MUST: roles are valid | LLM-MSG-1
17.2 MUST: parameters are in range | VEC-FILTER-11 VEC-DELETE-8 VEC-MULTI-4 WIR-ARGS-1 LLM-SAMPLING-1:5 GRA-TRAV-12
    GRA-BULK-6 VEC-QUERY-11
17.2 MUST: limits of the context are kept | LLM-CONTEXT-1:2
17.2 MUST: limits of texts and batches are kept | EMB-TRUNC-3,12 EMB-BATCH-6 VEC-LIMIT-2
17.2 MUST: dimensions match | VEC-DIM-1:2,7:8
17.3 MUST: conformance is tested by one command | run
17.3 MUST: a badge needs every test of the protocol to pass | run
17.3 MUST: a badge needs every required operation | COM-CAP-6 run
18.1 MUST: versions are semantic | not: documents
18.2 MUST: an unsupported major version is NotSupported: it comes in a header | TRA-HTTP-10:11 | that the header is read
    at all is a SHOULD (R130)
18.2 MUST: versions are advertised in `capabilities.protocol` | COM-CAP-3
18.3 MUST: additions to v1 are compatible | lint | additions of adapters: only the schemas are held to it
18.3 MUST: semantic changes wait for v2 | not: documents
18.4 MUST: deprecations are documented | not: documents
18.4 SHOULD: deprecated features remain for a minor version | not: documents
A MUST: the flow over all four components | COM-CTX-6 GRA-QUERY-3 LLM-COMPLETE-6 EMB-EMBED-1 VEC-QUERY-1 VEC-UPSERT-2
C MUST: envelopes have no keys beyond those shown | COM-ENV-1 COM-ERR-1 COM-STREAM-1
C MUST: adapters emit the canonical frames | COM-STREAM-1:3
D MUST: identifiers are replaced by salted hashes | COM-OBS-8:9,15 COM-LEAK-4
D MUST: prompts, queries and vectors are replaced in logs | COM-LEAK-3
D MUST: of vectors only aggregates are logged | COM-LEAK-3
D MUST: the rule of 64 bytes holds for logged arguments | COM-LEAK-3 | that a hash and a length take their place
E SHOULD: what implementations that claim to be compatible do | not: process
"""
