"""The normative sentences of SCHEMA: what its schemas ask of messages, and what it asks of tools."""

SENTENCES = """
1.1 MUST: all wire-level messages are validated | schemas COM-WIRE-3 COM-ENV-1 COM-ERR-1
1.2 MUST: which document wins | not: documents
1.3 MUST: additional properties are prohibited unless allowed | schemas
1.3 MUST: versions are tolerated | registry
2.1 MUST: the tree of files | lint
2.2 MUST: references form no circle | lint
2.2 MUST: envelopes rest on the common ones | lint schemas
2.2 MUST: a request is its envelope with its arguments | schemas WIR-ARGS-2
2.3 MUST: names of files and of `$id` | lint
2.3 MUST: names of titles, properties and definitions | lint | that titles are in PascalCase: those printed are not
3.1 MUST: the request: `op`, `ctx`, `args` and no other key | COM-WIRE-4:7,9,12:13 WIR-ENV-1:2 WIR-SCHEMA-1
3.1 MUST: the success: `ok`, `code`, `ms`, `result` and no other key | COM-ENV-1:3,5
3.1 MUST: the error: its keys and no other | COM-ERR-1:3,6:7,9
3.2 MUST: types and ranges of the members of `ctx` | COM-CTX-2 COM-DEADLINE-7 WIR-CTX-1:2 | lengths and patterns of ids,
    which adapters need not enforce
3.2 MUST: all members of `ctx` are optional | COM-CTX-3
3.2 MUST: `attrs` is any object | COM-CTX-4
3.3 MUST: the pattern of partial success | VEC-UPSERT-1 VEC-DELETE-1 GRA-NODE-4 GRA-DELETE-8 EMB-BATCH-1
3.3 MUST: the pattern of filters | VEC-FILTER-3,5:7,9
4.1.1 MUST: envelopes of LLM | schemas COM-ENV-1
4.1.2 MUST: messages | LLM-MSG-1:4,6:7,9
4.1.2 MUST: calls of tools | LLM-TOOLS-2,6,22 LLM-TOOLS-22/CallWithoutAnId LLM-TOOLS-22/OneIdForTwoCalls
4.1.2 MUST: usage of tokens | LLM-COMPLETE-3,10 LLM-COMPLETE-10/CompletionsAreFree LLM-STREAM-2 EMB-STREAM-4
    LLM-TOKENS-9/CompletionsCostOneToken schemas
4.1.2 MUST: completions | LLM-COMPLETE-1:2,5
4.1.2 MUST: chunks | LLM-STREAM-1,7
4.1.3 MUST: sampling parameters | LLM-SAMPLING-1:4,6:7
4.1.3 SHOULD: `seed` has an effect | not: unseen
4.1.3 SHOULD: `response_format` has an effect | not: yet
4.1.3 MUST: definitions of tools | LLM-TOOLS-3:4
4.1.4 MUST: frames of the overlay | streams goldens
4.2.1 MUST: envelopes of vector | schemas COM-ENV-1
4.2.2 MUST: vectors | VEC-UPSERT-6,8:9,13:15,18 VEC-QUERY-12 VEC-DIM-10
4.2.2 MUST: matches and results | VEC-QUERY-1,5:6 VEC-SCORE-4:5 VEC-MULTI-1
4.2.2 MUST: filters | VEC-FILTER-1,3,5:7,9,13:15
4.2.2 MUST: partial success and failures | VEC-DELETE-1,7,14 VEC-UPSERT-1
4.3.1 MUST: envelopes of embedding | schemas COM-ENV-1
4.3.2 MUST: embeddings and results | EMB-EMBED-1:3,6,8:9 EMB-STREAM-6 EMB-BATCH-1,4,17,19
4.3.2 MUST: failures and warnings | EMB-BATCH-4,14,20:21 EMB-BATCH-20/FailedTextIsAnother schemas
4.4.1 MUST: envelopes of graph | schemas COM-ENV-1
4.4.2 MUST: nodes and edges | GRA-NS-1:3 GRA-TRAV-1,7,13 GRA-NODE-6 GRA-EDGE-1:2,6 GRA-BULK-2
4.4.2 MUST: rows | GRA-QUERY-1,12
4.4.2 MUST: operations of a batch | GRA-BATCH-2,9 GRA-TXN-4,6
4.4.2 MUST: partial success | GRA-DELETE-8:9 GRA-NODE-4:5 GRA-EDGE-8
4.4.3 MUST: frames and chunks | GRA-STREAM-1 streams goldens
5.1 MUST: streaming operations use `chunk` in the place of `result` | COM-STREAM-1
5.1 MUST: which frames the overlay of LLM and graph has | streams schemas
5.2 MUST: a stream of NDJSON has an envelope a line | streams
5.2 MUST: the union of overlay frames | schemas streams
5.2 MUST: the end and error frames of the overlay | schemas streams
5.3 MUST: exactly one terminal | COM-STREAM-6:7 streams
5.3 MUST: nothing after it | COM-STREAM-7 streams
5.3 MUST: chunks hold whole tokens or records | GRA-STREAM-1 | whole tokens: no document says what one is
5.3 MUST: chunks come in order | GRA-STREAM-3 EMB-STREAM-3 LLM-STREAM-9 | the order of tokens of an LLM is a SHOULD
5.3 MUST: frames have the keys of an envelope | COM-STREAM-1:4 streams
5.3 SHOULD: backpressure, bounded buffers and sizes of chunks | not: unseen
6.1 MUST: the registry is one, lazy, shared by threads, and caches | registry
6.1 MUST: schemas are found by `$id`, with suggestions where they are not | registry
6.1 MUST: `CORPUS_SCHEMAS_ROOT` names the folder, and all in it is loaded | registry
6.1 MUST: the command line of the registry | registry
6.2 MUST: four modes of validation, and what each looks at | streams
6.2 MUST: frames have at most `max_frame_bytes` | streams COM-STREAM-5
6.3 MUST: the pipeline: shape, round trip, schema, arguments | WIR-ENV-1:3 WIR-CTX-1 WIR-JSON-1:2 WIR-SCHEMA-1
    WIR-ARGS-1
6.3 MUST: `prompt` or `messages`, `vector` or `text` | WIR-ARGS-1,3
7.1 MUST: each golden has its schema | goldens
7.2 MUST: the files of the tree of goldens | goldens
7.3 MUST: goldens are valid, and keep what schemas cannot say | goldens LLM-COMPLETE-3
7.3 MUST: missing and orphaned files are found | goldens
8.1 MUST: draft, `$id`, metaschema, patterns, enumerations | lint
8.1 MUST: references resolve | lint
8.1 MUST: no definition is left over | lint
8.2 MUST: builders of clients are found and their envelopes validated | WIR-OFFER-1 WIR-BUILD-1 WIR-SCHEMA-1
8.2 MUST: edges: a missing `op`, a negative deadline, what is no JSON | WIR-ENV-2 WIR-CTX-1 WIR-JSON-1 COM-DEADLINE-7
8.2 MUST: metrics of validation are collected across threads | tools
8.3 SHOULD: validators are cached and schemas small | registry lint | times that depend on the machine
9.1 MUST: the commands of schemas, goldens and streams | tools
9.2 SHOULD: schemas come first when something new is made | not: process
9.2 MUST: errors of validation tell path, message and schema | registry streams
9.3 SHOULD: what CI runs, and how much it covers | not: process
10.1 MUST: which change needs which version | lint | all but that a later edition accepts what the elder accepts
10.1 MUST: any of the accepted versions will do | registry WIR-SCHEMA-1
10.2 MUST: phases of a breaking change, and their weeks | not: process
10.2 MUST: what is deprecated warns in the output of validation | registry
10.2 MUST: envelopes are migrated by a tool | tools
10.3 MUST: vendors and experiments have their own keys in results | schemas
10.3 MUST: formats of one's own | registry
11.1 MUST: which schemas an operation has | lint schemas
11.2 MUST: codes of errors of validation | registry streams
11.2 SHOULD: which errors are retried by themselves | not: clients
11.3 SHOULD: times of validation | not: process
12.B MUST: references resolve within the tree, without the network | lint registry
12.C MUST: formats of JSON Schema, and of one's own on arrays | registry
12.D SHOULD: how schemas are tested | not: process
12.E SHOULD: what to do about common problems | not: process
"""
