"""Tests that need no adapter: schemas and goldens keep SCHEMA 7 and 8.1. Each file has a test.

    pytest --pyargs pytest_corpus.suites.schema

``CORPUS_SCHEMAS_ROOT`` and ``CORPUS_GOLDEN_ROOT`` name other folders than the shipped ones. Files of the tables and
files of the folders are tested, so that a file that is missing, renamed or not listed fails (R41).
"""
