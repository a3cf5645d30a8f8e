"""The normative sentences of ERRORS."""

SENTENCES = """
0 MUST: retryability and hints are deterministic | COM-ERR-12 COM-FAULT-9 | the same failure of a provider twice
0 MUST: payloads are safe and keep privacy | COM-LEAK-1,4:6
1 MUST: an error is of one of the seven canonical classes | COM-ERR-4
1 MUST: what is a bad request | COM-WIRE-4:7 COM-FAULT-6 COM-CTX-2
1 MUST: what is an error of credentials | COM-FAULT-4
1 MUST: what is an exhausted resource | COM-FAULT-1
1 MUST: what is a transient failure of the network | COM-FAULT-3
1 MUST: what is unavailable | COM-FAULT-2,7
1 MUST: what is not supported | COM-WIRE-8 COM-CAP-7
1 MUST: what has exceeded its deadline | COM-DEADLINE-1,4:5
1.1 MUST: a subtype inherits from a canonical class | COM-ERR-4
1.1 MUST: a subtype keeps the retry semantics of its parent | COM-ERR-4,8
1.1 MUST: a subtype belongs to the protocols that the table names | COM-ERR-4 COM-SUBTYPE-1 | a subtype of another
    protocol is a SHOULD (R58)
1.1 SHOULD: ModelNotFound, UnsupportedModelFamily | LLM-MODEL-2:3 EMB-MODEL-2:4 LLM-TOKENS-4 EMB-TOKENS-4
1.1 SHOULD: ModelOverloaded, TaskRejected, LatencySLAExceeded | COM-FAULT-2,17 | TaskRejected and LatencySLAExceeded
1.1 SHOULD: PromptTooLong | LLM-CONTEXT-1:3
1.1 SHOULD: ContentFiltered, SafetyPolicyViolation | COM-FAULT-5,11
1.1 SHOULD: InputFormatError | LLM-MSG-1:6 EMB-ARGS-1:3 EMB-BATCH-8 | the subtype: the class is enough (R12)
1.1 SHOULD: ThroughputLimitExceeded, ProviderQuotaExceeded | COM-FAULT-1 | which of the two it is
1.1 MUST: TextTooLong | EMB-TRUNC-3,9:10
1.1 SHOULD: EmbeddingDimensionMismatch: no request names the dimensions it expects | not: unseen
1.1 MUST: DimensionMismatch | VEC-DIM-1:3
1.1 MUST: IndexNotReady | VEC-QUERY-13,15 | in graphs, whose indexes no client can make unready
1.1 SHOULD: NamespaceNotFound | VEC-NS-6,11 VEC-MULTI-5 GRA-NS-4
1.1 SHOULD: FilterSyntaxError | VEC-FILTER-9,12 GRA-BULK-6 | the subtype: the class is enough (R12)
1.1 SHOULD: QueryParseError | GRA-QUERY-6:7 GRA-STREAM-5
1.1 SHOULD: IndexCorrupt, ShardUnavailable | not: unseen
1.1 SHOULD: SchemaValidationError: no client knows which schema is configured | not: unseen
1.1 SHOULD: VertexNotFound | GRA-EDGE-4 GRA-TRAV-11
1.1 SHOULD: EdgeNotFound: no operation needs an edge to exist | not: unseen
1.1 MAY: new subtypes may refine a class | not: free
2 SHOULD: errors come in the machine-readable envelope | COM-ERR-1:2,9
2 MUST: `http_status` and the scopes stand in `details`, for the envelope is closed (R5) | COM-ERR-1
2.1 MUST: `message` is there and can be read by people | COM-ERR-2,5 | that people can read it
2.1 MUST: `message` has no secrets, prompts or vectors | COM-LEAK-1,4:6
2.1 MUST: `message` has no ids | COM-LEAK-5,9
2.1 MUST: `code` is a short identifier | COM-ERR-3,10 | that it is the adapter's own: R7 makes it the normalized one
2.1 MUST: `retry_after_ms` is not negative, or null or absent | COM-ERR-6,21
2.1 MUST: `details` can be written as JSON | COM-ERR-7 COM-NUM-2
2.1 MUST: `details` is SIEM-safe | COM-LEAK-1,4:6
2.1 MUST: `error` is the name of the subtype | COM-ERR-4,10
3.1 SHOULD: the HTTP status of each class | COM-ERR-14 TRA-HTTP-2:3,7
3.2 MAY: the gRPC code of each class | TRA-GRPC-3
4.1 MUST: BadRequest, AuthError and NotSupported are not retryable | COM-ERR-8 COM-WIRE-6 COM-FAULT-4,6
4.1 MUST: ResourceExhausted, TransientNetwork and Unavailable are retryable | COM-ERR-8 COM-FAULT-1:3
4.1 MUST: DeadlineExceeded is retryable with a longer deadline or less work | COM-ERR-8
4.1 SHOULD: what clients do about each class | not: clients
4.1 MUST: `retry_after_ms` is there to be honored | COM-FAULT-8,14
4.2 MUST: whether each subtype is retryable | COM-ERR-8 | subtypes that an adapter never answers with
4.2 SHOULD: what clients do about each subtype | not: clients
5 MUST: the label `code` is the class or the subtype | COM-OBS-6,28 | that it is not the code of the wire is a SHOULD
    (R125)
5 MUST: no prompts, vectors or tenants are emitted | COM-LEAK-2:4
5 MUST: no ids of documents are emitted, nor free text | VEC-CAP-5 GRA-OBS-1 COM-OBS-13 | ids in log records
5 MUST: tenants take part as hashes | COM-OBS-8:9 COM-LEAK-4
5 MUST: `details` is of low cardinality and safe for JSON | COM-ERR-7 COM-LEAK-1 | cardinality
6.1 MUST: PromptTooLong where the messages exceed the context | LLM-CONTEXT-1:3 | that it is the subtype is a SHOULD
    (R12)
6.1 SHOULD: its `details`: max_context_length, provided_tokens, model | LLM-CONTEXT-3,5
6.1 MUST: ContentFiltered where the filter blocks | COM-FAULT-5,11 | that it is the subtype is a SHOULD (R12)
6.1 MUST: no prompt stands in its `details` | COM-LEAK-1
6.1 MUST: InputFormatError: unknown role, missing content, bad tools | LLM-MSG-1:6 LLM-TOOLS-3:4 | that it is the
    subtype: its class is enough (R12)
6.1 MUST: ModelNotFound where the model is unknown | LLM-MODEL-2 | which code it is: R13 admits five
6.1 SHOULD: its `details` names the model | LLM-MODEL-4 EMB-MODEL-5
6.1 MUST: UnsupportedModelFamily: no request names a family | not: unseen
6.1 MUST: ModelOverloaded where the model is at capacity | COM-FAULT-2,17 | that it is the subtype is a SHOULD (R12)
6.1 SHOULD: it often has `retry_after_ms` | COM-FAULT-10,14
6.1 MUST: TaskRejected where the provider rejects for load | COM-FAULT-2 | that it is the subtype: its class is enough
    (R12)
6.1 MUST: throughput and quota are ResourceExhausted | COM-FAULT-1
6.1 MUST: LatencySLAExceeded: no request names a latency | not: unseen
6.1 MUST: budgets of the context are DeadlineExceeded | COM-DEADLINE-1,4
6.1 MUST: timeouts and gateways are TransientNetwork | COM-FAULT-3
6.1 MUST: streams classify as `complete` does | LLM-TOOLS-9 COM-FAULT-9 LLM-STREAM-6 LLM-MODEL-3 LLM-MSG-8
    LLM-SAMPLING-8
6.1 MUST: the final error of a stream is its last frame, and counts its outcome with the class | COM-STREAM-8:9
    COM-OBS-6,11
6.2 MUST: TextTooLong where truncation is off | EMB-TRUNC-3,9:10
6.2 SHOULD: its `details`: max_text_length, provided_length | EMB-TRUNC-13
6.2 MUST: ContentFiltered | COM-FAULT-5,11 | that it is the subtype is a SHOULD (R12)
6.2 MUST: InputFormatError: malformed bodies, texts that are no strings | EMB-ARGS-1:4 EMB-BATCH-8:9 EMB-TOKENS-6 | that
    it is the subtype: its class is enough (R12)
6.2 MUST: ModelNotFound, UnsupportedModelFamily | EMB-MODEL-2:4 | which code it is: R13 admits five
6.2 MUST: EmbeddingDimensionMismatch: the dimensions are those of the model | EMB-DIM-1 | the error and its `details`:
    no request names the dimensions it expects
6.2 MUST: quotas are ResourceExhausted | COM-FAULT-1 EMB-BATCH-16
6.2 MUST: a batch that is rejected whole is BadRequest | EMB-BATCH-6
6.2 SHOULD: with `suggested_batch_reduction` and `max_batch_size` | EMB-BATCH-13
6.2 MUST: failures of items stand in `failed_texts`, in the reduced shape | EMB-BATCH-3:5,11:12
6.3 MUST: DimensionMismatch | VEC-DIM-1:5,9
6.3 SHOULD: its `details`: expected, provided, namespace | VEC-DIM-11:12
6.3 MUST: NamespaceNotFound | VEC-NS-6,11 VEC-MULTI-5 | that it is the subtype is a SHOULD (R12)
6.3 MUST: IndexNotReady where a namespace is empty or being built | VEC-QUERY-13 | an index that is being built, which
    no client can arrange
6.3 SHOULD: it has `retry_after_ms` | VEC-QUERY-15
6.3 MUST: IndexCorrupt, ShardUnavailable, and which class for how long | not: unseen
6.3 MUST: FilterSyntaxError | VEC-FILTER-9,12 VEC-DELETE-9 | that it is the subtype: its class is enough (R12)
6.3 MUST: QueryParseError: vector queries have no language | not: unseen
6.3 MUST: throughput and quota are ResourceExhausted | COM-FAULT-1
6.3 MUST: a batch that is too large is BadRequest | VEC-LIMIT-2:3
6.3 SHOULD: with `suggested_batch_reduction` and `max_batch_size` | VEC-LIMIT-6:7
6.3 MUST: failures of items stand in `failures` | VEC-UPSERT-7:9,11:12 VEC-DIM-5
6.4 MUST: QueryParseError | GRA-QUERY-6:7 GRA-STREAM-5 | that it is the subtype is a SHOULD (R12)
6.4 MUST: FilterSyntaxError | GRA-BULK-6 GRA-DELETE-7 GRA-TRAV-12 | that it is the subtype (R12), and predicates that
    are well typed and senseless
6.4 MUST: NotSupported: dialects, and operations that capabilities deny | LLM-TOOLS-5 GRA-DIALECT-4:6 COM-CAP-7 | single
    features of queries
6.4 MUST: SchemaValidationError: no client knows which schema is configured | not: unseen
6.4 MUST: VertexNotFound where a node has to exist | GRA-EDGE-4:5 GRA-TRAV-11 | that it is the subtype: its class is
    enough (R12)
6.4 MUST: EdgeNotFound: no operation needs an edge to exist | not: unseen
6.4 MUST: NamespaceNotFound | GRA-NS-4:5 | that it is the subtype, and that it is refused: nothing may be found instead
    (R12)
6.4 MUST: IndexNotReady, IndexCorrupt, ShardUnavailable of graphs | not: unseen
6.4 MUST: throughput and quota are ResourceExhausted | COM-FAULT-1
6.4 MUST: a batch that fails whole has a canonical class | GRA-BATCH-6,9
6.4 MUST: each failed operation of a batch has a reduced record | GRA-BATCH-4:5
6.4 MUST: streams of queries classify as `query` does | COM-FAULT-9 GRA-STREAM-5:6 GRA-DIALECT-5
6.4 MUST: a failed stream has one final error and one count of its outcome | COM-STREAM-9 COM-OBS-11,18
7 SHOULD: `retry_after_ms` | COM-FAULT-8,14
7 SHOULD: `resource_scope` is one of the closed set | COM-ERR-13 COM-FAULT-16
7 SHOULD: `throttle_scope` | COM-FAULT-13,15
7 SHOULD: `suggested_batch_reduction` is a percentage | VEC-LIMIT-7 EMB-BATCH-13 GRA-BATCH-8 COM-ERR-13
7 SHOULD: how clients reduce the next batch | not: clients
7 SHOULD: `details` holds the limits that were broken | LLM-CONTEXT-3 EMB-TRUNC-13 EMB-BATCH-13 VEC-LIMIT-6,9
    GRA-BATCH-8
8 MUST: failures of providers are classified | COM-FAULT-1:7 EMB-BATCH-16
8 MUST: the message is clean of what the provider said | COM-LEAK-6:7
8 SHOULD: codes of HTTP and gRPC are mapped | TRA-HTTP-2 TRA-GRPC-3
8 SHOULD: hints are attached where they mean something | COM-FAULT-8,10,13:14,16 | `resource_scope` beyond rate limits
8 MUST: `details` is populated safely | COM-ERR-7,15 COM-LEAK-1
8 MUST: failures are observed, and counted in streams | COM-OBS-2:3,11 | `count_operation`, which the interface of
    metrics does not name
8 MUST: what is not known is Unavailable, with a neutral message | COM-FAULT-7 COM-WIRE-1
9 SHOULD: backoff of clients | not: clients
9 MUST: retries of DeadlineExceeded | not: clients
9 SHOULD: circuit breakers | not: process
9 MUST: an open breaker is Unavailable, and the way back is found | COM-FAULT-2,12 | when a breaker opens is the
    adapter's choice
10 MUST: batches surface the state of each item | VEC-UPSERT-3,12 EMB-BATCH-3 GRA-BATCH-2:3 GRA-NODE-7 GRA-EDGE-7
10 MUST: records of items are reduced: `error`, `detail` | VEC-UPSERT-1,8 VEC-DIM-5,10 GRA-BATCH-4 VEC-DELETE-1
    EMB-BATCH-11 GRA-NODE-4 GRA-EDGE-8 schemas
10 MAY: `item-code` may stand in such a record (R56) | not: free
10 SHOULD: a batch that is rejected whole has `suggested_batch_reduction` | VEC-LIMIT-7 EMB-BATCH-13 GRA-BATCH-8
12 MUST: rules for new and deprecated subtypes | not: documents
13 MUST: checklist: class, message, retry, details, metrics, tenants | COM-ERR-4:7 COM-OBS-6 COM-LEAK-1,4 COM-FAULT-16 |
    the status of the transport
14 MUST: raw errors of providers are scrubbed | COM-LEAK-6
14 SHOULD: DeadlineExceeded has no `retry_after_ms` | COM-ERR-16
"""
