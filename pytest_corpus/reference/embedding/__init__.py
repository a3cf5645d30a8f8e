"""The embedded reference adapter for embeddings."""
