"""The streaming transports that capabilities name (SPECIFICATION 4.2.4.5; R23, R90)."""

REQUIREMENTS = """
TRA-ADV-1 MUST: If `streaming_transports` names a transport that belongs to the adapter's kind of address, the
    transport works.
  from SPECIFICATION 4.2.4.5, R23, R90; needs remote, supports_streaming; for streaming
  hint: advertise only the transports of this address
TRA-ADV-2 SHOULD: `streaming_transports` is a list of names of transports.
  from SPECIFICATION 4.2.4.5, R90; needs remote
  hint: write it as ["ndjson", "sse"] under `extensions`; add websocket, grpc or stdio if they work
"""
