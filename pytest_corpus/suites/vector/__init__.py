"""The conformance tests of the vector component."""
