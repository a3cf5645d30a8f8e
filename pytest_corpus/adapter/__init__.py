"""Finds, opens and calls the adapter under test, and records the calls."""
