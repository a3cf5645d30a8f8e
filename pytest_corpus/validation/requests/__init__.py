"""Request validation, which users import from `pytest_corpus.wire`: stages, arguments, cases, exceptions."""
