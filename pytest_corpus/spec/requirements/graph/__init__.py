"""Requirements of the graph component."""
