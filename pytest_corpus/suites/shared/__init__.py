"""The tests that components share: base classes that each component's chapters collect."""
