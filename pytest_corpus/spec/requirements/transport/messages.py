"""WebSocket and standard output: one message or line per frame (SPECIFICATION 4.2.4.3; R88)."""

REQUIREMENTS = """
TRA-MSG-1 MUST: Each answer on a channel of messages is an object with the `id` of its request, `frame`, and nothing
    else.
  from SPECIFICATION 4.2.4.3, R88; needs messages
  hint: send the unchanged number `id`, and `frame`; do not add times, types or versions
TRA-MSG-2 MUST: Each message holds exactly one frame, which is an object.
  from SPECIFICATION 4.2.4.3, R88; needs messages
  hint: put the frame itself into `frame`: no list of frames, and no JSON inside a string
TRA-MSG-3 MUST: No message follows the terminal frame of a call.
  from SPECIFICATION 4.2.4.3, SPECIFICATION 4.2.3.2, R88; needs messages
  hint: send nothing for an id after its answer or its terminal frame
TRA-MSG-4 MUST: After `cancel`, a call sends nothing, or a single error frame.
  from SPECIFICATION 4.2.4.3, R88; needs messages, provider, supports_streaming; for streaming
  hint: store the task of each call by the call's id; when `cancel` names an id, cancel the task of this call
TRA-WS-1 MUST: Every message of a WebSocket is a text message.
  from SPECIFICATION 4.2.4.3, R88; needs websocket
  hint: send text; libraries send bytes as binary messages, so decode them first
TRA-STDIO-1 MUST: Standard output has only answers, one on each line.
  from SPECIFICATION 4.2, R88; needs stdio
  hint: write logs, banners and progress to standard error, and no blank lines
"""
