"""Keys of the data that travels in pytest's reports and between the processes of xdist."""

RECORD = "corpus"
"""User property with the record of a test; also a worker's account of its tests, and the components chosen for it."""

EVIDENCE = "corpus_evidence"
"""User property with the evidence of a test's findings."""

STATUS = "corpus_status"
"""User property with the status of a test."""

BUNDLE_RESULT = "corpus_bundle"
"""User property with the result of a bundle's case."""

RUN = "corpus_run"
"""Worker input: the id of the run."""

BUDGET = "corpus_budget"
"""Worker input: the worker's share of the budget."""

REORDERED = "corpus_reordered"
"""Worker input: long tests go first."""

USAGE_ERROR = "corpus_usage_error"
"""Attribute of a collection report, and part of a worker's account: a declaration cannot be tested."""
