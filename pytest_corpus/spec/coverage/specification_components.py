"""The normative sentences of SPECIFICATION 7 to 10: graph, LLM, vector, embedding."""

SENTENCES = """
7.2 MUST: the capabilities of graphs: dialects, flags, limits | COM-CAP-2,4 GRA-DIALECT-1 GRA-QUERY-10 GRA-TRAV-15 |
    `retryable_codes`, `rate_limit_unit` and `max_qps`, which nothing on the wire follows from
7.3.1 MUST: nodes are written and read back | GRA-NODE-1:5,7,12 GRA-MODEL-1:3
7.3.1 MUST: edges are written and read back | GRA-EDGE-1:4,7:9
7.3.1 MUST: keys of properties are strings | GRA-NODE-6 GRA-EDGE-6
7.3.1 MUST: values of properties are JSON | GRA-NODE-8:10 GRA-EDGE-10
7.3.1 SHOULD: writes take an idempotency key | COM-CTX-3 COM-IDEM-3
7.3.1 MUST: with a key they are idempotent | COM-IDEM-3
7.3.1 MUST: deletes remove what they name | GRA-DELETE-1:2,4,6:8
7.3.1 MUST: deleting what is not there succeeds | GRA-DELETE-3 GRA-NS-5
7.3.1 MUST: namespaces of graphs are apart | GRA-NS-1:4
7.3.2 MUST: `query` answers with records | GRA-QUERY-1:2,5,11:12,21
7.3.2 MUST: `stream_query` streams the same records | GRA-STREAM-1:3,7
7.3.2 MUST: `dialect` is an advertised one | GRA-DIALECT-1:8
7.3.2 MUST: parameters are bound, never written into the text | GRA-QUERY-3:4,9 GRA-STREAM-4
7.3.2 MUST: arguments have their types | GRA-QUERY-8 GRA-STREAM-6
7.3.2 MUST: deadlines are kept | COM-DEADLINE-1:6 GRA-QUERY-19
7.3.2 MUST: frames, and then exactly one terminal frame | COM-STREAM-6:7
7.3.2 MUST: the end of an iteration releases resources | not: unseen
7.3.2 MUST: a stream has one final observation | COM-OBS-3
7.3.3 MUST: `bulk_vertices` | GRA-BULK-1:6 | writing in bulk: the published wire makes it a listing (R42)
7.3.3 MUST: `batch` applies its operations | GRA-MODEL-1 GRA-BATCH-1:3,11
7.3.3 MUST: `max_batch_ops` is enforced | GRA-BATCH-6:7
7.3.3 MUST: partial failures follow 12.5 | GRA-BATCH-4:5,9
7.3.3 MUST: the operations that a batch takes are advertised | GRA-CAP-1 | that it is a MUST (R33)
7.4 MUST: dialects are listed | GRA-DIALECT-1:3
7.4 MUST: an unknown dialect is NotSupported | GRA-DIALECT-4:6
7.5 MAY: `create_index` and `drop_index`, for which the registry has no operation | not: unseen
7.5 MUST: no sample values are logged | GRA-SCHEMA-4 COM-LEAK-3 | that `get_schema` shows none is a
    SHOULD; samples of values that it logs
7.6 SHOULD: what a healthy report says | COM-HEALTH-1:2
7.6 SHOULD: what a degraded or down report says | COM-HEALTH-3:5,11 | degraded states, which no fault provokes
7.6 MUST: the HTTP status that gateways give to each state | not: gateways
8.2 MUST: a completion: text, model, usage, finish_reason | LLM-COMPLETE-1:3,8:9 LLM-COMPLETE-8/EveryReasonIsStop
    LLM-COMPLETE-8/EveryReasonIsLength LLM-COMPLETE-9/ReasonIsAMissingCall | `model_family`, optional on the wire
8.2 MUST: a chunk: text, is_final, model, usage so far | LLM-STREAM-1:2,4
8.3 MUST: `complete` takes the documented arguments | LLM-COMPLETE-4,6:7,11 LLM-MSG-7,10 | that each
    argument has an effect: a system message counts (SHOULD), and a model need not heed it
8.3 MUST: `stream` takes the documented arguments | LLM-STREAM-3,6 LLM-MODEL-3
8.3 MUST: `count_tokens` gives a number | LLM-TOKENS-1,6,8:9
8.3 MUST: messages are lists of role and content | WIR-ARGS-1,3 LLM-MSG-2:5
8.3 MUST: roles are the four | LLM-MSG-1,7 LLM-TOOLS-6
8.3 MUST: the range of `temperature` | LLM-CAP-2 LLM-SAMPLING-1,6:7
8.3 MUST: the range of `top_p` | LLM-SAMPLING-2,6:7
8.3 MUST: the range of both penalties | LLM-SAMPLING-3:4,6:8
8.3 MUST: streams follow the semantics of frames | COM-STREAM-1:7
8.3 SHOULD: `stop_sequences` end a completion | LLM-SAMPLING-9
8.3 SHOULD: the chunks together are the completion | LLM-STREAM-8
8.3 MUST: the last chunk is final | COM-STREAM-6:7
8.3 MUST: a stream has one final observation | COM-OBS-3
8.4 MUST: capabilities have models, sampling ranges, features and limits | LLM-CAP-1:3 COM-CAP-4 | that it is a MUST to
    state them (R22); the family of a model; JSON output, for which 8.3 has no argument; parallel calls of tools, which
    the model decides
8.4 MUST: the listed models work | LLM-MODEL-1 LLM-STREAM-5 LLM-TOKENS-5
8.5 MUST: ModelOverloaded is Unavailable, retryable | COM-FAULT-2,17
8.5 MUST: ContentFiltered is BadRequest | COM-FAULT-5
8.5 MUST: DeadlineExceeded | COM-DEADLINE-1,4
9.1 MUST: namespaces are apart | VEC-NS-2:3,5
9.2 MUST: a vector: id, vector, metadata, namespace | VEC-NS-2:3 VEC-UPSERT-6,8:10,13:14,18 schemas
9.2 MUST: a result: matches, namespace, total | VEC-QUERY-1,5:6 schemas
9.2 MUST: the arguments of a query and their defaults | WIR-ARGS-3 VEC-QUERY-7:8,10:11 VEC-NS-9 VEC-MULTI-3:4
9.2 SHOULD: without the include flags | VEC-QUERY-16:18 VEC-MULTI-6:7
9.2 MUST: the arguments of an upsert | VEC-UPSERT-10 VEC-NS-9
9.2 MUST: the arguments of a delete | VEC-DELETE-3,5:6,8:9,11:12 schemas
9.3 MUST: what was written is found, and replaced by its id | VEC-UPSERT-2:5 VEC-STATE-1:3
9.3 MUST: what was deleted is gone, and nothing else | VEC-DELETE-2:4,7,10
9.3 MUST: namespaces are created and deleted | VEC-NS-1,4:5,7,10,13
9.3 MUST: dimensions match, else DimensionMismatch | VEC-DIM-1:5,9
9.3 MUST: `top_k` is above 0 | VEC-QUERY-2:4,8:9 WIR-ARGS-1
9.3 MUST: `top_k` is at most `max_top_k` | VEC-CAP-3 VEC-LIMIT-4:5
9.3 MUST: filters apply before the search | VEC-FILTER-1:7,9
9.3 MUST: post-filtering is documented | VEC-FILTER-2/FilteredAmongForty
9.3 MAY: vectors may be left out | not: free
9.4 MUST: metrics are advertised | VEC-NS-8,12 VEC-CAP-1:2
9.4 MUST: with cosine and dot, higher scores are better | VEC-SCORE-1,3:4 VEC-QUERY-4
9.4 MUST: with euclidean, lower distances are better | VEC-SCORE-2,5,9
9.4 MUST: otherwise a normalized score, and the raw distance with it | VEC-SCORE-4:5 | which field holds the raw
    distance
9.5 MUST: DimensionMismatch is not retryable | VEC-DIM-1:3
9.5 MUST: IndexNotReady is retryable | VEC-QUERY-13
9.5 SHOULD: with `retry_after_ms` | VEC-QUERY-15
10.1 MUST: texts get embeddings that tell them apart | EMB-EMBED-1:5
10.2 MUST: the result of one text and of many | EMB-EMBED-1 EMB-BATCH-1 schemas
10.3 MUST: the arguments of `embed`, and their defaults | EMB-EMBED-1,4 EMB-NORM-8:9 WIR-ARGS-1 EMB-ARGS-1:5 EMB-TRUNC-6
10.3 MUST: `model` is required | EMB-ARGS-5:6 | that its absence is refused is a SHOULD
10.3 MUST: the arguments of `embed_batch` | EMB-BATCH-8:9,18 EMB-MODEL-6/BatchesOfTheFirstModel
10.3 MUST: `count_tokens` | EMB-TOKENS-1,6,8:9
10.3 SHOULD: health has the graded states | COM-HEALTH-2:3
10.4 MUST: TextTooLong | EMB-TRUNC-3,9:10,12
10.4 MUST: ModelNotAvailable is NotSupported or Unavailable | EMB-MODEL-2:4 | which of them: R13 admits five codes, none
    retryable
10.4 MUST: DeadlineExceeded | COM-DEADLINE-1,4
10.5 MUST: `supported_models` is declared | EMB-CAP-1 | that it is a MUST (R13)
10.5 MUST: flags are declared, and limits where there are any | EMB-CAP-2 EMB-DIM-2 | that it is a MUST to state them
10.5 MUST: server and version are declared | COM-CAP-2
10.6 MUST: `model` is a supported one | EMB-ARGS-6 EMB-MODEL-1:4,6 EMB-BATCH-10 EMB-STREAM-5 EMB-TOKENS-5
10.6 MUST: `normalize` that is not supported is NotSupported | EMB-NORM-4:6
10.6 MUST: `max_batch_size` is enforced | EMB-BATCH-6:7
10.6 MUST: each text of a batch is validated | EMB-BATCH-5,8,18 | blank texts that are dropped in silence
10.6 MUST: partial failures of a batch are reported | EMB-BATCH-3:4,11:12
10.6 MUST: too long and not truncated is TextTooLong | EMB-TRUNC-2:3,8:10
10.6 MUST: deadlines are kept | COM-DEADLINE-1:6
"""
