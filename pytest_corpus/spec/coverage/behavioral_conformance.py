"""The normative sentences of BEHAVIORAL_CONFORMANCE."""

SENTENCES = """
1 MUST: an implementation keeps the runtime semantics beyond the shape of schemas | run
1 MUST: the suites pass unmodified | run
2 MUST: the targets of make run all, one component, the fast lane, the smoke run and the report | run
2 MUST: the whole suite is refused in production | run
4 MUST: the behavioral tests are the authoritative specification | not: documents
5.1 MUST: embedding: required fields and models of the unary operation | EMB-EMBED-1:5 EMB-MODEL-1:4 EMB-ARGS-1:5
5.1 MUST: embedding: batches, failures by index, order | EMB-BATCH-1:12,16
5.1 MUST: embedding: truncation and length of texts | EMB-TRUNC-1:12
5.1 MUST: embedding: normalization, at the source or not | EMB-NORM-1:9
5.1 MUST: embedding: counting tokens | EMB-TOKENS-1:6,8
5.1 MUST: embedding: cache, and falling back from a batch to its items | EMB-CACHE-1:4 EMB-BATCH-12 EMB-IDEM-1
5.1 MUST: a suite for each chapter of embedding: errors, deadlines, health, observation, wire | COM-HEALTH-1,4
    COM-FAULT-1:9 COM-DEADLINE-1:7 COM-OBS-1:10 COM-WIRE-1:13
5.1 MUST: embedding: capabilities are true | COM-CAP-6:7 EMB-DIM-1:2 EMB-STATS-1 EMB-STREAM-1:5
5.2 MUST: graph: nodes and edges are created, read, updated and deleted | GRA-NODE-1:10 GRA-EDGE-1:4,6:10
    GRA-DELETE-1:4,6:8 GRA-MODEL-1
5.2 MUST: graph: queries and the coherence of their results | GRA-QUERY-1:6,8:11,13
5.2 MUST: graph: frames, one terminal, nothing after it | GRA-STREAM-1:7 COM-STREAM-6:7
5.2 MUST: graph: batches, partial success, acknowledgement | GRA-BATCH-1:7,9,11 GRA-TXN-1:6 GRA-BULK-1:6
5.2 MUST: graph: operations on the schema, and DDL | GRA-SCHEMA-1:2,5
5.2 MUST: graph: flags and validation of dialects | GRA-DIALECT-1:6
5.3 MUST: LLM: completions, parameters are honored | LLM-COMPLETE-1:4,6 LLM-MODEL-1 LLM-CONTEXT-4 | that
    `stop_sequences` and the sampling parameters have an effect
5.3 MUST: LLM: rules of data, end and error in streams | LLM-STREAM-1:3,5:6
5.3 MUST: LLM: counting tokens is monotonic and consistent | LLM-TOKENS-1:8
5.3 MUST: LLM: sampling parameters are validated | LLM-SAMPLING-1:8
5.3 MUST: LLM: messages and the calling of tools | LLM-TOOLS-1:8,10,21 LLM-MSG-1:10
5.3 MUST: capabilities are true, in every component | COM-CAP-1:4,6:7,9
5.4 MUST: vector: upserts | VEC-UPSERT-1:14 VEC-STATE-1
5.4 MUST: vector: queries and the shape of scores | VEC-QUERY-1:14 VEC-SCORE-1:5 VEC-MULTI-1:5
5.4 MUST: vector: dimensions, their limit and consistency | VEC-DIM-1:10
5.4 MUST: vector: filters are correct | VEC-FILTER-1:11
5.4 MUST: vector: deletes | VEC-DELETE-1:12
5.4 MUST: vector: namespaces are created and deleted | VEC-CAP-2 VEC-NS-1:10,14
5.4 MUST: vector: limits of batches | VEC-LIMIT-1:5,8
6.1 MUST: a deadline that has passed fails fast | COM-DEADLINE-1,3
6.1 MUST: then no backend is called and no child span opened | COM-DEADLINE-2 | spans, which no hook shows
6.1 MUST: budgets go down through nested calls and are never negative | COM-DEADLINE-4:5,8:9
6.1 MUST: a budget that runs out on the way aborts promptly, in the canonical envelope | COM-DEADLINE-4:5
6.1 MUST: such a call is observed with `deadline_bucket` | COM-OBS-2,10
6.1 MUST: without a deadline the call goes on, and there is no label of one | COM-DEADLINE-6 COM-OBS-10
6.2 MUST: a stream has exactly one terminal | COM-STREAM-6:7
6.2 MUST: no data follow the terminal | COM-STREAM-7
6.2 MUST: an error in mid-stream is terminal | COM-STREAM-9
6.2 MUST: keep-alives respect pacing and backpressure | streams COM-STREAM-6 | pacing and backpressure; the shape of a
    keep-alive is asked where one comes
6.2 MUST: the terminal has exactly one `count_stream_final_outcome` | COM-OBS-11,18 EMB-OBS-1:2
    EMB-OBS-2/FinishedStreamsAreUnavailable
6.3 MUST: the mapping from a provider's error to a code is deterministic | COM-FAULT-1:7,9,12 COM-ERR-12
    COM-FAULT-1/SecondLimitIsUnavailable
6.3 MUST: codes are those of ERRORS | COM-ERR-4
6.3 MUST: retryable errors carry hints, such as `retry_after_ms` where there is one | COM-FAULT-8,10,14
6.3 MUST: errors of validation are not retryable | COM-ERR-8 COM-WIRE-6:7 COM-CTX-2
6.3 SHOULD: they carry `validation_errors` where that applies | COM-ERR-11
6.3 MUST: table: validation, `BAD_REQUEST`, `TEXT_TOO_LONG`, `MODEL_NOT_AVAILABLE` | COM-WIRE-6:7 EMB-TRUNC-3
    LLM-MODEL-2 EMB-MODEL-2
6.3 MUST: table: resource, `RESOURCE_EXHAUSTED` | COM-FAULT-1
6.3 MUST: table: transport, `UNAVAILABLE` and `TRANSIENT_NETWORK` | COM-FAULT-2:3
6.3 MUST: table: deadline, `DEADLINE_EXCEEDED` | COM-DEADLINE-1,4
6.3 MUST: table: internal faults are not marked retryable unless transient | COM-FAULT-7 | ERRORS 8 makes them
    Unavailable, which is retryable (R7)
6.4 MUST: with `normalize`, vectors have nearly unit norm | EMB-NORM-1:3,8,10
6.4 MUST: with `truncate`, texts are cut to `max_text_length` and `truncated` is set | EMB-TRUNC-1:2,4:5,7:8,11,14:15
6.4 MUST: what the source normalizes is not normalized again | EMB-NORM-7
6.5 MUST: tokens are monotonic in the beginning of a text | EMB-TOKENS-2,7 LLM-TOKENS-2
6.5 MUST: combining marks and surrogate pairs are counted safely | LLM-TOKENS-3 EMB-TOKENS-3
6.5 MUST: a model that is not supported is a canonical error | LLM-TOKENS-4 EMB-TOKENS-4
6.6 MUST: cache keys hold the tenant | COM-CACHE-1
6.6 MUST: cache keys are made of the content | LLM-CACHE-1:2 EMB-CACHE-1:4 GRA-CACHE-1
6.6 MUST: no raw text stands in a cache key | not: unseen
6.6 MUST: nothing goes from tenant to tenant | COM-CACHE-1 COM-TENANT-1 COM-IDEM-2
6.6 MUST: falling back to single items keeps order and reports by index | EMB-BATCH-2,12 | that the fallback keeps
    within the budget
6.7 MUST: declared maxima are enforced: context window | LLM-CONTEXT-1:2
6.7 MUST: declared maxima are enforced: dimensions | VEC-DIM-6:7 EMB-DIM-2
6.7 MUST: declared maxima are enforced: batches | VEC-LIMIT-1:3 EMB-BATCH-6:7 GRA-BATCH-6:7
6.7 MUST: declared maxima are enforced: namespaces | VEC-NS-6:7 GRA-NS-1 | a greatest number of namespaces, for which no
    capability has a name
6.7 MUST: declared maxima are enforced: whatever else is stated | EMB-TRUNC-5,12 VEC-LIMIT-4:5 VEC-FILTER-10:11
    GRA-QUERY-10 GRA-TRAV-8:9 LLM-TOOLS-8
6.7 MUST: an unknown model is `MODEL_NOT_AVAILABLE` or `NOT_SUPPORTED` | LLM-MODEL-2:3 EMB-MODEL-2:4 | which code it is:
    R13 admits five
6.8 MUST: an operation is observed exactly once | COM-OBS-1:3
6.8 MUST: labels are stable and of low cardinality | COM-OBS-13:14,19,26:27 VEC-CAP-5:6 GRA-OBS-1:2
6.8 MUST: no raw text, vector or tenant is emitted | COM-LEAK-1:4
6.8 MUST: with a deadline there is `deadline_bucket` | COM-OBS-10
6.8 MUST: `deadline_bucket` has few values | COM-OBS-19
6.8 MUST: labels have the documented names: component, op, tenant_hash, deadline_bucket | COM-OBS-4,8,10,12 | `server`,
    `version` and `batch_size`, which are only illustrated
7 MUST: checklist: deadlines, streams, errors, normalization, tokens, caches, limits, observation | COM-ERR-12
    COM-DEADLINE-1:6 COM-STREAM-6:7 COM-FAULT-1:7 EMB-NORM-1 LLM-TOKENS-2 COM-CACHE-1 COM-OBS-1
7 MUST: checklist: unknown operations are refused | COM-WIRE-8
7 MUST: checklist: unknown fields are ignored safely | COM-CTX-1 COM-WIRE-12:13
8 SHOULD: profiles for development, CI and stress | not: process
9 MUST: the seed is printed on failure | run
9 MUST: version and capabilities of the adapter are reported | run
9 MUST: caches are scoped to a test, or cleared | run | the adapter's own caches are left alone: each test sends
    requests of its own
10 MAY: vendors may add behavior that leaves canonical outcomes alone | not: free
10 MUST: deviations are documented, with a plan for their removal | run
10 MUST: deviations stand behind a flag | not: process
10 MUST: deviations do not change canonical results | run | what a deviation changes: it is reported, and not judged
11 MUST: all tests of the claimed components pass | run
11 MUST: any regression fails | run
12 MUST: the attestation names components, commit, CI run and notes | run
13 MUST: tests are added where semantics change | not: documents
"""
