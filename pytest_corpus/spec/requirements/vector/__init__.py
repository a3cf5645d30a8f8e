"""Requirements of the vector component."""
