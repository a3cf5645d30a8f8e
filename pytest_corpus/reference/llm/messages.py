"""Messages and tools in the arguments of LLM operations (SPECIFICATION 8.3, SCHEMA 4.1)."""

from dataclasses import replace

from pytest_corpus.reference.request import Admission, Call, Fields


class Messages(Admission):
    """Reads messages, tool calls, tools and the tool choice."""

    roles: tuple[str, ...] = ("system", "user", "assistant", "tool")

    def message_args(self, call: Call) -> Fields:
        """Return the arguments; a refusal of them is an InputFormatError (ERRORS 6.1)."""
        return replace(call.args, error="InputFormatError")

    def read_messages(self, call: Call) -> list[str]:
        """Return the texts of all messages."""
        messages = self.message_args(call).objects("messages", required=True)
        return [text for message in messages for text in self.read_message(message)]

    def read_message(self, message: Fields) -> list[str]:
        """Return the texts that one message adds to the prompt; unknown keys are ignored."""
        if message.required_text("role") not in self.roles:
            raise message.invalid("role", "NOT_ALLOWED", f"must be one of {', '.join(self.roles)}")
        message.text("name")
        message.text("tool_call_id")
        return [message.required_text("content"), *map(self.read_tool_call, message.objects("tool_calls"))]

    def read_tool_call(self, tool_call: Fields) -> str:
        """Return the arguments of an earlier tool call."""
        tool_call.required_text("id")
        return self.read_function(tool_call).required_text("arguments")

    def read_function(self, fields: Fields) -> Fields:
        """Return the `function` of a tool, a tool call or a tool choice: `{type: "function", function: {name}}`."""
        if fields.required_text("type") != "function":
            raise fields.invalid("type", "NOT_ALLOWED", "must be function")
        function = fields.member("function")
        function.required_text("name")
        return function

    def read_system_message(self, call: Call) -> str:
        text = call.args.text("system_message")
        if text is not None:
            self.require("supports_system_message")
        return text or ""

    def read_tools(self, call: Call) -> list[str]:
        """Return the names of the offered functions."""
        tools = self.message_args(call).objects("tools")
        if tools:
            self.require("supports_tools")
        return [self.read_tool(tool) for tool in tools]

    def read_tool(self, tool: Fields) -> str:
        function = self.read_function(tool)
        function.member("parameters")
        function.text("description")
        return function.required_text("name")

    def read_tool_choice(self, call: Call, tools: list[str]) -> str | None:
        """Return the name of the function that the answer must call, or None if it may be text."""
        choice = call.args.values.get("tool_choice")
        if choice in (None, "auto", "none"):
            return None
        self.require("supports_tool_choice")
        args = self.message_args(call)
        if choice == "required":
            name = next(iter(tools), None)
        else:
            name = self.read_function(args.member("tool_choice")).text("name")
        if name not in tools:
            raise args.invalid("tool_choice", "NOT_ALLOWED", "must name or require one of the given tools")
        return name
