"""Messages and tool calling (SPECIFICATION 8.3; SCHEMA 4.1.2, 4.1.3; ERRORS 6.1)."""

REQUIREMENTS = """
LLM-MSG-1 MUST: A role other than system, user, assistant and tool is refused with BAD_REQUEST.
  from SPECIFICATION 8.3, SCHEMA 4.1.2, ERRORS 6.1
  hint: check that the role of every message is a string and exactly one of the four
LLM-MSG-2 MUST: A message without `role` or without `content` is refused with BAD_REQUEST.
  from SCHEMA 4.1.2, ERRORS 6.1
  hint: refuse a message that lacks `role` or `content`; do not use a default
LLM-MSG-3 MUST: `content` that is not a string is refused with BAD_REQUEST.
  from SCHEMA 4.1.2, R8
  hint: check that `content` is a string; do not join a list of parts
LLM-MSG-4 MUST: `messages` that is not a list of objects is refused with BAD_REQUEST.
  from SCHEMA 4.1.2, R8
  hint: check that `messages` is a list and each entry an object; do not wrap a text or skip an entry
LLM-MSG-5 MUST: A request without `messages` is refused with BAD_REQUEST.
  from SPECIFICATION 8.3, R8
  hint: refuse a request without `messages`; do not treat it as an empty conversation
LLM-MSG-6 MUST: `name`, `tool_call_id` or `tool_calls` of the wrong type is refused with BAD_REQUEST.
  from SCHEMA 4.1.2, R8
  hint: check the optional keys too: `name` and `tool_call_id` are strings, `tool_calls` is a list
LLM-MSG-7 MUST: System, user and assistant messages are accepted.
  from SPECIFICATION 8.3, SCHEMA 4.1.2; needs supports_roles
  hint: accept any number of messages of these roles in turn, or deny supports_roles
LLM-MSG-8 MUST: `stream` refuses the messages that `complete` refuses.
  from ERRORS 6.1; needs supports_streaming
  hint: check the messages of `stream` with the function that `complete` uses, before the first frame
LLM-MSG-9 MUST: An unknown key in a message is ignored or refused with BAD_REQUEST.
  from SCHEMA 4.1.2, R8
  hint: read known keys by name; do not pass a message as keyword arguments
LLM-MSG-10 MUST: `model` or `system_message` of the wrong type is refused with BAD_REQUEST; `stop_sequences` of the
    wrong type may also be ignored.
  from SPECIFICATION 8.3, R8, R117
  hint: check that `model` and `system_message` are strings; do not convert them
LLM-TOOLS-1 MUST: With `tool_choice` "required", a tool is called.
  from BEHAVIORAL_CONFORMANCE 5.3, R23, R72; needs supports_tools, supports_tool_choice
  hint: pass `tool_choice` on to the provider, and return its `tool_calls`
LLM-TOOLS-2 MUST: A tool call names one of the given tools, and its arguments are a JSON text.
  from SCHEMA 4.1.2; needs supports_tools, supports_tool_choice
  hint: write `function.arguments` as the JSON text of an object, and take the name from the given tools
LLM-TOOLS-3 MUST: A malformed tool definition is refused with BAD_REQUEST.
  from SCHEMA 4.1.3, ERRORS 6.1, R8; needs supports_tools
  hint: check that each tool is an object with a `function` that has a `name`; do not drop a bad one
LLM-TOOLS-4 MUST: A malformed `tool_choice` is refused with BAD_REQUEST.
  from ERRORS 6.1, R8, R72; needs supports_tools, supports_tool_choice
  hint: accept "auto", "none", "required" or an object; check this before you use the value
LLM-TOOLS-5 MUST: If capabilities deny tools, a request with tools is either answered, or refused with NOT_SUPPORTED.
  from ERRORS 6, R23
  hint: if you deny tools, answer NOT_SUPPORTED to a request with `tools`, or answer it without reading them
LLM-TOOLS-6 MUST: The result of a tool call is accepted as a message of role tool.
  from SPECIFICATION 8.3, SCHEMA 4.1.2, R112; needs supports_tools, supports_roles
  hint: accept role tool with `tool_call_id`, and read the name of an earlier call from its `function`
LLM-TOOLS-7 SHOULD: With `tool_choice` "none", no tool is called.
  from BEHAVIORAL_CONFORMANCE 5.3, R72; needs supports_tools, supports_tool_choice
  hint: leave the tools out of the provider's request if `tool_choice` is "none"
LLM-TOOLS-8 MUST: An answer does not call more tools at once than capabilities allow.
  from BEHAVIORAL_CONFORMANCE 6.7, R23, R72; needs supports_tools, supports_tool_choice
  hint: cut the calls to max_tool_calls_per_turn, and to one if supports_parallel_tool_calls is false
LLM-TOOLS-10 SHOULD: If `tool_choice` names a tool, this tool is called.
  from BEHAVIORAL_CONFORMANCE 5.3, R23, R72; needs supports_tools, supports_tool_choice
  hint: pass the object in tool_choice on to the provider, or offer only the named tool
LLM-TOOLS-21 MUST: If capabilities claim the choice of tools, a request with `tool_choice` "auto" is answered.
  from BEHAVIORAL_CONFORMANCE 5.3, R23, R72; needs supports_tools, supports_tool_choice
  hint: treat "auto" as the default: the model decides
LLM-TOOLS-22 MUST: Each tool call has its own id, which is not empty.
  from SCHEMA 4.1.2; needs supports_tools, supports_tool_choice
  hint: pass the provider's ids on, or make one for each call, so that the tool's answer can name it
LLM-TOOLS-9 SHOULD: With `tool_choice` "required", a stream reports a tool call.
  from ERRORS 6.1, R23, R72; needs supports_tools, supports_tool_choice, supports_streaming
  hint: send `tool_calls` in a chunk of the stream (edition 1.1.0), as in a completion
"""
