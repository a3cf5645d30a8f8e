"""The suite twice more, with each of the approximate indexes: `pytest test_indexes.py` runs these."""

import pytest_corpus

from vector_pgvector import hnsw, ivfflat

test_hnsw = pytest_corpus.suite(hnsw, label="vector_pgvector:hnsw")
test_ivfflat = pytest_corpus.suite(ivfflat, label="vector_pgvector:ivfflat")
