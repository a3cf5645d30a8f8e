"""Writing, reading, updating and deleting nodes and edges (SPECIFICATION 4.2.6, 7.3.1; R26)."""

REQUIREMENTS = """
GRA-NODE-1 MUST: A node that was upserted is read back with its labels and properties.
  from SPECIFICATION 4.2.6, SPECIFICATION 7.3.1, BEHAVIORAL_CONFORMANCE 5.2, R138
  hint: store all labels and all properties before you answer, also for nodes without labels
GRA-NODE-2 MUST: Upserting a node again updates it: one node has that id, with the new values.
  from SPECIFICATION 4.2.6
  hint: overwrite labels and properties of a known id; a write is a replay only if it repeats an idempotency key
GRA-NODE-3 MUST: Every node of a request is written, whatever its position.
  from SPECIFICATION 4.2.6, SPECIFICATION 12.5, R14, R138
  hint: write all of `nodes`; if you split a request, include its last part
GRA-NODE-4 MUST: The result of `upsert_nodes` is null, ids, or an object whose counts and `failures` match the schema.
  from SCHEMA 4.4.2, SPECIFICATION 7.3.1, SPECIFICATION 12.5, R14, R123
  hint: return a numeric count, failed_count, and failures as a list ([] for none); see graph.types.write_result
GRA-NODE-5 MUST: The counts of `upsert_nodes` are true: how many nodes were written, and how many were not.
  from SPECIFICATION 12.5, SCHEMA 4.4.2, R14, R123
  hint: count the nodes that were written, not requests or failures; set failed_count to len(failures)
GRA-NODE-6 MUST: If `nodes` or a node has the wrong type, or an id or label is empty, the request is refused or the node
    is reported.
  from SPECIFICATION 7.3.1, SPECIFICATION 17.2, SCHEMA 4.4.2, R8, R45, R69
  hint: check that id is a string, labels a list of strings, none of them empty, and properties an object
GRA-NODE-7 MUST: If one node of a request is unusable, either nothing is written, or the node is reported by `index` and
    `error` and all others are written.
  from SPECIFICATION 12.5, ERRORS 10, R14, R45
  hint: continue after a node that fails and report its `index`, or check all nodes before you write one
GRA-NODE-8 MUST: NaN and infinities in properties, at any depth, are refused with the whole request, or reported for the
    item.
  from SPECIFICATION 4.1, R34, R45
  hint: check math.isfinite of every number in properties, inside lists and objects, in batches too
GRA-NODE-9 MUST: Strings, integers, floats and booleans in properties are read back as they were written.
  from SPECIFICATION 7.3.1, SPECIFICATION 4.1, R128, R138
  hint: store text whole as UTF-8, numbers as 64 bits, booleans as booleans, and names in their letter case
GRA-NODE-10 MUST: Lists and objects in properties are read back as they were written, or refused.
  from SPECIFICATION 7.3.1, SPECIFICATION 17.2
  hint: refuse a node if you cannot store one of its values; do not drop the value or turn it into text
GRA-NODE-11 SHOULD: Of two nodes with the same id in a request, the later one is kept, or the request is refused.
  from SPECIFICATION 4.2.6, SPECIFICATION 12.5
  hint: apply the nodes of a request in order; of two nodes with the same id, the later one wins
GRA-NODE-12 MUST: An id is any text that is not empty.
  from SPECIFICATION 7.3.1, SCHEMA 4.4.2
  hint: map ids to UUIDv5 if the database wants UUIDs, and answer with the ids that were given
GRA-NODE-13 SHOULD: Numbers with a fraction are doubles, whatever precision `extensions` state.
  from SPECIFICATION 4.1, R128
  hint: store numbers with 64 bits; you may state a lower precision, but it is not recommended
GRA-EDGE-1 MUST: An edge that was upserted is read back between its ends, in its direction and with its label.
  from SPECIFICATION 4.2.6, SPECIFICATION 7.3.1, SCHEMA 4.4.2, R138
  hint: store src, dst and label as they were given; do not sort the ends or change letter case
GRA-EDGE-2 MUST: The properties of an edge are read back as they were written.
  from SPECIFICATION 7.3.1, SPECIFICATION 4.1, SCHEMA 4.4.2, R128, R138
  hint: store every property of an edge with its own type, booleans included
GRA-EDGE-3 MUST: Upserting an edge again updates it: one edge has that id, with the new values.
  from SPECIFICATION 4.2.6
  hint: look edges up by id; replace a known edge with its new ends and label, or refuse new ends
GRA-EDGE-4 MUST: If an edge is refused because one of its nodes does not exist, the error is VertexNotFound or
    BadRequest.
  from ERRORS 6.4, R12
  hint: raise VertexNotFound for a missing end: it is the caller's mistake, not an outage
GRA-EDGE-5 SHOULD: An edge is refused if one of its nodes does not exist.
  from ERRORS 6.4
  hint: look up both ends before you write the edge; do not make an empty node
GRA-EDGE-6 MUST: If `edges` or an edge has the wrong type, or an id or label is empty, the request is refused or the
    edge is reported.
  from SPECIFICATION 7.3.1, SPECIFICATION 17.2, SCHEMA 4.4.2, R8, R45, R69
  hint: check that id, src, dst and label are strings, none of them empty, and properties an object
GRA-EDGE-7 MUST: If one edge of a request is unusable, either nothing is written, or the edge is reported by `index` and
    `error` and all others are written.
  from SPECIFICATION 12.5, ERRORS 10, R14, R45
  hint: continue after an edge that fails and report its `index` from 0, or check all before you write one
GRA-EDGE-8 MUST: The result of `upsert_edges` is null, ids, or an object that matches the schema and has true counts.
  from SCHEMA 4.4.2, SPECIFICATION 7.3.1, SPECIFICATION 12.5, R14, R123
  hint: return the number of edges as count, with failed_count and failures
GRA-EDGE-9 MUST: Every edge of a request is written, including edges with different ids between the same nodes, and an
    edge from a node to itself.
  from SPECIFICATION 4.2.6, SPECIFICATION 12.5, R14
  hint: key edges by id, not by ends and label, and accept an edge whose src equals its dst
GRA-EDGE-10 MUST: NaN and infinities in the properties of an edge are refused with the whole request, or reported for
    that edge.
  from SPECIFICATION 4.1, R34, R45
  hint: check math.isfinite of every number in properties of edges, as in properties of nodes
GRA-DELETE-1 MUST: `delete_nodes` by ids removes these nodes and no others.
  from SPECIFICATION 4.2.6, SPECIFICATION 7.3.1, R138
  hint: go through all ids, and compare whole ids, not their beginnings
GRA-DELETE-2 MUST: `delete_edges` by ids removes these edges and no others, and leaves the nodes.
  from SPECIFICATION 4.2.6, SPECIFICATION 7.3.1
  hint: remove edges by their id only; keep parallel edges, and nodes without edges
GRA-DELETE-3 MUST: Deleting a node or an edge that does not exist succeeds.
  from SPECIFICATION 7.3.1, R26
  hint: answer an unknown id with a success, and do not list it as a failure
GRA-DELETE-4 MUST: Traversals and queries do not show a deleted node or its edges.
  from SPECIFICATION 4.2.6, SPECIFICATION 7.3.1
  hint: remove the edges of a node with it, or refuse to remove a node that has edges
GRA-DELETE-5 SHOULD: A node that is written again after its deletion has none of its old edges.
  from SPECIFICATION 4.2.6
  hint: remove the edges of a node permanently when it is deleted
GRA-DELETE-6 MUST: A delete with a filter removes all items that meet the filter and no others, or is refused
    permanently.
  from SPECIFICATION 4.2.6, ERRORS 6.4, R31, R131, R138
  hint: apply every term of the filter, or refuse the filter; do not ignore a part
GRA-DELETE-7 MUST: A delete is refused if `ids` or `filter` has the wrong type. A delete that names nothing removes
    nothing.
  from SPECIFICATION 7.3.1, R8, R98; quiet
  hint: check that `ids` is a list of strings and `filter` an object; if one is missing, do not delete everything
GRA-DELETE-8 MUST: The result of a delete is null, ids, or an object whose counts and `failures` match the schema.
  from SCHEMA 4.4.2, SPECIFICATION 7.3.1, SPECIFICATION 12.5, R14, R123
  hint: return a numeric deleted_count (or processed_count), failed_count, and failures as a list
GRA-DELETE-9 SHOULD: `deleted_count` is the number of given ids that existed.
  from SCHEMA 4.4.2, SPECIFICATION 12.5
  hint: count the ids that you found, not the ids in the request
GRA-DELETE-10 SHOULD: A delete without `ids` and `filter`, or with null for them, is refused with BAD_REQUEST.
  from SPECIFICATION 7.3.1, R98; quiet
  hint: check that `ids` or `filter` is there
GRA-NS-1 MUST: Data of one namespace are not read in another namespace, by any operation, even if the ids are the same.
    An item may repeat the namespace of its request.
  from BEHAVIORAL_CONFORMANCE 6.7, SCHEMA 4.4.2, SPECIFICATION 7.3.1, R138, R139; needs supports_namespaces
  hint: read `namespace` in every operation, also in streams and items of batches; key data by namespace and id
GRA-NS-2 MUST: Deleting in one namespace leaves the items of other namespaces as they are, even if the ids are the same.
  from SPECIFICATION 7.3.1, SCHEMA 4.4.2, R139; needs supports_namespaces
  hint: delete by namespace and id together
GRA-NS-3 SHOULD: If an item names a namespace and its request names none, the item is stored in this namespace. Answers
    name the namespace that was read.
  from SCHEMA 4.4.2, SPECIFICATION 7.3.1; needs supports_namespaces
  hint: read `namespace` from each item if the request has none, and return that namespace
GRA-NS-4 MUST: Reading from a namespace that was never written to finds nothing, or is refused with NamespaceNotFound.
  from ERRORS 6.4, R12, R45; needs supports_namespaces
  hint: treat an unknown namespace as empty, or raise NamespaceNotFound; do not use a default instead
GRA-NS-5 MUST: Deleting in a namespace that was never written to succeeds, or is refused permanently.
  from SPECIFICATION 7.3.1, ERRORS 6.4, R26, R45; needs supports_namespaces
  hint: answer with a count of 0, or raise NamespaceNotFound, if the namespace is unknown
GRA-CACHE-1 MUST: A cached answer is not returned for another text, dialect or namespace, or for other parameters.
  from SPECIFICATION 11.6, SPECIFICATION 16.3, R27; needs provider, supports_caching; quiet
  hint: key the cache by a hash of dialect, text, params and namespace
GRA-MODEL-1 MUST: After any sequence of writes, deletes, batches and transactions, the graph holds their result.
  from SPECIFICATION 4.2.6, SPECIFICATION 7.3.1, SPECIFICATION 7.3.3
  hint: repeat the calls under `smallest story:`, and look for the first node or edge that is wrong
GRA-MODEL-2 MUST: If clients write, read and delete a node concurrently, reads show only complete nodes. Afterwards,
    reads show the last write, or nothing if a delete was last.
  from SPECIFICATION 4.2.6, R46; quiet
  hint: read and change stored data in one step, after the last await, and commit only the changes of the request
GRA-MODEL-3 SHOULD: If capabilities claim strong consistency, concurrent operations behave as if they ran one after the
    other.
  from SPECIFICATION B, R46; quiet
  hint: answer a write once every read sees it, or claim `read_after_write_consistency` of another kind
"""
