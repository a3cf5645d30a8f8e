"""Requirements of the embedding component."""
