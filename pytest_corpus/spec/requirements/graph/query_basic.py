"""Queries: results, parameters, refusals (SPECIFICATION 7.3.2; ERRORS 6.4)."""

REQUIREMENTS = """
GRA-QUERY-1 MUST: A plain query of an advertised dialect is answered with `records` that match the schema.
  from SPECIFICATION 7.3.2, SPECIFICATION 4.2.6, SCHEMA 4.4.2
  hint: return `records` as a list of objects, [] for none; replace the probe queries with --corpus-dialects
GRA-QUERY-2 MUST: A query finds everything that matches, with current values, and nothing else.
  from SPECIFICATION 4.2.6, BEHAVIORAL_CONFORMANCE 5.2
  hint: return all matches once, from the graph as it is now, without a hidden limit
GRA-QUERY-3 MUST: Parameters are bound as values, never written into the text: in every dialect, in batches and
    transactions too.
  from SPECIFICATION 7.3.2, SPECIFICATION 14.4, R119
  hint: bind parameters with the driver, never format them into the text
GRA-QUERY-4 MUST: Parameters of every scalar type are bound with their type.
  from SPECIFICATION 7.3.2
  hint: pass parameters to the driver unchanged
GRA-QUERY-5 MUST: A query that matches nothing is a success without records.
  from SPECIFICATION 7.3.2, BEHAVIORAL_CONFORMANCE 5.2
  hint: return records [] if nothing matches, not a record of nulls
GRA-QUERY-6 MUST: A text that is not a query of its dialect is refused with QueryParseError or BadRequest. A query that
    needs a feature that is not offered is refused permanently.
  from ERRORS 6.4, SPECIFICATION 12.4, R12
  hint: map the database's syntax error to QueryParseError, not to an empty result or an outage
GRA-QUERY-7 SHOULD: A text that is not a query of its dialect, or an empty text, is reported as QueryParseError.
  from ERRORS 6.4, R12
  hint: raise QueryParseError for a syntax error, and for an empty `text` too
GRA-QUERY-8 MUST: A missing `text`, or an argument of the wrong type, is refused with BAD_REQUEST.
  from SPECIFICATION 7.3.2, SPECIFICATION 4.1, R8
  hint: check that `text` and `namespace` are strings and `params` an object
GRA-QUERY-9 SHOULD: A query whose parameter is not given is refused or finds nothing.
  from SPECIFICATION 7.3.2, SPECIFICATION 14.4, R119
  hint: refuse an unbound parameter with BAD_REQUEST, or treat it as null; keep the condition that uses it
GRA-QUERY-10 MUST: A query longer than the stated `max_query_length` is refused with BAD_REQUEST; a shorter query is
    not.
  from SPECIFICATION 7.2, BEHAVIORAL_CONFORMANCE 6.7, R23
  hint: refuse only more than max_query_length, with BAD_REQUEST, before the database is asked
GRA-QUERY-11 MUST: The records of an ordered query come in that order.
  from SPECIFICATION 4.2.3.3, SPECIFICATION 7.3.2
  hint: keep the records in a list, in the order in which the database gives them
GRA-QUERY-12 SHOULD: If a result names a dialect or a namespace, it is the one that was asked for.
  from SPECIFICATION 7.3.2, SCHEMA 4.4.2
  hint: return the dialect and the namespace of the request, or leave them out
GRA-QUERY-13 MUST: If capabilities claim a timeout of queries, `timeout_ms` is accepted, and a value that is not a
    number is refused.
  from SPECIFICATION 6.2, R23, R118
  hint: accept `timeout_ms` as a duration, not as an epoch time; otherwise do not claim it
GRA-QUERY-19 SHOULD: If the provider does not answer, a query with `timeout_ms` ends with an error at most a second
    after this time.
  from SPECIFICATION 7.3.2, SPECIFICATION 14.4, R69; needs provider
  hint: wait for the backend no longer than `timeout_ms`, and answer with DEADLINE_EXCEEDED
GRA-QUERY-20 SHOULD: `timeout_ms` is accepted; a value that is negative or not a number is refused with BAD_REQUEST.
  from SPECIFICATION 4.1, R42, R69, R118
  hint: treat `timeout_ms` as a duration in milliseconds, and check that it is a number of at least 0
GRA-QUERY-21 SHOULD: If the `summary` of a result or a stream counts rows or records, the count is the number of records
    in the answer.
  from R42, SPECIFICATION 7.3.2
  hint: count the records of the answer in `summary`, or leave the count out
GRA-TRAV-1 MUST: The result of a traversal matches the schema: `nodes` and `relationships`.
  from SCHEMA 4.4.2, SPECIFICATION 4.2.6; needs supports_traversal
  hint: return `nodes` and `relationships` as lists, [] if there are none; add no undocumented key to an item
GRA-TRAV-2 MUST: A traversal reaches every node within `max_depth` of its start nodes, and shows each node as it was
    written.
  from SPECIFICATION 4.2.6; needs supports_traversal
  hint: start at each of start_nodes, and return what you reach with its labels and properties
GRA-TRAV-3 MUST: A traversal reaches no node beyond `max_depth`.
  from SPECIFICATION 4.2.6, SPECIFICATION 14.4; needs supports_traversal
  hint: stop after max_depth steps, and leave out the relationships that lead further
GRA-TRAV-4 MUST: A traversal follows edges in the `direction` that is asked for.
  from SPECIFICATION 4.2.6; needs supports_traversal
  hint: follow edges from src to dst for OUTGOING, back for INCOMING, both ways for BOTH, in every step
GRA-TRAV-5 MUST: A traversal follows the edges of every type in `relationship_types`, and no others.
  from SPECIFICATION 4.2.6, R31; needs supports_traversal
  hint: compare the label of each edge with all of relationship_types
GRA-TRAV-6 MUST: A traversal applies filters of nodes and relationships, or refuses them permanently.
  from SPECIFICATION 4.2.6, ERRORS 6.4, R31; needs supports_traversal
  hint: apply node_filters and relationship_filters, or refuse them; do not ignore them
GRA-TRAV-7 MUST: The relationships of a traversal are edges that were written, with their ends and labels.
  from SCHEMA 4.4.2, SPECIFICATION 4.2.6; needs supports_traversal
  hint: return each relationship as stored, with its ends and label, in whichever direction you followed it
GRA-TRAV-8 MUST: A traversal with a depth beyond `max_traversal_depth` is refused with BAD_REQUEST, or stops at
    `max_traversal_depth`.
  from SPECIFICATION 14.4, BEHAVIORAL_CONFORMANCE 6.7; needs supports_traversal
  hint: compare max_depth with max_traversal_depth, and raise BadRequest or stop there
GRA-TRAV-9 MUST: A traversal with a depth of `max_traversal_depth` is carried out.
  from BEHAVIORAL_CONFORMANCE 6.7, R23; needs supports_traversal
  hint: refuse or stop only beyond max_traversal_depth, and state a depth that you support
GRA-TRAV-10 MUST: Cycles and several ways to a node do not disturb a traversal.
  from SPECIFICATION 14.4, SPECIFICATION 4.2.6; needs supports_traversal
  hint: remember visited ids: follow the edges of a node once, and keep the node in the result
GRA-TRAV-11 MUST: A traversal from a start node that does not exist is refused with VertexNotFound or BadRequest, or
    reaches nothing.
  from ERRORS 6.4, R12; needs supports_traversal
  hint: look start nodes up; if one is missing, raise VertexNotFound or return nothing; do not invent a node
GRA-TRAV-12 MUST: A traversal is refused with BAD_REQUEST if an argument has the wrong type.
  from SPECIFICATION 17.2, R8; needs supports_traversal
  hint: check start_nodes, max_depth and direction before use; do not replace a wrong value by a default
GRA-TRAV-13 SHOULD: A traversal returns each node and each relationship once, and each path follows edges from a start
    node.
  from SCHEMA 4.4.2; needs supports_traversal
  hint: collect nodes and relationships by id, and begin each path with its start node
GRA-TRAV-14 SHOULD: Without `max_depth` and `direction` a traversal takes one step along outgoing edges.
  from SPECIFICATION 4.2.6, R42; needs supports_traversal
  hint: use 1 if max_depth is missing, and OUTGOING if direction is missing
GRA-TRAV-15 MUST: If capabilities claim path queries, a traversal gives `paths`, or a query returns a path.
  from R23, R42, R118; needs supports_path_queries
  hint: return in `paths` the ids along each path of a traversal, or do not claim supports_path_queries
GRA-TRAV-16 SHOULD: A `max_depth` below 1, or a `direction` other than OUTGOING, INCOMING and BOTH, is refused with
    BAD_REQUEST.
  from SPECIFICATION 17.2, R42, R118; needs supports_traversal
  hint: check that max_depth is at least 1 and direction OUTGOING, INCOMING or BOTH; do not use a default instead
"""
