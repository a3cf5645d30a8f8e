"""The tests that components share; each component's chapter subclasses them."""
