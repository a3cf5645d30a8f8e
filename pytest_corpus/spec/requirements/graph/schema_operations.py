"""The schema that an adapter reports (SPECIFICATION 4.2.6, 7.5)."""

REQUIREMENTS = """
GRA-SCHEMA-1 MUST: The result of `get_schema` is an object.
  from SPECIFICATION 4.2.6, R42, R123; needs supports_schema_ops
  hint: return an object, for example with `nodes` and `edges` by label, not a list or a text
GRA-SCHEMA-2 SHOULD: `get_schema` lists the labels of the nodes and edges that were written.
  from SPECIFICATION 4.2.6, BEHAVIORAL_CONFORMANCE 5.2, R123; needs supports_schema_ops
  hint: read the labels of nodes and of edges from the graph as it is now, not from an old answer
GRA-SCHEMA-3 SHOULD: `get_schema` lists the property names of the nodes and edges that were written.
  from SPECIFICATION 4.2.6; needs supports_schema_ops
  hint: list the names of properties under each label
GRA-SCHEMA-4 SHOULD: `get_schema` shows no values of properties.
  from SPECIFICATION 7.5, SPECIFICATION 15; needs supports_schema_ops
  hint: describe properties by name and type; leave out examples
GRA-SCHEMA-5 MUST: If DDL is claimed, statements that make and drop an index are carried out, and change no data.
  from BEHAVIORAL_CONFORMANCE 5.2, R23, R96
  hint: claim DDL only if statements of the dialect reach the database, and if an index changes no nodes
"""
