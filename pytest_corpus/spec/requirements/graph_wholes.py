"""Graph beyond single items: batch, transaction, traversal, paging, schema (SPECIFICATION 7.3.3, 7.5, 11.5, 12.5)."""

from __future__ import annotations

from functools import partial

from pytest_corpus.spec.requirements.model import Requirement

R = partial(Requirement, components=("graph",))
BATCH = ("supports_batch",)
TRANSACTION = ("supports_txn",)
TRAVERSAL = ("supports_traversal",)
BULK = ("supports_bulk_ops",)
SCHEMA = ("supports_schema_ops",)

_BATCH = (
    R(
        "GRA-BATCH-1",
        "MUST",
        "A batch applies its operations, in their order.",
        ("SPECIFICATION 4.2.6", "SPECIFICATION 7.3.3"),
        needs=BATCH,
    ),
    R(
        "GRA-BATCH-2",
        "MUST",
        "The result of a batch is of the schema: `results` with `ok`, and `success`.",
        ("SPECIFICATION 12.5", "SCHEMA 4.4.2", "R14"),
        needs=BATCH,
    ),
    R(
        "GRA-BATCH-3",
        "MUST",
        "A batch has one result for each operation, in the order of the operations.",
        ("SPECIFICATION 12.5", "R14"),
        needs=BATCH,
        hint="failed operations keep their place in `results`",
    ),
    R(
        "GRA-BATCH-4",
        "MUST",
        "A failed operation of a batch is reported with its `index` and `error`, as the caller's mistake.",
        ("SPECIFICATION 12.5", "ERRORS 6.4", "ERRORS 10", "R14"),
        needs=BATCH,
        hint="or refuse the whole batch",
    ),
    R(
        "GRA-BATCH-5",
        "MUST",
        "Beside a failed operation the others of a batch are applied; where the batch is refused whole, none is.",
        ("SPECIFICATION 12.5", "R14"),
        needs=BATCH,
    ),
    R(
        "GRA-BATCH-6",
        "MUST",
        "A batch of more than `max_batch_ops` operations is refused with BAD_REQUEST, and nothing is applied.",
        ("SPECIFICATION 7.3.3", "ERRORS 6.4", "R15"),
        needs=BATCH,
    ),
    R(
        "GRA-BATCH-7",
        "MUST",
        "A batch of `max_batch_ops` operations is carried out.",
        ("SPECIFICATION 7.3.3", "R23"),
        needs=BATCH,
    ),
    R(
        "GRA-BATCH-8",
        "SHOULD",
        "The refusal of a batch that is too large tells `max_batch_ops` and `suggested_batch_reduction`.",
        ("ERRORS 7", "ERRORS 10", "R15"),
        needs=BATCH,
    ),
    R(
        "GRA-BATCH-9",
        "MUST",
        "`ops`, or an operation, of the wrong type is refused whole or reported for that operation.",
        ("SCHEMA 4.4.2", "R8", "R45"),
        needs=BATCH,
    ),
    R(
        "GRA-BATCH-10",
        "SHOULD",
        "`success` of a batch is true where every operation succeeded, and false where one failed.",
        ("SPECIFICATION 12.5",),
        needs=BATCH,
    ),
    R(
        "GRA-BATCH-11",
        "MUST",
        "A query in a batch sees what the operations before it wrote, or is refused.",
        ("SPECIFICATION 7.3.3", "SPECIFICATION 12.5"),
        needs=BATCH,
    ),
)

_TRANSACTION = (
    R(
        "GRA-TXN-1",
        "MUST",
        "A transaction applies all its operations, in their order.",
        ("SPECIFICATION 4.2.6", "R23"),
        needs=TRANSACTION,
    ),
    R(
        "GRA-TXN-2",
        "MUST",
        "A failed transaction leaves no trace.",
        ("SPECIFICATION 4.2.6", "R33"),
        needs=TRANSACTION,
        hint="undo writes, updates and deletes that came before the operation that failed",
    ),
    R(
        "GRA-TXN-3",
        "MUST",
        "A failed transaction says so: by an error, or by `success` false.",
        ("SPECIFICATION 4.2.6", "SPECIFICATION 12.5", "R33"),
        needs=TRANSACTION,
    ),
    R(
        "GRA-TXN-4",
        "MUST",
        "The result of a transaction is of the schema: `results` with `ok`, and `success`.",
        ("SPECIFICATION 12.5", "SCHEMA 4.4.2", "R14"),
        needs=TRANSACTION,
    ),
    R(
        "GRA-TXN-5",
        "MUST",
        "A committed transaction says so, with one result for each operation, in their order.",
        ("SPECIFICATION 12.5", "R14"),
        needs=TRANSACTION,
    ),
    R(
        "GRA-TXN-6",
        "MUST",
        "`operations`, or an operation, of the wrong type is refused, and nothing is applied.",
        ("SCHEMA 4.4.2", "R8", "R33"),
        needs=TRANSACTION,
    ),
)

