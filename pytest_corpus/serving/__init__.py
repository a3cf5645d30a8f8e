"""Putting a Python adapter behind HTTP, WebSocket or standard input and output."""
