"""The embedded reference adapter for vectors."""
