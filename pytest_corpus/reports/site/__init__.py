"""A static site that shows many attestations: conformant adapters, since when they are conformant, and changes."""
