"""The vector component as its tests call it: requests, capabilities, prerequisites, root causes."""
