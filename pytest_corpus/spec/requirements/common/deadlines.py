"""Deadlines, which every component must keep."""

REQUIREMENTS = """
COM-DEADLINE-1 MUST: A call whose deadline has passed is refused with DEADLINE_EXCEEDED.
  from SPECIFICATION 6.1, BEHAVIORAL_CONFORMANCE 6.1, R16
  hint: begin every operation by comparing ctx.deadline_ms, absolute epoch milliseconds, with the clock
COM-DEADLINE-2 MUST: A call whose deadline has passed causes no backend work.
  from SPECIFICATION 6.1, BEHAVIORAL_CONFORMANCE 6.1, R16; needs provider
  hint: check the deadline before you call the provider, not after its answer
COM-DEADLINE-3 MUST: A stream whose deadline has passed consists of one DEADLINE_EXCEEDED error, without data.
  from SPECIFICATION 6.1, R16; needs supports_streaming; for streaming
  hint: check the deadline before the first frame, and yield one DEADLINE_EXCEEDED error envelope
COM-DEADLINE-4 MUST: If the budget of a call runs out during the call, the call ends promptly with DEADLINE_EXCEEDED.
  from BEHAVIORAL_CONFORMANCE 6.1, R17; needs provider, supports_deadline
  hint: limit each provider call to the remaining budget and map its timeout; do not swallow asyncio.CancelledError
COM-DEADLINE-5 MUST: If the budget of a stream runs out during the stream, the stream ends promptly with
    DEADLINE_EXCEEDED.
  from BEHAVIORAL_CONFORMANCE 6.1, R17; needs provider, supports_deadline, supports_streaming; for streaming
  hint: limit the wait for every chunk to the remaining budget; do not swallow asyncio.CancelledError
COM-DEADLINE-6 MUST: A call well within its deadline is carried out.
  from SPECIFICATION 6.1, BEHAVIORAL_CONFORMANCE 6.1
  hint: read deadline_ms as an epoch time, not a duration, and give the provider all the remaining time
COM-DEADLINE-7 MUST: A `deadline_ms` of zero or less is refused with BAD_REQUEST or DEADLINE_EXCEEDED.
  from SCHEMA 3.2, R18
  hint: compare `deadline_ms` with None; do not test for truth, because zero is an expired deadline
COM-DEADLINE-8 MUST: An operation on several items has one budget for all of them. It ends at most a second after this
    budget, however many calls to the provider it makes.
  from SPECIFICATION 6.1, SPECIFICATION 11.3, R62; needs provider, supports_deadline; for vector, embedding, graph
  hint: compute the remaining time before each item, also in a transaction and if a batch is sent item by item
COM-DEADLINE-9 MUST: The absolute deadline is passed on to the provider unchanged.
  from SPECIFICATION 6.1, SPECIFICATION 11.3, R93; needs provider
  hint: pass ctx.deadline_ms on unchanged, as epoch milliseconds; each hop computes the remaining time
COM-DEADLINE-10 MUST: A write whose deadline has passed changes nothing.
  from SPECIFICATION 6.1, BEHAVIORAL_CONFORMANCE 6.1, R16; for vector, graph
  hint: check the deadline before the first write to any store
"""
