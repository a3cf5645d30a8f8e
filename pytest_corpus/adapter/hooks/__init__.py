"""The hooks that a factory may request, and the adapter's log."""
