"""Dialects: supported and unsupported ones (SPECIFICATION 7.3.2, 7.4; ERRORS 6.4; R12, R33)."""

REQUIREMENTS = """
GRA-DIALECT-1 MUST: Capabilities list the dialects in which queries are answered.
  from SPECIFICATION 7.4, SPECIFICATION 7.3.2
  hint: list them as `dialects` or `supported_query_dialects`
GRA-DIALECT-2 MUST: Every listed dialect is answered by `query`.
  from SPECIFICATION 7.4, R23, R33
  hint: send queries of every listed dialect to the database, or take the dialect off the list
GRA-DIALECT-3 MUST: Every listed dialect is answered by `stream_query`.
  from SPECIFICATION 7.4, R23, R33; needs supports_streaming
  hint: serve in `stream_query` every dialect that `query` serves, or take it off the list
GRA-DIALECT-4 MUST: `query` refuses an unknown dialect with NOT_SUPPORTED, in a batch too.
  from SPECIFICATION 7.4, ERRORS 6.4, R12
  hint: answer NOT_SUPPORTED, not BAD_REQUEST, to an unlisted dialect; do not use another one instead
GRA-DIALECT-5 MUST: `stream_query` refuses an unknown dialect with NOT_SUPPORTED.
  from SPECIFICATION 7.4, ERRORS 6.4, R12; needs supports_streaming
  hint: look the dialect up in `stream_query` too, before the first frame
GRA-DIALECT-6 MUST: A `dialect` that is not a string is refused with BAD_REQUEST or NOT_SUPPORTED.
  from SPECIFICATION 7.3.2, R8
  hint: check that `dialect` is a string before you look it up; do not treat another type as missing
GRA-DIALECT-7 SHOULD: A dialect of the protocol is not served if capabilities do not list it.
  from SPECIFICATION 7.3.2, R23
  hint: list the dialect, or answer NOT_SUPPORTED to it
GRA-DIALECT-8 SHOULD: If capabilities list only one dialect, `dialect` may be left out.
  from SPECIFICATION 7.3.2
  hint: use the one dialect that you list if `dialect` is missing
"""
