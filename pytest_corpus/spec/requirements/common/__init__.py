"""Requirements that components share."""
