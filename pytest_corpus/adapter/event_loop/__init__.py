"""The event loop that an adapter lives in, and how it ends."""
