"""The context of a request; every component treats it alike."""

REQUIREMENTS = """
COM-CTX-1 MUST: Unknown keys in `ctx` are ignored.
  from SPECIFICATION 4, SPECIFICATION 4.2.5, R8, R134
  hint: read known `ctx` keys by name and ignore others; do not pass `ctx` as keyword arguments
COM-CTX-2 MUST: A `ctx` field of the wrong type is refused with BAD_REQUEST.
  from SCHEMA 3.2, R8
  hint: check the type of each `ctx` field before use; do not convert or ignore it
COM-CTX-3 MUST: Every documented `ctx` field is accepted, and none is required.
  from SCHEMA 3.2, R138
  hint: accept the `ctx` fields that you do not use, on streams too, and give every field a default
COM-CTX-4 MUST: `attrs` may hold any JSON.
  from SCHEMA 3.2, SPECIFICATION 4.2.5
  hint: check only that `attrs` is an object; its values may be numbers, lists, objects and null as well
COM-CTX-5 MUST: The `traceparent` of the context is passed on to the provider unchanged.
  from SPECIFICATION 6.1, SPECIFICATION 11.3, R93; needs provider
  hint: pass the traceparent of each call on unchanged, from a local variable, in streams and batches too
COM-CTX-6 MUST: An adapter with all four components accepts one context in all of them, and each component accepts
    values from the answers of the others.
  from SPECIFICATION A, SPECIFICATION 11.3, R95; for vector
  hint: key request_id and idempotency_key by operation, because all components may get the same ones
"""
