"""A static site over many attestations: who conforms, since when, and what changed."""
