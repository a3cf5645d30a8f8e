"""Streams over HTTP: newline-delimited JSON and server-sent events (SPECIFICATION 4.2.4.1, 4.2.4.2; R87)."""

REQUIREMENTS = """
TRA-NDJSON-1 MUST: A stream of NDJSON has the content type application/x-ndjson.
  from SPECIFICATION 4.2.4.1, R87; needs http, supports_streaming; for streaming
  hint: answer Accept: application/x-ndjson with that content type; a charset may follow it
TRA-NDJSON-2 MUST: A stream of NDJSON is sent with Transfer-Encoding: chunked.
  from SPECIFICATION 4.2.4.1, R87; needs http, supports_streaming; for streaming
  hint: write each frame as soon as it exists, without a content length; a buffered body is not a stream
TRA-NDJSON-3 MUST: Each line of a stream of NDJSON is one complete JSON frame, and nothing else.
  from SPECIFICATION 4.2.4.1, SCHEMA 5.2, R87; needs http, supports_streaming; for streaming
  hint: write compact JSON and a line feed after each frame: no blank lines, comments, `data:` or indentation
TRA-NDJSON-4 MUST: The last line of a stream of NDJSON is a terminal frame; no other line is one.
  from SPECIFICATION 4.2.4.1, SPECIFICATION 4.2.3.2, SCHEMA 5.3; needs http, supports_streaming; for streaming
  hint: end the response right after the terminal line; send no [DONE], no summary and no line after it
TRA-SSE-1 MUST: A stream of server-sent events has the content type text/event-stream.
  from SPECIFICATION 4.2.4.2, R87; needs http, supports_streaming; for streaming
  hint: answer Accept: text/event-stream with that content type, or browsers refuse the stream
TRA-SSE-2 MUST: The data of each event is one complete JSON frame.
  from SPECIFICATION 4.2.4.2, R87; needs http, supports_streaming; for streaming
  hint: put the whole frame into `data:`, even if `event:` names it; use comments to keep the connection alive
TRA-SSE-3 MUST: The last event that has data is a terminal frame; no other event is one.
  from SPECIFICATION 4.2.4.2, SPECIFICATION 4.2.3.2, SCHEMA 5.3; needs http, supports_streaming; for streaming
  hint: close the response after the terminal event; `data: [DONE]` and pings after it are not frames
"""
