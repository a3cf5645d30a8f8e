"""Collectors of the suites and the selection of tests."""
