"""The embedded reference adapter for graphs."""
