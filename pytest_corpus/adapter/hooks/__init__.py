"""The hooks that a factory may request, and logs."""
