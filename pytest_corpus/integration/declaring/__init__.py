"""Declarations of adapters: options, conftest files, test modules."""
