"""Generated inputs and sequences of operations."""
