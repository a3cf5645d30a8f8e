"""Transports: they send a request and return the answer as bytes. One module each, behind one Protocol."""
