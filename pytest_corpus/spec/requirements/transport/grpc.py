"""gRPC: one message per frame (SPECIFICATION 4.2.4.4; ERRORS 3.2; R89)."""

REQUIREMENTS = """
TRA-GRPC-1 MUST: Each message of gRPC is a `Frame` that holds exactly one JSON frame.
  from SPECIFICATION 4.2.4.4, R89; needs grpc
  hint: fill the field `json` of one `Frame` with one frame; do not collect frames in a message
TRA-GRPC-2 MUST: No message follows the terminal frame of a stream over gRPC.
  from SPECIFICATION 4.2.4.4, SPECIFICATION 4.2.3.2, SCHEMA 5.3; needs grpc, supports_streaming; for streaming
  hint: end the call after the terminal frame; everything else belongs in trailing metadata
TRA-GRPC-3 SHOULD: A gRPC status other than OK is a status of the error class in the envelope.
  from ERRORS 3.2, R89; needs grpc
  hint: derive the status from the class of the envelope by the table of ERRORS 3.2, or answer with OK
"""
