"""The event loop of an adapter, and how it is closed."""
