"""The LLM component as tests use it: requests, capabilities, prerequisites, root causes."""
