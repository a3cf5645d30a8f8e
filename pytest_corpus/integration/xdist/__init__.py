"""Distribution to the workers of pytest-xdist."""
