"""Mistakes with the texts of a batch that fail, which embedding/test_embed_batch_basic.py finds (EMB-BATCH)."""

from __future__ import annotations

from pytest_corpus.reference.errors import AdapterError

from .shared import Outcome


def failed(outcome: Outcome) -> bool:
    """Whether a text failed."""
    return isinstance(outcome, AdapterError)
