"""Opens an adapter from its declaration."""