_TRAVERSAL = (
    R(
        "GRA-TRAV-1",
        "MUST",
        "The result of a traversal is of the schema: `nodes` and `relationships`.",
        ("SCHEMA 4.4.2", "SPECIFICATION 4.2.6"),
        needs=TRAVERSAL,
    ),
    R(
        "GRA-TRAV-2",
        "MUST",
        "A traversal reaches every node within `max_depth` of its start nodes, as it was written.",
        ("SPECIFICATION 4.2.6",),
        needs=TRAVERSAL,
    ),
    R(
        "GRA-TRAV-3",
        "MUST",
        "A traversal reaches no node beyond `max_depth`.",
        ("SPECIFICATION 4.2.6", "SPECIFICATION 14.4"),
        needs=TRAVERSAL,
    ),
    R(
        "GRA-TRAV-4",
        "MUST",
        "A traversal follows edges in the `direction` that is asked for.",
        ("SPECIFICATION 4.2.6",),
        needs=TRAVERSAL,
    ),
    R(
        "GRA-TRAV-5",
        "MUST",
        "A traversal follows only edges of `relationship_types`, and of all of them.",
        ("SPECIFICATION 4.2.6", "R31"),
        needs=TRAVERSAL,
    ),
    R(
        "GRA-TRAV-6",
        "MUST",
        "Filters of nodes and relationships are heeded by a traversal, or refused.",
        ("SPECIFICATION 4.2.6", "R31"),
        needs=TRAVERSAL,
    ),
    R(
        "GRA-TRAV-7",
        "MUST",
        "The relationships of a traversal are edges that were written, with their ends and labels.",
        ("SCHEMA 4.4.2", "SPECIFICATION 4.2.6"),
        needs=TRAVERSAL,
    ),
    R(
        "GRA-TRAV-8",
        "MUST",
        "A depth beyond `max_traversal_depth` is refused with BAD_REQUEST, or goes no deeper than that.",
        ("SPECIFICATION 14.4", "BEHAVIORAL_CONFORMANCE 6.7"),
        needs=TRAVERSAL,
    ),
    R(
        "GRA-TRAV-9",
        "MUST",
        "A depth of `max_traversal_depth` is carried out.",
        ("BEHAVIORAL_CONFORMANCE 6.7", "R23"),
        needs=TRAVERSAL,
    ),
    R(
        "GRA-TRAV-10",
        "MUST",
        "Cycles and several ways to a node do not disturb a traversal.",
        ("SPECIFICATION 14.4", "SPECIFICATION 4.2.6"),
        needs=TRAVERSAL,
    ),
    R(
        "GRA-TRAV-11",
        "MUST",
        "A start node that does not exist is refused with VertexNotFound or BadRequest, or nothing is reached.",
        ("ERRORS 6.4", "R12"),
        needs=TRAVERSAL,
    ),
    R(
        "GRA-TRAV-12",
        "MUST",
        "An argument of a traversal of the wrong type, or without sense, is refused with BAD_REQUEST.",
        ("SPECIFICATION 17.2", "R8"),
        needs=TRAVERSAL,
    ),
    R(
        "GRA-TRAV-13",
        "SHOULD",
        "Nodes and relationships come once each, and paths lead along edges from a start node.",
        ("SCHEMA 4.4.2",),
        needs=TRAVERSAL,
    ),
    R(
        "GRA-TRAV-14",
        "SHOULD",
        "Without `max_depth` and `direction` a traversal takes one step along outgoing edges.",
        ("SPECIFICATION 4.2.6",),
        needs=TRAVERSAL,
    ),
)

