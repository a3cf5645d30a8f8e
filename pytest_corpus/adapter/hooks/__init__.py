"""The hooks that a factory may ask for, and logs."""
