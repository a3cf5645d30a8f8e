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
        hint="carry out all operations one after the other, without sorting them by kind",
    ),
    R(
        "GRA-BATCH-2",
        "MUST",
        "The result of a batch is of the schema: `results` with `ok`, and `success`.",
        ("SPECIFICATION 12.5", "SCHEMA 4.4.2", "R14"),
        needs=BATCH,
        hint="return `results` with a boolean `ok` in each, and a boolean `success` beside them",
    ),
    R(
        "GRA-BATCH-3",
        "MUST",
        "A batch has one result for each operation, in the order of the operations.",
        ("SPECIFICATION 12.5", "R14"),
        needs=BATCH,
        hint="add a result for a failed operation too, at its own place",
    ),
    R(
        "GRA-BATCH-4",
        "MUST",
        "A failed operation of a batch is reported with its `index` and `error`, as the caller's mistake.",
        ("SPECIFICATION 12.5", "ERRORS 6.4", "ERRORS 10", "R14"),
        needs=BATCH,
        hint="report the position in `ops` from 0 and a class such as BadRequest, or refuse the whole batch",
    ),
    R(
        "GRA-BATCH-5",
        "MUST",
        "Beside a failed operation the others of a batch are applied; where the batch is refused whole, none is.",
        ("SPECIFICATION 12.5", "R14"),
        needs=BATCH,
        hint="go on after a failed operation, or check all of them before the first is applied",
    ),
    R(
        "GRA-BATCH-6",
        "MUST",
        "A batch of more than `max_batch_ops` operations is refused with BAD_REQUEST, and nothing is applied.",
        ("SPECIFICATION 7.3.3", "ERRORS 6.4", "R15"),
        needs=BATCH,
        hint="compare len(ops) with max_batch_ops before the first is applied, and raise BadRequest",
    ),
    R(
        "GRA-BATCH-7",
        "MUST",
        "A batch of `max_batch_ops` operations is carried out.",
        ("SPECIFICATION 7.3.3", "R23"),
        needs=BATCH,
        hint="refuse only more than max_batch_ops, not max_batch_ops itself",
    ),
    R(
        "GRA-BATCH-8",
        "SHOULD",
        "The refusal of a batch that is too large tells `max_batch_ops` and `suggested_batch_reduction`.",
        ("ERRORS 7", "ERRORS 10", "R15"),
        needs=BATCH,
        hint="add max_batch_ops and suggested_batch_reduction, a percentage, to `details`",
    ),
    R(
        "GRA-BATCH-9",
        "MUST",
        "`ops`, or an operation, of the wrong type is refused whole or reported for that operation.",
        ("SCHEMA 4.4.2", "R8", "R45"),
        needs=BATCH,
        hint="check that `ops` is a list of objects with `op` and `args` before you read them; skip none",
    ),
    R(
        "GRA-BATCH-10",
        "SHOULD",
        "`success` of a batch is true where every operation succeeded, and false where one failed.",
        ("SPECIFICATION 12.5",),
        needs=BATCH,
        hint="set `success` to false as soon as one result is not ok",
    ),
    R(
        "GRA-BATCH-11",
        "MUST",
        "A query in a batch sees what the operations before it wrote, or is refused.",
        ("SPECIFICATION 7.3.3", "SPECIFICATION 12.5"),
        needs=BATCH,
        hint="run the queries of a batch after the writes before them, on what these wrote, or refuse them",
    ),
)

_TRANSACTION = (
    R(
        "GRA-TXN-1",
        "MUST",
        "A transaction applies all its operations, in their order.",
        ("SPECIFICATION 4.2.6", "R23"),
        needs=TRANSACTION,
        hint="apply every operation of every kind, in order, and commit once all are done",
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
        hint="answer a rollback with an error envelope, or with `success` false",
    ),
    R(
        "GRA-TXN-4",
        "MUST",
        "The result of a transaction is of the schema: `results` with `ok`, and `success`.",
        ("SPECIFICATION 12.5", "SCHEMA 4.4.2", "R14"),
        needs=TRANSACTION,
        hint="return `results` with a boolean `ok` in each, and a boolean `success`, not the id of the transaction",
    ),
    R(
        "GRA-TXN-5",
        "MUST",
        "A committed transaction says so, with one result for each operation, in their order.",
        ("SPECIFICATION 12.5", "R14"),
        needs=TRANSACTION,
        hint="set `success` to true after the commit, and collect the result of every operation in order",
    ),
    R(
        "GRA-TXN-6",
        "MUST",
        "`operations`, or an operation, of the wrong type is refused, and nothing is applied.",
        ("SCHEMA 4.4.2", "R8", "R33"),
        needs=TRANSACTION,
        hint="check `operations` and each of them before the first is applied; skip none",
    ),
)

