"""The conformance suite, once for each adapter: `pytest test_conformance.py::test_llm` runs one of them."""

import pytest_corpus

from multi import embedding, llm, vector

test_llm = pytest_corpus.suite(llm.factory, label="multi.llm")
test_embedding = pytest_corpus.suite(embedding.factory, label="multi.embedding")
test_vector = pytest_corpus.suite(vector.factory, label="multi.vector")
