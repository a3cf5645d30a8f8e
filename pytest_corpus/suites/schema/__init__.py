"""Schemas and goldens held to SCHEMA 7 and 8.1: plain tests, one a file, that need no adapter.

    pytest --pyargs pytest_corpus.suites.schema

``CORPUS_SCHEMAS_ROOT`` and ``CORPUS_GOLDEN_ROOT`` name other folders than the shipped ones. Every file of the tables
and every file of the folders is a test, so that one that is missing, renamed or not listed is red (R41).
"""
