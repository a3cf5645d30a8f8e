"""Move messages from one major schema version to the next (SCHEMA 10.2)."""

from __future__ import annotations

from pytest_corpus.validation.requests.migration import MigrationError, SchemaMigrator

__all__ = ["MigrationError", "SchemaMigrator"]
