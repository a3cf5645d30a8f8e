"""Unary calls over HTTP, with their status and headers (SPECIFICATION 4.2.1; ERRORS 3.1; R75, R87)."""

REQUIREMENTS = """
TRA-HTTP-1 MUST: A unary answer over HTTP has the content type application/json, whatever its status.
  from SPECIFICATION 4.2.1, R75, R87; needs http
  hint: set Content-Type: application/json on errors too; frameworks send their error pages as text/html
TRA-HTTP-2 SHOULD: The HTTP status of an error envelope is a status of its class, or 200.
  from ERRORS 3.1, R75; needs http
  hint: derive the status from the class of the envelope by the table of ERRORS 3.1, in one place
TRA-HTTP-3 SHOULD: The HTTP status of a success is 2xx.
  from ERRORS 3.1, R75; needs http
  hint: answer a success with 200; clients and proxies treat other statuses than 2xx as errors
TRA-HTTP-4 MUST: A body is compressed only if the request allows it; decompressed, it is the envelope.
  from SPECIFICATION 4.2.1, R87; needs http
  hint: read Accept-Encoding before you compress, and name the encoding in Content-Encoding
TRA-HTTP-5 SHOULD: A method other than POST is refused with a 4xx status.
  from R87; needs http
  hint: answer every method but POST with 405
TRA-HTTP-6 MUST: A request whose content type is not application/json is answered with an envelope, whether it is served
    or refused.
  from SPECIFICATION 4.2.1, R87; needs http
  hint: refuse a wrong Content-Type with a BAD_REQUEST envelope, not with a page of your framework
TRA-HTTP-7 SHOULD: A request that is refused for its content type has the status 400 or 415.
  from ERRORS 3.1, R87; needs http
  hint: refuse a content type with 415 or 400
TRA-HTTP-8 MUST: A stream that is refused is answered with one error frame in the requested format, or with an error
    envelope as application/json.
  from SPECIFICATION 4.2.3.2, R87; needs http, supports_streaming; for streaming
  hint: if no frame was sent yet, send the error as the only frame, or as JSON with its own status
TRA-HTTP-10 SHOULD: A request whose header `X-Adapter-Protocol` names another major version is refused with
    NOT_SUPPORTED.
  from SPECIFICATION 18.2, R130; needs http
  hint: read X-Adapter-Protocol, and answer NOT_SUPPORTED unless it names v1 or is missing
TRA-HTTP-11 MUST: If the adapter reads the header `X-Adapter-Protocol`, it serves v1 and refuses v2 with NOT_SUPPORTED.
  from SPECIFICATION 18.2, SPECIFICATION 4.2.2, R130; needs http
  hint: compare the major version only: serve every llm/v1.x, and answer llm/v2.0 with a NOT_SUPPORTED envelope
TRA-HTTP-9 SHOULD: A streaming format that is not offered is refused with NOT_SUPPORTED, and with the HTTP status 406 or
    another status of NOT_SUPPORTED.
  from R87; needs http, supports_streaming; for streaming
  hint: read Accept; answer a format that you do not have with 406 and a NOT_SUPPORTED envelope
"""
