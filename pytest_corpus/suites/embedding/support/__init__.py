"""The embedding component as its tests use it: requests, capabilities, prerequisites, root causes."""
