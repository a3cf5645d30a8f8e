"""Test classes that several components share; each component's chapters import them."""
