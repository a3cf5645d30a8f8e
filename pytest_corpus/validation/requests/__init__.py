"""The parts of `pytest_corpus.wire`: errors, the round trip, the stages, arguments, cases, metrics."""
