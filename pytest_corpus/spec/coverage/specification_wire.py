"""The normative sentences of SPECIFICATION 1 to 6: the wire, and what all components share."""

SENTENCES = """
1.3 MUST: vendor extensions appear as capabilities, not as new methods | not: documents
1.3 MUST: operations do not block, and run side by side | COM-CONC-1 COM-WIRE-2 TRA-CALL-3:5
1.3 MUST: observation, errors and resilience are there | COM-OBS-1:3 COM-ERR-4 COM-FAULT-12
1.3 SHOULD: features are negotiated by capabilities | COM-CAP-6:8
1.3 SHOULD: types are validated at run time | COM-CTX-2 COM-WIRE-7
1.3 MUST: telemetry is SIEM-safe and data are minimized | COM-LEAK-1:6
3 MUST: an adapter implements the contract of its protocol | COM-CAP-6 LLM-COMPLETE-1 VEC-QUERY-1 EMB-EMBED-1
    GRA-QUERY-1
3 MUST: tenants are apart | COM-TENANT-1 COM-CACHE-1
4 MUST: keys of JSON are told apart by case | COM-WIRE-6 VEC-UPSERT-6/KeysAreFolded schemas |
    keys of envelopes in another case
4 MUST: unknown keys of permissive objects are ignored | COM-CTX-1,4 COM-WIRE-13
4 MUST: strict objects follow SCHEMA | COM-ENV-1 COM-ERR-1 COM-STREAM-1 LLM-MSG-9
4 MUST: durations are milliseconds | COM-ENV-6 COM-ERR-22 COM-STREAM-10 COM-OBS-7,17 WIR-CTX-2
4 MUST: names are in lower_snake_case | lint
4 MUST: error codes are in UPPER_SNAKE_CASE | COM-ERR-3
4 MUST: `tenant_hash` is deterministic | COM-OBS-9
4 MUST: `tenant_hash` cannot be reversed | COM-LEAK-4 COM-OBS-15:16
4 SHOULD: `tenant_hash` is salted | COM-OBS-15
4 MUST: of scores, higher is better | VEC-SCORE-4
4 MUST: numbers keep their types and ranges | LLM-SAMPLING-1:5 VEC-QUERY-9 COM-CTX-2
4.1 MUST: integers are signed, of 64 bits | COM-NUM-3:4 WIR-JSON-1 | that it is a MUST for adapters
4.1 MUST: floats are doubles | GRA-NODE-9/NumbersAreSingle VEC-UPSERT-6/NumbersOf32Bits | components of vectors (R128)
4.1 MUST: durations are not negative | COM-ENV-3 COM-ERR-9 COM-STREAM-4 COM-OBS-7 GRA-QUERY-20
4.1 MUST: NaN and infinities are refused | COM-NUM-1 COM-NUM-1/ToolSchemasNotChecked GRA-NODE-8 GRA-EDGE-10 |
    those in `ctx.attrs`
4.1 MUST: numbers out of range are refused | GRA-BULK-6 EMB-STATS-1 LLM-SAMPLING-1:5,7 VEC-DIM-8 VEC-CAP-4
4.1 MUST: no answer holds them | COM-NUM-2
4.1 MUST: SCHEMA decides on fields and types | schemas
4.1 MUST: which document wins, and is updated | not: documents
4.2 MUST: the interface is JSON documents and frames | COM-WIRE-1,3
4.2.1 MUST: content type and encoding of unary calls | EMB-EMBED-4 WIR-JSON-1 TRA-HTTP-1,4,6 TRA-CALL-1:2
4.2.1 MUST: the envelope of a request | COM-WIRE-1:7 WIR-ENV-1:3
4.2.1 MUST: the envelope of a success | COM-ENV-1:3,5:6
4.2.1 MUST: the envelope of an error | COM-ERR-2,9,22
4.2.1 MUST: `code` is normalized | COM-ERR-4,10 COM-ENV-2
4.2.1 MUST: `error` is the name of a normalized class | COM-ERR-4
4.2.1 MUST: a unary success has no other keys | COM-ENV-1
4.2.1 MUST: an error has no other keys | COM-ERR-1
4.2.1 MUST: a frame has no other keys | COM-STREAM-1
4.2.2 MUST: an instance declares its protocol | COM-CAP-3
4.2.2 MAY: a header of clients names the protocol | not: clients
4.2.2 MUST: revisions of v1 are compatible on the wire | not: documents
4.2.3 MUST: a streaming operation gives frames | COM-WIRE-10:11 COM-CAP-9 LLM-STREAM-1 GRA-STREAM-1 EMB-STREAM-1
4.2.3.1 MUST: a success frame is an object of that shape | COM-STREAM-1
4.2.3.1 MUST: `ok` is true | COM-STREAM-2
4.2.3.1 MUST: `code` is STREAMING | COM-STREAM-3
4.2.3.1 MUST: `ms` is a number that is not negative | COM-STREAM-4
4.2.3.1 MUST: `ms` is the time that has passed, in milliseconds | COM-STREAM-10
4.2.3.1 MUST: `chunk` meets the schema of its operation | LLM-STREAM-1 GRA-STREAM-1 EMB-STREAM-1
4.2.3.1 MUST: a frame has no other keys | COM-STREAM-1
4.2.3.2 MUST: exactly one terminal condition occurs | COM-STREAM-6:7
4.2.3.2 MUST: exactly one frame is final | COM-STREAM-6:7
4.2.3.2 MUST: nothing follows the terminal success | COM-STREAM-7
4.2.3.2 MUST: an error frame is a canonical error envelope | COM-STREAM-8:9 COM-ERR-1:2
4.2.3.2 MUST: an error frame has no other keys | COM-ERR-1 COM-STREAM-8 TRA-HTTP-8
4.2.3.2 MUST: nothing follows the terminal error | COM-STREAM-7
4.2.3.3 MUST: chunks come in the order of the operation | GRA-STREAM-3 GRA-QUERY-11 EMB-STREAM-3 LLM-STREAM-9
    LLM-STREAM-9/ChunksOfTheTextSoFar | the order of tokens of an LLM is a SHOULD
4.2.3.3 MUST: a chunk stands alone and is valid | LLM-STREAM-1 GRA-STREAM-1 EMB-STREAM-1
4.2.3.3 MUST: the order of keys means nothing to clients | not: clients
4.2.3.4 MUST: a frame has at most 1 MiB | COM-STREAM-5/AllRecordsInOneFrame
4.2.3.4 SHOULD: a stream that is idle for 15 seconds keeps alive | not: too long
4.2.3.4 MUST: a keep-alive is a valid frame and not terminal | COM-STREAM-1,6 streams | that one is ever sent
4.2.3.5 MAY: gateways may offer an overlay | not: gateways
4.2.3.5 MUST: the overlay never replaces the frames of an adapter | COM-STREAM-1
4.2.3.5 SHOULD: an overlay keeps the semantics and terminal conditions | not: gateways
4.2.4 SHOULD: supported transports are advertised | TRA-ADV-1:2 | that anything is named at all (R90)
4.2.4.1 MUST: NDJSON: content type and chunked transfer | TRA-NDJSON-1:2
4.2.4.1 MUST: NDJSON: a frame a line, the last one terminal | TRA-NDJSON-3:4 streams
4.2.4.2 MUST: SSE: content type, a frame in `data:` | TRA-SSE-1:3 streams
4.2.4.2 MUST: clients recover the frame from `data:`, whatever `event:` says | not: clients
4.2.4.3 MUST: WebSocket: a frame a message | TRA-MSG-1:4 TRA-WS-1 TRA-STDIO-1
4.2.4.4 MUST: gRPC: a frame a message | TRA-GRPC-1:2
4.2.4.5 SHOULD: transports are advertised | TRA-ADV-1:2 | that anything is named at all (R90)
4.2.4.5 MUST: unknown keys of `extensions` are ignored by clients | not: clients
4.2.5 MUST: unknown keys of permissive objects are ignored | COM-CTX-1,4 COM-WIRE-12:13
4.2.5 MUST: clients do not rely on the order of keys | not: clients
4.2.5 MUST: numbers follow the rules of 4.1 | COM-NUM-1:2
4.2.6 MUST: the operations of LLM | LLM-TOKENS-1,5,8 LLM-COMPLETE-1 LLM-STREAM-1 COM-CAP-1 COM-HEALTH-1
4.2.6 MUST: the operations of vector | VEC-NS-1,4:5,10 VEC-UPSERT-2,4:5,16:17 VEC-STATE-1 VEC-QUERY-1,3
    VEC-DELETE-2,4,10,13 VEC-MULTI-1,3
4.2.6 MUST: the operations of embedding | EMB-STREAM-1:3,7 EMB-TOKENS-1,5,8 EMB-STATS-1:2 EMB-EMBED-1,5 EMB-BATCH-1
4.2.6 MUST: the operations of graph | GRA-NODE-1:3,11 GRA-EDGE-1:3,9 GRA-DELETE-1:2,4:5 GRA-MODEL-1 GRA-QUERY-1:2,13
    GRA-TRAV-1:7,10,14 GRA-SCHEMA-1:3 GRA-STREAM-2 GRA-BULK-1:2 GRA-BATCH-1 GRA-TXN-1:3
4.2.6 MUST: every operation can be called at any time | COM-WIRE-14
4.2.6 MUST: a malformed or unknown operation is none of them | WIR-ENV-3 COM-WIRE-8:9
4.2.6 MUST: deletes by a filter, where they are offered | VEC-DELETE-5:6,11 GRA-DELETE-6
4.2.6 MUST: operations of one's own do not change the reserved ones | not: free
5.3 MUST: profiles do not change the wire | not: documents
6.1 SHOULD: `request_id` identifies an operation | not: clients
6.1 MUST: an idempotency key may come with writes | COM-CTX-3
6.1 MUST: its scope is tenant, operation and arguments | COM-IDEM-1:2
6.1 MUST: replays are known for 24 hours | COM-IDEM-6 | that a key works after five seconds is asked, a day is too long
6.1 MUST: side effects are not applied twice | COM-IDEM-3:4,7 | of two calls at once whose second application has the
    same result, what shows it is the provider, which a key may be handed on to: a SHOULD
6.1 MUST: a replay is OK, with the same result | COM-IDEM-3 EMB-IDEM-1 LLM-IDEM-1
6.1 MUST: an expired deadline fails fast, without backends | COM-DEADLINE-1:3
6.1 MUST: the absolute deadline is handed on, and each hop computes what is left | WIR-CTX-1:2 COM-DEADLINE-4:6,8:9
6.1 MUST: `traceparent` is forwarded unchanged | COM-CTX-5
6.1 MUST: tenants are used for isolation | COM-TENANT-1 COM-CACHE-1
6.1 MUST: raw tenants are not logged | COM-LEAK-4
6.1 MUST: without `cache_scope`, the scope is the tenant | COM-CACHE-1
6.1 MUST: `cache_scope` does not weaken isolation | COM-CACHE-2
6.1 MUST: `cache_tags` hold no secrets | not: clients
6.2 MUST: `capabilities` gives an object | COM-CAP-1
6.2 MUST: it has server, version and protocol | COM-CAP-2:3
6.2 MUST: features, limits and listings are of their types | COM-CAP-4 VEC-CAP-4
6.2 MUST: unknown keys of capabilities are ignored | not: clients
6.2 MUST: keys of `extensions` have a namespace | COM-CAP-5 | that it is a MUST: the document's own examples break it
6.2 MUST: frozen keys keep their meaning | COM-CAP-4,6:7
6.2 MUST: new keys stand under `extensions` | COM-CAP-10 | that it is a MUST (R71)
6.3 MUST: the seven classes, and the subtypes of a component | COM-ERR-4
6.3 MUST: codes are normalized | COM-ERR-3:4
6.3 SHOULD: errors give hints | COM-FAULT-8,10,13:16
6.4 MUST: metrics are reported by the interface | COM-OBS-12
6.4 MUST: `component` is one of four | COM-OBS-4
6.4 MUST: each operation is observed | COM-OBS-1:2
6.4 MUST: what is observed is what happened | COM-OBS-5:7
6.4 MUST: a stream has exactly one final observation | COM-OBS-3
6.4 MUST: telemetry has no tenants, prompts, vectors or texts | COM-LEAK-2,4
6.4 SHOULD: labels are of low cardinality | COM-OBS-13:14 VEC-CAP-5:6 GRA-OBS-1:2 | labels such as `rows`, `batch_size`
    and `cache_hit`
"""