_BULK = (
    R(
        "GRA-BULK-1",
        "MUST",
        "`bulk_vertices` lists the nodes that were written, as they are now.",
        ("SPECIFICATION 4.2.6", "SPECIFICATION 7.3.3"),
        needs=BULK,
    ),
    R(
        "GRA-BULK-2",
        "MUST",
        "The result of `bulk_vertices` is of the schema: `nodes` of ids, labels and properties.",
        ("SCHEMA 4.4.2", "R32"),
        needs=BULK,
    ),
    R(
        "GRA-BULK-3",
        "MUST",
        "Following the pages gives every node exactly once, and ends.",
        ("SPECIFICATION 11.5", "R32"),
        needs=BULK,
        hint="give next_cursor or next_page_token while more nodes exist; it comes back as `cursor`",
    ),
    R(
        "GRA-BULK-4",
        "MUST",
        "A page has no more nodes than `limit`.",
        ("SPECIFICATION 11.5", "SPECIFICATION 14.4"),
        needs=BULK,
    ),
    R(
        "GRA-BULK-5",
        "MUST",
        "`filter` is heeded on every page, or refused.",
        ("R31", "R32"),
        needs=BULK,
        hint="filter before you cut pages",
    ),
    R(
        "GRA-BULK-6",
        "MUST",
        "A `limit`, `cursor` or `filter` of the wrong type, or a `limit` below 1, is refused with BAD_REQUEST.",
        ("SPECIFICATION 17.2", "SPECIFICATION 4.1", "R8"),
        needs=BULK,
    ),
    R(
        "GRA-BULK-7",
        "SHOULD",
        "A `cursor` that was never given out is refused with BAD_REQUEST.",
        ("SPECIFICATION 11.5",),
        needs=BULK,
    ),
)

_SCHEMA = (
    R(
        "GRA-SCHEMA-1",
        "MUST",
        "The result of `get_schema` is of the schema: `nodes` and `edges` are objects.",
        ("SPECIFICATION 4.2.6", "R42"),
        needs=SCHEMA,
    ),
    R(
        "GRA-SCHEMA-2",
        "MUST",
        "`get_schema` tells the labels of the nodes and edges that were written.",
        ("SPECIFICATION 4.2.6", "BEHAVIORAL_CONFORMANCE 5.2"),
        needs=SCHEMA,
    ),
    R(
        "GRA-SCHEMA-3",
        "SHOULD",
        "`get_schema` tells the names of their properties.",
        ("SPECIFICATION 4.2.6",),
        needs=SCHEMA,
    ),
    R(
        "GRA-SCHEMA-4",
        "SHOULD",
        "`get_schema` tells no values of properties.",
        ("SPECIFICATION 7.5", "SPECIFICATION 15"),
        needs=SCHEMA,
    ),
)

_CLAIMS = (
    R(
        "GRA-CAP-1",
        "SHOULD",
        "Where batches are offered, `extensions` list the operations that they take.",
        ("SPECIFICATION 7.3.3", "R33"),
        needs=BATCH,
    ),
    R(
        "GRA-OBS-1",
        "MUST",
        "Neither an unknown dialect nor the id of a node becomes a label.",
        ("SPECIFICATION 13.1", "R21"),
        needs=("metrics",),
    ),
    R(
        "GRA-OBS-2",
        "SHOULD",
        "A namespace does not become a label.",
        ("SPECIFICATION 13.1", "R21"),
        needs=("metrics", "supports_namespaces"),
    ),
    R(
        "GRA-CACHE-1",
        "MUST",
        "A cached answer is not given to another text, other parameters or another namespace.",
        ("SPECIFICATION 11.6", "SPECIFICATION 16.3", "R27"),
        needs=("provider", "supports_caching"),
        hint="key the cache by a hash of all that was asked",
    ),
    R(
        "GRA-MODEL-1",
        "MUST",
        "Any sequence of writes, deletes, batches and transactions leaves what it adds up to.",
        ("SPECIFICATION 4.2.6", "SPECIFICATION 7.3.1", "SPECIFICATION 7.3.3"),
        hint="the failing sequence is printed as envelopes that you can replay",
    ),
)

REQUIREMENTS = (*_BATCH, *_TRANSACTION, *_TRAVERSAL, *_BULK, *_SCHEMA, *_CLAIMS)
