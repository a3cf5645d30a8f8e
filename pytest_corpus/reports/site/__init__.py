"""A static site over many attestations: conformant adapters, since when they are, and changes."""
