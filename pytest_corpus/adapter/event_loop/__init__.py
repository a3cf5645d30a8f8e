"""The event loop of an adapter, and the end of the loop."""
