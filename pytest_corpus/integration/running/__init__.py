"""The execution of one conformance test."""
