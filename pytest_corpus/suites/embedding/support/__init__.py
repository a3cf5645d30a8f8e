"""The embedding component as its tests call it: requests, capabilities, prerequisites, root causes."""
