"""What `pytest_corpus.wire` offers, part by part: errors, the round trip, the stages, arguments, cases, metrics."""
