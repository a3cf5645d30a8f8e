"""The parts of `pytest_corpus.wire`: errors, round trip, stages, arguments, cases, metrics."""
