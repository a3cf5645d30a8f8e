"""Providers of answers: one module for each, behind one Protocol."""
