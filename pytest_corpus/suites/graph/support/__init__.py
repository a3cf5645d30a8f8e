"""The graph component in the form that its tests use: requests, capabilities, prerequisites, root causes."""
