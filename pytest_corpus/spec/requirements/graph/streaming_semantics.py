"""Streams of records: state machine, completeness, order (BEHAVIORAL_CONFORMANCE 6.2; SPECIFICATION 4.2.3, 7.3.2)."""

REQUIREMENTS = """
GRA-STREAM-1 MUST: Every chunk of a stream matches the schema: `records`, `is_final` and nothing undocumented.
  from SCHEMA 4.4.3, SPECIFICATION 4.2.3.3, R3; needs supports_streaming
  hint: send `records` as a list of objects in each chunk, with `is_final` and no undocumented key
GRA-STREAM-2 MUST: A stream has the records of the query: all of them, each once, with their current values.
  from SPECIFICATION 7.3.2, SPECIFICATION 4.2.6; needs supports_streaming
  hint: begin each chunk after the last record that you sent, and send the remaining records at the end
GRA-STREAM-3 MUST: The records of an ordered query are streamed in that order.
  from SPECIFICATION 4.2.3.3; needs supports_streaming
  hint: keep the database's order within each chunk and from chunk to chunk
GRA-STREAM-4 MUST: `stream_query` binds parameters as values, with their type, in every dialect.
  from SPECIFICATION 7.3.2, SPECIFICATION 14.4, R119; needs supports_streaming
  hint: bind the parameters of a stream with the code of `query`; do not format or convert them
GRA-STREAM-5 MUST: If a text is not a query, `stream_query` refuses it as `query` does.
  from ERRORS 6.4, R12; needs supports_streaming
  hint: map the syntax error of a stream with the code of `query`; do not end the stream with a final chunk
GRA-STREAM-6 MUST: `stream_query` refuses the arguments that `query` refuses.
  from ERRORS 6.4, R8; needs supports_streaming
  hint: check the arguments of `stream_query` with the function that `query` uses, before the first frame
GRA-STREAM-7 MUST: A stream that matches nothing ends without an error and without records.
  from SPECIFICATION 7.3.2, R4; needs supports_streaming
  hint: end with a final chunk of records [] if nothing matches, not with a record of nulls
"""
