"""Tests that need no adapter: schemas and goldens keep SCHEMA 7 and 8.1. Each file has a test.

    pytest --pyargs pytest_corpus.suites.schema

``CORPUS_SCHEMAS_ROOT`` and ``CORPUS_GOLDEN_ROOT`` can name folders that are tested instead of the shipped ones. All
files that the plugin lists and all files in the folders are tested, so a missing, renamed or unlisted file fails (R41).
"""
