"""How a stream is validated; `pytest_corpus.stream_validator` is what users import."""