_TRAVERSAL = (
    R(
        "GRA-TRAV-1",
        "MUST",
        "The result of a traversal is of the schema: `nodes` and `relationships`.",
        ("SCHEMA 4.4.2", "SPECIFICATION 4.2.6"),
        needs=TRAVERSAL,
        hint="return `nodes` and `relationships` as lists, [] for none, with no undocumented key in an item",
    ),
    R(
        "GRA-TRAV-2",
        "MUST",
        "A traversal reaches every node within `max_depth` of its start nodes, as it was written.",
        ("SPECIFICATION 4.2.6",),
        needs=TRAVERSAL,
        hint="start at each of start_nodes, and return what you reach with its labels and properties",
    ),
    R(
        "GRA-TRAV-3",
        "MUST",
        "A traversal reaches no node beyond `max_depth`.",
        ("SPECIFICATION 4.2.6", "SPECIFICATION 14.4"),
        needs=TRAVERSAL,
        hint="stop after max_depth steps, and leave out the relationships that lead further",
    ),
    R(
        "GRA-TRAV-4",
        "MUST",
        "A traversal follows edges in the `direction` that is asked for.",
        ("SPECIFICATION 4.2.6",),
        needs=TRAVERSAL,
        hint="follow edges from src to dst for OUTGOING, back for INCOMING, both ways for BOTH, in every step",
    ),
    R(
        "GRA-TRAV-5",
        "MUST",
        "A traversal follows only edges of `relationship_types`, and of all of them.",
        ("SPECIFICATION 4.2.6", "R31"),
        needs=TRAVERSAL,
        hint="compare the label of each edge with all of relationship_types",
    ),
    R(
        "GRA-TRAV-6",
        "MUST",
        "Filters of nodes and relationships are heeded by a traversal, or refused.",
        ("SPECIFICATION 4.2.6", "R31"),
        needs=TRAVERSAL,
        hint="apply node_filters and relationship_filters, or refuse them; do not leave them unread",
    ),
    R(
        "GRA-TRAV-7",
        "MUST",
        "The relationships of a traversal are edges that were written, with their ends and labels.",
        ("SCHEMA 4.4.2", "SPECIFICATION 4.2.6"),
        needs=TRAVERSAL,
        hint="return each relationship as it is stored, with its own ends and label, however you came along it",
    ),
    R(
        "GRA-TRAV-8",
        "MUST",
        "A depth beyond `max_traversal_depth` is refused with BAD_REQUEST, or goes no deeper than that.",
        ("SPECIFICATION 14.4", "BEHAVIORAL_CONFORMANCE 6.7"),
        needs=TRAVERSAL,
        hint="compare max_depth with max_traversal_depth, and raise BadRequest or stop there",
    ),
    R(
        "GRA-TRAV-9",
        "MUST",
        "A depth of `max_traversal_depth` is carried out.",
        ("BEHAVIORAL_CONFORMANCE 6.7", "R23"),
        needs=TRAVERSAL,
        hint="refuse or stop only beyond max_traversal_depth, and state a depth that you serve",
    ),
    R(
        "GRA-TRAV-10",
        "MUST",
        "Cycles and several ways to a node do not disturb a traversal.",
        ("SPECIFICATION 14.4", "SPECIFICATION 4.2.6"),
        needs=TRAVERSAL,
        hint="keep the ids that were visited: walk on from a node once, and keep it in the result",
    ),
    R(
        "GRA-TRAV-11",
        "MUST",
        "A start node that does not exist is refused with VertexNotFound or BadRequest, or nothing is reached.",
        ("ERRORS 6.4", "R12"),
        needs=TRAVERSAL,
        hint="look start nodes up, and raise VertexNotFound or reach nothing; do not make one up",
    ),
    R(
        "GRA-TRAV-12",
        "MUST",
        "An argument of a traversal of the wrong type, or without sense, is refused with BAD_REQUEST.",
        ("SPECIFICATION 17.2", "R8"),
        needs=TRAVERSAL,
        hint="check start_nodes, max_depth and direction before use; put no default in the place of a wrong value",
    ),
    R(
        "GRA-TRAV-13",
        "SHOULD",
        "Nodes and relationships come once each, and paths lead along edges from a start node.",
        ("SCHEMA 4.4.2",),
        needs=TRAVERSAL,
        hint="collect nodes and relationships by id, and begin each path with its start node",
    ),
    R(
        "GRA-TRAV-14",
        "SHOULD",
        "Without `max_depth` and `direction` a traversal takes one step along outgoing edges.",
        ("SPECIFICATION 4.2.6",),
        needs=TRAVERSAL,
        hint="take a missing max_depth for 1 and a missing direction for OUTGOING",
    ),
)

