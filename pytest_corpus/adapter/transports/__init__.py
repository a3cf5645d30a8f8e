"""Transports from a request to the bytes of its answer: one module each, behind one Protocol."""
