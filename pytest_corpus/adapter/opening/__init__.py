"""From a declaration to an open adapter."""
