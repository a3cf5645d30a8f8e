"""Providers of answers: one module each, behind one Protocol."""
