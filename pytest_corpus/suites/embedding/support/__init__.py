"""The embedding component as tests use it: requests, capabilities, prerequisites, root causes."""
