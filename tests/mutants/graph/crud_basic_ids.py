"""Mistakes with ids that graph/test_crud_basic.py finds (GRA-NODE-12)."""

from __future__ import annotations

import re

from pytest_corpus.reference.errors import AdapterError


def are_uuids(*ids: str) -> None:
    """Refuse other ids."""
    if not all(re.fullmatch("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", each) for each in ids):
        raise AdapterError("BadRequest", "an id must be a UUID")
