"""The event loop of an adapter, and its end."""
