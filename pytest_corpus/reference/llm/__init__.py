"""The embedded reference adapter for LLMs."""
