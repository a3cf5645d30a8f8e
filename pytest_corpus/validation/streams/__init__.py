"""The validation of streams; `pytest_corpus.stream_validator` is what users import."""