_BULK = (
    R(
        "GRA-BULK-1",
        "MUST",
        "`bulk_vertices` lists the nodes that were written, as they are now.",
        ("SPECIFICATION 4.2.6", "SPECIFICATION 7.3.3"),
        needs=BULK,
        hint="list every node, the first one included, with its labels and properties as they are now",
    ),
    R(
        "GRA-BULK-2",
        "MUST",
        "The result of `bulk_vertices` is of the schema: `nodes` of ids, labels and properties.",
        ("SCHEMA 4.4.2", "R32"),
        needs=BULK,
        hint="give each node `id`, `labels` ([] for none) and `properties`, and no undocumented key",
    ),
    R(
        "GRA-BULK-3",
        "MUST",
        "Following the pages gives every node exactly once, and ends.",
        ("SPECIFICATION 11.5", "R32"),
        needs=BULK,
        hint="give next_cursor or next_page_token while nodes are left, go on after the last one, and end without",
    ),
    R(
        "GRA-BULK-4",
        "MUST",
        "A page has no more nodes than `limit`.",
        ("SPECIFICATION 11.5", "SPECIFICATION 14.4"),
        needs=BULK,
        hint="cut the page to `limit` nodes, not to limit + 1",
    ),
    R(
        "GRA-BULK-5",
        "MUST",
        "`filter` is heeded on every page, or refused.",
        ("R31", "R32"),
        needs=BULK,
        hint="filter before you cut pages, on every page, or refuse the filter",
    ),
    R(
        "GRA-BULK-6",
        "MUST",
        "A `limit`, `cursor` or `filter` of the wrong type, or a `limit` below 1, is refused with BAD_REQUEST.",
        ("SPECIFICATION 17.2", "SPECIFICATION 4.1", "R8"),
        needs=BULK,
        hint="check that limit is an integer of at least 1, cursor a string and filter an object before use",
    ),
    R(
        "GRA-BULK-7",
        "SHOULD",
        "A `cursor` that was never given out is refused with BAD_REQUEST.",
        ("SPECIFICATION 11.5",),
        needs=BULK,
        hint="refuse a cursor that you cannot decode or did not give out; do not begin again",
    ),
)

_SCHEMA = (
    R(
        "GRA-SCHEMA-1",
        "MUST",
        "The result of `get_schema` is of the schema: `nodes` and `edges` are objects.",
        ("SPECIFICATION 4.2.6", "R42"),
        needs=SCHEMA,
        hint="return `nodes` and `edges` as objects, for example by label, not as lists",
    ),
    R(
        "GRA-SCHEMA-2",
        "MUST",
        "`get_schema` tells the labels of the nodes and edges that were written.",
        ("SPECIFICATION 4.2.6", "BEHAVIORAL_CONFORMANCE 5.2"),
        needs=SCHEMA,
        hint="read the labels of nodes and of edges from the graph as it is now, not from an old answer",
    ),
    R(
        "GRA-SCHEMA-3",
        "SHOULD",
        "`get_schema` tells the names of their properties.",
        ("SPECIFICATION 4.2.6",),
        needs=SCHEMA,
        hint="list the names of properties under each label",
    ),
    R(
        "GRA-SCHEMA-4",
        "SHOULD",
        "`get_schema` tells no values of properties.",
        ("SPECIFICATION 7.5", "SPECIFICATION 15"),
        needs=SCHEMA,
        hint="describe properties by name and type; leave out examples",
    ),
)

_CLAIMS = (
    R(
        "GRA-CAP-1",
        "SHOULD",
        "Where batches are offered, `extensions` list the operations that they take.",
        ("SPECIFICATION 7.3.3", "R33"),
        needs=BATCH,
        hint="list the operations that a batch takes under a key of `extensions`, for example acme:batch_ops",
    ),
    R(
        "GRA-OBS-1",
        "MUST",
        "Neither an unknown dialect nor the id of a node becomes a label.",
        ("SPECIFICATION 13.1", "R21"),
        needs=("metrics",),
        hint="label by dialect only where it is a listed one, and never by an id",
    ),
    R(
        "GRA-OBS-2",
        "SHOULD",
        "A namespace does not become a label.",
        ("SPECIFICATION 13.1", "R21"),
        needs=("metrics", "supports_namespaces"),
        hint="keep `namespace` out of `extra`",
    ),
    R(
        "GRA-CACHE-1",
        "MUST",
        "A cached answer is not given to another text, other parameters or another namespace.",
        ("SPECIFICATION 11.6", "SPECIFICATION 16.3", "R27"),
        needs=("provider", "supports_caching"),
        hint="key the cache by a hash of dialect, text, params and namespace",
    ),
    R(
        "GRA-MODEL-1",
        "MUST",
        "Any sequence of writes, deletes, batches and transactions leaves what it adds up to.",
        ("SPECIFICATION 4.2.6", "SPECIFICATION 7.3.1", "SPECIFICATION 7.3.3"),
        hint="replay the envelopes that are printed, and follow the node or edge that goes astray",
    ),
)

REQUIREMENTS = (*_BATCH, *_TRANSACTION, *_TRAVERSAL, *_BULK, *_SCHEMA, *_CLAIMS)
